package relay

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// joined are sets as they were found, with their times.
type joined struct {
	at   []time.Duration
	sets []string
}

func (j *joined) found(at time.Duration, one set) error {
	j.at, j.sets = append(j.at, at), append(j.sets, fmt.Sprintf("%s", one))
	return nil
}

// Renditions come one ahead of the other, and another program goes on now and then: each set is
// found once, in order, with the frames of one moment. Where a frame was lost on the way the one
// behind it stands in for it.
func TestFramesOfOneMomentAreJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const length = 23 * time.Millisecond
		n, frames := rapid.IntRange(1, 4).Draw(t, "renditions"), rapid.IntRange(2, 60).Draw(t, "frames")
		start := time.Duration(rapid.IntRange(0, 1<<30).Draw(t, "start ms")) * time.Millisecond
		lost := map[[2]int]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "lost") {
			lost[[2]int{rapid.IntRange(0, n-1).Draw(t, "of"), rapid.IntRange(0, frames-2).Draw(t, "at")}] = true
		}
		want := joined{}
		for i := range frames {
			if lost[[2]int{0, i}] {
				continue
			}
			one := make(set, n)
			for r := range n {
				at := i
				for lost[[2]int{r, at}] {
					at++
				}
				one[r] = fmt.Appendf(nil, "%d of %d", at, r)
			}
			_ = want.found(start+time.Duration(i)*length, one)
		}
		var got joined
		j := newJoiner(n)
		j.frame = length
		sent := make([]int, n)
		for slices.Min(sent) < frames {
			r := rapid.IntRange(0, n-1).Draw(t, "next")
			if sent[r] == frames || sent[r]-slices.Min(sent) > mostApart/2 {
				continue
			}
			at := sent[r]
			var batch [][]byte
			for range rapid.IntRange(1, 4).Draw(t, "at once") {
				if sent[r] == frames || lost[[2]int{r, sent[r]}] {
					break
				}
				batch = append(batch, fmt.Appendf(nil, "%d of %d", sent[r], r))
				sent[r]++
			}
			if len(batch) == 0 {
				sent[r]++ // it was lost
				continue
			}
			if err := j.push(r, start+time.Duration(at)*length, batch, got.found); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "another program") {
				j = reviveJoiner(gobbed(t, j.estate()))
				j.frame = length
			}
		}
		if !slices.Equal(got.at, want.at) || !slices.Equal(got.sets, want.sets) {
			t.Fatalf("got %v\n%q\nwant %v\n%q", got.at, got.sets, want.at, want.sets)
		}
	})
}

// A rendition that stops ends its publisher, and is not waited for without end.
func TestARenditionThatStopsIsNoticed(t *testing.T) {
	j := newJoiner(2)
	j.frame = 23 * time.Millisecond
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = j.push(0, time.Duration(i)*j.frame, [][]byte{{1}}, new(joined).found)
	}
	if !errors.Is(err, errRenditionStopped) || len(j.waiting[0]) > mostApart+1 {
		t.Errorf("%v with %d frames that wait", err, len(j.waiting[0]))
	}
	j = newJoiner(2)
	for i := range 1000 {
		if err := j.push(1, time.Duration(i)*time.Second, [][]byte{{1}}, new(joined).found); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(j.waiting[1]); n > mostApart {
		t.Errorf("%d frames wait for a main rendition that has stopped", n)
	}
}
