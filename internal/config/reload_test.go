package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a file says anew is told by name, in order; what it says in other words, or what the
// environment overrides, has not changed.
func TestChangedSettingsAreNamed(t *testing.T) {
	const keys = "source_password: a-long-enough-password\nsync_token: a-long-enough-token\n"
	const before = keys + "station_key: a-long-enough-key-of-a-station\nname: one\nlimits:\n  reading: 100\ntimezone: Africa/Cairo\n"
	dir := settingsFile(t, before, 0o600)
	cfg, _, err := Load(Source{DataDir: dir, Env: []string{"ATHIR_LANGUAGE=en"}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		before: nil,
		"# a comment\n" + before + "language: ar\n":                                                                  nil,
		keys + "station_key: another-long-enough-station-key\nname: two\nlimits: {reading: 100}\ntimezone: UTC\n":    {"name", "station_key", "timezone"},
		keys + "station_key: a-long-enough-key-of-a-station\nname: one\nlimits: {reading: 7}\nports: {hls: 29351}\n": {"limits.reading", "ports.hls"},
	} {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		next, err := cfg.Again()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := cfg.Changed(next); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nchanged %q, want %q", text, got, want)
		}
	}
}

// Every name in the list of settings that last is a setting, or the beginning of some.
func TestSettingsThatNeedARestartAreSettings(t *testing.T) {
	for _, l := range lasting {
		if !slices.ContainsFunc(fullNames(reflect.TypeFor[Config](), ""), func(name string) bool {
			return name == l || strings.HasSuffix(l, ".") && strings.HasPrefix(name, l)
		}) {
			t.Errorf("%q is no setting", l)
		}
	}
}

func fullNames(typ reflect.Type, within string) (names []string) {
	for f := range typ.Fields() {
		tag := f.Tag.Get("koanf")
		if tag == "" || tag == "-" {
			continue
		}
		names = append(names, within+tag)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[Zone]() {
			names = append(names, fullNames(f.Type, within+tag+".")...)
		}
	}
	return names
}
