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
	mostBytes = 4 << 20 // of one document or patch
	mostDepth = 32
	mostItems = 1000 // of one list or object
)

// parse reads one JSON object. It is stricter than encoding/json: a name that
// stands twice, or anything after the end, is refused.
func parse(text []byte) (object, error) {
	var bad wrong
	if len(text) > mostBytes {
		bad.add("", "must be at most %d MiB", mostBytes>>20)
		return nil, bad.err()
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := value(dec, "", 0, &bad)
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

func value(dec *json.Decoder, path string, depth int, bad *wrong) (any, error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("more than %d levels deep", mostDepth)
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // the decoder admits no other
			at := join(path, name)
			v, err := value(dec, at, depth+1, bad)
			if err != nil {
				return nil, err
			}
			if _, twice := o[name]; twice {
				bad.add(at, "stands twice")
			}
			o[name] = v
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := value(dec, index(path, len(list)), depth+1, bad)
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

// render writes v as JSON, indented, ending with a newline.
func render(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
