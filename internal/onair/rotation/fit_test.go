package rotation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/station"
)

func TestFitKnowsByHowMuchAnEventWouldBeMissed(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	last := &fit{room: s(200), slack: s(10)}
	two := &fit{room: s(400), slack: s(10), after: []time.Duration{s(150), s(180), s(260)}}
	many := &fit{room: s(1000), slack: s(10), least: s(700), most: s(800)}
	for _, tc := range []struct {
		name    string
		fit     *fit
		airtime time.Duration
		miss    time.Duration
		takes   bool
	}{
		{"ends on time", last, s(200), 0, true}, {"early, well enough", last, s(190), s(10), true}, {"early", last, s(189), s(11), false},
		{"late", last, s(211), s(11), false},
		{"one follows exactly", two, s(220), 0, true}, {"the shorter follows", two, s(240), s(10), true}, {"the longest follows", two, s(135), s(5), true},
		{"too short for any to follow", two, s(129), s(11), false}, {"too long for any", two, s(265), s(15), false}, {"as long as the room", two, s(400), s(150), false},
		{"others make up for it", many, s(250), 0, true}, {"just too much is left", many, s(189), s(11), false}, {"just too little is left", many, s(311), s(11), false},
	} {
		if miss := tc.fit.miss(tc.airtime); miss != tc.miss || tc.fit.takes(tc.airtime) != tc.takes {
			t.Errorf("%s: misses by %s, taken: %v", tc.name, miss, tc.fit.takes(tc.airtime))
		}
	}
}

// What is to follow an entry before a timed event is reckoned with songs that
// may well air then: rested, not the last that aired, and of few turns if there
// are enough of those.
func TestFitReckonsWithWhatMayFollow(t *testing.T) {
	var tracks []station.Track
	for i := range 20 { // of 100 to 119 seconds
		tracks = append(tracks, station.Track{Path: fmt.Sprint(i), Category: station.English, Duration: time.Duration(100+i) * time.Second})
	}
	p := newPlan(Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon})
	h := p.hand(station.English, false)
	cards := map[string]*candidate{}
	for _, c := range h.cards {
		cards[c.path] = c
	}
	seconds := func() (out []int) {
		for _, d := range p.airtimes(h) {
			out = append(out, int((d + CrossOf(station.English)).Seconds()))
		}
		return out
	}
	without := func(left ...int) (out []int) {
		for i := range 20 {
			if !slices.Contains(left, i) {
				out = append(out, 100+i)
			}
		}
		return out
	}
	hour := int64(time.Hour)
	cards["3"].last = p.at - hour   // not rested: three hours are the rule
	cards["5"].last = p.at - 3*hour // just so, and of the last that aired
	p.last[0] = "7"
	if d := cmp.Diff(without(3, 5, 7), seconds()); d != "" {
		t.Errorf("rested, and not the last:\n%s", d)
	}
	for i := range 5 { // of more turns than the rest: twelve others are enough
		cards[fmt.Sprint(10+i)].round = h.low + 1
	}
	if d := cmp.Diff(without(3, 5, 7, 10, 11, 12, 13, 14), seconds()); d != "" {
		t.Errorf("of few turns:\n%s", d)
	}
	cards["16"].round = h.low + 1 // eleven are not
	if d := cmp.Diff(without(3, 7), seconds()); d != "" {
		t.Errorf("of any turns, when there are too few others:\n%s", d)
	}
}
