package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Again reads the settings once more, from where they came. A file that cannot be used is
// an error, and those of the supervisor are no other reading.
func (c *Config) Again() (*Config, error) {
	next, _, err := Load(c.source)
	if err == nil && next.Unusable != "" {
		return nil, errors.New(next.Unusable)
	}
	return next, err
}

// Changed returns the names of the settings that another reading has otherwise, in order. Of
// the secrets, what is in force counts, not what this process began with.
func (c *Config) Changed(next *Config) (names []string) {
	theirs := map[string]any{}
	each(reflect.ValueOf(next).Elem(), "", func(name string, field reflect.Value) { theirs[name] = field.Interface() })
	each(reflect.ValueOf(c.inForce()), "", func(name string, field reflect.Value) {
		if !reflect.DeepEqual(field.Interface(), theirs[name]) {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

// lasting are the settings, or the beginnings of their names, that programs which go on
// while Athir's own are replaced have read: Icecast, Liquidsoap, the HLS bridge and nginx;
// and the folders in which a station is found.
var lasting = []string{
	"name", "bind", "media", "source_password", "sync_token", "ports.", "bus.", "node.", "icecast.", "playout.", "hls.", "log.level",
}

// NeedsRestart reports that a setting is in force only after a restart of the station.
func NeedsRestart(name string) bool {
	return slices.ContainsFunc(lasting, func(l string) bool {
		return name == l || strings.HasSuffix(l, ".") && strings.HasPrefix(name, l)
	})
}
