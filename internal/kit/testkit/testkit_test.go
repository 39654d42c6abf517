package testkit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

func TestMain(m *testing.M) { Main(m) }

func TestNetworkFollowsTheVirtualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNetwork()
		srv := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Hour}
		go srv.Serve(n) //nolint:errcheck // closed below
		c, err := n.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := io.ReadAll(c); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited != time.Hour {
			t.Errorf("a client that sends nothing was let go after %s, want exactly 1h", waited)
		}
		_ = srv.Close()
	})
}

func TestNetworkRefusesOnceClosed(t *testing.T) {
	n := NewNetwork()
	_ = n.Close()
	if _, err := n.Dial(t.Context(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial of a closed network: %v", err)
	}
	if _, err := n.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept of a closed network: %v", err)
	}
}

func TestBackgroundEndsWithItsContext(t *testing.T) {
	ended := make(chan struct{})
	stop := Background(t, func(ctx context.Context) error {
		defer close(ended)
		<-ctx.Done()
		return nil
	})
	stop()
	stop()
	Receive(t, "the end of what ran", ended)
}

func TestSupervisedStartsAgainWhatCrashed(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	stop := Supervised(t, proc.Spec{Name: "crash", Path: "sh", Args: []string{
		"-c", `if [ -e "$0" ]; then echo >"$1"; exec sleep 1000; fi; echo >"$0"; kill -SEGV $$`, first, second,
	}})
	Eventually(t, "the second start", func() bool { _, err := os.Stat(second); return err == nil })
	stop()
}

func TestLogCountsLinesWithAllWords(t *testing.T) {
	log, lines := Log(t)
	log.Info("playlist pushed", "bytes", 32768)
	log.Warn("playlist refused")
	if n := lines.Count("playlist", "pushed"); n != 1 {
		t.Errorf("counted %d lines, want 1 of:\n%s", n, lines)
	}
}

func TestPortIsFree(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: Port(t)})
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestEventuallyLooksAgain(t *testing.T) {
	looks := 0
	Eventually(t, "the third look", func() bool { looks++; return looks == 3 })
	EventuallyNil(t, "a file", func() error { _, err := os.Stat("."); return err })
}

// A port that a test got is nobody else's, though nothing listens there yet.
func TestAPortIsGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 300 {
		n := Port(t)
		if given[n] {
			t.Fatalf("port %d twice", n)
		}
		given[n] = true
	}
}
