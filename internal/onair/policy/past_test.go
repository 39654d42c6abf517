package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// keeping opens the desk's file as the station does: every change is kept.
func (d *desk) keeping() {
	d.t.Helper()
	d.open()
	log, _ := testkit.Log(d.t)
	d.Owner = d.With(func(context.Context, rotation.Config) (bool, error) { return true, d.fail }).Keep(policy.Keeping{Log: log})
}

// undone takes a change back, and fails the test when that is refused.
func (d *desk) undone(id int64) (policy.Change, []string) {
	d.t.Helper()
	c, left, err := d.Undo(context.Background(), "nour", id)
	if err != nil {
		d.t.Fatalf("undo %d: %v", id, err)
	}
	return c, left
}

// newest is the number of the newest change.
func (d *desk) newest() int64 {
	d.t.Helper()
	return d.History()[0].ID
}

func TestWhatIsAnsweredIsThereAfterARestart(t *testing.T) {
	d := newDesk(t)
	d.keeping()
	if _, err := d.Patch(t.Context(), "salma", json.RawMessage(`{"AD_EVERY":9,"MOOD":"party","CLOCKS":[{"name":"a","hour":[{"category":"music","count":9}]}]}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Singers(t.Context(), "salma", policy.Edit{Category: station.English, Action: policy.Add, Names: []string{"Dido"}}); err != nil {
		t.Fatal(err)
	}
	was, past := d.Current(), d.History()
	if !d.Saved() || d.Unsaved() != nil || !d.Keeps() {
		t.Errorf("saved %v, unsaved %v, keeps %v", d.Saved(), d.Unsaved(), d.Keeps())
	}
	d.keeping()
	if diff := cmp.Diff(was, d.Current()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(past, d.History()); diff != "" {
		t.Error(diff)
	}
	if len(past) != 2 || past[0].By != "salma" || !slices.Equal(past[0].What, []string{"SINGERS.english"}) || !slices.Equal(past[1].What, []string{"MOOD", "AD_EVERY", "CLOCKS"}) || *past[1].Mood != "party" {
		t.Errorf("%+v", past)
	}
	d.undone(past[1].ID)
	if got := d.Current(); got.AdEvery != policy.Defaults().AdEvery || got.Mood != "" || got.Clocks != nil || !slices.Equal(got.Singers[station.English], []string{"Dido"}) {
		t.Errorf("undone after a restart: %+v", got)
	}
	d.keeping()
	if got := d.Current(); got.Mood != "" || d.History()[0].Undoes != past[1].ID || d.History()[2].Undone != d.newest() {
		t.Errorf("mood %q, %+v", got.Mood, d.History())
	}
}

// Without Keep a change is in force until a restart, as it ever was.
func TestWithoutKeepingOnlySaveWrites(t *testing.T) {
	d := newDesk(t)
	d.merged(`{"AD_EVERY":9}`)
	if d.Saved() || d.Keeps() || len(d.History()) != 1 {
		t.Errorf("saved %v, keeps %v, %d changes", d.Saved(), d.Keeps(), len(d.History()))
	}
	d.undone(0)
	if !d.Saved() || d.Current().AdEvery == 9 {
		t.Errorf("saved %v, AD_EVERY %d", d.Saved(), d.Current().AdEvery)
	}
	if left, _ := os.ReadDir(filepath.Dir(d.path)); len(left) > 0 {
		t.Errorf("written: %v", left)
	}
}

func TestUndoLeavesWhatWasChangedAgain(t *testing.T) {
	for _, c := range []struct {
		name             string
		before, one, two string // patches; one is taken back after two
		want             string // of what then holds
		left             []string
	}{
		{"another setting", `{}`, `{"AD_EVERY":9,"ROTATION":{"POST_EVERY":5}}`, `{"ROTATION":{"POST_EVERY":6}}`, `{"AD_EVERY":16,"ROTATION":{"POST_EVERY":6}}`, []string{"ROTATION.POST_EVERY"}},
		{"a singer of two", `{"SINGERS":{"english":["a"]}}`, `{"SINGERS":{"english":["a","b"]}}`, `{"SINGERS":{"english":["a","b","c"]}}`, `{"SINGERS":{"english":["a","c"]}}`, nil},
		{"a singer taken out", `{"SINGERS":{"english":["a","b","c"]}}`, `{"SINGERS":{"english":["a","c"]}}`, `{"SINGERS":{"english":["a","c","d"]}}`, `{"SINGERS":{"english":["a","b","c","d"]}}`, nil},
		{"the only query", `{}`, `{"QUERIES":{"english":["a"]}}`, `{"AD_EVERY":9}`, `{"QUERIES":{"english":null},"AD_EVERY":9}`, nil},
		{
			"one clock of two", `{}`, `{"CLOCKS":[{"name":"a","hour":[{"category":"music","count":9}]}]}`,
			`{"CLOCKS":[{"name":"a","hour":[{"category":"music","count":9}]},{"name":"b","days":["fri"],"hour":[{"category":"music","count":9}]}]}`,
			`{"CLOCKS":[{"name":"b","days":["fri"],"hour":[{"category":"music","count":9}]}]}`, nil,
		},
		{
			"a daypart that was changed again", `{"DAYPARTS":[{"name":"a","start":"06:00","end":"08:00"}]}`, `{"DAYPARTS":[{"name":"a","start":"06:00","end":"09:00"},{"name":"b","start":"10:00","end":"12:00"}]}`,
			`{"DAYPARTS":[{"name":"a","start":"06:00","end":"09:30"},{"name":"b","start":"10:00","end":"12:00"}]}`, `{"DAYPARTS":[{"name":"a","start":"06:00","end":"09:30"}]}`, []string{"DAYPARTS"},
		},
		{"built-in dayparts", `{}`, `{"DAYPARTS":[]}`, `{"AD_EVERY":9}`, `{"DAYPARTS":null,"AD_EVERY":9}`, nil},
		{"a mood", `{"MASHUP_CHANCE":0.3}`, `{"MOOD":"party"}`, `{"AD_EVERY":9}`, `{"MASHUP_CHANCE":0.3,"AD_EVERY":9}`, nil},
		{"a mood under which a knob was set", `{}`, `{"MOOD":"party"}`, `{"MASHUP_CHANCE":0.9}`, `{"MASHUP_CHANCE":0.9}`, nil},
		{"a mood after a mood", `{"MOOD":"chill"}`, `{"MOOD":"party"}`, `{"AD_EVERY":9}`, `{"MOOD":"chill","AD_EVERY":9}`, nil},
		{"a mood that gave way", `{"AD_EVERY":9}`, `{"MOOD":"party","AD_EVERY":7}`, `{"MOOD":"energy"}`, `{"MOOD":"energy"}`, []string{"MOOD"}},
		{"a knob under a mood", `{"MOOD":"party"}`, `{"MASHUP_CHANCE":0.9}`, `{"AD_EVERY":9}`, `{"MOOD":"party","AD_EVERY":9}`, nil},
		{"a knob under a mood that ended", `{"MASHUP_CHANCE":0.4,"MOOD":"party"}`, `{"MASHUP_CHANCE":0.9}`, `{"MOOD":""}`, `{"MASHUP_CHANCE":0.4}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, want := newDesk(t), newDesk(t)
			d.merged(c.before)
			d.merged(c.one)
			id := d.newest()
			d.merged(c.two)
			_, left := d.undone(id)
			want.merged(c.want)
			if c.name == "a mood that gave way" {
				want.merged(`{"AD_EVERY":9}`)
			}
			if diff := cmp.Diff(want.Current(), d.Current()); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("left %q, want %q", left, c.left)
			}
			// A mood that ends brings the same as if the change had never been.
			for _, one := range []*desk{d, want} {
				if _, err := one.Mood(t.Context(), "", ""); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want.Current(), d.Current()); diff != "" {
				t.Errorf("without its mood: %s", diff)
			}
		})
	}
}

