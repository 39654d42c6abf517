package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
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
}

// errNoAudio ends a connection that never became a publisher.
var errNoAudio = errors.New("no audio")

// errReplaced ends the reading of a publisher when a newer one took over.
var errReplaced = errors.New("a newer publisher took over")

// acceptPublishers serves the bridge's socket until ctx ends.
func (s *Server) acceptPublishers(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, maxPublishers)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("accept publisher: %w", err)
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = conn.Close() // a flood of connections, none of which sends audio
			continue
		}
		all.Go(func() {
			defer func() { <-slots }()
			s.publish(ctx, conn)
		})
	}
}

// publish reads one connection to its end.
func (s *Server) publish(ctx context.Context, conn net.Conn) {
	p := &publisher{id: newID(), from: conn.RemoteAddr().Network(), since: time.Now(), conn: conn}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close() //nolint:errcheck // only read
	source := &timedReader{conn: conn, patience: s.opts.PublisherTimeout, count: &s.count}
	err := s.read(p, source)
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
func (s *Server) read(p *publisher, source io.Reader) (err error) {
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
	track, config, err := audioTrack(reader)
	if err != nil {
		return err
	}
	if former := s.path.take(p, config, time.Now()); former != nil {
		_ = former.conn.Close()
	}
	s.log.Info("publisher connected", "publisher", p.String(), "rate", config.SampleRate, "channels", config.ChannelConfig)

	clock := &mpegts.TimeDecoder{}
	clock.Initialize()
	reader.OnDataMPEG4Audio(track, func(pts int64, frames [][]byte) error {
		at := clock.Decode(pts)
		current, err := s.path.frames(p, time.Now(), time.Duration(at)*time.Second/90000, frames)
		if !current {
			return errReplaced
		}
		return err
	})
	for {
		if err := reader.Read(); err != nil {
			return err
		}
	}
}

func audioTrack(reader *mpegts.Reader) (*mpegts.Track, mpeg4audio.AudioSpecificConfig, error) {
	for _, track := range reader.Tracks() {
		if audio, ok := track.Codec.(*codecs.MPEG4Audio); ok {
			return track, audio.Config, nil
		}
	}
	return nil, mpeg4audio.AudioSpecificConfig{}, fmt.Errorf("%w: the MPEG-TS has no AAC track (ADTS)", errNoAudio)
}

// timedReader fails when the peer is silent for longer than patience.
type timedReader struct {
	conn     net.Conn
	patience time.Duration
	count    *counters
}

func (r *timedReader) Read(p []byte) (int, error) {
	if err := r.conn.SetReadDeadline(time.Now().Add(r.patience)); err != nil {
		return 0, err
	}
	n, err := r.conn.Read(p)
	r.count.bytesReceived.Add(uint64(n))
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		err = fmt.Errorf("silent for %s", r.patience)
	}
	return n, err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
