package podcast

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// model is what must hold, told plainly: by source, what an operator did and what was seen.
type model struct {
	*rig
	chance    *rand.Rand
	numbers   map[string]map[string]int  // by show and source: the number
	guids     map[string]string          // by show and source
	pinned    map[string]map[string]bool // by show and source: it stays
	withdrawn map[string]bool
	gone      map[string]map[string]bool // by show and source: it went, and comes by hand only
	lost      bool                       // a file was taken away since the last comparison
	seen      map[string]string          // by show: what listeners saw
	changed   map[string]int64           // and when it was last changed
	next      int
}

// Whatever is done in whatever order, restarts in between: what an operator pinned stays, what was
// taken back is gone, bounds hold, listeners see what is published in order, and files and rows are
// the same.
func TestAnyOrderOfDeedsKeepsTheShelves(t *testing.T) {
	orders(t, 0, 1, 2)
}

// orders does sixty deeds for each seed.
func orders(t *testing.T, seeds ...uint64) {
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{
				rig: newRig(t, func(o *Options) { o.MostBytes = 12_000 }), chance: rand.New(rand.NewPCG(seed, 1)), numbers: map[string]map[string]int{}, guids: map[string]string{},
				pinned: map[string]map[string]bool{}, withdrawn: map[string]bool{}, gone: map[string]map[string]bool{}, seen: map[string]string{}, changed: map[string]int64{},
			}
			a, b, c := own("a", Live), own("b", Posts), own("c", Live)
			a.Keep.Episodes, c.Held = 4, true
			for _, o := range []Own{a, b, c} {
				m.show(t, o)
				m.numbers[o.Slug], m.pinned[o.Slug], m.gone[o.Slug] = map[string]int{}, map[string]bool{}, map[string]bool{}
			}
			var deeds []string
			for range 60 {
				deeds = append(deeds, m.deed(t))
				m.holds(t)
				if t.Failed() {
					t.Fatalf("after %s", strings.Join(deeds, ", "))
				}
			}
		})
	}
}

// any is an episode of any show; its show is empty where there is none.
func (m *model) any(t *testing.T) Episode {
	var all []Episode
	for _, slug := range []string{"a", "b", "c"} {
		of, err := m.Episodes(t.Context(), slug)
		if err == nil {
			all = append(all, of...)
		}
	}
	if len(all) == 0 {
		return Episode{}
	}
	return all[m.chance.IntN(len(all))]
}

// refusedOr is for what the state of things may forbid.
func refusedOr(t *testing.T, err error) bool {
	if err != nil && !errors.Is(err, station.ErrConflict) && !errors.Is(err, station.ErrNotFound) && !errors.Is(err, station.ErrFull) {
		t.Error(err)
	}
	return err == nil
}

