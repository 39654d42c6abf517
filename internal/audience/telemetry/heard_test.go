package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func (h *house) titles() (out []string) {
	for _, a := range h.Heard().Airings {
		out = append(out, a.Title)
	}
	return out
}

// airs puts something on the air now, and lets one poll pass.
func (h *house) airs(a Airing) {
	a.ID, a.StartedAt = fmt.Sprint(h.now.UnixMilli()), h.now
	h.air = append([]Airing{a}, h.air...)
	h.air = h.air[:min(len(h.air), 10)]
	h.pass(Every)
}

// Listeners find within seconds what is on the air, and nothing that has no name to them;
// after a kill it is what was written.
func TestListenersFindWhatWasOnTheAir(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 22:00:00")
	h.airs(Airing{Path: "a.mp3", Title: "Nassam Alayna", Artist: "Fairuz", Category: "arabic_hits", Type: "music", Kind: "rotation"})
	h.pass(time.Minute)
	h.airs(Airing{Path: "j.mp3", Title: "Jingle", Category: "jingles", Kind: "rotation"})
	h.airs(Airing{Path: "e.mp3", Title: "The loop", Kind: "emergency"})
	h.airs(Airing{Title: "سهرة", Artist: "مريم", Kind: "live"})
	h.airs(Airing{Path: "b.mp3", Title: "نسم علينا الهوى", Artist: "فيروز", Category: "arabic_hits", Type: "music", Kind: "rotation"})
	h.airs(Airing{Path: "n.mp3", Title: "News", Category: "news", Kind: "rotation"})
	if got := fmt.Sprint(h.titles()); got != "[News نسم علينا الهوى سهرة Nassam Alayna]" {
		t.Fatal(got)
	}
	if first := h.Heard().Airings[3]; first.EndedAt.IsZero() {
		t.Errorf("%+v: its end is not known", first)
	}
	for query, want := range map[string]string{"فيروز": "[1 3]", "fayrouz": "[1 3]", "nassam": "[1 3]", "jingle": "[]", "مريم": "[2]", "the loop": "[]"} {
		if got := fmt.Sprint(h.Heard().Search(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	h.stop()
	h.air = nil
	h.open()
	if got := h.titles(); len(got) != 4 {
		t.Errorf("after a restart: %v", got)
	}
}

func TestListenersLookBackAWeek(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	h.airs(Airing{Path: "old.mp3", Title: "old", Category: "english", Kind: "rotation"})
	h.stop()
	h.now = h.now.Add(HeardFor - time.Minute)
	h.airs(Airing{Path: "a.mp3", Title: "a", Category: "english", Kind: "rotation"})
	if got := h.titles(); len(got) != 2 {
		t.Errorf("%v", got)
	}
	h.now = h.now.Add(2 * time.Minute)
	h.airs(Airing{Path: "b.mp3", Title: "b", Category: "english", Kind: "rotation"})
	if got := fmt.Sprint(h.titles()); got != "[b a]" {
		t.Error(got)
	}
	h.stop()
	h.open()
	if got := fmt.Sprint(h.titles()); got != "[b a]" {
		t.Errorf("after a restart: %s", got)
	}
	// The page of a track knows its older airings.
	played, err := h.Played(t.Context(), "old.mp3", 20)
	if err != nil || len(played) != 1 {
		t.Errorf("%v %v", played, err)
	}
}

// A file that has aired is found by its track's id from the first poll on, whatever its path is
// made of, also once it has left the library.
func TestATrackIsFoundByItsIdOnceItHasAired(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	find := func(path string, want bool) {
		t.Helper()
		got, known, err := h.PathOf(t.Context(), station.TrackID(path))
		if err != nil || known != want || known && got != path {
			t.Errorf("%q: %q %v %v", path, got, known, err)
		}
	}
	h.airs(Airing{Path: "first\xff.mp3", Title: "first", Category: "english", Kind: "rotation"})
	find("first\xff.mp3", true)
	find("second.mp3", false)
	h.airs(Airing{Path: "second.mp3", Title: "second", Category: "english", Kind: "rotation"})
	find("second.mp3", true)
	h.airs(Airing{Title: "live", Kind: "live"})
	find("", false)
	h.stop()
	h.open()
	find("first\xff.mp3", true)
	find("", false)
	h.airs(Airing{Path: "second.mp3", Title: "second", Category: "english", Kind: "rotation"})
	played, err := h.Played(t.Context(), "second.mp3", 1)
	if err != nil || len(played) != 1 || !played[0].StartedAt.After(h.now.Add(-2*Every)) {
		t.Errorf("the newest airing: %v %v", played, err)
	}
}

// With a clock that was set back what is on the air is not the newest by time. It is taken once,
// and not with each poll.
func TestWhatIsOnTheAirIsTakenOnceAlsoWithAClockSetBack(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	h.airs(Airing{Path: "a.mp3", Title: "a", Category: "english", Kind: "rotation"})
	h.now = h.now.Add(-time.Hour)
	h.airs(Airing{Path: "b.mp3", Title: "b", Category: "english", Kind: "rotation"})
	before := h.Heard()
	h.pass(3 * Every)
	if h.Heard() != before {
		t.Error("polls that brought nothing new made the list anew")
	}
	if got := fmt.Sprint(h.titles()); got != "[a b]" {
		t.Error(got)
	}
}
