package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Pending returns the names of the settings that the file has otherwise, and that a restart
// alone puts in force.
func (c *Config) Pending() ([]string, error) {
	if c.source.DataDir == "" { // they came from no file
		return nil, nil
	}
	next, err := c.Again()
	if err != nil {
		return nil, err
	}
	return c.pending(next), nil
}

func (c *Config) pending(next *Config) []string {
	return slices.DeleteFunc(c.Changed(next), func(name string) bool { return !NeedsRestart(name) })
}

// Held are the settings in force that the file has otherwise and that only a restart may
// change, for the next program of this process: see Keep. Of a file that cannot be used all
// that need a restart are held.
func (c *Config) Held() (map[string]string, error) {
	if c.source.DataDir == "" {
		return map[string]string{}, nil
	}
	next, err := c.Again()
	if err != nil {
		return c.values(NeedsRestart)
	}
	pending := c.pending(next)
	return c.values(func(name string) bool { return slices.Contains(pending, name) })
}

// Keep has settings that the program before held be in force instead of the file's. It is
// the file that Again and Pending read.
func (c *Config) Keep(held map[string]string) error {
	var wrong error
	each(reflect.ValueOf(c).Elem(), "", func(name string, field reflect.Value) {
		if text, is := held[name]; is {
			if err := json.Unmarshal([]byte(text), field.Addr().Interface()); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	if c.rotating != nil {
		c.hold(c.source.Now)
	}
	return wrong
}

// Fits returns an error where the settings of another reading that may change at once are
// wrong beside those that stay until a restart.
func (c *Config) Fits(next *Config) error {
	pending := c.pending(next)
	held, err := c.values(func(name string) bool { return slices.Contains(pending, name) })
	if err != nil {
		return err
	}
	both := *next
	if err := both.Keep(held); err != nil {
		return err
	}
	return errors.Join(both.Validate(), both.apart())
}

// values are the settings in force of some names, as JSON.
func (c *Config) values(wanted func(name string) bool) (map[string]string, error) {
	out, wrong := map[string]string{}, error(nil)
	each(reflect.ValueOf(c.inForce()), "", func(name string, field reflect.Value) {
		if !wanted(name) {
			return
		}
		text, err := json.Marshal(field.Interface())
		out[name], wrong = string(text), errors.Join(wrong, err)
	})
	return out, wrong
}

// each tells the settings of a struct by their names.
func each(of reflect.Value, within string, tell func(name string, field reflect.Value)) {
	for i := range of.NumField() {
		tag, field := of.Type().Field(i).Tag.Get("koanf"), of.Field(i)
		switch {
		case tag == "" || tag == "-":
		case grouped(field.Type()):
			each(field, within+tag+".", tell)
		default:
			tell(within+tag, field)
		}
	}
}

// grouped reports whether a type holds settings of names of their own.
func grouped(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Tag.Get("koanf") != ""
}

// RestartOf says what is to be restarted for a setting to be in force: the broadcast node,
// which 'athir run' and 'athir node' supervise, for what its programs alone have read; or
// every role of the station.
func RestartOf(name string) string {
	for _, own := range []string{"icecast.", "playout.", "hls."} {
		if strings.HasPrefix(name, own) {
			return "node"
		}
	}
	return "every role"
}

// WithRole puts behind each setting what is to be restarted for it.
func WithRole(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + " (" + RestartOf(name) + ")"
	}
	return out
}
