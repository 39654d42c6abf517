package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// lasting plays a song of three minutes.
func (h *house) lasting(id string) {
	h.plays(id)
	h.air[0].Lasts = 3 * time.Minute
}

// A machine, or the engine, that is off for a night does not make the last song one of eight
// hours: a report of a month would be wrong after every outage.
func TestAnOutageIsNoPartOfTheLastSong(t *testing.T) {
	for name, outage := range map[string]func(h *house){
		"the machine is off": func(h *house) {
			h.stop()
			h.now = h.now.Add(8 * time.Hour)
			h.open()
		},
		"the machine is off, and nothing is known of what aired": func(h *house) {
			h.stop()
			h.now, h.air = h.now.Add(8*time.Hour), nil
			h.open()
			h.pass(time.Minute)
		},
		"the engine is off": func(h *house) { h.pass(8 * time.Hour) },
		"more aired than is listed": func(h *house) {
			h.now = h.now.Add(8 * time.Hour)
			for i := range 40 {
				h.lasting(fmt.Sprint("late ", i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "UTC", "2026-11-21 22:00:00")
			h.hls = &Reading{Listeners: 10, Begun: 10}
			h.lasting("x")
			began := h.now
			h.pass(2 * time.Minute)
			outage(h)
			h.lasting("y")
			h.pass(time.Minute)
			h.stop()
			for _, a := range h.aired() {
				if a.ID != "x" {
					continue
				}
				if length, hours := a.EndedAt.Sub(began), a.ListenerHours(h.now); length < 2*time.Minute || length > 4*time.Minute || hours > 10*4.0/60 || a.samples > 4*12 {
					t.Errorf("%v long, %v listener hours of %d samples", length, hours, a.samples)
				}
				return
			}
			t.Error("it is not listed")
		})
	}
}

// Until something follows, too: what is on the air counts up to now.
func TestASongThatNothingFollowsEnds(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 22:00:00")
	h.lasting("x")
	h.pass(time.Hour)
	if all := h.aired(); len(all) != 1 || all[0].EndedAt.Sub(all[0].StartedAt) != 4*time.Minute {
		t.Errorf("%+v", all)
	}
}

// A show has no length of its own, and a song that goes on over a restart is one.
func TestWhatGoesOnOverARestartIsNotCut(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 22:00:00")
	h.plays("show")
	h.pass(5 * time.Minute)
	h.stop()
	h.now = h.now.Add(time.Hour)
	h.open()
	h.pass(5 * time.Minute)
	h.plays("next")
	h.pass(time.Minute)
	h.stop()
	for _, a := range h.aired() {
		if a.ID == "show" && a.EndedAt.Sub(a.StartedAt) != 70*time.Minute {
			t.Errorf("%+v", a)
		}
	}
}

// A file that is replaced under its name does not give what aired before the code of what it
// is now.
func TestAReplacedFileTellsNothingOfWhatAiredBefore(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	h.made(song("01.mp3", h.now.Add(-time.Hour), time.Minute, 1, 0, 0), func() Aired {
		a := song("01.mp3", h.now.Add(-time.Minute), time.Minute, 1, 0, 0)
		a.Title = "new"
		return a
	}())
	h.known, h.replaced = map[string]Release{"01.mp3": {ISRC: "EGA012600001"}}, map[string]string{"01.mp3": "new"}
	check := func(when string) {
		t.Helper()
		got, err := h.Used(t.Context(), Month{2026, time.November})
		if err != nil || len(got.Uses) != 2 {
			t.Fatalf("%s: %+v, %v", when, got, err)
		}
		for _, u := range got.Uses {
			if (u.ISRC != "") != (u.Title == "new") {
				t.Errorf("%s: %+v", when, u)
			}
		}
	}
	check("as the library has it")
	h.stop()
	h.known = nil
	check("as it is written")
}

// Some taggers write one code on a whole album.
func TestOneCodeOnAnAlbumDoesNotMakeItOneSong(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	for i := range 3 {
		a := song(fmt.Sprint(i), h.now.Add(-time.Duration(i+1)*time.Hour), time.Minute, 1, 0, 0)
		a.ISRC = "EGA012600001"
		h.made(a)
	}
	if got, err := h.Used(t.Context(), Month{2026, time.November}); err != nil || len(got.Uses) != 3 {
		t.Errorf("%+v, %v", got.Uses, err)
	}
}

// After a day without a disk all that waits is written within the patience of one write.
func TestWhatWaitsForADiskIsAddedUpFirst(t *testing.T) {
	b := book{zone: time.UTC}
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for i := range mostPending {
		var crowd census.Crowd
		for _, code := range census.Countries() {
			crowd.Join(crowdOf(map[string]int{"android": 1}, map[string]int{code: 1}))
		}
		b.minutes = append(b.minutes, minute{at: at.Add(time.Duration(i) * time.Minute), crowd: crowd})
	}
	all, names := b.crowds(), len(census.Countries())+1
	if most := (mostPending/60 + 2) * names; len(all) > most+2*names {
		t.Errorf("%d rows of %d names", len(all), names)
	}
	if got, want := all[crowdKey{Hour, at.UnixMilli(), "country", "EG"}], 60*everySeconds; got != want {
		t.Errorf("%d s in an hour, want %d", got, want)
	}
	if got, want := all[crowdKey{Day, at.UnixMilli(), "country", "EG"}], 24*60*everySeconds; got != want {
		t.Errorf("%d s in a day, want %d", got, want)
	}
}
