package bridge_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/node/bridge"
)

func TestProgressCountsOnlyMovement(t *testing.T) {
	var p bridge.Progress
	write := func(s string) {
		if n, err := p.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("%d %v", n, err)
		}
	}
	write("frame=0\nout_time_us=N/A\nprogress=continue\n")
	if !p.Moved().IsZero() {
		t.Error("moved before the first frame")
	}
	write("out_time")
	write("_us=1000000\nprogress=continue\n")
	first := p.Moved()
	if first.IsZero() {
		t.Fatal("a line in two pieces was missed")
	}
	write("out_time_us=1000000\n")
	if !p.Moved().Equal(first) {
		t.Error("the same position counts as movement")
	}
	write("out_time_us=0\n") // a new process
	if !p.Moved().After(first) {
		t.Error("a restart counts as standing still")
	}
}

func TestWedgedIsOnlyABridgeThatHasNoExcuse(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	var never time.Time
	for _, c := range []struct {
		what                    string
		started, moved, arrived time.Time
		sourceUp, want          bool
	}{
		{"healthy", ago(3600), ago(1), ago(0), true, false},
		{"just started", ago(5), never, never, true, false},
		{"just restarted, old figures", ago(5), ago(100), ago(100), true, false},
		{"source is away", ago(3600), ago(100), ago(100), false, false},
		{"never made anything", ago(60), never, never, true, true},
		{"stands still", ago(3600), ago(60), ago(60), true, true},
		{"makes audio that does not arrive", ago(3600), ago(1), ago(60), true, true},
	} {
		if got := bridge.Wedged(now, c.started, c.moved, c.arrived, c.sourceUp, 20*time.Second); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
