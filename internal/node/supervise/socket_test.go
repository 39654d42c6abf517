package supervise

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestSocketTellsTheStates(t *testing.T) {
	s := start(t, Program{Name: "one", Prepare: shell("exec sleep 600")})
	socket := filepath.Join(t.TempDir(), "node.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil { // a leftover of an earlier life
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, socket, func() any { return map[string]int{"heard": 3} }, nil) }()
	c := NewClient(socket)
	c.http.Timeout = 0 // this machine may be held up
	defer c.Close()
	testkit.Eventually(t, "an answer over the socket", func() bool {
		got, err := c.Programs(t.Context())
		return err == nil && len(got) == 1 && got[0].Name == "one" && got[0].State == "running" && got[0].PID > 0
	})
	pid := s.Programs()[0].PID
	if err := c.Restart(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, "another process after a restart", func() bool {
		p := s.Programs()[0]
		return p.State == "running" && p.PID != pid
	})
	if err := c.Restart(t.Context(), "two"); err == nil {
		t.Error("an unknown program was restarted")
	}
	var report struct{ Heard int }
	if err := c.Report(t.Context(), &report); err != nil || report.Heard != 3 {
		t.Errorf("report: %+v, %v", report, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Programs(t.Context()); err == nil {
		t.Error("an answer from a socket that is gone")
	}
}
