package chat_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
)

// A clock that leaps ahead takes no history away, over restarts too; one that was
// put right, or has gone on for a day, is believed again.
func TestAClockThatLeapsAheadDeletesNoHistory(t *testing.T) {
	h := open(t)
	said := func() int { // to join is limited, and limits have a clock too
		all, err := h.Messages(t.Context(), "main", "", 50)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	tidy := func(want int, when string) {
		t.Helper()
		if err := h.Tidy(t.Context()); err != nil || said() != want {
			t.Errorf("%s: %d messages of %d, %v", when, said(), want, err)
		}
	}
	if _, err := h.Say(t.Context(), listener(1), chat.SayIn{User: "x", Room: "main", Text: "مرحبا", ID: "a-message-of-mine"}); err != nil {
		t.Fatal(err)
	}
	tidy(1, "at once")
	const decade = 10 * 365 * 24 * time.Hour
	h.pass(decade)
	for range 3 {
		tidy(1, "a leap")
		h.pass(7 * time.Hour)
		h.reopen(t)
	}
	if _, err := h.Say(t.Context(), listener(1), chat.SayIn{User: "x", Room: "main", Text: "مرحبا", ID: "a-message-of-mine"}); err != nil || said() != 1 {
		t.Errorf("the same write after the leap: %v", err)
	}
	h.pass(-decade - 21*time.Hour)
	tidy(1, "put right")
	for range 29 {
		h.pass(24 * time.Hour)
		tidy(1, "as time goes by")
	}
	h.pass(60 * 24 * time.Hour)
	tidy(1, "switched off for two months")
	h.pass(25 * time.Hour)
	tidy(0, "a day later")
}

// Whoever is banned is named to the edges by the keys that it joins with, and by
// no others; a mute is nobody's business but the author's.
func TestABanNamesTheKeysThatTheBannedJoinsWith(t *testing.T) {
	h := open(t)
	ctx := context.Background()
	m, err := h.Say(ctx, listener(1), chat.SayIn{User: "x", Room: "main", Text: "spam"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Mute(ctx, chat.By{}, chat.SanctionIn{Of: m.ID}); err != nil || len(h.heard("banned")) != 0 {
		t.Errorf("a mute: %v, %v", err, h.heard("banned"))
	}
	if _, err := h.Ban(ctx, chat.By{}, chat.SanctionIn{Of: m.ID, Address: true}); err != nil {
		t.Fatal(err)
	}
	told := h.heard("banned")
	mine := h.Keys(listener(1))
	if len(told) != 1 || len(mine) == 0 || slices.ContainsFunc(mine, func(key string) bool { return !strings.Contains(told[0], key) }) {
		t.Errorf("told %v of %v", told, mine)
	}
	staff := listener(1)
	staff.Staff = true
	if keys := h.Keys(staff); len(keys) != 0 {
		t.Errorf("the staff can be banned by %v", keys)
	}
}
