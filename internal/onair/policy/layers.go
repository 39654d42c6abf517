package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// layers are settings taken apart: the operator's own ones, and what a mood lays over them.
// What a mood brings is no change of the operator's settings, and what an operator sets under
// a mood takes the place of the mood's.
type layers struct {
	own  object // in generic form, without MOOD, BASE and live
	mood string
	over object // what the mood holds, by dotted name
}

// layers takes settings apart; put together again they mean the same.
func (s settings) layers() (layers, error) {
	s.Live = nil // large, and no setting
	bare, err := s.undone()
	if err != nil {
		return layers{}, err
	}
	out := layers{mood: s.Mood, over: object{}}
	if out.own, err = bare.generic(); err != nil {
		return layers{}, err
	}
	delete(out.own, "MOOD")
	delete(out.own, "BASE")
	if s.Mood == "" {
		return out, nil
	}
	base, err := parse(s.Base)
	if err != nil {
		return layers{}, err
	}
	now, err := s.generic()
	if err != nil {
		return layers{}, err
	}
	for name := range leaves(base) {
		out.over[name] = leaf(now, name)
	}
	return out, nil
}

// settings puts layers together.
func (l layers) settings(live json.RawMessage) (settings, error) {
	out, err := made(l.own)
	if err == nil && l.mood != "" {
		out, err = out.under(l.mood, l.over)
	}
	out.Live = live
	return out, err
}

// under lays what a mood holds over settings that are in none.
func (s settings) under(mood string, over object) (settings, error) {
	from, err := s.generic()
	if err != nil {
		return s, err
	}
	patch := object{}
	for name, v := range over {
		setLeaf(patch, name, v)
	}
	base, err := json.Marshal(inverse(from, patch))
	if err != nil {
		return s, err
	}
	next, err := made(merge(from, patch))
	next.Mood, next.Base = mood, base
	return next, err
}

// leaves are the settings of a document by their dotted names: members of the document, and
// of its objects. GENRE_SPLIT counts as one setting, as for moods.
func leaves(document object) object {
	out := object{}
	for name, v := range document {
		inner, nested := v.(object)
		if !nested || name == "GENRE_SPLIT" {
			out[name] = v
			continue
		}
		for member, v := range inner {
			out[join(name, member)] = v
		}
	}
	return out
}

// leaf is the setting of a dotted name; nil where there is none.
func leaf(document object, name string) any {
	outer, member, nested := strings.Cut(name, ".")
	if !nested {
		return document[outer]
	}
	inner, _ := document[outer].(object)
	return inner[member]
}

// setLeaf sets the setting of a dotted name in a document that is not shared.
func setLeaf(document object, name string, v any) {
	outer, member, nested := strings.Cut(name, ".")
	if !nested {
		document[outer] = v
		return
	}
	was, _ := document[outer].(object)
	inner := maps.Clone(was)
	if inner == nil {
		inner = object{}
	}
	inner[member] = v
	document[outer] = inner
}

// names are the names of both, each once and sorted.
func names(a, b object) []string {
	all := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(all)
	return slices.Compact(all)
}
