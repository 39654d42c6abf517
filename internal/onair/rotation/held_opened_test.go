package rotation

import (
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// What the engine has opened ahead and drops is no neighbour of what is held: the next entry
// moved down is not heard twice, and what is put before it does not follow it.
func TestWhatIsOpenedAheadBreaksNoRuleOfWhatIsHeld(t *testing.T) {
	s := newScale()
	s.tracks[40].Artist, s.tracks[40].Album = s.tracks[0].Artist, "another"
	s.done(nil)
	s.r.Prepared = []station.Track{s.tracks[0]}
	if breaks, _ := Weigh(s.r, s.r, s.order, s.move(0, 3)); len(breaks) > 0 {
		t.Errorf("moved down: %v", said(breaks))
	}
	next := Order{Entries: []Entry{Placed(s.tracks[40])}, From: []int{-1}, Removed: -1}
	next.Entries[0].Held = true
	if breaks, _ := Weigh(s.r, s.r, s.order, next); len(breaks) > 0 {
		t.Errorf("put before: %v", said(breaks))
	}
	is := s.r
	is.Held = next.Entries
	rot := Build(is)
	if len(rot.Entries[0].Relaxed) > 0 {
		t.Errorf("relaxed for what is put before: %v", rot.Entries[0].Relaxed)
	}
	i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Artist == s.tracks[0].Artist && !e.Held })
	if gap := is.Config.Rotation.ArtistGap.Duration(); i >= 0 && Expected(rot.Entries, noon)[i].Sub(noon) < gap {
		t.Errorf("behind what is held the artist comes again at once: entry %d", i)
	}
}

// A removal is no airing: it breaks no rule of the same track where that is held, and counts for
// no play a day; but no deck brings it back.
func TestARemovalIsNoAiring(t *testing.T) {
	s := newScale()
	s.r.Config.Rotation.MaxPlaysDay = 1
	s.done(nil)
	s.r.Removed = []Removed{{s.tracks[3].Path, noon.Add(-time.Minute)}, {s.tracks[40].Path, noon.Add(-2 * time.Hour)}}
	s.r.Held = s.order[:6]
	for _, e := range Build(s.r).Entries[:6] {
		if len(e.Relaxed) > 0 {
			t.Errorf("%s breaks %v", e.Track.Path, e.Relaxed)
		}
	}
	_, then := build(func() Request { r := s.r; r.Held = []Entry{Placed(s.tracks[40])}; return r }())
	for _, b := range then {
		if b.Rule == DayLimit {
			t.Errorf("the removal counts as a play: %+v", b)
		}
	}
	s.r.Held = s.order[4:10]
	rot := Build(s.r)
	i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Track.Path == s.tracks[3].Path })
	if i >= 0 && Expected(rot.Entries, noon)[i].Sub(noon) < time.Hour {
		t.Errorf("what was removed comes right back, as entry %d", i)
	}
}

// An engine that begins the list again does not cost what is held.
func TestAListBegunAgainKeepsWhatIsHeld(t *testing.T) {
	s := newScale()
	s.done(nil)
	rot := Rotation{Entries: s.order[:8], BuiltAt: noon}
	for i := range 6 {
		rot.Entries[i].Held = true
	}
	st := State{}
	for i, path := range []string{"00", "01", "00"} {
		var out Outcome
		st, out = Advance(rot, st, Marker{Engine: "e", Seq: uint64(i + 1), Path: path, At: noon.Add(time.Duration(i) * time.Minute)})
		if i == 2 && (out.Kind != Wrapped || st.Consumed != 2) {
			t.Errorf("%s: %d are consumed", out.Kind, st.Consumed)
		}
	}
}

// Behind a timed event that is held, one that is not asks for the rebuild that mends it.
func TestOffTimeLooksBehindWhatIsHeld(t *testing.T) {
	s := newScale()
	s.done(func(s *scale) {
		for _, i := range []int{1, 8} {
			s.order[i].Due, s.order[i].Tolerance = s.at(i), 30*time.Second
		}
	})
	rot := Rotation{Entries: s.order, Starts: noon}
	rot.Entries[0].Held, rot.Entries[1].Held = true, true
	if off := OffTime(rot, 0, noon.Add(3*time.Minute)); off != 3*time.Minute {
		t.Errorf("off by %s", off)
	}
}

// A track that is taken off the air after it was held does not air; one that was held against its
// limits does.
func TestATrackTakenOffTheAirIsHeldNoMore(t *testing.T) {
	s := newScale()
	for _, i := range []int{2, 4} {
		s.tracks[i].Own = &station.Own{Limits: station.Limits{Hours: 1 << 20}} // not at noon
	}
	s.done(func(s *scale) { s.order[2].Track.Own = nil })
	s.r.Held = s.order[:6]
	var got []string
	for _, e := range Build(s.r).Entries[:5] {
		got = append(got, e.Track.Path)
	}
	if want := []string{"00", "01", "03", "04", "05"}; !slices.Equal(got, want) {
		t.Errorf("%v come, want %v", got, want)
	}
}
