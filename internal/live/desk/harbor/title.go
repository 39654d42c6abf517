package harbor

import (
	"context"
	"net"
	"net/url"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shout"
)

// named is who is on the air, as listeners read it.
type named struct{ title, artist string }

// Title says who is on the air. The engine is told once it takes the bus, and again after
// each new connection; a talk-over has no title of its own.
func (s *Session) Title(title, artist string) {
	name := named{title, artist}
	s.mu.Lock()
	same := s.name == name
	s.name = name
	s.mu.Unlock()
	if !same {
		s.news()
	}
}

// news wakes tell.
func (s *Session) news() {
	select {
	case s.titled <- struct{}{}:
	default:
	}
}

// tell gives the engine the title, each time it or the connection is another, until ctx
// ends.
func (s *Session) tell(ctx context.Context) {
	var told named
	var to net.Conn
	for failures := 0; ; {
		s.mu.Lock()
		name, conn, mount := s.name, s.conn, s.mount
		s.mu.Unlock()
		if conn == nil || mount != Replace || name == (named{}) || name == told && conn == to {
			select {
			case <-s.titled:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := s.rename(ctx, mount, name)
		if err == nil {
			told, to, failures = name, conn, 0
			continue
		}
		if failures++; failures == 1 {
			s.opt.Log.Debug("cannot tell the engine the title of what is live, trying again", "why", err)
		}
		if retry.Pause(ctx, retry.Doubled(firstPause, longestPause, failures)) != nil {
			return
		}
	}
}

// rename sends a title as encoders do, beside the stream.
func (s *Session) rename(ctx context.Context, mount string, name named) error {
	ctx, cancel := context.WithTimeout(ctx, enterWait)
	defer cancel()
	dial := s.opt.Dial
	if dial == nil {
		dial = system
	}
	conn, err := dial(ctx, s.opt.Address())
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // answered or not
	title := url.Values{"mode": {"updinfo"}, "mount": {mount}, "title": {name.title}, "artist": {name.artist}}
	return shout.Ask(ctx, conn, enterWait, "GET /admin/metadata?"+title.Encode(), s.opt.Password(), nil)
}
