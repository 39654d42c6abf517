package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
)

// object is a JSON object; its values are object, []any, string, bool,
// json.Number or nil.
type object = map[string]any

const (
	mostBytes = 1 << 20 // of one document or patch
	mostDepth = 32
	mostItems = 1000 // of one list or object
)

// parse reads one JSON object. It is stricter than encoding/json: a name that
// appears twice, or anything after the end, is refused.
func parse(text []byte) (object, error) {
	var bad wrong
	if len(text) > mostBytes {
		bad.add("", "must be at most %d MiB", mostBytes>>20)
		return nil, bad.err()
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := value(dec, nil, &bad)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			bad.add("", "something follows the closing brace: remove it")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		bad.add("", "not JSON, line %d: %v", 1+bytes.Count(text[:dec.InputOffset()], []byte("\n")), err)
	}
	o, ok := v.(object)
	if err == nil && !ok {
		bad.add("", "must be an object")
	}
	return o, bad.err()
}

// place is where a value stands. Its path is put together only when it is
// needed: a document may hold many values, and few are wrong.
type place struct {
	in    *place // nil is the document itself
	name  string // of a member
	index int    // of an entry, where name is empty
	depth int
}

func (p *place) member(name string) *place { return &place{p, name, 0, p.level() + 1} }
func (p *place) entry(i int) *place        { return &place{p, "", i, p.level() + 1} }

func (p *place) level() int {
	if p == nil {
		return 0
	}
	return p.depth
}

func (p *place) path() string {
	switch {
	case p == nil:
		return ""
	case p.name == "":
		return index(p.in.path(), p.index)
	}
	return join(p.in.path(), p.name)
}

func value(dec *json.Decoder, at *place, bad *wrong) (any, error) {
	if at.level() > mostDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", mostDepth)
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return members(dec, at, bad)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := value(dec, at.entry(len(list)), bad)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	return t, nil
}

func members(dec *json.Decoder, at *place, bad *wrong) (any, error) {
	o := object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder admits no other
		v, err := value(dec, at.member(name), bad)
		if err != nil {
			return nil, err
		}
		if _, twice := o[name]; twice && !bad.full() {
			bad.add(at.member(name).path(), "appears twice: remove one")
		}
		o[name] = v
	}
	_, err := dec.Token()
	return o, err
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// merge is RFC 7396: members of patch replace those of target, objects are
// merged member by member, null removes. Neither is changed.
func merge(target, patch object) object {
	out := maps.Clone(target)
	if out == nil {
		out = object{}
	}
	for name, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(out, name)
		case object:
			was, _ := out[name].(object)
			out[name] = merge(was, v)
		default:
			out[name] = v
		}
	}
	return out
}

// inverse is the patch that takes back what patch does to target.
func inverse(target, patch object) object {
	out := object{}
	for name, v := range patch {
		was := target[name]
		sub, ok := v.(object)
		old, had := was.(object)
		if ok && had {
			out[name] = inverse(old, sub)
		} else {
			out[name] = was
		}
	}
	return out
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// render writes v as JSON, ending with a newline: indented, unless that makes
// it longer than parse would read again.
func render(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil || b.Len() <= mostBytes {
		return b.Bytes(), err
	}
	return json.Marshal(v)
}
