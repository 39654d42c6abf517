package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/kit/reexec"
)

// Handover is the way to the program that takes this one's place (kit/reexec).
//
//	what is left                       | what the next program does with it
//	-----------------------------------|---------------------------------------------------
//	the listening sockets              | listens on: who connects meanwhile waits
//	the bridge's connection, with what | reads on at the byte, as the same publisher
//	was read and is no audio yet       |
//	segments, times, the open segment  | the playlist goes on: no break, no number left out
//	sessions, figures                  | who listens goes on
//	RTMP: who came with what, who was  | asks, tells and refuses as before; what is published
//	told of, wrong passwords           | now nginx says
//	whether it has the air             | says so to edges
//	the one byte of the turn           | takes it; see turn
//
// Where the stream cannot go on (segments of another length are set, the turn was taken)
// it begins anew as after a restart, with the bridge's connection where there is one.
type Handover interface {
	Listen(ctx context.Context, network, address string) (net.Listener, error)
	Leaving() bool // another program takes over when this one has stopped
	Leave(name string, f *os.File)
	Write(name string, value any) error
	Take(name string) *os.File
	Read(name string, into any) bool
}

// none is a handover that leaves nothing and to which nothing was left.
func none() Handover { return (*reexec.Handover)(nil) }

// mostAhead is how many segments another program may have made beyond one a second: of
// audio that had waited for it.
const mostAhead = 30

const (
	estateName = "relay"
	turnName   = "relay turn"
)

func connectionName(i int) string { return fmt.Sprintf("relay publisher %d", i) }

// estate is what the relay leaves. Fields are added, never changed: a program of one step
// before or after reads it.
type estate struct {
	Left time.Time
	// Window has the number of the next segment alone: all else of it is in Stream. A version
	// before that looks here, finds no stream that it could go on with, and begins it anew above
	// that number.
	Window struct {
		Target   time.Duration
		Sequence int
	}
	Stream      *legacyStream // nil: of a version that made MPEG-TS
	Sessions    legacySessions
	Ingest      legacyIngest
	Counts      []uint64
	Connections []legacyConnection
	Air         *Air // nil: never told
}

// legacyStream is what listeners are served, and what that is made of.
type legacyStream struct {
	Path   legacyPath
	Window legacyWindow
}

// legacyConnection is a connection of a bridge.
type legacyConnection struct {
	ID, From string
	Since    time.Time
	Current  bool // it is the publisher
	Clock    legacyClock
	Ahead    []byte // read and not made audio of
	// Waiting are frames that have come in some renditions and not in all; nil: it has shown
	// no audio.
	Waiting [][]timed
}

type legacyClock struct {
	Last, At int64
	Begun    bool
}

// remains is a connection that is left, when the relay has stopped.
type remains struct {
	publisher *publisher
	file      *os.File
	ahead     []byte
}

// inherited is a connection that was left.
type inherited struct {
	publisher *publisher
	ahead     []byte
}

