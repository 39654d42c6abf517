package policy

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Document is the station configuration: the scheduler's in its own words
// (mission: *Rotation and scheduler configuration*), and what the rest of the
// station keeps beside it.
type Document struct {
	rotation.Config
	Mood string `json:"MOOD"` // preset in force; empty is none
	// Singers are the catalogs, and Queries the trend queries, that the content
	// pipeline fetches from.
	Singers map[station.Category][]string `json:"SINGERS"`
	Queries map[station.Category][]string `json:"QUERIES"`
	Live    json.RawMessage               `json:"live,omitempty"` // kept as it is
}

// Defaults is the document of a station that has none.
func Defaults() Document {
	return Document{
		Config:  rotation.DefaultConfig(),
		Singers: map[station.Category][]string{}, Queries: map[station.Category][]string{},
	}
}

// settings is what the file holds: the document in force, and the merge patch
// that takes its mood back.
type settings struct {
	Document
	// Base is an object, absent when no mood is in force. A mood without it was
	// written by hand: it is yet to be applied.
	Base json.RawMessage `json:"BASE,omitempty"`
}

func defaults() settings { return settings{Document: Defaults()} }

// open reads the text of a file. What it does not name has its default.
func open(file []byte) (settings, error) {
	from, err := parse(file)
	if err != nil {
		return settings{}, err
	}
	s, err := made(from)
	if err != nil {
		return settings{}, err
	}
	if s.Mood == "" {
		s.Base = nil
		return s, nil
	}
	if s.Base == nil {
		name := s.Mood
		s.Mood = ""
		return s.inMood(name)
	}
	if _, err := s.undone(); err != nil {
		return settings{}, under("BASE", err)
	}
	return s, nil
}

// under puts a name before the paths of an error.
func under(name string, err error) error {
	var bad wrong
	var inv *InvalidError
	if !errors.As(err, &inv) {
		return err
	}
	for _, f := range inv.Fields {
		bad.add(strings.TrimSuffix(join(name, f.Path), "."), "%s", f.Want)
	}
	return bad.err()
}

// made turns the generic form into settings, valid or not at all.
func made(from object) (settings, error) {
	s := defaults()
	var bad wrong
	decode("", from, reflect.ValueOf(&s).Elem(), &bad)
	s.Singers = tidied("SINGERS", s.Singers, &bad)
	s.Queries = tidied("QUERIES", s.Queries, &bad)
	if s.Mood != "" && !isMood(s.Mood) {
		bad.add("MOOD", "must be one of %s, or empty", strings.Join(Moods(), ", "))
	}
	bad.take(s.Validate())
	if err := bad.err(); err != nil {
		return s, err
	}
	return s.settled()
}

// settled gives two documents that mean the same the same form: a list that is
// left out when empty is nil.
func (s settings) settled() (settings, error) {
	from, err := s.generic()
	if err != nil {
		return s, err
	}
	out := defaults()
	var bad wrong
	decode("", from, reflect.ValueOf(&out).Elem(), &bad)
	return out, bad.err()
}

// generic is the JSON form of s; made(s.generic()) is s again.
func (s settings) generic() (object, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// clone is a deep copy.
func (s settings) clone() settings {
	out, _ := copied(reflect.ValueOf(s)).Interface().(settings)
	return out
}

// copied is v with lists, maps and pointers of its own. A way over JSON would do
// the same, and take a hundred times as long for a large document.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copied(v.Field(i)))
			}
		}
	case v.Kind() == reflect.Slice && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		reflect.Copy(out, v)
		for i := range v.Len() {
			if v.Type().Elem().Kind() < reflect.Array { // else copied already
				break
			}
			out.Index(i).Set(copied(v.Index(i)))
		}
	case v.Kind() == reflect.Map && !v.IsNil():
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for all := v.MapRange(); all.Next(); {
			out.SetMapIndex(all.Key(), copied(all.Value()))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(copied(v.Elem()))
	}
	return out
}

// patched merges a patch into the document. What it changes is no longer held
// by the mood: it stays when the mood goes.
func (s settings) patched(patch object) (settings, error) {
	before, err := s.generic()
	if err != nil {
		return s, err
	}
	var bad wrong
	scratch := Defaults() // BASE is no part of it
	decode("", patch, reflect.ValueOf(&scratch).Elem(), &bad)
	next, err := made(merge(before, patch))
	bad.take(err)
	if err := bad.err(); err != nil {
		return s, err
	}
	after, err := next.generic()
	if err != nil {
		return s, err
	}
	return next.released(before, after)
}
