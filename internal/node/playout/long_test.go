package playout_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"
)

// crossing is a song with a cross of its own.
func crossing(id int, long time.Duration, cross float64) entry {
	return entry{id: id, long: long, cross: strconv.FormatFloat(cross, 'f', -1, 64)}
}

// A song's own cross is heard as long as said towards one that has as much, and as long as
// the other's towards any other: also where hardly anything is left between two crosses, and
// the longest that there is.
func TestASongsOwnCrossIsHeardAsLongAsItIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	entries := []entry{
		music(0, 14*second), crossing(2, 20*second, 6), crossing(4, 20*second, 6), crossing(6, 13*second, 6), crossing(8, 20*second, 8), music(10, 9*second),
		{12, "jingles", "0.5", 3 * second / 2, 0, ""}, crossing(14, 62*second, 30), crossing(16, 62*second, 30), crossing(18, 8*second, 3), crossing(20, 9*second, 3),
	}
	want := []float64{2, 6, 6, 6, 2, .5, .5, 30, 3, 3}
	r.push(r.list(entries...))
	o := r.offline()
	o.play(150 * second)
	o.playUntil("the last entry", entered(len(entries)))
	o.play(6 * second)
	var ids []int
	for _, e := range entries {
		ids = append(ids, e.id)
	}
	report := o.heard(ids...)
	if got := report.Order(); !slices.Equal(got, ids) {
		t.Fatalf("order %v, want %v", got, ids)
	}
	for i, c := range report.Crosses() {
		// A fade is found when it is above 2 %: of a long one more is not.
		if got := c.Overlap.Seconds(); math.Abs(got-want[i]) > 0.05+0.04*want[i] {
			t.Errorf("cross from %d to %d is %.2f s, want %.1f s", c.From, c.To, got, want[i])
		}
	}
	for i, s := range report.Segments[:len(entries)-1] {
		if i > 0 && (s.Length()-entries[i].long).Abs() > 60*time.Millisecond+entries[i].long/20 {
			t.Errorf("track %d is heard for %s of its %s", s.ID, s.Length(), entries[i].long)
		}
	}
	unbroken(t, report)
}

// A skip is heard at once wherever a song with a long cross is: far from its end, while the
// cross is being read ahead, just before it begins, and within it.
func TestASkipIsHeardAtOnceWhateverIsHeldBack(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{"far": 5 * second, "read ahead": 21 * second, "held back": 22500 * time.Millisecond, "just before": 23800 * time.Millisecond, "within": 26 * second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.push(r.list(crossing(0, 30*second, 6), crossing(2, 30*second, 6), music(4, 20*second)))
			o := r.offline()
			o.play(at)
			next, order := 2, []int{0, 2}
			if name == "within" {
				next, order = 4, []int{0, 2, 4} // the second has begun
			}
			pressed := o.skip()
			o.play(3 * second)
			report := o.heard(0, 2, 4)
			if got := report.Order(); !slices.Equal(got, order) {
				t.Errorf("order %v, want %v", got, order)
			}
			heardWithinASecond(t, "a skip", begins(t, report, next, 0)-pressed)
			gapless(t, report, turn)
			clickless(t, report)
			for _, s := range report.Segments {
				if s.ID == 0 && s.End-pressed > second {
					t.Errorf("what was skipped is heard for %s more", s.End-pressed)
				}
			}
		})
	}
}