func TestUndoGoesBackStepByStepAndForthByNumber(t *testing.T) {
	d := newDesk(t)
	if _, _, err := d.Undo(t.Context(), "", 0); !errors.Is(err, station.ErrConflict) {
		t.Errorf("nothing to undo: %v", err)
	}
	var ids []int64
	for _, n := range []int{7, 8, 9} {
		ids = append(ids, d.merged(fmt.Sprintf(`{"AD_EVERY":%d}`, n)).ID)
	}
	d.undone(0)
	d.undone(0)
	if got := d.Current().AdEvery; got != 7 {
		t.Errorf("two steps back: %d", got)
	}
	if _, _, err := d.Undo(t.Context(), "", ids[2]); !errors.Is(err, station.ErrConflict) {
		t.Errorf("undone twice: %v", err)
	}
	d.undone(d.newest())
	if got := d.Current().AdEvery; got != 8 {
		t.Errorf("the undo undone: %d", got)
	}
	if _, _, err := d.Undo(t.Context(), "", 99); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("no such change: %v", err)
	}
	if _, _, err := d.Undo(t.Context(), "", ids[0]); !errors.Is(err, station.ErrConflict) {
		t.Errorf("all of it changed since: %v", err)
	}
	if _, err := d.Reset(t.Context(), "salma"); err != nil {
		t.Fatal(err)
	}
	d.undone(0)
	if got := d.Current().AdEvery; got != 8 {
		t.Errorf("the reset undone: %d", got)
	}
}

