package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/station"
)

// Bans that an edge has missed are told as they were, those that hold: not one
// that was lifted or is over, and no mute.
func TestBansThatWereMissedAreToldAsTheyWere(t *testing.T) {
	h := open(t)
	newest := func() string {
		t.Helper()
		all, err := h.Newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all["banned"]
	}
	since := func(after string) (out []string) {
		t.Helper()
		all, err := h.Since(t.Context(), "banned", after)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			text, _ := json.Marshal(one)
			out = append(out, string(text))
		}
		return out
	}
	begin := newest()
	if begin == "" || len(since(begin)) > 0 {
		t.Fatalf("of none: %q, %v", begin, since(begin))
	}
	var lifted int64
	for n, in := range []chat.SanctionIn{{Minutes: 60}, {}, {Minutes: 10}, {}, {Address: true}} {
		m, err := h.Say(t.Context(), listener(n), chat.SayIn{User: "x", Room: "main", Text: "spam"})
		if err != nil {
			t.Fatal(err)
		}
		if in.Of = m.ID; n == 1 {
			_, err = h.Mute(t.Context(), operator, in)
		} else {
			var s chat.Sanction
			if s, err = h.Ban(t.Context(), operator, in); n == 3 {
				lifted = s.ID
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	told, last := h.heard("banned"), newest()
	if _, err := h.Lift(t.Context(), operator, lifted); err != nil {
		t.Fatal(err)
	}
	h.pass(30 * time.Minute)
	if got, want := since(begin), []string{told[0], told[3]}; len(told) != 4 || !slices.Equal(got, want) {
		t.Errorf("since the beginning %v, want %v", got, want)
	}
	if got := since(last); len(got) > 0 {
		t.Errorf("since the last %v", got)
	}
	var first chat.Banned
	if err := json.Unmarshal([]byte(told[0]), &first); err != nil || !slices.Equal(since(first.ID), told[3:]) {
		t.Errorf("since the first %v: %v, %v", first, since(first.ID), err)
	}
	for _, bad := range []string{"", "b", "c1", "bx"} {
		if _, err := h.Since(t.Context(), "banned", bad); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("since %q: %v", bad, err)
		}
	}
}

// Whoever is told of a message may ask for it at once.
func TestAMessageIsOnDiskBeforeItIsTold(t *testing.T) {
	h := open(t)
	asked := 0
	h.opt.Tell = func(event string, payload any) {
		m, ok := payload.(chat.Message)
		if event != "message" || !ok {
			return
		}
		asked++
		var kept int
		if err := h.db.Read().QueryRow(`SELECT count(*) FROM chat_lines WHERE text = ?`, m.Text).Scan(&kept); err != nil || kept != 1 {
			t.Errorf("%q is told, and %d times on disk: %v", m.Text, kept, err)
		}
	}
	h.reopen(t)
	h.say(t, staff, "first")
	h.say(t, staff, "second")
	if asked != 2 {
		t.Errorf("told of %d messages", asked)
	}
}
