//go:build soak

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// rehearsal is four minutes of the programme as the planner means it, without
// any audio: a hard window begins after two.
func rehearsal(pieces []piece) (cfg rotation.Config, heard []airing, rotations []committed) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	began := now
	cfg = programmeRules(36, day(now.Add(2*time.Minute), 0))
	var tracks []radio.Track
	for _, p := range pieces {
		tracks = append(tracks, radio.Track{
			Path: p.file(), Category: p.category, Title: p.title, Artist: p.artist, Album: p.album,
			Duration: p.length, ModTime: began.Add(time.Duration(p.id) * time.Second),
		})
	}
	index := rotation.NewIndex(tracks)
	var rot rotation.Rotation
	var st rotation.State
	var last rotation.Entry
	for seq := uint64(1); now.Sub(began) < 4*time.Minute; seq++ {
		if d := rotation.Decide(rotation.Situation{
			Cause: rotation.Write, Length: len(rot.Entries), Consumed: st.Consumed, RefreshFraction: cfg.Rotation.RefreshFraction,
			StampedDaypart: rot.Daypart, LiveDaypart: rotation.DaypartKey(cfg, now),
		}); d.Rebuild {
			rot = rotation.Build(rotation.Request{Index: index, Config: cfg, State: st, Now: now, Seed: seq})
			st = st.Fresh()
			var entries []entry
			for _, e := range rot.Entries {
				entries = append(entries, entry{File: e.Track.Path})
			}
			rotations = append(rotations, committed{entries, now})
		}
		at := st.Consumed
		e := rot.Entries[at]
		if seq > 1 {
			now = now.Add(last.Track.Duration - min(last.Cross, e.Cross))
		}
		h := airing{entry: entry{File: e.Track.Path}, rotation: len(rotations) - 1, position: at, at: now}
		for _, r := range e.Relaxed {
			h.Relaxed = append(h.Relaxed, string(r))
		}
		h.ID, h.Start = toneOf(e.Track.Path), now.Sub(began)
		heard = append(heard, h)
		st, _ = rotation.Advance(rot, st, rotation.Marker{
			Engine: "e", Seq: seq, Path: e.Track.Path, Artist: e.Track.Artist, Category: e.Track.Category, At: now,
		})
		last = e
	}
	return cfg, heard, rotations
}

// The judge of the programme passes what the planner means, and finds each
// fault that is put in.
func TestSoakJudgeFindsWhatIsPutIn(t *testing.T) {
	pieces := library()
	cfg, clean, rotations := rehearsal(pieces)
	judged := func(heard []airing) []string {
		j := judgement{cfg: cfg, pieces: pieces, heard: heard, rotations: rotations}
		return j.faults()
	}
	if found := judged(clean); len(found) > 0 {
		t.Fatalf("faults in what the planner means: %q", found)
	}
	at := func(from int, ok func(p piece) bool) int {
		return from + slices.IndexFunc(clean[from:], func(a airing) bool { return ok(pieces[a.ID]) })
	}
	song := func(p piece) bool { return p.category == radio.ArabicHits && len(p.singers) == 1 }
	of := func(c radio.Category) func(piece) bool { return func(p piece) bool { return p.category == c } }
	inGate := slices.IndexFunc(clean, func(a airing) bool { return a.Start > 3*time.Minute })
	one := at(10, song)
	by := slices.IndexFunc(pieces, func(p piece) bool {
		return p.id != clean[one].ID && song(p) && p.singers[0] == pieces[clean[one].ID].singers[0]
	})
	after := at(one+1, radioMusic)
	for _, c := range []struct {
		want string
		put  func(heard []airing) []airing
	}{
		{"twice in a row", func(h []airing) []airing { h[one+1].ID = h[one].ID; return h }},
		{"the song again", func(h []airing) []airing { h[at(one+3, song)].ID = h[one].ID; return h }},
		{"on cooldown", func(h []airing) []airing { h[at(one+16, song)].ID = h[one].ID; return h }},
		{pieces[clean[one].ID].singers[0] + " twice in a row", func(h []airing) []airing { h[after].ID = by; return h }},
		{"below the quality floor", func(h []airing) []airing { h[one].ID = len(pieces) - 1; return h }},
		{"arabic_hits in the English-only window", func(h []airing) []airing { h[at(inGate, of(radio.English))].ID = 0; return h }},
		{"shorts in the English-only window", func(h []airing) []airing { h[at(inGate, of(radio.Sweepers))].ID = 123; return h }},
		{"news after", func(h []airing) []airing { h[at(0, of(radio.News))+10].ID = 122; return h }},
		{"news after", func(h []airing) []airing { i := at(30, of(radio.News)); return slices.Delete(h, i, i+1) }},
		{"an old bulletin", func(h []airing) []airing { h[at(0, of(radio.News))].ID = 121; return h }},
		{"signature jingle after", func(h []airing) []airing { h[at(at(0, of(radio.Jingles))+3, of(radio.Sweepers))].ID = 105; return h }},
		{"ad after", func(h []airing) []airing { i := at(30, of(radio.Ads)); return slices.Delete(h, i, i+1) }},
		{"rotation 2 was left after", early},
	} {
		found := judged(c.put(slices.Clone(clean)))
		if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%q was put in, found were %q", c.want, found)
		}
	}

	var segments []aircheck.Segment
	for _, a := range clean {
		segments = append(segments, a.Segment)
	}
	if heard, _ := explain(segments, rotations, 0); len(heard) != len(clean) {
		t.Error("what the planner means is not explained")
	}
	if heard, lost := explain(slices.Delete(slices.Clone(segments), 50, 51), rotations, 0); heard != nil || lost != 50 {
		t.Errorf("a lost entry is explained, or missed at %d", lost)
	}
	if heard, lost := explain(slices.Insert(slices.Clone(segments), 50, segments[49]), rotations, 0); heard != nil || lost != 50 {
		t.Errorf("an entry aired twice is explained, or missed at %d", lost)
	}
	if heard, _ := explain(slices.Insert(slices.Clone(segments), 50, segments[49]), rotations, 1); heard == nil || heard[50].rotation >= 0 {
		t.Error("one entry of a list that was not seen is not allowed for")
	}
}

func radioMusic(p piece) bool { return p.category.Music() }

// early leaves the third rotation before its time, for no reason.
func early(heard []airing) []airing {
	from := slices.IndexFunc(heard, func(a airing) bool { return a.rotation == 2 })
	next := slices.IndexFunc(heard, func(a airing) bool { return a.rotation == 3 })
	return slices.Delete(heard, from+3, next)
}