func (m *model) deed(t *testing.T) string {
	ctx, e := t.Context(), m.any(t)
	slug := []string{"a", "b", "c"}[m.chance.IntN(3)]
	switch n := m.chance.IntN(21); n {
	case 0, 1, 2, 3:
		kind := []Kind{Live, Posts}[m.chance.IntN(2)]
		m.next++
		m.happens(kind, fmt.Sprint(m.next), 300+m.chance.IntN(2500), func(w *Raw) { w.Duration = 10 * time.Millisecond })
		return fmt.Sprintf("%s %d happens", kind, m.next)
	case 4, 5, 6:
		m.round(t)
		m.lost = false
		m.settled(t)
		return "a round"
	case 7:
		m.clock.pass(time.Duration(m.chance.Int64N(int64(3 * 24 * time.Hour))))
		return "time passes"
	case 8:
		before := m.all(t)
		m.open(t)
		if after := m.all(t); !reflect.DeepEqual(before, after) {
			t.Errorf("after a restart:\n%+v, before\n%+v", after, before)
		}
		return "a restart"
	case 9:
		if e.Source.Kind == Posts {
			m.withdrawn[e.Source.Key] = true
			m.origins[Posts].set(func() {
				m.origins[Posts].withdrawn[e.Source.Key] = true
				m.origins[Posts].offers = slices.DeleteFunc(m.origins[Posts].offers, func(r Raw) bool { return r.Source == e.Source })
			})
			return e.Source.Key + " is withdrawn"
		}
	case 20:
		if e.Source.Kind == Posts {
			posts := m.origins[Posts]
			posts.set(func() { posts.withheld[e.Source.Key] = !posts.withheld[e.Source.Key] })
			return e.Source.Key + " is put before a moderator, or approved again"
		}
	case 10:
		pin := m.chance.IntN(2) == 0
		if _, err := m.Edit(ctx, e.Show, e.ID, Edit{Pinned: &pin}); refusedOr(t, err) {
			m.pinned[e.Show][e.Source.Key] = pin
			return fmt.Sprint(e.Source.Key, " is pinned ", pin)
		}
	case 11, 12:
		state := []State{Hidden, Published}[m.chance.IntN(2)]
		if _, err := m.Edit(ctx, e.Show, e.ID, Edit{State: &state}); refusedOr(t, err) {
			return fmt.Sprint(e.Source.Key, " becomes ", state)
		}
	case 13:
		if refusedOr(t, m.RemoveEpisode(ctx, e.Show, e.ID)) {
			m.pinned[e.Show][e.Source.Key] = false // by hand: it may go
			return e.Source.Key + " is removed"
		}
	case 14:
		if refusedOr(t, m.RestoreEpisode(ctx, e.Show, e.ID)) {
			m.pinned[e.Show][e.Source.Key] = e.Pinned
			return e.Source.Key + " is brought back"
		}
	case 15:
		if refusedOr(t, m.Remove(ctx, slug)) {
			return slug + " is removed"
		}
	case 16:
		if refusedOr(t, m.Restore(ctx, slug)) {
			return slug + " is brought back"
		}
	case 17:
		if path, _, err := m.SoundOf(ctx, e.Show, e.ID); err == nil {
			m.lost = true
			_ = os.Remove(path) // it may have gone already
			return "the file of " + e.Source.Key + " goes"
		}
	case 18:
		if refusedOr(t, m.Retry(ctx, e.Show, e.ID)) {
			return e.Source.Key + " is tried again"
		}
	case 19:
		if offers, err := m.Offers(ctx, slug); err == nil && len(offers) > 0 {
			from := offers[m.chance.IntN(len(offers))].Source
			if _, err := m.Add(ctx, slug, from); refusedOr(t, err) {
				delete(m.gone[slug], from.Key)
				delete(m.numbers[slug], from.Key)
				return from.Key + " is added"
			}
		}
	}
	return "nothing"
}

// all is everything that can be asked for.
func (m *model) all(t *testing.T) (out []any) {
	for _, s := range m.Shows() {
		of, err := m.Episodes(t.Context(), s.Slug)
		must(t, err)
		slices.SortFunc(of, func(a, b Episode) int { return a.Number - b.Number })
		for i := range of {
			if of[i].Chapters == nil {
				of[i].Chapters = []Chapter{}
			}
		}
		out = append(out, *s, of)
	}
	return out
}

