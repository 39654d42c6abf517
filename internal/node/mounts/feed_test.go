package mounts

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// server is a streaming server on a network in memory: it notes when it was asked, and how
// long each source sent.
type server struct {
	feed   *Feed
	answer string

	mu     sync.Mutex
	asked  []time.Time
	lasted []time.Duration
}

func serve(t *testing.T, answer string) *server {
	log, _ := testkit.Log(t)
	s := &server{answer: answer, feed: New(Options{
		Log: log, Mount: Mount{MP3, 128}, Name: "main.mp3", Password: func() string { return "sesame" },
	})}
	s.feed.dial = func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go s.source(theirs)
		return ours, nil
	}
	return s
}

func (s *server) source(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // only read
	s.note(func() { s.asked = append(s.asked, time.Now()) })
	r := bufio.NewReader(conn)
	if _, err := http.ReadRequest(r); err != nil {
		return
	}
	if _, err := io.WriteString(conn, s.answer); err != nil || s.answer[9] != '2' {
		return
	}
	begun, b := time.Now(), make([]byte, 4096)
	for {
		if _, err := r.Read(b); err != nil {
			s.note(func() { s.lasted = append(s.lasted, time.Since(begun)) })
			return
		}
	}
}

func (s *server) note(what func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what()
}

// saw is when it was asked, and how long each source sent.
func (s *server) saw() (asked []time.Time, lasted []time.Duration) {
	synctest.Wait()
	s.note(func() { asked, lasted = slices.Clone(s.asked), slices.Clone(s.lasted) })
	return asked, lasted
}

// encode writes seconds of frames in real time.
func (s *server) encode(seconds int) {
	m := s.feed.opt.Mount
	for range seconds {
		for range time.Second / m.lasts() {
			_, _ = s.feed.Write(m.silence())
		}
		time.Sleep(time.Second)
	}
}

// during tells a story while a feed runs.
func during(t *testing.T, answer string, story func(*testing.T, *server)) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- errors.Join(s.feed.Run(ctx), s.feed.Leave(testkit.NewHandover(t))) }()
		story(t, s)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// A mount whose encoder is away is held for a minute, and is there again with its first frame.
func TestAMountWithoutAnEncoderIsClosed(t *testing.T) {
	during(t, "HTTP/1.0 200 OK\r\n\r\n", func(t *testing.T, s *server) {
		time.Sleep(time.Hour)
		if asked, _ := s.saw(); len(asked) > 0 {
			t.Error("a mount was opened before there was sound")
		}
		s.encode(10)
		time.Sleep(time.Hour)
		if _, lasted := s.saw(); len(lasted) != 1 || lasted[0] < mute || lasted[0] > mute+15*time.Second {
			t.Errorf("the mount was closed after %s", lasted)
		}
		s.encode(10)
		if asked, _ := s.saw(); len(asked) != 2 {
			t.Errorf("it was opened %d times", len(asked))
		}
	})
}

// A server that refuses is asked ever more seldom.
func TestAServerThatRefusesIsNotStormed(t *testing.T) {
	during(t, "HTTP/1.0 403 Mountpoint in use\r\n\r\n", func(t *testing.T, s *server) {
		s.encode(600)
		asked, _ := s.saw()
		if n := len(asked); n < 50 || n > 70 {
			t.Errorf("asked %d times in ten minutes", n)
		}
		for i := range asked[1:] {
			if pause := asked[i+1].Sub(asked[i]); pause < again {
				t.Errorf("asked again after %s", pause)
			}
		}
	})
}

// What waits while the server is away is bounded, and old sound is not sent afterwards.
func TestWhatWaitsIsBounded(t *testing.T) {
	s := serve(t, "")
	m := s.feed.opt.Mount
	for range time.Hour / m.lasts() / 60 {
		_, _ = s.feed.Write(m.silence())
	}
	if most := int(backlog / m.lasts()); len(s.feed.queue) != most {
		t.Errorf("%d frames wait, want %d", len(s.feed.queue), most)
	}
}

// A program that goes on with another bitrate begins the mount anew: who listens was told of the
// former one.
func TestAMountOfAnotherBitrateIsNotGoneOnWith(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of this machine
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only listened
	for kbps, on := range map[int]bool{128: true, 64: false} {
		f := serve(t, "").feed
		if f.conn, err = net.Dial("tcp", l.Addr().String()); err != nil { //nolint:noctx // as above
			t.Fatal(err)
		}
		f.pace = newPacer(f.opt.Mount, time.Now())
		old := testkit.NewHandover(t)
		old.Order()
		if err := f.Leave(old); err != nil {
			t.Fatal(err)
		}
		next := serve(t, "").feed
		next.opt.Mount.Kbps = kbps
		next.Inherit(old.Next())
		if (next.conn != nil) != on {
			t.Errorf("with %d kbit/s set it goes on: %v", kbps, !on)
		}
		if next.conn != nil {
			_ = next.conn.Close()
		}
	}
}
