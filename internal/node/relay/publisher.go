package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts/codecs"
)

// maxPublishers bounds the connections that have not shown audio yet.
const maxPublishers = 8

// publisher is one connection of a bridge.
type publisher struct {
	id    string
	from  string
	since time.Time
	conn  net.Conn
	clock clock
	joins *joiner // nil: its audio is not known yet
	shown bool    // it has shown audio, and so was the current one
}

// hangUp ends a connection, also where what holds on to it for another program has it
// still.
func hangUp(conn net.Conn) {
	if c, is := conn.(interface{ CloseRead() error }); is {
		_ = c.CloseRead()
	}
	if c, is := conn.(interface{ CloseWrite() error }); is {
		_ = c.CloseWrite()
	}
	_ = conn.Close()
}

// errNoAudio ends a connection that never became a publisher.
var errNoAudio = errors.New("no audio")

// errReplaced ends the reading of a publisher when a newer one took over.
var errReplaced = errors.New("a newer publisher took over")

// errLeaving ends the reading of a publisher that another program goes on with.
var errLeaving = errors.New("another program goes on with it")

// acceptPublishers serves the bridge's socket until ctx ends, and the connections that the
// program before left.
func (s *Server) acceptPublishers(ctx context.Context, l net.Listener, left []inherited) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, maxPublishers)
	read := func(p *publisher, ahead []byte) {
		select {
		case slots <- struct{}{}:
		default:
			_ = p.conn.Close() // a flood of connections, none of which sends audio
			return
		}
		all.Go(func() {
			defer func() { <-slots }()
			s.publish(ctx, p, ahead)
		})
	}
	for _, one := range left {
		read(one.publisher, one.ahead)
	}
	for {
		conn, err := l.Accept()
		if err == nil { // one that came at the last moment is left with the others
			read(newPublisher(conn), nil)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("accept publisher: %w", err)
		}
	}
}

func newPublisher(conn net.Conn) *publisher {
	return &publisher{id: newID(), from: conn.RemoteAddr().Network(), since: time.Now(), conn: conn}
}

// publish reads one connection to its end, or until another program goes on with it. What
// was read of it before comes first.
func (s *Server) publish(ctx context.Context, p *publisher, ahead []byte) {
	source := &timedReader{conn: p.conn, patience: s.opts.PublisherTimeout, count: s.count}
	stop := context.AfterFunc(ctx, func() {
		if s.opts.Handover.Leaving() {
			source.interrupt()
			return
		}
		_ = p.conn.Close()
	})
	defer stop()
	defer p.conn.Close() //nolint:errcheck // only read
	tape := &tape{source: source, ahead: ahead}
	err := s.read(p, tape)
	if errors.Is(err, errLeaving) && s.keep(p, tape.left()) {
		return
	}
	hangUp(p.conn)
	s.path.leave(p, time.Now())
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errNoAudio):
		s.log.Debug("publisher sent no audio", "publisher", p.String(), "err", err)
	case errors.Is(err, errReplaced), errors.Is(err, io.EOF):
		s.log.Info("publisher disconnected", "publisher", p.String(), "reason", err)
	default:
		s.log.Warn("publisher dropped", "publisher", p.String(), "err", err)
	}
}

