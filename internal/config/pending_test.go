package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const closedStation = "source_password: a-long-enough-password\nsync_token: a-long-enough-token\nstation_key: a-long-enough-key-of-a-station\n"

func rewrite(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(closedStation+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The next program has of the file what may change at once, and of the program before what
// may not, over any number of programs; what was taken back waits no more, and a station
// that is started anew has the file.
func TestSettingsThatNeedARestartStayUntilOne(t *testing.T) {
	dir := settingsFile(t, closedStation+"name: one\nlimits: {reading: 100}\n", 0o600)
	begin := func(held map[string]string) *Config {
		t.Helper()
		cfg, _, err := Load(Source{DataDir: dir})
		if err == nil {
			err = cfg.Keep(held)
		}
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	waits := func(cfg *Config, want ...string) {
		t.Helper()
		if got, err := cfg.Pending(); err != nil || !slices.Equal(got, want) {
			t.Errorf("pending %q, %v, want %q", got, err, want)
		}
	}
	leaves := func(cfg *Config) map[string]string {
		t.Helper()
		held, err := cfg.Held()
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	cfg := begin(nil)
	waits(cfg)
	rewrite(t, dir, "name: two\nlimits: {reading: 7}\nicecast: {max_clients: 123}\nports: {hls: 29351}\n")
	for range 2 {
		waits(cfg, "icecast.max_clients", "name", "ports.hls")
		cfg = begin(leaves(cfg))
		if cfg.Name != "one" || cfg.Limits.Reading != 7 || cfg.Icecast.MaxClients != 5000 || cfg.Ports.HLS != 19351 {
			t.Errorf("in force: %q, %+v, %+v, %+v", cfg.Name, cfg.Limits, cfg.Icecast, cfg.Ports)
		}
	}
	rewrite(t, dir, "name: one\nlimits: {reading: 8}\nicecast: {max_clients: 123}\n")
	waits(cfg, "icecast.max_clients")
	if cfg = begin(leaves(cfg)); cfg.Icecast.MaxClients != 5000 || cfg.Limits.Reading != 8 {
		t.Errorf("in force: %+v, %+v", cfg.Limits, cfg.Icecast)
	}
	if cfg = begin(nil); cfg.Icecast.MaxClients != 123 {
		t.Errorf("after a restart: %+v", cfg.Icecast)
	}
	waits(cfg)

	// Of a file that cannot be read nothing is known: all of them stay.
	rewrite(t, dir, "\t")
	held := leaves(cfg)
	if held["icecast.max_clients"] != "123" || held["name"] != `"one"` || held["limits.reading"] != "" {
		t.Errorf("held of a damaged file: %v", held)
	}
	if names, err := (&Config{DataDir: dir}).Pending(); err != nil || len(names) > 0 {
		t.Errorf("settings from no file: %v, %v", names, err)
	}
}

// A port that may not change yet is not taken twice by one that may.
func TestSettingsFitThoseThatWait(t *testing.T) {
	dir := settingsFile(t, closedStation, 0o600)
	cfg, _, err := Load(Source{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for text, fits := range map[string]bool{
		"limits: {reading: 7}\nname: two\n":                                             true,
		"media: " + other + "\ncontent: {inbox: " + filepath.Join(dir, "media") + "}\n": false, // the folder in force
	} {
		rewrite(t, dir, text)
		next, err := cfg.Again()
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Fits(next); (err == nil) != fits {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// Every setting that needs a restart says of what, and can be held.
func TestEverySettingThatWaitsCanBeHeld(t *testing.T) {
	cfg, err := Parse([]byte(closedStation), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, err := cfg.values(NeedsRestart)
	if err != nil || len(held) < 30 {
		t.Fatalf("%d, %v", len(held), err)
	}
	again := &Config{}
	if err := again.Keep(held); err != nil {
		t.Fatal(err)
	}
	if changed := slices.DeleteFunc(cfg.Changed(again), func(name string) bool { return !NeedsRestart(name) }); len(changed) > 0 {
		t.Errorf("lost on the way: %v", changed)
	}
	if got := WithRole([]string{"icecast.max_clients", "name"}); !reflect.DeepEqual(got, []string{"icecast.max_clients (node)", "name (every role)"}) {
		t.Error(strings.Join(got, ", "))
	}
}
