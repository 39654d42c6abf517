package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir"
	"github.com/athir-radio/athir/internal/config"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)

// settings writes the settings of a station and returns its data directory.
func settingsFile(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func textOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, config.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// However an operator writes a key, rotating it changes that key and nothing else: the rest
// of the file is as it was, to the byte.
func TestRotatingChangesOneKeyOfTheFile(t *testing.T) {
	t.Parallel()
	rest := "source_password: abcdefgh\nsync_token: stuvwxyz\n"
	for name, c := range map[string]struct{ before, after string }{
		"double quotes":    {"station_key: \"old\"  # ours\n" + rest, "station_key: \"NEW\"  # ours\n" + rest},
		"single quotes":    {"station_key: 'old'\n" + rest, "station_key: \"NEW\"\n" + rest},
		"plain":            {"# مفتاح\n" + rest + "station_key:   old # ours\n\nname: x\n", "# مفتاح\n" + rest + "station_key:   \"NEW\" # ours\n\nname: x\n"},
		"a number":         {"station_key: 12345678\n" + rest, "station_key: \"NEW\"\n" + rest},
		"empty":            {"open: true\nstation_key: \"\"\n" + rest, "open: true\nstation_key: \"NEW\"\n" + rest},
		"nothing":          {"station_key:  # none yet\nopen: true\n" + rest, "station_key: \"NEW\"  # none yet\nopen: true\n" + rest},
		"left out":         {"open: true\n" + rest, "open: true\n" + rest + "station_key: \"NEW\"\n"},
		"no last line end": {rest + "station_key: old", rest + "station_key: \"NEW\"\n"},
		"Windows":          {strings.ReplaceAll("station_key: \"old\"\n"+rest, "\n", "\r\n"), strings.ReplaceAll("station_key: \"NEW\"\n"+rest, "\n", "\r\n")},
		"within groups":    {"live: {record: false}\nports:\n  control: 5001\nstation_key: old\n" + rest, "live: {record: false}\nports:\n  control: 5001\nstation_key: \"NEW\"\n" + rest},
	} {
		dir := settingsFile(t, c.before)
		value, _, err := config.Rotate(dir, config.NewSecret{Name: config.StationKey, Now: noon})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(value) != 40 {
			t.Errorf("%s: new key %q", name, value)
		}
		got := strings.ReplaceAll(textOf(t, dir), value, "NEW")
		tail := "# Written by 'athir rotate': which secret it replaced, when, and until when the old one holds.\nrotated:\n  - \"station_key 2026-03-01T12:00:00Z\"\n"
		if body, found := strings.CutSuffix(got, tail); !found || body != c.after && body != c.after+"\n" {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, c.after+tail)
		}
	}
}

// What cannot be changed safely is refused by name, and the file stays.
func TestRotatingRefuses(t *testing.T) {
	t.Parallel()
	rest := "source_password: abcdefgh\nsync_token: stuvwxyz\n"
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		text string
		n    config.NewSecret
		want string
	}{
		"an anchor":      {rest + "station_key: &k old\nname: *k\n", config.NewSecret{Name: "station_key", Keep: day}, "station_key: it is written in a way"},
		"a block":        {rest + "station_key: |\n  old\n", config.NewSecret{Name: "station_key", Keep: day}, "station_key"},
		"a flow":         {`{source_password: abcdefgh, sync_token: stuvwxyz, station_key: old}` + "\n", config.NewSecret{Name: "station_key", Keep: day}, "station_key"},
		"no YAML":        {rest + "station_key: [\n", config.NewSecret{Name: "station_key", Keep: day}, "not valid YAML"},
		"wrong settings": {rest + "bnid: x\n", config.NewSecret{Name: "station_key", Keep: day}, "bnid: no such setting"},
		"another name":   {rest, config.NewSecret{Name: "social_admin_key", Keep: day}, "social_admin_key"},
		"kept too long":  {rest, config.NewSecret{Name: "station_key", Keep: 100 * day}, "up to 2160 h"},
		"kept less":      {rest, config.NewSecret{Name: "station_key", Keep: -1}, "may hold"},
		"too short":      {rest, config.NewSecret{Name: "station_key", Value: "short", Keep: day}, "at least 8"},
		"with a quote":   {rest, config.NewSecret{Name: "station_key", Value: `abcd"efgh`, Keep: day}, "printable"},
		"the same":       {rest, config.NewSecret{Name: "sync_token", Value: "stuvwxyz", Keep: day}, config.ErrSame.Error()},
	} {
		dir := settingsFile(t, c.text)
		c.n.Now = noon
		if _, _, err := config.Rotate(dir, c.n); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "old\"") {
			t.Errorf("%s: %v", name, err)
		}
		if got := textOf(t, dir); got != c.text {
			t.Errorf("%s: the file is %q", name, got)
		}
	}
}