// What was before may not fit what came since: nothing is changed then, and the answer says why.
func TestUndoIsRefusedWhereItDoesNotFit(t *testing.T) {
	d := newDesk(t)
	d.merged(`{"DAYPARTS":[{"name":"a","start":"06:00","end":"08:00","hard":"english"},{"name":"b","start":"10:00","end":"12:00"}]}`)
	d.merged(`{"DAYPARTS":[{"name":"b","start":"10:00","end":"12:00"}]}`)
	id := d.newest()
	d.merged(`{"DAYPARTS":[{"name":"b","start":"07:00","end":"12:00"}]}`)
	before := d.Current()
	_, _, err := d.Undo(t.Context(), "", id)
	if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "DAYPARTS") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, d.Current()); diff != "" {
		t.Error(diff)
	}
}

func TestTheHistoryIsBounded(t *testing.T) {
	d := newDesk(t)
	d.keeping()
	for i := range policy.MostPast + 20 {
		d.merged(fmt.Sprintf(`{"AD_EVERY":%d}`, 1000+i))
	}
	if got := d.History(); len(got) != policy.MostPast {
		t.Errorf("%d changes", len(got))
	}
	for i := range 6 { // each replaces half a MiB
		d.merged(fmt.Sprintf(`{"QUERIES":{"english":[%q]}}`, strings.Repeat("x", 180)))
		names := make([]string, 500)
		for j := range names {
			names[j] = fmt.Sprintf("%d %d %s", i, j, strings.Repeat("𐎀", 180))
		}
		text, err := json.Marshal(map[string]any{"QUERIES": map[string]any{"english": names}})
		if err != nil {
			t.Fatal(err)
		}
		d.merged(string(text))
	}
	info, err := os.Stat(d.path + ".history")
	if err != nil || info.Size() > 3<<20 {
		t.Fatalf("%v, %d bytes", err, info.Size())
	}
	was := d.History()
	d.keeping()
	if diff := cmp.Diff(was, d.History()); diff != "" || len(was) == 0 {
		t.Errorf("%d changes: %s", len(was), diff)
	}
	d.undone(0)
}

