package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// inFlight is how many entries of the old list may still begin after a press:
// one, which the engine had begun to mix in.
const inFlight = 1

// The mission's skip and play, by ear: what is heard next is what the answer
// named. Orders that cannot be followed change nothing.
func TestSkipAndPlayAreHeard(t *testing.T) {
	s := steer(t)
	ear := s.listen()
	s.eventually("something is heard", func() bool { return ear.last(aircheck.Fine) >= 0 })
	pieces := sample()
	var pressed []int
	press := func(what string, order func() (answer, error)) {
		t.Helper()
		var before int
		var sent, answered time.Time
		a := s.answered(what, func() (answer, error) {
			before, sent = len(s.plays()), time.Now()
			a, err := order()
			answered = time.Now()
			if a.code == http.StatusConflict { // an engine that is short of time opens what is to be played too late
				err = errors.New(a.text)
			}
			return a, err
		})
		if a.code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", what, a.code, a.text)
		}
		named := s.brings(a)
		var began []played
		first := -1
		s.eventually(fmt.Sprintf("%s: tone %d airs", what, named), func() bool {
			began = s.plays()[before:]
			first = slices.IndexFunc(began, func(p played) bool { return p.tone == named })
			return first >= 0
		})
		// While the order is carried out the old list goes on.
		late := slices.DeleteFunc(began[:first:first], func(p played) bool { return p.at.Before(answered) })
		if len(late) > inFlight {
			t.Errorf("%s: tone %d was named, and %v began after the answer", what, named, late)
		}
		t.Logf("PRESS %-28s heard after %s", what, ear.hears(s, named, sent).Round(time.Millisecond))
		pressed = append(pressed, named)
	}
	press("skip", s.skip)
	press("skip again", s.skip)
	plan, _ := s.schedule()
	far := plan[len(plan)-2]
	press("play from far down", func() (answer, error) { return s.play(radio.Category(far.Category), far.File) })
	press("play of a category", func() (answer, error) { return s.play(radio.Mashups, "") })
	st, err := s.status()
	if err != nil || st.Track == nil {
		t.Fatalf("no track is on air: %+v, %v", st, err)
	}
	heard := slices.Clone(pressed) // the same tone once more is one to the ear
	press("play of what is on air", func() (answer, error) { return s.play(radio.Category(st.Track.Category), st.Track.File) })

	s.refusals(pieces)
	live := len(library()) - 1 // its tone is in no track that may air
	s.liveIsNotSkipped(live, radio.Mashups)
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Fine) })
	ear.stop()
	order := patched(aircheck.Fine.Analyse(ear.PCM())).Order()
	if !slices.Contains(order, live) {
		t.Errorf("the live source is not heard: %v", order)
	}
	order = slices.DeleteFunc(order, func(tone int) bool { return tone == live })
	if lost := within(heard, order); lost >= 0 {
		t.Errorf("tone %d, of press %d of %v, is not heard in its turn: %v", heard[lost], lost, heard, order)
	}
}
