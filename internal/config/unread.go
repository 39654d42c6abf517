package config

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-viper/mapstructure/v2"
)

// unread says of a setting that cannot be read what it must be. A value of the wrong kind
// is not repeated: it may be a secret in the wrong place.
func unread(of *mapstructure.DecodeError) error {
	var parse *mapstructure.ParseError
	var kind *mapstructure.UnconvertibleTypeError
	switch err := of.Unwrap(); {
	case errors.As(err, &parse):
		return fmt.Errorf("%s: must be %s, not %q", of.Name(), inWords(parse.Expected.Kind()), fmt.Sprint(parse.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%s: must be %s, not %s", of.Name(), inWords(kind.Expected.Kind()), inWords(reflect.ValueOf(kind.Value).Kind()))
	default:
		return fmt.Errorf("%s: %w", of.Name(), err)
	}
}

func inWords(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a group of settings"
	default:
		return "a text"
	}
}