// A history that cannot be read costs the undo of what it told, and nothing else.
func TestADamagedHistoryIsBegunAnew(t *testing.T) {
	for _, text := range []string{`{`, `[]`, `{"next":1} {}`, `{"changes":[{"id":2},{"id":1}]}`, `{"changes":[{"id":1,"set":[{"name":""}]}]}`, `{"changes":[{"id":1,"set":[{"name":"a.b.c"}]}]}`,
		`{"changes":[{"id":1,"set":[{"name":"MOOD","before":"party"}]}]}`, `{"changes":[{"id":1,"set":[{"name":"BASE.AD_EVERY","before":3}]}]}`, `{"changes":[{"id":1,"set":[{"name":"live","before":{}}]}]}`} {
		d := newDesk(t)
		write(t, d.path, `{"AD_EVERY":33}`)
		write(t, d.path+".history", text)
		d.keeping()
		if d.Current().AdEvery != 33 || len(d.History()) > 0 {
			t.Errorf("%s: AD_EVERY %d, %d changes", text, d.Current().AdEvery, len(d.History()))
		}
		if kept, err := os.ReadFile(d.path + ".history.damaged"); string(kept) != text {
			t.Errorf("%s: kept is %q, %v", text, kept, err)
		}
		d.merged(`{"AD_EVERY":9}`)
		d.keeping()
		d.undone(0)
		if d.Current().AdEvery != 33 {
			t.Errorf("%s: AD_EVERY %d", text, d.Current().AdEvery)
		}
	}
	d := newDesk(t)
	write(t, d.path+".history", `{"next":2,"changes":[{"id":1,"set":[{"name":"NOTHING","before":1}]},{"id":2,"set":[{"name":"X.y","after":2}]}]}`)
	d.keeping()
	for range 2 {
		if _, _, err := d.Undo(t.Context(), "", 0); err != nil && !errors.Is(err, station.ErrConflict) {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(policy.Defaults(), d.Current()); diff != "" {
		t.Error(diff)
	}
}

// A change that the history has and the configuration has not was never answered.
func TestAChangeThatIsNotInForceIsForgotten(t *testing.T) {
	d := newDesk(t)
	d.keeping()
	d.merged(`{"AD_EVERY":9}`)
	before, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	d.merged(`{"MOOD":"party"}`)
	lost := d.newest()
	write(t, d.path, string(before)) // as if the program had ended between the two files
	d.keeping()
	if got := d.History(); len(got) != 1 || got[0].What[0] != "AD_EVERY" {
		t.Fatalf("%+v", got)
	}
	d.merged(`{"MOOD":"chill"}`)
	if got := d.newest(); got <= lost {
		t.Errorf("number %d follows %d", got, lost)
	}
}

// A number that a page still has of a run before must not take back another change, whatever
// became of the list.
func TestANumberIsNeverGivenTwice(t *testing.T) {
	for name, begin := range map[string]func(*desk){"kept": (*desk).keeping, "not kept": (*desk).open} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			begin(d)
			c := d.merged(`{"AD_EVERY":9}`)
			time.Sleep(time.Second)
			if err := os.Remove(d.path + ".history"); name == "kept" && err != nil {
				t.Fatal(err)
			}
			begin(d)
			d.merged(`{"AD_EVERY":8}`)
			if _, _, err := d.Undo(t.Context(), "", c.ID); !errors.Is(err, station.ErrNotFound) || d.Current().AdEvery != 8 {
				t.Errorf("%s: %v, AD_EVERY %d", name, err, d.Current().AdEvery)
			}
		})
	}
}

// model is the settings as a child would keep them: a flat list, and what each change replaced.
type model struct {
	now     map[string]int
	changes []map[string][2]int
	undone  map[int]bool
}

