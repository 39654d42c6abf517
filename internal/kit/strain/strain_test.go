package strain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// kernel writes what a kernel would say after so many seconds, of which these shares
// were lost.
func kernel(t *testing.T, root string, after time.Duration, cpu, io, memory, steal float64) {
	t.Helper()
	us := func(share float64) int64 { return int64(share * float64(after.Microseconds())) }
	for name, text := range map[string]string{
		"pressure/cpu":    fmt.Sprintf("some avg10=1.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", us(cpu)),
		"pressure/io":     fmt.Sprintf("some avg10=1.00 avg60=0.00 avg300=0.00 total=999999999\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", us(io)),
		"pressure/memory": fmt.Sprintf("some avg10=1.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", us(memory)),
		"stat":            fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 %d 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n", us(0.5), us(0.5-steal), us(steal)),
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachStrainIsNamed(t *testing.T) {
	for _, c := range []struct {
		name                   string
		cpu, io, memory, steal float64
		word                   string
	}{
		{"none", 0, 0, 0, 0, ""},
		{"work that nobody waits for", 1, 0, 0, 0, ""},
		{"a busy disk", 0.2, 0.6, 0, 0, "disk"},
		{"no memory", 0.2, 0.6, 0.3, 0, "memory"},
		{"a host that takes", 0.2, 0, 0, 0.4, "host"},
	} {
		g := &Gauge{root: t.TempDir()}
		begin := time.Now()
		for s := range 9 {
			after := time.Duration(s) * time.Second
			kernel(t, g.root, after, c.cpu, c.io, c.memory, c.steal)
			g.sample(begin.Add(after))
		}
		r := g.Read()
		if short := r.Short(); (short == "") != (c.word == "") || !strings.Contains(short, c.word) {
			t.Errorf("%s: %q (%+v)", c.name, short, r)
		}
		for name, got := range map[string][2]float64{"cpu": {r.CPU, c.cpu}, "io": {r.IO, c.io}, "memory": {r.Memory, c.memory}, "steal": {r.Steal, c.steal}} {
			if d := got[0] - got[1]; d > 0.01 || d < -0.01 {
				t.Errorf("%s: %s is %.3f, want %.3f", c.name, name, got[0], got[1])
			}
		}
		if len(g.past) > int(Window/step)+1 {
			t.Errorf("%d samples are kept", len(g.past))
		}
	}
}

// A timer that went off late counts for the whole window, and no longer.
func TestLateTimersAreSeenAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gauge{root: t.TempDir()} // a kernel that says nothing
		stop := testkit.Background(t, g.Run)
		time.Sleep(3 * time.Second)
		if r := g.Read(); r.Short() != "" {
			t.Errorf("at rest: %q (%+v)", r.Short(), r)
		}
		g.beat(2 * time.Second)
		if r := g.Read(); !strings.Contains(r.Short(), "2s late") {
			t.Errorf("a late timer: %q", r.Short())
		}
		time.Sleep(Window - 2*step)
		if r := g.Read(); r.Late != 2*time.Second {
			t.Errorf("within the window: %+v", r)
		}
		time.Sleep(4 * step)
		if r := g.Read(); r.Late >= muchLate {
			t.Errorf("after the window: %+v", r)
		}
		stop()
	})
}

// The kernel that runs this test is read without an error, whatever it says.
func TestReadsThisMachine(t *testing.T) {
	g := New()
	testkit.Background(t, func(ctx context.Context) error { return g.Run(ctx) })
	testkit.Eventually(t, "two samples", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.past) >= 2 && g.past[len(g.past)-1].total > g.past[0].total
	})
	if r := g.Read(); r.Steal < 0 || r.Steal > 1 || r.CPU < 0 || r.CPU > 1 {
		t.Errorf("%+v", r)
	}
}

func FuzzKernelTexts(f *testing.F) {
	f.Add([]byte("some avg10=0.00 total=5\nfull total=9\n"))
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8 9 10\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		parsePressure(text, "full")
		parseSteal(text)
	})
}
