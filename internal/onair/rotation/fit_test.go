package rotation

import (
	"testing"
	"time"
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
