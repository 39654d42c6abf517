package scheduler_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// What a refresh may not touch (mission: Limits), and what the engine may still
// open of a list it has just been given up for another.
func TestWhatIsOnAirAndNextIsProtected(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(300)))
	first := r.built().Rotation.Entries
	r.hear("boot", 1, first[0].Track.Path)
	r.hear("boot", 2, first[1].Track.Path)
	for range 2 { // the engine may be busy with neither or both
		if err := r.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
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

// What is queued is heard next, and nothing is cut short for it.
func TestAQueuedTrackComesNext(t *testing.T) {
	r, p := newDesk(t, newShelf(everything(200)), nil)
	first := r.View().Rotation.Entries
	r.hear("player", 1, first[0].Track.Path)
	const news = "news/c.mp3"
	if err := r.Queue(t.Context(), news); err != nil {
		t.Fatal(err)
	}
	v := r.View()
	if v.Rotation.Entries[0].Track.Path != news || v.OnAir.Track.Path != first[0].Track.Path {
		t.Errorf("on air %s, next %s", v.OnAir.Track.Path, v.Rotation.Entries[0].Track.Path)
	}
	if _, cues := p.last(); cues != 0 {
		t.Errorf("the engine was told to go on %d times", cues)
	}
	if err := r.Queue(t.Context(), "news/none.mp3"); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("an unknown track: %v", err)
	}
	if r.View().Rotation.Entries[0].Track.Path != news {
		t.Error("a refused order changed the rotation")
	}
}
