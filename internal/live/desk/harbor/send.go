package harbor

import (
	"context"
	"net"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// send keeps a connection to the harbor until all was sent.
func (s *Session) send(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		s.mu.Lock()
		mount := s.mount
		s.mu.Unlock()
		conn, err := connect(ctx, s.opt.Dial, s.opt.Address(), mount, s.opt.Password())
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			failures++
			if failures == 1 || failures%30 == 0 {
				s.opt.Log.Warn("cannot reach the engine's live harbor, trying again", "tries", failures, "why", err)
			}
			if s.over() || retry.Pause(ctx, retry.Doubled(firstPause, longestPause, failures)) != nil {
				return
			}
			continue
		}
		s.join(conn)
		failures = 0
		begun := time.Now()
		done, err := s.carry(ctx, conn)
		s.part(conn)
		if done || ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		moved := s.mount != mount
		s.mu.Unlock()
		if moved {
			continue
		}
		s.broke()
		s.opt.Log.Warn("the engine's live harbor closed the connection, connecting again", "after", time.Since(begun).Round(time.Millisecond), "why", err)
		if time.Since(begun) < longestPause && retry.Pause(ctx, firstPause) != nil {
			return
		}
	}
}

// over reports that nothing is left to be sent.
func (s *Session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// join begins to send by a connection: what has waited for it for too long is dropped.
func (s *Session) join(conn net.Conn) {
	s.mu.Lock()
	s.conn = conn
	s.news()
	first := s.breaks == 0 && time.Since(s.opened) < fresh
	s.mu.Unlock()
	if !first {
		s.queue.clear()
	}
	if s.opt.Changed != nil {
		s.opt.Changed()
	}
}

func (s *Session) part(conn net.Conn) {
	_ = conn.Close()
	s.mu.Lock()
	s.conn = nil
	s.mu.Unlock()
	if s.opt.Changed != nil {
		s.opt.Changed()
	}
}

// carry writes frames as they come. done: there are no more.
func (s *Session) carry(ctx context.Context, conn net.Conn) (done bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	gone := make(chan struct{})
	go func() { // the engine says nothing; it only closes
		defer close(gone)
		var one [1]byte
		_, _ = conn.Read(one[:])
	}()
	defer func() { _ = conn.Close(); <-gone }()
	for {
		audio, ended := s.queue.take()
		if len(audio) > 0 {
			_ = conn.SetWriteDeadline(time.Now().Add(writeWait))
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if _, err := conn.Write(audio); err != nil {
				return false, err
			}
			continue
		}
		if ended {
			return true, nil
		}
		select {
		case <-s.queue.change:
		case <-gone:
			return false, net.ErrClosed
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