// keep keeps a connection for the next program; false if that cannot be.
func (s *Server) keep(p *publisher, ahead []byte) bool {
	conn, is := p.conn.(interface{ File() (*os.File, error) })
	if !is {
		return false
	}
	file, err := conn.File()
	if err != nil {
		s.log.Warn("cannot leave a publisher to the next program", "publisher", p.String(), "err", err)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remains = append(s.remains, remains{publisher: p, file: file, ahead: ahead})
	return true
}

// leave gives the stream to the next program. Nothing runs any more.
func (s *Server) leave() {
	turn, err := newTurn()
	if err != nil {
		s.log.Error("cannot hand the stream over, it begins anew", "err", err)
		return
	}
	s.opts.Handover.Leave(turnName, turn)
	out := estate{
		Left: time.Now(), Stream: &legacyStream{Path: s.path.estate(), Window: s.window.estate()}, Sessions: s.sessions.estate(), Ingest: s.ingest.estate(time.Now()),
		Counts: s.count.estate(), Air: s.stage.told(),
	}
	out.Window.Sequence = out.Stream.Window.Sequence
	current := s.path.state().source
	for _, r := range s.remains {
		if r.publisher.shown && r.publisher != current { // another took over from it
			_ = r.file.Close()
			continue
		}
		s.opts.Handover.Leave(connectionName(len(out.Connections)), r.file)
		c := r.publisher.clock
		out.Connections = append(out.Connections, legacyConnection{
			ID: r.publisher.id, From: r.publisher.from, Since: r.publisher.since, Current: r.publisher == current,
			Clock: legacyClock{Last: c.last, At: c.at, Begun: c.begun}, Ahead: r.ahead, Waiting: r.publisher.joins.estate(),
		})
	}
	if err := s.opts.Handover.Write(estateName, out); err != nil {
		s.log.Error("cannot hand the stream over, it begins anew", "err", err)
		return
	}
	s.log.Info("stream handed over", "segments", len(out.Stream.Window.Listed), "publishers", len(out.Connections),
		"sessions", len(out.Sessions.Newcomers)+len(out.Sessions.Listeners))
}

// resume takes over what the program before left, and returns the connections that are to
// be read on.
func (s *Server) resume(now time.Time) []inherited {
	var in estate
	reason, known := takeTurn(s.opts.Handover), s.opts.Handover.Read(estateName, &in)
	switch {
	case !known && reason == nil:
		in, reason = estate{}, errors.New("what was left cannot be read")
	case errors.Is(reason, errTurnTaken):
		s.window.above(in.Window.Sequence + int(now.Sub(in.Left)/time.Second) + mostAhead)
		in = estate{}
	}
	connections := s.adopt(in.Connections)
	if errors.Is(reason, errNoTurn) && len(connections) == 0 {
		return nil
	}
	sessions := len(in.Sessions.Newcomers) + len(in.Sessions.Listeners)
	if reason == nil {
		s.stage.resume(in.Air)
		s.sessions.resume(in.Sessions)
		s.ingest.resume(in.Ingest, now)
		s.count.resume(in.Counts)
		reason = s.continueStream(in, connections, now)
	}
	if reason != nil {
		s.window.above(in.Window.Sequence)
		for _, c := range connections {
			c.publisher.shown = false // they have shown nothing to this stream
		}
		s.log.Warn("cannot take the stream over, it begins anew", "reason", reason, "publishers", len(connections), "sessions", sessions)
		return connections
	}
	s.log.Info("stream taken over", "segments", len(in.Stream.Window.Listed), "publishers", len(connections), "sessions", sessions)
	return connections
}

// adopt takes the connections that were left, those that nothing is known of too.
func (s *Server) adopt(known []legacyConnection) (out []inherited) {
	for i := 0; ; i++ {
		file := s.opts.Handover.Take(connectionName(i))
		if file == nil {
			return out
		}
		conn, err := net.FileConn(file)
		_ = file.Close()
		if err != nil {
			s.log.Warn("cannot take over a publisher", "err", err)
			continue
		}
		one := inherited{publisher: newPublisher(conn)}
		if i < len(known) {
			c := known[i]
			one.publisher.id, one.publisher.from, one.publisher.since = c.ID, c.From, c.Since
			one.publisher.clock, one.publisher.shown = c.Clock.revive(), c.Current
			one.ahead, one.publisher.joins = c.Ahead, reviveJoiner(c.Waiting)
		}
		out = append(out, one)
	}
}

// continueStream goes on with the stream that was left.
func (s *Server) continueStream(in estate, connections []inherited, now time.Time) error {
	left := in.Stream
	switch {
	case left == nil:
		return errors.New("segments are fragments of MP4 and were MPEG-TS")
	case left.Window.Target != s.window.target:
		return fmt.Errorf("segments of %s are set and were %s", s.window.target, left.Window.Target)
	case !slices.Equal(left.Window.Renditions, s.window.renditions):
		return fmt.Errorf("renditions of %s kbit/s are set and were %s", s.window.renditions, left.Window.Renditions)
	}
	var current *publisher
	for _, c := range connections {
		if c.publisher.shown {
			current = c.publisher
		}
	}
	s.path.resume(left.Path, current)
	s.window.resume(left.Window)
	if current == nil {
		s.path.leave(nil, now) // whose connection was not left
	}
	return nil
}

// errNoTurn says that nothing was left; errTurnTaken that it was, and another program went
// on with it.
var (
	errNoTurn    = errors.New("nothing was left")
	errTurnTaken = errors.New("another program went on with it meanwhile")
)

// newTurn makes the turn: a pipe with one byte in it, and no more to come. Whoever takes the
// stream over reads that byte. A new program that fails gives way to the one before, which
// is begun again with what it had left. If the byte is gone, the stream went on without it:
// the numbers of segments were used, and the audio has been read.
func newTurn() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write([]byte{1})
	if err = errors.Join(err, w.Close()); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

func takeTurn(h Handover) error {
	turn := h.Take(turnName)
	if turn == nil {
		return errNoTurn
	}
	defer turn.Close() //nolint:errcheck // only read
	if n, _ := turn.Read(make([]byte, 1)); n == 0 {
		return errTurnTaken
	}
	return nil
}