// Any changes, undos and restarts, against a model: only what was not changed again comes back.
func TestUndoAgainstAModel(t *testing.T) {
	dir := t.TempDir()
	names := []string{"AD_EVERY", "POST_EVERY", "REQUEST_EVERY", "MAX_PLAYS_DAY"}
	patch := func(values map[string]int) json.RawMessage {
		knobs, out := map[string]int{}, map[string]any{}
		for name, v := range values {
			if name == "AD_EVERY" {
				out[name] = v
			} else {
				knobs[name] = v
			}
		}
		out["ROTATION"] = knobs
		b, _ := json.Marshal(out)
		return b
	}
	read := func(d policy.Document) map[string]int {
		return map[string]int{"AD_EVERY": d.AdEvery, "POST_EVERY": d.Rotation.PostEvery, "REQUEST_EVERY": d.Rotation.RequestEvery, "MAX_PLAYS_DAY": d.Rotation.MaxPlaysDay}
	}
	log, _ := testkit.Log(t)
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "station.json")
		_, _ = os.Remove(path), os.Remove(path+".history")
		open := func() *policy.Owner {
			o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
			if err != nil {
				t.Fatal(err)
			}
			return o.Keep(policy.Keeping{Log: log})
		}
		o := open()
		m := model{now: read(o.Current()), undone: map[int]bool{}}
		change := func(values map[string]int) {
			change := map[string][2]int{}
			for name, v := range values {
				if m.now[name] != v {
					change[name] = [2]int{m.now[name], v}
					m.now[name] = v
				}
			}
			if len(change) > 0 {
				m.changes = append(m.changes, change)
			}
		}
		undoes := map[int]int{} // by the change that took back
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				o = open()
			case 1:
				if len(m.changes) == 0 {
					continue
				}
				n := rapid.IntRange(0, len(m.changes)-1).Draw(t, "change")
				back := map[string]int{}
				for name, v := range m.changes[n] {
					if m.now[name] == v[1] {
						back[name] = v[0]
					}
				}
				_, left, err := o.Undo(t.Context(), "", o.History()[len(m.changes)-1-n].ID)
				if m.undone[n] || len(back) == 0 {
					if !errors.Is(err, station.ErrConflict) {
						t.Fatalf("undo %d: %v", n+1, err)
					}
					continue
				}
				if err != nil || len(left) != len(m.changes[n])-len(back) {
					t.Fatalf("undo %d: left %q, %v", n+1, left, err)
				}
				change(back)
				m.undone[n] = true
				undoes[len(m.changes)-1] = n
				for at, undone := n, false; ; undone = !undone { // what took back is taken back
					was, is := undoes[at]
					if !is {
						break
					}
					m.undone[was], at = undone, was
				}
			default:
				values := map[string]int{}
				for _, name := range names {
					if rapid.Bool().Draw(t, name) {
						values[name] = rapid.IntRange(3, 5).Draw(t, "value")
					}
				}
				if _, err := o.Patch(t.Context(), "", patch(values)); err != nil {
					t.Fatal(err)
				}
				change(values)
			}
			if got := read(o.Current()); !maps.Equal(got, m.now) {
				t.Fatalf("in force %v, the model has %v", got, m.now)
			}
			if !o.Saved() || len(o.History()) != len(m.changes) {
				t.Fatalf("saved %v, %d changes, the model has %d", o.Saved(), len(o.History()), len(m.changes))
			}
		}
	})
}

// Whatever is changed, undoing it at once brings exactly what was, with its mood and what ends
// with it; and undoing that brings the change again.
func TestWhatIsUndoneAtOnceIsAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, err := policy.Open(filepath.Join(os.TempDir(), "none", "station.json"), func(context.Context, rotation.Config) (bool, error) { return false, nil })
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "before") {
			_, _ = o.Patch(t.Context(), "", anyPatch(t))
		}
		was, count := o.Current(), len(o.History())
		for tries := 0; len(o.History()) == count; tries++ {
			if was = o.Current(); tries == 20 {
				return
			}
			_, _ = o.Patch(t.Context(), "", anyPatch(t))
		}
		is := o.Current()
		is.Live, was.Live = nil, nil
		check := func(what string, want policy.Document) {
			_, left, err := o.Undo(t.Context(), "", o.History()[0].ID)
			if err != nil || len(left) > 0 {
				t.Fatalf("%s: left %q, %v", what, left, err)
			}
			got := o.Current()
			got.Live = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s", what, diff)
			}
		}
		check("undo", was)
		check("undo of the undo", is)
		check("undo of that", was)
	})
}