// read parses MPEG-TS and hands its audio on. It takes over from the current
// publisher only once it has shown audio, so a stray connection breaks nothing.
func (s *Server) read(p *publisher, source *tape) (err error) {
	// The parsers are other people's and the bytes may be anything: a panic
	// there must cost this connection, not every listener.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse MPEG-TS: panic: %v", r)
		}
	}()
	reader := &mpegts.Reader{R: source}
	if err := reader.Initialize(); err != nil {
		return fmt.Errorf("%w: %w", errNoAudio, err)
	}
	tracks, of, err := audioTracks(reader, len(s.window.renditions))
	if err != nil {
		return err
	}
	source.begins(tracks)
	f := form{Sound: of, Renditions: len(tracks)}
	if !s.path.goesOn(p, f) || p.joins == nil {
		p.joins = newJoiner(len(tracks))
		if former := s.path.take(p, f, time.Now()); former != nil && former != p {
			hangUp(former.conn)
		}
		s.log.Info("publisher connected", "publisher", p.String(), "rate", of.Rate, "channels", of.Channels, "renditions", len(tracks))
	}
	p.shown, p.joins.frame = true, samplesSpan(samplesPerFrame, of.Rate)

	found := func(pts time.Duration, frames set) error {
		if !s.path.frames(p, time.Now(), pts, []set{frames}) {
			return errReplaced
		}
		return nil
	}
	for i, track := range tracks {
		reader.OnDataMPEG4Audio(track, func(pts int64, frames [][]byte) error {
			at := p.clock.decode(pts)
			return p.joins.push(i, ticks(at), frames, found)
		})
	}
	for {
		if err := reader.Read(); err != nil {
			return err
		}
	}
}

// audioTracks finds the renditions, the main one first: as many tracks of one sound as are
// wanted, at most. A bridge of an older version sends one.
func audioTracks(reader *mpegts.Reader, most int) (out []*mpegts.Track, of sound, err error) {
	for _, track := range reader.Tracks() {
		audio, ok := track.Codec.(*codecs.MPEG4Audio)
		if !ok || audio.Config.Type != mpeg4audio.ObjectTypeAACLC || audio.Config.ChannelConfig < 1 || audio.Config.ChannelConfig > 7 {
			continue
		}
		if len(out) == 0 {
			of = soundOf(audio.Config)
		}
		if len(out) < most && soundOf(audio.Config) == of {
			out = append(out, track)
		}
	}
	if len(out) == 0 {
		return nil, of, fmt.Errorf("%w: the MPEG-TS has no AAC-LC track (ADTS)", errNoAudio)
	}
	return out, of, nil
}

// clock tells the time of MPEG-TS, 33 bits that begin anew, as one that goes on.
type clock struct {
	decoder  mpegts.TimeDecoder
	base     int64
	last, at int64 // what was decoded last, and to what
	begun    bool
}

func (c *clock) decode(pts int64) int64 {
	c.last, c.at, c.begun = pts, c.base+c.decoder.Decode(pts), true
	return c.at
}

// ticks is how long so many ticks of MPEG-TS last. A second times all that go by in 28 hours is
// more than 64 bits hold.
func ticks(n int64) time.Duration {
	return time.Duration(n/clockRate)*time.Second + time.Duration(n%clockRate)*time.Second/clockRate
}

// clockRate is how many ticks a second has.
const clockRate = 90_000

// revive is the clock that another program told the time with.
func (l legacyClock) revive() (c clock) {
	if l.Begun {
		c.base = l.At - c.decoder.Decode(l.Last)
		c.last, c.at, c.begun = l.Last, l.At, true
	}
	return c
}

// timedReader fails when the peer is silent for longer than patience.
type timedReader struct {
	conn     net.Conn
	patience time.Duration
	count    *counters
	leaving  atomic.Bool
}

// interrupt ends reading with errLeaving. What has not been read stays where it is.
func (r *timedReader) interrupt() {
	r.leaving.Store(true)
	_ = r.conn.SetReadDeadline(time.Unix(1, 0))
}

func (r *timedReader) Read(p []byte) (int, error) {
	if err := r.conn.SetReadDeadline(time.Now().Add(r.patience)); err != nil {
		return 0, err
	}
	if r.leaving.Load() { // before that deadline was set, or else the next ends the reading
		return 0, errLeaving
	}
	n, err := r.conn.Read(p)
	r.count.bytesReceived.Add(uint64(n))
	if err != nil && r.leaving.Load() {
		return n, errLeaving
	}
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		err = fmt.Errorf("silent for %s", r.patience)
	}
	return n, err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
