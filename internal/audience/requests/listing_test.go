package requests_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/station"
)

// everything are the pages of a search without a query.
func (r *rig) everything(who requests.Client) (all []requests.Found) {
	r.t.Helper()
	for {
		page, total, err := r.Search(r.t.Context(), who, " ", len(all))
		r.must(err)
		if total != len(r.tracks) {
			r.t.Errorf("%d of %d", total, len(r.tracks))
		}
		if all = append(all, page...); len(page) == 0 {
			return all
		}
	}
}

// In a part of the day that airs one category alone, a listener who has not typed anything
// sees its songs first, however their artists are called; so it is with songs that other
// rules stand against. Nothing is missing and nothing comes twice.
func TestWhatMayBeAskedForIsListedFirst(t *testing.T) {
	r := newRig(t)
	for i := range r.tracks {
		r.tracks[i].Artist = fmt.Sprintf("Singer %02d", i)
		if i < 60 {
			r.tracks[i].Category = station.ArabicHits
		}
	}
	r.gate = station.English
	r.last[r.tracks[70].Path] = noon().Add(-40 * time.Minute)
	r.plan(r.tracks[71])
	judge := func(what string, free int, refused map[int]requests.Code) {
		t.Helper()
		all, seen := r.everything(listener(1)), map[string]bool{}
		if len(all) != len(r.tracks) {
			t.Errorf("%s: %d of %d are listed", what, len(all), len(r.tracks))
		}
		before := ""
		for i, f := range all {
			if i == free {
				before = ""
			}
			if f.Track.Artist <= before || seen[f.Track.Path] {
				t.Errorf("%s: place %d: %s after %s", what, i, f.Track.Artist, before)
			}
			before, seen[f.Track.Path] = f.Track.Artist, true
			if (f.Refusal == nil) != (i < free) {
				t.Errorf("%s: place %d: %s: %v", what, i, f.Track.Artist, f.Refusal)
			}
			for n, code := range refused {
				if f.Track.Path == r.tracks[n].Path && f.Refusal.Code != code {
					t.Errorf("%s: %s: %v", what, f.Track.Artist, f.Refusal)
				}
			}
		}
	}
	judge("at night", 38, map[int]requests.Code{0: requests.Daypart, 70: requests.JustAired, 71: requests.Soonest})
	_, err := r.ask(listener(2), r.tracks[72])
	r.must(err)
	judge("one is asked for", 37, map[int]requests.Code{72: requests.Asked})
	r.pass(3 * time.Hour) // of the rig: everything airs then; what was asked for waits
	judge("in the morning", 98, map[int]requests.Code{71: requests.Soonest, 72: requests.Asked})

	// Who may not ask at all is shown the same order.
	_, err = r.ask(listener(1), r.tracks[80])
	r.must(err)
	if all := r.everything(listener(1)); all[0].Refusal == nil || all[0].Refusal.Code != requests.TooSoon || all[0].Track.Path != r.tracks[0].Path || all[99].Track.Path != r.tracks[80].Path {
		t.Errorf("%+v", all[0])
	}
}

// BenchmarkList prints what the first page of 100,000 tracks takes: as it is kept, made
// anew because something has changed, and by artist alone.
func BenchmarkList(b *testing.B) {
	r := newRig(b)
	r.tracks = nil
	for n := range 100_000 {
		t := song(n)
		t.Artist = fmt.Sprint("Singer ", n/10)
		if n%2 == 0 {
			t.Category = station.ArabicHits
		}
		if r.tracks = append(r.tracks, t); n%3 == 0 {
			r.last[t.Path] = noon().Add(-time.Duration(n%500) * time.Minute)
		}
	}
	r.gate = station.English
	r.begin()
	for n := range 20 {
		r.air.Heard = append(r.air.Heard, requests.Airing{ID: fmt.Sprint(n), Path: r.tracks[n].Path, Artist: r.tracks[n].Artist, At: noon().Add(-time.Duration(n) * time.Minute)})
	}
	for name, run := range map[string]func() (int, error){
		"kept":      func() (int, error) { return r.List(b.Context(), false) },
		"anew":      func() (int, error) { return r.List(b.Context(), true) },
		"by_artist": func() (int, error) { return r.ByArtist(b.Context()) },
	} {
		b.Run(name, func(b *testing.B) {
			_, _ = run()
			for b.Loop() {
				if total, err := run(); err != nil || total != 100_000 {
					b.Fatal(total, err)
				}
			}
		})
	}
}

// A track's page offers what a listener without a past could ask for.
func TestATrackIsFreeWhileNoRuleOfItsOwnStandsAgainstIt(t *testing.T) {
	r := newRig(t)
	free := func(n int, want bool) {
		t.Helper()
		if got, err := r.Free(t.Context(), r.tracks[n].Path); err != nil || got != want {
			t.Errorf("track %d: %v %v", n, got, err)
		}
	}
	r.tracks[3].Artist, r.tracks[4].Category = "Somebody else", station.Jingles
	r.tracks[5].Duration = time.Second
	free(3, true)
	free(4, false)
	free(5, false)
	_, err := r.ask(requests.Client{}, r.tracks[3])
	r.must(err)
	free(3, false)
	if got, err := r.Free(t.Context(), "none.mp3"); got || err != nil {
		t.Errorf("none: %v %v", got, err)
	}
	r.must(r.SetOpen(t.Context(), false))
	free(60, false)
}
