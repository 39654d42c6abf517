package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir"
)

// filled is a settings text as a first start writes it.
func filled(t *testing.T) []byte {
	t.Helper()
	text, err := withKeys(athir.ExampleSettings)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestExampleSettingsAreTheWholeManual(t *testing.T) {
	cfg, err := Parse(filled(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Ports.Control != 5000 || cfg.Ports.TURNS != 5349 || cfg.Timezone.String() != "Africa/Cairo" {
		t.Errorf("defaults differ from the mission: %+v", cfg)
	}
	// Every field has a line in the example, or it could never be set by name.
	example := "\n" + string(athir.ExampleSettings)
	for _, name := range settingNames(reflect.TypeFor[Config](), nil) {
		if !strings.Contains(example, "\n"+name+":") && !strings.Contains(example, "\n  "+name+":") && !strings.Contains(example, "\n    "+name+":") {
			t.Errorf("setting %q is missing in athir.example.yaml", name)
		}
	}
}

func settingNames(typ reflect.Type, names []string) []string {
	for f := range typ.Fields() {
		tag := f.Tag.Get("koanf")
		if tag == "" || tag == "-" {
			continue
		}
		names = append(names, tag)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[Zone]() {
			names = settingNames(f.Type, names)
		}
	}
	return names
}

func TestFirstStartWritesRandomKeysOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "station")
	one, first, err := Load(Source{DataDir: dir})
	if err != nil || !first {
		t.Fatalf("first %v, err %v", first, err)
	}
	two, first, err := Load(Source{DataDir: dir})
	if err != nil || first {
		t.Fatalf("second start: first %v, err %v", first, err)
	}
	if one.StationKey == "" || one.StationKey != two.StationKey {
		t.Errorf("station key %q then %q", one.StationKey, two.StationKey)
	}
	other, _, err := Load(Source{DataDir: t.TempDir()})
	if err != nil || other.SyncToken == one.SyncToken || one.SyncToken == one.StationKey {
		t.Errorf("keys are not random per install and per key: err %v", err)
	}
	info, err := os.Stat(one.File())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the settings file %v, err %v", info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".athir-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	text := append(filled(t), "\n"...)
	text = []byte(strings.Replace(string(text), "control: 5000", "control: 5001", 1))
	env := []string{"ATHIR_PORTS_ICECAST=7005", "ATHIR_HLS_SEGMENTS=12", "STATION_KEY=", "ATHIR_BIND=127.0.0.1", "ATHIR_URL=x"}
	cfg, err := Parse(text, map[string]any{"hls.segments": 9}, env)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Ports.Control != 5001 || cfg.Ports.Icecast != 7005 || cfg.HLS.Segments != 9 || cfg.Bind != "127.0.0.1" {
		t.Errorf("got %+v", cfg)
	}
	if cfg.StationKey != "" {
		t.Errorf("STATION_KEY set to empty must mean no key, got %q", cfg.StationKey)
	}
}

func TestSettingsOfTheEnvironmentAreToldApart(t *testing.T) {
	env := []string{"PATH=/bin", "STATION_KEY=k", "ATHIR_PORTS_HLS=7001", "HOME=/root", "MY_STATION_KEY=x"}
	cfg, _, err := Load(Source{DataDir: t.TempDir(), Env: env})
	if err != nil || !slices.Equal(cfg.Env, []string{"STATION_KEY=k", "ATHIR_PORTS_HLS=7001"}) {
		t.Errorf("got %v, %v", cfg.Env, err)
	}
}

func TestAHeadingWithNothingBelowItIsNoError(t *testing.T) {
	text := "source_password: abcdefgh\nsync_token: x\nports:\nhls:\n"
	cfg, err := Parse([]byte(text), nil, nil)
	if err != nil || cfg.Ports.Control != 5000 || cfg.HLS.Segments != 8 {
		t.Errorf("got %+v, %v", cfg, err)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		env            []string
		want           []string
	}{
		{"typo", "bind: 0.0.0.0", "bnid: 0.0.0.0", nil, []string{"bnid: no such setting"}},
		{"nested typo", "control: 5000", "contrl: 5000", nil, []string{"ports.contrl: no such setting"}},
		{"clash", "control: 5000", "control: 8005", nil, []string{"ports.icecast: 8005 is already ports.control"}},
		{"two at once", "control: 5000", "control: 99999", []string{"ATHIR_LANGUAGE=fr"},
			[]string{"ports.control: 99999 is not a port", `language: "fr" is not known`}},
		{"zone", "Africa/Cairo", "Africa/Kairo", nil, []string{"timezone", "Africa/Kairo"}},
		{"number", "control: 5000", "control: many", nil, []string{"ports.control"}},
		{"env typo", "", "", []string{"ATHIR_PORTS_CONTORL=1"}, []string{"ATHIR_PORTS_CONTORL: no such port"}},
		{"yaml", "bind: 0.0.0.0", "bind: [", nil, []string{"not valid YAML"}},
		{"password", "", "", []string{"SOURCE_PASSWORD=short"}, []string{"source_password: must have at least 8"}},
		{"origin", "cors_origins: []", `cors_origins: ["https://radio.example/"]`, nil, []string{`cors_origins: "https://radio.example/" is not an origin`}},
		{"requests", "reading: 200", "reading: -1", nil, []string{"limits.reading: must be 0.001 to 1000000"}},
		{"connections", "per_address: 4000", "per_address: 5", nil, []string{"connections.per_address: must be 50 to 1000000, or 0"}},
		{"who has no limit", "exempt: []", `exempt: ["192.0.2.7"]`, nil, []string{`connections.exempt: "192.0.2.7" must be a network`}},
		{"limit", "max_per_address: 200", "max_per_address: -1", nil, []string{"stream.max_per_address: must be 1 to 100000, or 0"}},
		{"feed", "feeds: []", `feeds: ["english ftp://x"]`, nil, []string{`content.feeds: "english ftp://x" must be a category and an address`}},
		{"feed's category", "feeds: []", `feeds: ["rock https://x.org/f"]`, nil, []string{"content.feeds"}},
		{"network", "networks: []", `networks: ["10.0.0.1/99"]`, nil, []string{"content.networks"}},
		{"profile", "profiles: []", `profiles: ["news=-17"]`, nil, []string{"library.profiles"}},
		{"mission's name", "", "", []string{"BULLETIN_HOURS=-1", "CONTENT_REFRESH_HOURS=9999"}, []string{"bulletin.hours", "content.refresh_hours"}},
		{"injection", "", "", []string{`SOURCE_PASSWORD=abcdefgh"<x>`}, []string{"source_password: must be printable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(strings.Replace(string(filled(t)), c.from, c.to, 1)), nil, c.env)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// What is put aside within the media folder would be on air.
func TestFoldersOfOursLieOutsideTheMediaFolder(t *testing.T) {
	dir := t.TempDir()
	for _, env := range []string{"ATHIR_MEDIA=.", "ATHIR_MEDIA=" + dir, "ATHIR_CONTENT_INBOX=media/in"} {
		if _, _, err := Load(Source{DataDir: dir, Env: []string{env}}); err == nil || !strings.Contains(err.Error(), "media: content.inbox must not lie in it") {
			t.Errorf("%s: %v", env, err)
		}
	}
	// What lies in the inbox is taken away from there, and so is what the
	// station has not put among its copies.
	srv := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(srv, "music"), 0o750), os.Symlink(filepath.Join(srv, "music"), filepath.Join(dir, "linked"))); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string][]string{
		"media: must not lie in content.inbox":                         {"ATHIR_MEDIA=" + srv + "/music", "ATHIR_CONTENT_INBOX=" + srv},
		"media: must not lie in content.inbox (" + srv:                 {"ATHIR_MEDIA=linked", "ATHIR_CONTENT_INBOX=" + srv},
		"media: must not lie in the mastered copies":                   {"ATHIR_MEDIA=mastered/music"},
		"content.inbox: must lie apart from the archive (" + dir + "/": {"ATHIR_MEDIA=" + srv, "ATHIR_CONTENT_INBOX=."},
	} {
		if _, _, err := Load(Source{DataDir: dir, Env: env}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", env, err, want)
		}
	}
	cfg, _, err := Load(Source{DataDir: dir, Env: []string{"BULLETIN_HOURS=0.5", "ATHIR_CONTENT_FEEDS=news https://example.org/a"}})
	if err != nil || cfg.Bulletin.Hours != 0.5 || cfg.InboxDir() != filepath.Join(dir, "inbox") {
		t.Fatalf("%+v, %v", cfg, err)
	}
	if feeds, err := cfg.Content.FeedList(); err != nil || len(feeds) != 1 || feeds[0].Category != "news" {
		t.Errorf("feeds %v, %v", feeds, err)
	}
}

func TestListsInTheEnvironment(t *testing.T) {
	for value, want := range map[string][]string{
		"":                               nil,
		"10.0.0.0/8":                     {"10.0.0.0/8"},
		"10.0.0.0/8,192.168.0.0/16":      {"10.0.0.0/8", "192.168.0.0/16"},
		" 10.0.0.0/8 , 192.168.0.0/16 ,": {"10.0.0.0/8", "192.168.0.0/16"},
		`["10.0.0.0/8", 192.168.0.0/16]`: {"10.0.0.0/8", "192.168.0.0/16"},
		"[]":                             nil,
	} {
		cfg, err := Parse(filled(t), nil, []string{"ATHIR_CONTENT_NETWORKS=" + value})
		if err != nil || !slices.Equal(cfg.Content.Networks, want) {
			t.Errorf("%q: %v, %v", value, cfg, err)
		}
	}
	feed := "english https://radio.example/a,b"
	if cfg, err := Parse(filled(t), nil, []string{`ATHIR_CONTENT_FEEDS=["` + feed + `"]`}); err != nil || !slices.Equal(cfg.Content.Feeds, []string{feed}) {
		t.Errorf("an item with a comma: %v", err)
	}
	if _, err := Parse(filled(t), nil, []string{"ATHIR_CONTENT_NETWORKS=[10.0.0.0/8"}); err == nil || !strings.Contains(err.Error(), "ATHIR_CONTENT_NETWORKS: not a list: write items between commas") {
		t.Errorf("%v", err)
	}
}
