package press_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/press"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// player reads a new list after 50 ms and opens its head after open; never where
// that is 0.
type player struct {
	began   time.Time
	open    time.Duration
	skipped time.Duration // after began
}

func (p *player) State(context.Context) (press.State, error) {
	st := press.State{Sight: scheduler.Sight{Engine: "e", Seq: 1}, Rotation: true, OnAir: "rotation", Last: "old", Prepared: []string{"old next"}}
	since := time.Since(p.began)
	if since >= 50*time.Millisecond {
		st.Edition = 1
	}
	if p.open > 0 && since >= p.open {
		st.Prepared = []string{"head"}
	}
	return st, nil
}

func (p *player) SkipFrom(context.Context, int) error {
	p.skipped = time.Since(p.began)
	return nil
}

func (p *player) Reload(context.Context) error { return nil }

// late is a player whose entry on air ends by itself as the list is read: the cross leads
// to the head, whose marker comes with what is heard, two seconds later.
type late struct {
	began   time.Time
	skipped bool
}

func (p *late) State(context.Context) (press.State, error) {
	st := press.State{Sight: scheduler.Sight{Engine: "e", Seq: 4, Edition: 1, Entered: 4}, Rotation: true, OnAir: "rotation", Last: "old", Entering: "old"}
	since := time.Since(p.began)
	if since >= 30*time.Millisecond {
		st.Edition, st.Entered, st.Entering, st.Prepared = 2, 5, "head", []string{"second"}
	}
	if since >= 2*time.Second {
		st.Seq, st.Last = 5, "head"
	}
	return st, nil
}

func (p *late) SkipFrom(context.Context, int) error { p.skipped = true; return nil }
func (p *late) Reload(context.Context) error        { return nil }

// Where the head has begun by itself before it could be skipped to, nothing is skipped:
// that would end the head.
func TestASkipDoesNotEndTheHeadItGoesTo(t *testing.T) {
	for _, must := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &late{began: time.Now()}
			err := (&press.Engine{Player: p}).Next(t.Context(), scheduler.Cue{
				Since: scheduler.Sight{Engine: "e", Seq: 4, Edition: 1, Entered: 4}, Head: "head", Must: must,
			})
			if err != nil || p.skipped {
				t.Errorf("must %v: skipped %v, %v", must, p.skipped, err)
			}
		})
	}
}

// A skip waits for the head of the new list: for a while, and where nothing else
// will do, until it is known that the head cannot be played.
func TestASkipGoesToTheHeadOfTheNewList(t *testing.T) {
	for name, c := range map[string]struct {
		open    time.Duration
		must    bool
		skipped time.Duration // 0: not at all
	}{
		"the head is open":      {200 * time.Millisecond, false, 200 * time.Millisecond},
		"it opens late":         {0, false, 460 * time.Millisecond},
		"a wish opens late":     {2 * time.Second, true, 2 * time.Second},
		"a wish cannot be open": {0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &player{began: time.Now(), open: c.open}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				err := (&press.Engine{Player: p}).Next(ctx, scheduler.Cue{Since: scheduler.Sight{Engine: "e", Seq: 1}, Head: "head", Must: c.must})
				if (err != nil) != (c.skipped == 0) || err != nil && !errors.Is(err, station.ErrConflict) {
					t.Errorf("%v", err)
				}
				if p.skipped != c.skipped {
					t.Errorf("skipped after %s, want %s", p.skipped, c.skipped)
				}
			})
		})
	}
}
