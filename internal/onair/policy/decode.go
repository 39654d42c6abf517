package policy

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/kit/spelling"
)

// decode puts a JSON value into v and names, by full path, every member that
// is unknown or of a wrong type. A member that is absent or null leaves what v
// holds: v begins with the defaults. Maps and lists are replaced whole.
//
// It is not encoding/json because that one stops at the first error, cannot
// tell the position of an unknown member, and matches names in any case.
func decode(path string, from any, v reflect.Value, bad *wrong) {
	switch {
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		decode(path, from, fresh.Elem(), bad)
		v.Set(fresh)
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		raw, err := json.Marshal(from)
		if err != nil {
			bad.add(path, "%v", err)
			return
		}
		v.SetBytes(raw)
	case reads(v.Type()):
		decodeLeaf(path, from, v, bad)
	case v.Kind() == reflect.Struct:
		decodeStruct(path, from, v, bad)
	case v.Kind() == reflect.Map:
		decodeMap(path, from, v, bad)
	case v.Kind() == reflect.Slice:
		decodeSlice(path, from, v, bad)
	default:
		decodeLeaf(path, from, v, bad)
	}
}

// reads reports whether the type unmarshals itself.
func reads(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// writes reports whether the type stands in JSON as text.
func writes(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func decodeStruct(path string, from any, v reflect.Value, bad *wrong) {
	o, ok := from.(object)
	if !ok {
		bad.add(path, "must be an object")
		return
	}
	fields := map[string]reflect.Value{}
	fieldsOf(v, fields)
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if bad.full() {
			return
		}
		f, known := fields[name]
		switch {
		case !known:
			bad.add(join(path, name), "unknown%s", meant(name, v.Type()))
		case o[name] != nil:
			decode(join(path, name), o[name], f, bad)
		}
	}
}

// fieldsOf lists the fields of a struct by their JSON names, embedded ones
// beside the others.
func fieldsOf(v reflect.Value, into map[string]reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fieldsOf(v.Field(i), into)
		case f.IsExported() && name != "-" && name != "":
			into[name] = v.Field(i)
		}
	}
}

func decodeMap(path string, from any, v reflect.Value, bad *wrong) {
	o, ok := from.(object)
	if !ok {
		bad.add(path, "must be an object")
		return
	}
	if len(o) > mostItems {
		bad.add(path, "must have at most %d members", mostItems)
		return
	}
	t := v.Type()
	v.Set(reflect.MakeMapWithSize(t, len(o)))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if o[name] == nil {
			continue
		}
		item := reflect.New(t.Elem()).Elem()
		decode(join(path, name), o[name], item, bad)
		v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), item)
	}
}

func decodeSlice(path string, from any, v reflect.Value, bad *wrong) {
	list, ok := from.([]any)
	if !ok {
		bad.add(path, "must be a list")
		return
	}
	if len(list) > mostItems {
		bad.add(path, "must have at most %d entries", mostItems)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, item := range list {
		if item == nil {
			bad.add(index(path, i), "must not be null")
			continue
		}
		decode(index(path, i), item, v.Index(i), bad)
	}
}

func decodeLeaf(path string, from any, v reflect.Value, bad *wrong) {
	raw, err := json.Marshal(from)
	if err != nil {
		bad.add(path, "%v", err)
		return
	}
	fresh := reflect.New(v.Type())
	err = json.NewDecoder(bytes.NewReader(raw)).Decode(fresh.Interface())
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		v.Set(fresh.Elem())
	case errors.As(err, &kind) && writes(v.Type()):
		bad.add(path, "must be text")
	case errors.As(err, &kind):
		bad.add(path, "must be %s", word(kind.Type.Kind()))
	default:
		bad.add(path, "%v", err)
	}
}

func word(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	default:
		return "of another type"
	}
}

// meant suggests the member that an unknown name may stand for: one with nearly that
// name, or one of another object.
func meant(name string, t reflect.Type) string {
	best, least := "", max(2, len(name)/4)+1
	fields := map[string]reflect.Value{}
	fieldsOf(reflect.New(t).Elem(), fields)
	for _, known := range slices.Sorted(maps.Keys(fields)) {
		d := spelling.Distance(strings.ToUpper(name), strings.ToUpper(known))
		if len(name) > 2 && strings.HasPrefix(known, name) {
			d = 0
		}
		if d < least {
			best, least = known, d
		}
	}
	for _, outer := range slices.Sorted(maps.Keys(fields)) {
		if inner := fields[outer]; best == "" && inner.Kind() == reflect.Struct && !reads(inner.Type()) {
			within := map[string]reflect.Value{}
			fieldsOf(inner, within)
			if _, ok := within[name]; ok {
				best = join(outer, name)
			}
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}
