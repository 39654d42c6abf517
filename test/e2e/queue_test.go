package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// byHand is what comes, as it can be changed.
type byHand struct {
	Version string
	Held    int
	Entries []struct {
		Position             int
		File                 string
		Hand, Locked, Opened bool
	}
	Breaks []struct{ Rule string }
}

// tones are those of what comes, next first.
func (q byHand) tones() (out []int) {
	for _, e := range q.Entries {
		tone := 0
		_, _ = fmt.Sscanf(e.File, "music/english/tone %d", &tone) // 0 is none
		out = append(out, tone)
	}
	return out
}

// movable is the index of the first entry that the engine has not opened.
func (q byHand) movable() int {
	return max(slices.IndexFunc(q.Entries, func(e struct {
		Position             int
		File                 string
		Hand, Locked, Opened bool
	}) bool {
		return !e.Opened
	}), 0)
}

func (s *station) byHand() (q byHand) {
	s.t.Helper()
	code, text := s.operate("GET", "/api/station/queue", "")
	if err := json.Unmarshal([]byte(text), &q); err != nil || code != http.StatusOK {
		s.t.Fatalf("%d %s %v", code, text, err)
	}
	return q
}

// edit changes the queue. Where it has changed meanwhile, it looks again, as a person would.
func (s *station) edit(change func(q byHand) map[string]any) (after byHand) {
	s.t.Helper()
	s.eventually("the queue is changed", func() bool {
		q := s.byHand()
		body := change(q)
		body["version"] = q.Version
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		code, answer := s.operate("POST", "/api/station/queue/edit", string(text))
		switch code {
		case http.StatusConflict, http.StatusNotFound: // another rotation, or an entry has begun
			return false
		case http.StatusOK:
			after = byHand{}
			if err := json.Unmarshal([]byte(answer), &after); err != nil {
				s.t.Fatal(err)
			}
			return true
		}
		s.t.Fatalf("%s: %d %s", text, code, answer)
		return false
	})
	return after
}

// An operator puts a song next, moves another and takes a third one out; then the control plane is
// killed. The order is heard as it was made.
func TestTheQueueByHandIsHeardOverAKill(t *testing.T) {
	t.Parallel()
	s := ofSongs(t)
	air := s.listen()
	next, moved, removed := 0, 0, 0
	var made []int
	s.edit(func(q byHand) map[string]any {
		tones := q.tones()
		next = tones[q.movable()+9]
		return map[string]any{"op": "insert", "file": q.Entries[q.movable()+9].File}
	})
	s.edit(func(q byHand) map[string]any {
		at := q.movable() + 7
		moved = q.tones()[at]
		return map[string]any{"op": "move", "position": q.Entries[at].Position, "to": q.Entries[at-3].Position}
	})
	q := s.edit(func(q byHand) map[string]any {
		made = q.tones()[:q.Held]
		at := max(slices.Index(made, moved), q.movable()) + 1
		removed = made[at]
		made = slices.Delete(made, at, at+1)
		return map[string]any{"op": "remove", "position": q.Entries[at].Position}
	})
	want := q.tones()[q.movable():q.Held]
	if len(want) < 3 || len(want) > len(made) || !slices.Equal(made[len(made)-len(want):], want) {
		t.Fatalf("held are %v, ordered was the end of %v, without %d", want, made, removed)
	}
	from := time.Now()
	old := s.kill("control")
	s.eventually("the next control plane", func() bool {
		p, err := s.process("control")
		return err == nil && p.PID != old
	})
	s.whole()
	if held := s.byHand(); held.Held == 0 {
		t.Error("nothing is held after the kill")
	}
	var heard []int
	air.until(s, fmt.Sprintf("what is held is heard: %v", want), air.Position(from), func(all []aircheck.Segment) bool {
		heard = nil
		for _, seg := range all {
			if seg.ID >= 0 && (len(heard) == 0 || heard[len(heard)-1] != seg.ID) {
				heard = append(heard, seg.ID)
			}
		}
		return slices.Contains(heard, want[len(want)-1])
	})
	at := slices.Index(heard, want[0])
	if at < 0 || at > 2 || len(heard) < at+len(want) || !slices.Equal(heard[at:at+len(want)], want) {
		t.Errorf("heard %v, want %v (put next was %d)", heard, want, next)
	}
	if slices.Contains(heard, removed) {
		t.Errorf("heard %v, and %d was taken out", heard, removed)
	}
	s.eventually("nothing is held any more", func() bool { return s.byHand().Held == 0 })
}
