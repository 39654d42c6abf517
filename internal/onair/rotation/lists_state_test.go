package rotation

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// What the cursor does with a marker says what it means for the playlist.
func TestMarkersMoveAPlaylist(t *testing.T) {
	rot := Rotation{BuiltAt: noon, InFlight: []string{"flight", "d"}, Listed: map[string]ListPlace{"flight": {List: 7, Index: 1}}}
	for i, path := range []string{"a", "b", "song", "c", "d"} {
		e := Entry{Track: station.Track{Path: path, Category: station.English}}
		if path != "song" {
			e.List, e.Place = 7, ListPlace{List: 7, Index: 2 + i}
		}
		rot.Entries = append(rot.Entries, e)
	}
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	was := State{}.ofList(7, func(ListState) ListState { return ListState{Index: 0, Path: "first", At: at(-9), Aired: 1} })
	mark := func(st State, seq uint64, path string, minute int) (State, Kind) {
		out, did := Advance(rot, st, Marker{Engine: "e", Seq: seq, Path: path, Category: station.English, At: at(minute)})
		return out, did.Kind
	}
	type heard struct {
		seq    uint64
		path   string
		minute int
	}
	for name, tc := range map[string]struct {
		marks []heard
		kind  Kind // of the last
		want  ListState
	}{
		"in flight across a commit":        {[]heard{{5, "flight", -1}}, Unknown, ListState{Index: 1, Path: "flight", At: at(-1), Aired: 2}},
		"the next":                         {[]heard{{5, "a", 1}}, Advanced, ListState{Index: 2, Path: "a", At: at(1), Aired: 2}},
		"again, because no answer came":    {[]heard{{5, "a", 1}, {5, "a", 1}}, Repeated, ListState{Index: 2, Path: "a", At: at(1), Aired: 2}},
		"not of the playlist":              {[]heard{{5, "a", 1}, {6, "b", 2}, {7, "song", 3}}, Advanced, ListState{Index: 3, Path: "b", At: at(2), Aired: 3}},
		"passed over: it could not air":    {[]heard{{5, "a", 1}, {6, "song", 2}}, Advanced, ListState{Index: 3, Path: "b", At: at(1), Aired: 2}},
		"late, and the newest of it":       {[]heard{{6, "song", 2}, {5, "flight", 1}}, Late, ListState{Index: 1, Path: "flight", At: at(1), Aired: 2}},
		"late, and not the newest":         {[]heard{{5, "a", 3}, {6, "b", 4}, {4, "flight", 2}}, Late, ListState{Index: 3, Path: "b", At: at(4), Aired: 4}},
		"behind: the list began anew":      {[]heard{{5, "a", 1}, {6, "c", 2}, {7, "a", 3}}, Wrapped, ListState{Index: 5, Path: "c", At: at(3), Aired: 4}},
		"the clock was set back meanwhile": {[]heard{{5, "a", 20}, {6, "b", 1}}, Advanced, ListState{Index: 3, Path: "b", At: at(1), Aired: 3}},
	} {
		st, kind := was, Kind(0)
		for _, m := range tc.marks {
			st, kind = mark(st, m.seq, m.path, m.minute)
		}
		got := st.Lists[7]
		if kind != tc.kind || got.Index != tc.want.Index || got.Path != tc.want.Path || !got.At.Equal(tc.want.At) || got.Aired != tc.want.Aired {
			t.Errorf("%s: %s, %+v; want %s, %+v", name, kind, got, tc.kind, tc.want)
		}
	}
	if was.Lists[7].Path != "first" {
		t.Error("a state was changed")
	}
}

// A random order keeps what was chosen ahead of others, and forgets it when the order is over.
func TestARandomOrderRemembersWhatCameAhead(t *testing.T) {
	var s ListState
	for _, step := range []struct {
		pl    ListPlace
		done  uint64
		ahead int
	}{
		{ListPlace{Key: 40}, 0, 1}, {ListPlace{Key: 10}, 0, 2}, {ListPlace{Key: 20, Done: 10}, 10, 2}, {ListPlace{Key: 50, Done: 20}, 20, 2},
		{ListPlace{Key: 50, Done: 20}, 20, 2}, {ListPlace{Key: 7, Cycle: 1}, 0, 1}, {ListPlace{Key: 30, Done: 20}, 0, 1}, {ListPlace{}, 0, 1},
	} {
		if s = s.had(step.pl); s.Done != step.done || len(s.Ahead) != step.ahead {
			t.Fatalf("after %+v: done %d, ahead %v", step.pl, s.Done, s.Ahead)
		}
	}
}

// No more is remembered than a station may have, the oldest goes first.
func TestForgottenPlaylistsAreTheOldest(t *testing.T) {
	st := State{}
	for i := range listsKept + 10 {
		st = st.ofList(int64(i), func(s ListState) ListState { return s.heard(ListPlace{}, "a", noon.Add(time.Duration(i)*time.Minute)) })
	}
	if _, kept := st.Lists[9]; kept || len(st.Lists) != listsKept || st.Lists[10].Aired != 1 {
		t.Errorf("%d kept, the tenth %t", len(st.Lists), kept)
	}
}
