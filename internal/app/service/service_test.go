package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/supervise"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// diary is a service manager that notes what it is told, and when.
type diary struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
	deaf  bool
}

func (d *diary) note(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, time.Since(d.begin).Truncate(time.Second).String()+" "+text)
	if d.deaf {
		return errors.New("nobody listens")
	}
	return nil
}

func (d *diary) Ready() error             { return d.note("ready") }
func (d *diary) Status(text string) error { return d.note("status " + text) }
func (d *diary) Alive() error             { return d.note("alive") }

var errSilent = errors.New("no answer")

// told runs a role for a time and returns what the manager heard of it: the role answers
// as script says, second by second.
func told(t *testing.T, d *diary, lives time.Duration, script func(time.Duration) (string, error)) []string {
	t.Helper()
	d.begin = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), lives)
	defer cancel()
	err := Run(ctx, slog.New(slog.NewTextHandler(io.Discard, nil)), d,
		func(context.Context) (string, error) { return script(time.Since(d.begin)) },
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run returned %v, want what the role returned", err)
	}
	return d.lines
}

func TestTheManagerHearsReadyOnceThenLifeAndChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		got := told(t, d, 55*time.Second, func(at time.Duration) (string, error) {
			switch {
			case at < 5*time.Second:
				return "", errSilent
			case at < 20*time.Second:
				return "not on air", nil
			}
			return "on air", nil
		})
		kinds := func(word string) (n int) {
			for _, line := range got {
				if strings.Contains(line, word) {
					n++
				}
			}
			return n
		}
		if kinds(" ready") != 1 || kinds("status not on air") != 1 || kinds("status on air") != 1 || kinds("alive") != 5 {
			t.Errorf("the manager heard %q", got)
		}
		if !strings.HasSuffix(got[0], "status not on air") || !strings.HasSuffix(got[1], "ready") || !strings.HasSuffix(got[2], "alive") {
			t.Errorf("in the wrong order: %q", got)
		}
	})
}

// The watchdog acts on silence: a role that gives no answer must not be called alive, and
// one that answers again is alive without another ready.
func TestAWedgedRoleIsNotCalledAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		got := told(t, d, 300*time.Second, func(at time.Duration) (string, error) {
			if at > 30*time.Second && at < 250*time.Second {
				return "", errSilent
			}
			return "on air", nil
		})
		for _, line := range got {
			at, err := time.ParseDuration(strings.Fields(line)[0])
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, "alive") && at > 30*time.Second && at < 250*time.Second {
				t.Errorf("a wedged role is called alive: %s", line)
			}
		}
		if !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "4m1") && strings.HasSuffix(l, "alive") }) {
			t.Errorf("a role that answers again is not called alive: %q", got)
		}
	})
}

func TestADeafManagerCostsTheRoleNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := told(t, &diary{deaf: true}, 25*time.Second, func(time.Duration) (string, error) { return "on air", nil }); len(got) < 5 {
			t.Errorf("told only %q", got)
		}
	})
}

func TestTheStatusNamesWhatDoesNotRun(t *testing.T) {
	for _, tc := range []struct {
		onAir bool
		want  string
	}{{true, "on air; nginx is backoff"}, {false, "not on air; nginx is backoff"}} {
		got := line(tc.onAir, []supervise.Status{{Name: "icecast", State: "running"}, {Name: "nginx", State: "backoff"}})
		if got != tc.want {
			t.Errorf("the status is %q, want %q", got, tc.want)
		}
	}
	if got := line(true, nil); got != "on air" {
		t.Errorf("the status is %q", got)
	}
}
