package feedback_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

func (s *studio) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func TestOneVibePerClientForHalfAnHour(t *testing.T) {
	s := newStudio(t)
	v := s.all(t).Vibes
	vote := func(address, device, vibe string) feedback.Vibed {
		t.Helper()
		got, err := v.Vote(t.Context(), feedback.Client{Address: address, Device: device}, feedback.VibeIn{Vibe: vibe})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	is := func(want map[string]int) {
		t.Helper()
		for name, got := range map[string]map[string]int{"now": v.Counts(), "after a restart": s.all(t).Vibes.Counts()} {
			if len(got) != 6 {
				t.Errorf("%s: %v", name, got)
			}
			maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
			if !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
	vote("198.51.100.1", "phone-one", "tarab")
	vote("198.51.100.1", "phone-two", "tarab") // two people in one home
	vote("198.51.100.2", "phone-one", "party")
	is(map[string]int{"tarab": 2, "party": 1})
	s.later(20 * time.Minute)
	if got := vote("198.51.100.1", "phone-two", "focus"); got.Counts["focus"] != 1 || got.Counts["tarab"] != 1 {
		t.Errorf("%+v", got)
	}
	is(map[string]int{"tarab": 1, "focus": 1, "party": 1})
	s.later(10 * time.Minute)
	is(map[string]int{"focus": 1}) // the change began a new half hour
	if mine := v.Mine(feedback.Client{Address: "198.51.100.1", Device: "phone-two"}); mine != "focus" {
		t.Errorf("mine is %q", mine)
	}
	if mine := v.Mine(feedback.Client{Address: "198.51.100.1", Device: "phone-one"}); mine != "" {
		t.Errorf("an old vote is still mine: %q", mine)
	}
	s.later(20 * time.Minute)
	is(map[string]int{})
	for _, vibe := range []string{"", "Tarab", "sad", "tarab ", strings.Repeat("x", 100_000)} {
		_, err := v.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: vibe})
		if !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "chill, romantic, tarab, party, energy, focus") {
			t.Errorf("%.20q: %v", vibe, err)
		}
	}
}

func TestVibeVotesAreFewPerAddressAtATime(t *testing.T) {
	s := newStudio(t)
	v := s.all(t).Vibes
	var limit *client.LimitError
	for i := range 31 {
		_, err := v.Vote(t.Context(), feedback.Client{Address: "x"}, feedback.VibeIn{Vibe: feedback.VibeNames()[i%6]})
		if errors.As(err, &limit) != (i == 30) {
			t.Fatalf("vote %d: %v", i, err)
		}
	}
	if limit.Seconds() != 5 {
		t.Errorf("come again in %d s", limit.Seconds())
	}
}