// The file of a first start, with all its comments, through rotations, an expiry and a
// leaked key: what holds is written down, what does not disappears.
func TestTheFileHoldsWhatIsValid(t *testing.T) {
	t.Parallel()
	dir := settingsFile(t, "")
	if err := os.Remove(filepath.Join(dir, config.FileName)); err != nil {
		t.Fatal(err)
	}
	now := noon
	src := config.Source{DataDir: dir, Controls: true, Now: func() time.Time { return now }}
	load := func() *config.Config {
		t.Helper()
		cfg, _, err := config.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	first := load()
	running := load() // reads its settings at its beginning, and when it is told
	rotate := func(name string, keep time.Duration) string {
		t.Helper()
		value, _, err := config.Rotate(dir, config.NewSecret{Name: name, Keep: keep, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if err := running.TakeSecret(name); err != nil {
			t.Fatal(err)
		}
		return value
	}
	check := func(when, name string, want ...string) {
		t.Helper()
		for what, cfg := range map[string]*config.Config{"running": running, "after a restart": load()} {
			if got := cfg.Secret(name).Valid(); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q hold, want %q", when, what, got, want)
			}
		}
	}
	lines := func() int { return len(load().Rotated) }

	two := rotate(config.StationKey, time.Hour)
	check("rotated", config.StationKey, two, first.StationKey)
	check("rotated", config.SyncToken, first.SyncToken)
	three := rotate(config.StationKey, 24*time.Hour)
	check("rotated again", config.StationKey, three, two, first.StationKey)
	token := rotate(config.SyncToken, 24*time.Hour)
	check("beside another", config.StationKey, three, two, first.StationKey)
	check("beside another", config.SyncToken, token, first.SyncToken)
	if n := lines(); n != 3 {
		t.Errorf("%d items", n)
	}
	if changed := running.Changed(load()); len(changed) > 0 {
		t.Errorf("what was taken counts as changed: %v", changed)
	}
	if first.Changed(load()); !reflect.DeepEqual(first.Changed(load()), []string{"rotated", "station_key", "sync_token"}) {
		t.Errorf("what was not taken: %v", first.Changed(load()))
	}

	now = now.Add(time.Hour + time.Second)
	check("after an hour", config.StationKey, three, two)
	turn := rotate(config.TurnSecret, time.Minute)
	check("written once more", config.TurnSecret, turn, first.TurnSecret)
	text := textOf(t, dir)
	if strings.Contains(text, first.StationKey) {
		t.Error("an expired key is still in the file")
	}
	four := rotate(config.StationKey, 0)
	check("leaked", config.StationKey, four)
	check("leaked", config.SyncToken, token, first.SyncToken)
	text = textOf(t, dir)
	for _, gone := range []string{two, three} {
		if strings.Contains(text, gone) {
			t.Error("a leaked key is still in the file")
		}
	}
	if got := load().Rotations(); len(got) != 3 {
		t.Errorf("%v", got)
	}
	// All but the keys and the items is the text of the first start.
	strip := func(s string) string {
		s = regexp.MustCompile(`"[0-9a-f]{40}"`).ReplaceAllString(s, `""`)
		return regexp.MustCompile(`(?m)^rotated:.*\n(  - .*\n)*`).ReplaceAllString(s, "rotated: []\n")
	}
	if strip(text) != string(athir.ExampleSettings) {
		t.Error("more than keys and items of the file has changed")
	}
	if info, err := os.Stat(filepath.Join(dir, config.FileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, secret := range []string{four, token, first.SyncToken, turn, first.TurnSecret} {
		if !slices.Contains(running.Secrets(), secret) {
			t.Error("a secret that is valid may stand in a log")
		}
	}
}

// A damaged item is refused by its number: its text holds a secret.
func TestADamagedItemIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	for _, item := range []string{"station_key until hush-hush", "x 2026-03-01T12:00:00Z until 2026-03-01T12:00:00Z hush-hush", "station_key 2026-03-01T12:00:00Z until tomorrow hush-hush", ""} {
		_, err := config.Parse([]byte("source_password: abcdefgh\nsync_token: s\nrotated: [\""+item+"\"]\n"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), "rotated: item 1") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", item, err)
		}
	}
}

// A variable wins over the file: a process that has one keeps it.
func TestAVariableIsNamed(t *testing.T) {
	t.Parallel()
	dir := settingsFile(t, "source_password: abcdefgh\nsync_token: s\nstation_key: filed-key\n")
	cfg, _, err := config.Load(config.Source{DataDir: dir, Env: []string{"STATION_KEY=varied-key", "ATHIR_TURN_SECRET=x"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{config.StationKey: "STATION_KEY", config.TurnSecret: "ATHIR_TURN_SECRET", config.SyncToken: ""} {
		if got := cfg.FromEnvironment(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, _, err := config.Rotate(dir, config.NewSecret{Name: config.StationKey, Now: noon}); err != nil {
		t.Fatal(err)
	}
	if err := cfg.TakeSecret(config.StationKey); err != nil || cfg.Secret(config.StationKey).Current() != "varied-key" {
		t.Errorf("%q, %v", cfg.Secret(config.StationKey).Valid(), err)
	}
}

// What an edge of another machine shows holds as long as the SYNC_TOKEN that it was given,
// and is derived as the versions before did.
func TestAnEdgeIsBelievedWithTheOldToken(t *testing.T) {
	t.Parallel()
	dir := settingsFile(t, "source_password: abcdefgh\nsync_token: first-token\n")
	now := noon
	src := config.Source{DataDir: dir, Now: func() time.Time { return now }}
	edge, _, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	control, _, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Rotate(dir, config.NewSecret{Name: config.SyncToken, Keep: time.Minute, Now: now}); err != nil {
		t.Fatal(err)
	}
	if err := control.TakeSecret(config.SyncToken); err != nil {
		t.Fatal(err)
	}
	if edge.EdgeToken() != "9e32aa7ff95233e1342394787adc5d0715c932fa590d508ea22ceddba38d1c2a" {
		t.Errorf("an edge shows %s", edge.EdgeToken())
	}
	if control.EdgeToken() == edge.EdgeToken() || !control.AdmitsEdge(edge.EdgeToken()) || !control.AdmitsEdge(control.EdgeToken()) || control.AdmitsEdge("") {
		t.Error("not both are believed, or nothing is")
	}
	chat, password, token := edge.BusLogin(config.BusChat)
	admitted := func() bool { return control.BusAdmits(chat, password) && control.BusAdmitsToken(token) }
	if !admitted() || control.BusAdmits(chat, "") || control.BusAdmitsToken("") {
		t.Error("the bus refuses who has the old token, or admits anybody")
	}
	now = now.Add(time.Minute + time.Second)
	if control.BusAdmits(chat, password) || control.BusAdmitsToken(token) {
		t.Error("the bus admits the old token after its time")
	}
	if control.AdmitsEdge(edge.EdgeToken()) || !control.AdmitsEdge(control.EdgeToken()) {
		t.Error("after its time the old one is believed, or the new one is not")
	}
}

// Fails where somebody who may only look into the data directory keeps an operator from
// replacing a secret, or where two rotations at once are let on the file.
func TestWhoCannotReadTheSettingsHoldsUpNoRotation(t *testing.T) {
	dir := settingsFile(t, "station_key: \"first-first\"\nsync_token: \"second-second\"\nsource_password: \"third-third\"\n")
	hold := func(path string) *os.File {
		t.Helper()
		f, err := os.Open(path)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	hold(dir)
	rotate := func() error {
		_, _, err := config.Rotate(dir, config.NewSecret{Name: config.StationKey, Now: noon})
		return err
	}
	if err := rotate(); err != nil {
		t.Errorf("with the folder held: %v", err)
	}
	held := hold(filepath.Join(dir, config.FileName))
	if err := rotate(); err == nil || !strings.Contains(err.Error(), "is being rotated") {
		t.Errorf("with another rotation under way: %v", err)
	}
	_ = held.Close()
	if err := rotate(); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// A secret that somebody has written into the file, and that waits for a restart, is none of
// the rotation of another: neither in the process nor in the one that it goes on as.
func TestARotationTakesNoOtherSecret(t *testing.T) {
	t.Parallel()
	dir := settingsFile(t, "station_key: first-key\nsource_password: abcdefgh\nsync_token: first-token\n")
	running, _, err := config.Load(config.Source{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, config.FileName)
	if err := os.WriteFile(file, []byte(strings.Replace(textOf(t, dir), "first-token", "second-token", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	key, _, err := config.Rotate(dir, config.NewSecret{Name: config.StationKey, Keep: time.Hour, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	password, _, err := config.Rotate(dir, config.NewSecret{Name: config.SourcePassword, Keep: time.Hour, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{config.StationKey, config.SourcePassword} {
		if err := running.TakeSecret(name); err != nil {
			t.Fatal(err)
		}
	}
	held, err := running.Held()
	if err != nil || !reflect.DeepEqual(held, map[string]string{"sync_token": `"first-token"`}) {
		t.Fatalf("%v wait for a restart, %v", held, err)
	}
	next, _, err := config.Load(config.Source{DataDir: dir})
	if err == nil {
		err = next.Keep(held)
	}
	if err != nil {
		t.Fatal(err)
	}
	for what, cfg := range map[string]*config.Config{"the process": running, "the next program": next} {
		if got := cfg.SyncTokens(); !slices.Equal(got, []string{"first-token"}) {
			t.Errorf("%s goes by the tokens %q", what, got)
		}
		if got := cfg.Secret(config.StationKey).Valid(); !slices.Equal(got, []string{key, "first-key"}) {
			t.Errorf("%s goes by the keys %q", what, got)
		}
		if got := cfg.Secret(config.SourcePassword).Valid(); !slices.Equal(got, []string{password, "abcdefgh"}) {
			t.Errorf("%s goes by the passwords %q", what, got)
		}
	}
}
