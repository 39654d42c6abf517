package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const (
	// MostPast is how many changes can be taken back, the newest.
	MostPast = 50
	// mostPastBytes bounds what they say together; the newest is kept whatever it says.
	mostPastBytes = 2 << 20
)

// Past is a change that was made, as the API has it.
type Past struct {
	ID     int64    `json:"id"`
	At     int64    `json:"at" doc:"Epoch milliseconds"`
	By     string   `json:"by"`
	What   []string `json:"what" nullable:"false" doc:"Settings that it changed, by their dotted names"`
	Mood   *string  `json:"mood,omitempty" doc:"That it put in force; empty where it took one away"`
	Undoes int64    `json:"undoes,omitempty" doc:"The change that it took back"`
	Undone int64    `json:"undone,omitempty" doc:"The change that took it back"`
}

// past are the newest changes, the oldest first. It is never changed: with makes another.
type past struct {
	Next    int64    `json:"next"` // number of the next change
	Changes []record `json:"changes"`
}

// record is one change of the settings.
type record struct {
	ID     int64      `json:"id"`
	At     int64      `json:"at"`
	By     string     `json:"by"`
	Undoes int64      `json:"undoes,omitempty"`
	Set    []replaced `json:"set,omitempty"`
	Mood   *shift     `json:"mood,omitempty"` // nil: the mood and what it holds stayed
	bytes  int
}

