package feedback_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/station"
)

// A flood of ids does not end reactions and votes for a day: where no more can be
// remembered the oldest go, once no client sends them again, and no sooner.
func TestAFullMemoryForgetsOnlyWhatNoClientSendsAgain(t *testing.T) {
	s := newStudio(t)
	f, err := feedback.Open(t.Context(), s.options().Remembering(20))
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int) string { return fmt.Sprintf("a-write-number-%d", n) }
	like := func(n int) error {
		_, err := f.Reactions.React(t.Context(), feedback.Client{}, feedback.ReactionIn{Emoji: "🔥", Delta: 1, ID: id(n)})
		return err
	}
	for n := range 20 {
		if err := like(n); err != nil {
			t.Fatal(err)
		}
		s.later(time.Minute)
	}
	if err := like(20); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("more than can be remembered: %v", err)
	}
	s.later(45 * time.Minute) // the first few are older than an hour now
	if err := like(20); err != nil {
		t.Errorf("when the oldest may be forgotten: %v", err)
	}
	if _, err := f.Vibes.Vote(t.Context(), feedback.Client{Device: "a-device"}, feedback.VibeIn{Vibe: "tarab", ID: id(20)}); err != nil {
		t.Errorf("a vote: %v", err)
	}
	for _, n := range []int{20, 19, 6} { // none of an hour counts twice
		if err := like(n); err != nil || f.Reactions.Counts()["🔥"] != 21 {
			t.Errorf("write %d again: %v, %v", n, err, f.Reactions.Counts())
		}
	}
}
