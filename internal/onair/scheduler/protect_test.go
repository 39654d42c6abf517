package scheduler_test

import (
	"slices"
	"testing"
	"time"
)

// What a refresh may not touch (mission: Limits), and what the engine may still
// open of a list it has just been given up for another.
func TestWhatIsOnAirAndNextIsProtected(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(300)))
	first := r.built().Rotation.Entries
	r.hear("boot", 1, first[0].Track.Path)
	r.hear("boot", 2, first[1].Track.Path)
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := r.View()
	want := []string{first[1].Track.Path, first[0].Track.Path}
	for _, e := range v.Rotation.Entries[:40] {
		want = append(want, e.Track.Path)
	}
	soon := v.Protected(time.Now())
	for _, path := range append(want, first[2].Track.Path, first[9].Track.Path) {
		if !slices.Contains(soon, path) {
			t.Errorf("%s is not protected", path)
		}
	}
	later := v.Protected(time.Now().Add(2 * time.Minute))
	want = slices.Compact(slices.Sorted(slices.Values(want)))
	if !slices.Equal(slices.Sorted(slices.Values(later)), want) {
		t.Errorf("after the engine has let go of the old list:\n%v\nwant\n%v", later, want)
	}
	held, err := r.Holding(t.Context(), []string{v.Rotation.Entries[119].Track.Path, "music/arabic_hits/none.mp3"})
	if err != nil || !slices.Equal(held, []string{v.Rotation.Entries[119].Track.Path}) {
		t.Errorf("the rotation holds %v, %v", held, err)
	}
	plays, err := r.Plays(t.Context())
	if err != nil || len(plays) != 2 || plays[first[1].Track.Path] != 1 {
		t.Errorf("plays %v, %v", plays, err)
	}
}