// replaced is one of the operator's own settings. Both values are the same where a change only
// took the setting out of a mood's hold.
type replaced struct {
	Name   string `json:"name"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// shift is a change of the mood, or of what it holds.
type shift struct {
	Before     string `json:"before"`
	After      string `json:"after"`
	OverBefore object `json:"overBefore,omitempty"`
	OverAfter  object `json:"overAfter,omitempty"`
}

// between is what differs from was to is; false where nothing does.
func between(was, is layers) (record, bool) {
	var r record
	hold := was.mood != is.mood || !slices.Equal(names(was.over, nil), names(is.over, nil))
	if hold {
		r.Mood = &shift{was.mood, is.mood, was.over, is.over}
	}
	before, after := leaves(was.own), leaves(is.own)
	for _, name := range names(before, after) {
		_, held := was.over[name]
		_, holds := is.over[name]
		let := was.mood == is.mood && held != holds
		if let || !equal(before[name], after[name]) {
			r.Set = append(r.Set, replaced{name, before[name], after[name]})
		}
	}
	return r, hold || len(r.Set) > 0
}

// what are the names of the settings that a change is about.
func (r record) what() []string {
	out := []string{}
	if r.Mood != nil && r.Mood.Before != r.Mood.After {
		out = append(out, "MOOD")
	}
	for _, s := range r.Set {
		out = append(out, s.Name)
	}
	return out
}

// after is p and the change from was to is, where it changed a setting.
func (p *past) after(was, is settings, r record, now time.Time) (*past, error) {
	before, err := was.layers()
	if err != nil {
		return nil, err
	}
	after, err := is.layers()
	if err != nil {
		return nil, err
	}
	change, some := between(before, after)
	if !some {
		return p, nil
	}
	r.At, r.Set, r.Mood = now.UnixMilli(), change.Set, change.Mood
	return p.with(r), nil
}

// with is p and one change more, without those that are too old or too much. It is numbered
// by its time, so that no number is given again where the list was not kept: a page or a
// script that still has one must not take back a change it has not seen.
func (p *past) with(r record) *past {
	r.ID = max(p.Next, r.At, 1)
	if text, err := json.Marshal(r); err == nil {
		r.bytes = len(text)
	}
	all := append(slices.Clip(p.Changes), r)
	sum := 0
	for i, one := range slices.Backward(all) {
		if sum += one.bytes; i < len(all)-1 && (sum > mostPastBytes || len(all)-i > MostPast) {
			all = slices.Clone(all[i+1:])
			break
		}
	}
	return &past{r.ID + 1, all}
}

// undone are the numbers of changes that were taken back, with that of what did so: one that
// was itself taken back did not.
func (p *past) undone() map[int64]int64 {
	out := map[int64]int64{}
	for _, r := range slices.Backward(p.Changes) {
		if out[r.ID] == 0 && r.Undoes != 0 {
			out[r.Undoes] = r.ID
		}
	}
	return out
}

// find returns the change of a number; of 0 the newest that is neither taken back nor took one
// back, so that one undo after another goes further back.
func (p *past) find(id int64) (record, error) {
	undone := p.undone()
	for _, r := range slices.Backward(p.Changes) {
		switch {
		case id == 0 && (r.Undoes != 0 || undone[r.ID] != 0) || id != 0 && r.ID != id:
		case undone[r.ID] != 0:
			return record{}, fmt.Errorf("change %d is undone already: %w", r.ID, station.ErrConflict)
		default:
			return r, nil
		}
	}
	if id == 0 {
		return record{}, fmt.Errorf("there is no change to undo: %w", station.ErrConflict)
	}
	return record{}, fmt.Errorf("change %d of the configuration: %w", id, station.ErrNotFound)
}

// inForce is p without its newest changes of which nothing is in force.
func (p *past) inForce(now layers) *past {
	for len(p.Changes) > 0 {
		newest := p.Changes[len(p.Changes)-1]
		if next, _ := newest.back(now); !equal(next, now) {
			break
		}
		p = &past{p.Next, slices.Clip(p.Changes[:len(p.Changes)-1])}
	}
	return p
}

// History returns the newest changes, the newest first.
func (o *Owner) History() []Past {
	p := o.now.Load().past
	undone, out := p.undone(), []Past{}
	for _, r := range slices.Backward(p.Changes) {
		one := Past{ID: r.ID, At: r.At, By: r.By, What: r.what(), Undoes: r.Undoes, Undone: undone[r.ID]}
		if r.Mood != nil && r.Mood.Before != r.Mood.After {
			mood := r.Mood.After
			one.Mood = &mood
		}
		out = append(out, one)
	}
	return out
}

// back is the layers in force without a change: what it replaced is put back, but for what was
// changed again since. Those settings are left, and named.
func (r record) back(now layers) (next layers, left []string) {
	next = layers{own: maps.Clone(now.own), mood: now.mood, over: maps.Clone(now.over)}
	for _, s := range r.Set {
		is := leaf(now.own, s.Name)
		value, whole := putBack(s, is)
		if !equal(value, is) {
			setLeaf(next.own, s.Name, value)
		}
		if !whole {
			left = append(left, s.Name)
		}
	}
	switch m := r.Mood; {
	case m == nil:
	case m.Before != m.After && now.mood != m.After:
		left = append(left, "MOOD")
	case now.mood != m.After: // another mood has come: it holds what it holds
	default:
		next.mood, next.over = m.Before, m.over(now.over, left)
	}
	return next, left
}

// over is what the mood before a shift is to hold again, where now is what the mood behind it
// still holds, and left are settings that stay as they are.
func (m *shift) over(now object, left []string) object {
	out := maps.Clone(now)
	if m.Before != m.After {
		out = maps.Clone(m.OverBefore)
		for name := range m.OverAfter {
			if _, holds := now[name]; !holds {
				delete(out, name) // changed since: the operator's
			}
		}
	}
	for name, v := range m.OverBefore {
		if _, held := m.OverAfter[name]; !held {
			out[name] = v // the change took it out of the mood's hold
		}
	}
	for name := range m.OverAfter {
		if _, held := m.OverBefore[name]; !held && m.Before == m.After {
			delete(out, name)
		}
	}
	for _, name := range left {
		delete(out, name)
	}
	if out == nil {
		out = object{}
	}
	return out
}

// putBack is what a setting becomes without a change of it; false where that, or a part of a
// list, was changed again since and stays.
func putBack(s replaced, now any) (value any, whole bool) {
	if equal(now, s.After) {
		return s.Before, true
	}
	before, ok := listOf(s.Name, s.Before)
	after, ok2 := listOf(s.Name, s.After)
	is, ok3 := listOf(s.Name, now)
	if !ok || !ok2 || !ok3 {
		return now, false
	}
	out, whole := without(before, after, is)
	if len(out) == 0 && s.Name != "DAYPARTS" {
		return nil, whole
	}
	return out, whole
}

// listOf is a setting that is a list. None is an empty one, but for DAYPARTS, of which none
// are the built-in ones.
func listOf(name string, v any) ([]any, bool) {
	if v == nil {
		return nil, name != "DAYPARTS"
	}
	list, ok := v.([]any)
	return list, ok
}

// without is a list as it is now without what was changed from before to after; false where
// an entry was changed again since and stays. Entries are known by their names.
func without(before, after, now []any) (out []any, whole bool) {
	was, is, has := byKey(before), byKey(after), byKey(now)
	if was == nil || is == nil || has == nil || reordered(before, after, was, is) {
		return now, false
	}
	out, whole = slices.Clone(now), true
	for _, entry := range after {
		key := entryKey(entry)
		old, had := was[key]
		current, there := has[key]
		switch {
		case had && equal(old, entry), !had && !there:
		case !there || !equal(current, entry):
			whole = false
		case had:
			out[indexOf(out, key)] = old
		default:
			out = slices.Delete(out, indexOf(out, key), indexOf(out, key)+1)
		}
	}
	for i, entry := range before {
		key := entryKey(entry)
		if _, stayed := is[key]; stayed {
			continue
		}
		if current, there := has[key]; there {
			whole = whole && equal(current, entry)
			continue
		}
		at := 0
		for _, earlier := range slices.Backward(before[:i]) {
			if at = indexOf(out, entryKey(earlier)) + 1; at > 0 {
				break
			}
		}
		out = slices.Insert(out, at, entry)
	}
	return out, whole
}

// reordered reports that entries which stayed changed places.
func reordered(before, after []any, was, is map[string]any) bool {
	common := func(list []any, other map[string]any) (out []string) {
		for _, entry := range list {
			if _, there := other[entryKey(entry)]; there {
				out = append(out, entryKey(entry))
			}
		}
		return out
	}
	return !slices.Equal(common(before, is), common(after, was))
}

// byKey are the entries of a list by what they are known by; nil where two have the same.
func byKey(list []any) map[string]any {
	out := map[string]any{}
	for _, entry := range list {
		if _, twice := out[entryKey(entry)]; twice {
			return nil
		}
		out[entryKey(entry)] = entry
	}
	return out
}

func indexOf(list []any, key string) int {
	return slices.IndexFunc(list, func(entry any) bool { return entryKey(entry) == key })
}

// entryKey is what an entry of a list is known by: a singer's name, a clock's or daypart's
// name, the begin of a daypart without one.
func entryKey(entry any) string {
	switch v := entry.(type) {
	case string:
		return key(v)
	case object:
		if name, _ := v["name"].(string); name != "" {
			return "name " + name
		}
		if start, has := v["start"]; has {
			return fmt.Sprint("start ", start)
		}
	}
	text, _ := json.Marshal(entry)
	return string(text)
}

// isLeaf reports whether leaves may give a setting of the operator's own this name.
func isLeaf(name string) bool {
	outer, _, _ := strings.Cut(name, ".")
	return !slices.Contains([]string{"", "MOOD", "BASE", "live"}, outer) && strings.Count(name, ".") <= 1
}

// render is the file's text.
func (p *past) render() ([]byte, error) { return json.Marshal(p) }

// readPast reads the text of a file.
func readPast(text []byte) (*past, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // values are compared with those of parse
	p := &past{}
	if err := dec.Decode(p); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	p.Changes = p.Changes[max(0, len(p.Changes)-MostPast):]
	last := int64(0)
	for i := range p.Changes {
		r := &p.Changes[i]
		if r.ID <= last {
			return nil, fmt.Errorf("change %d follows %d", r.ID, last)
		}
		last = r.ID
		for _, s := range r.Set {
			if !isLeaf(s.Name) {
				return nil, fmt.Errorf("change %d names %q", r.ID, s.Name)
			}
		}
		if text, err := json.Marshal(*r); err == nil {
			r.bytes = len(text)
		}
	}
	p.Next = max(p.Next, last+1)
	return p, nil
}