// holds is what is always true.
func (m *model) holds(t *testing.T) {
	now := m.clock.Now()
	shows := map[string]bool{}
	for _, s := range m.Shows() {
		shows[s.Slug] = true
		all, err := m.Episodes(t.Context(), s.Slug)
		must(t, err)
		var want, got []string
		there, highest := map[string]bool{}, 0
		var bytes int64
		for _, n := range m.numbers[s.Slug] {
			highest = max(highest, n)
		}
		for _, e := range all {
			key := e.Source.Key
			if there[key] {
				t.Errorf("%s has two episodes of %s", s.Slug, key)
			}
			there[key] = true
			if m.gone[s.Slug][key] {
				t.Errorf("%s of %s has come again by itself", key, s.Slug)
			}
			n, known := m.numbers[s.Slug][key]
			if known && n != e.Number || !known && slices.Contains(numbersOf(m.numbers[s.Slug]), e.Number) {
				t.Errorf("%s of %s has number %d, which was another's or changed", key, s.Slug, e.Number)
			}
			m.numbers[s.Slug][key] = e.Number
			if g := m.guids[s.Slug+key]; g != "" && g != e.GUID {
				t.Errorf("%s has another GUID", key)
			}
			m.guids[s.Slug+key] = e.GUID
			bytes += e.Bytes
			if e.Heard(now) && s.Public() {
				want = append(want, key)
			}
			if e.State.whole() && (e.File == "" || e.Bytes == 0) || (e.State == Removed) != (e.Removed != 0) || e.State == Published && e.Published == 0 {
				t.Errorf("%+v", e)
			}
		}
		for key := range m.numbers[s.Slug] {
			if !there[key] && !m.withdrawn[key] {
				m.gone[s.Slug][key] = true
				if m.pinned[s.Slug][key] {
					t.Errorf("%s of %s was pinned and is gone", key, s.Slug)
				}
			}
		}
		heard, err := m.Heard(s.Slug)
		if (err == nil) != s.Public() {
			t.Errorf("%s: %v", s.Slug, err)
		}
		for i, e := range heard {
			got = append(got, e.Source.Key)
			if i > 0 && e.Published >= heard[i-1].Published {
				t.Errorf("%s: the order of %v", s.Slug, got)
			}
			if _, same, err := m.Sound(s.Slug, e.ID); err != nil || same.ID != e.ID {
				t.Errorf("%s: %v", e.ID, err)
			}
		}
		slices.Sort(want)
		sorted := slices.Sorted(slices.Values(got))
		equal(t, "heard of "+s.Slug, sorted, want)
		if s.Public() && s.Episodes != len(heard) || s.Bytes != bytes {
			t.Errorf("%+v, %d bytes", s, bytes)
		}
		if s.Public() {
			looks := fmt.Sprint(heard)
			if m.seen[s.Slug] != "" && m.seen[s.Slug] != looks && s.Changed <= m.changed[s.Slug] {
				t.Errorf("%s: what listeners see has changed, and its time %d has not", s.Slug, s.Changed)
			}
			m.seen[s.Slug], m.changed[s.Slug] = looks, s.Changed
		}
	}
	for slug := range m.numbers {
		if !shows[slug] { // for good: its name is free
			m.show(t, own(slug, map[string]Kind{"a": Live, "b": Posts, "c": Live}[slug]))
			m.numbers[slug], m.pinned[slug], m.gone[slug] = map[string]int{}, map[string]bool{}, map[string]bool{}
			delete(m.seen, slug)
			for key := range m.guids {
				if strings.HasPrefix(key, slug) {
					delete(m.guids, key)
				}
			}
		}
	}
}

func numbersOf(of map[string]int) (out []int) {
	for _, n := range of {
		out = append(out, n)
	}
	return out
}

// settled is what is true after a round.
func (m *model) settled(t *testing.T) {
	now := m.clock.Now()
	var movable int64
	for _, s := range m.Shows() {
		all, err := m.Episodes(t.Context(), s.Slug)
		must(t, err)
		var named []string
		kept := 0
		for _, e := range all {
			if e.Source.Kind == Posts && m.withdrawn[e.Source.Key] {
				t.Errorf("%s was withdrawn", e.Source.Key)
			}
			if e.Withheld != m.origins[e.Source.Kind].withheld[e.Source.Key] {
				t.Errorf("%s is withheld: %v", e.Source.Key, e.Withheld)
			}
			info, err := os.Stat(filepath.Join(m.options.Dir, s.Slug, e.File))
			if e.State.whole() && (err != nil || info.Size() != e.Bytes) {
				t.Errorf("the file of %s, which is %s: %v", e.Source.Key, e.State, err)
			}
			if e.File != "" && err == nil {
				named = append(named, e.File)
			}
			if e.State == Making && s.Removed == 0 && !e.Withheld {
				t.Errorf("%s still waits", e.Source.Key)
			}
			if e.State == Removed && now.UnixMilli()-e.Removed >= undoFor.Milliseconds() {
				t.Errorf("%s was removed too long ago", e.Source.Key)
			}
			if !e.Pinned {
				movable += e.Bytes
			}
			if !e.Pinned && e.State.whole() {
				kept++
			}
		}
		m.shelfKept(t, s, kept)
		slices.Sort(named)
		equal(t, "files of "+s.Slug, m.files(t, s.Slug), named)
	}
	if used, most := m.Bytes(); used > most && movable > 0 {
		t.Errorf("%d of %d bytes, %d of which may go", used, most, movable)
	}
}

func (m *model) shelfKept(t *testing.T, s *Show, kept int) {
	said := m.Podcasts.book.Load().shelves[s.Slug].said
	if s.Keep.Episodes > 0 && s.Removed == 0 && m.clock.Now().UnixMilli()-said >= waitsToKeep.Milliseconds() && kept > s.Keep.Episodes {
		t.Errorf("%s keeps %d", s.Slug, kept)
	}
}
