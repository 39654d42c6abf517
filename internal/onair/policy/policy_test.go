package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// desk is an owner over a file of its own, and what it applied.
type desk struct {
	*policy.Owner
	t       testing.TB
	path    string
	applied []rotation.Config
	fail    error
}

func newDesk(t testing.TB) *desk {
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "station.json")}
	d.open()
	return d
}

func (d *desk) open() {
	d.t.Helper()
	o, err := policy.Open(d.path, func(_ context.Context, cfg rotation.Config) (bool, error) {
		if d.fail == nil {
			d.applied = append(d.applied, cfg)
		}
		return true, d.fail
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Owner = o
}

// merged patches and fails the test when that is refused.
func (d *desk) merged(patch string) policy.Change {
	d.t.Helper()
	c, err := d.Patch(context.Background(), "", json.RawMessage(patch))
	if err != nil {
		d.t.Fatalf("%s: %v", patch, err)
	}
	return c
}

func TestEveryWrongFieldIsNamedByItsPath(t *testing.T) {
	for patch, want := range map[string][]string{
		`{"ROTATION":{"BUFER_MAX":5,"REFRESH_FRACTION":"half","COOLDOWN_PERIOD":-1},"AD_EVERY":1.5,"mood":"chill"}`: {
			"ROTATION.BUFER_MAX: unknown: did you mean BUFFER_MAX?",
			"ROTATION.REFRESH_FRACTION: must be a number",
			"ROTATION.COOLDOWN_PERIOD: must be 0 to 72 hours, in milliseconds",
			"AD_EVERY: must be a whole number",
			"mood: unknown: did you mean MOOD?",
		},
		`{"BUFFER_MAX":5,"X":{"y":null},"NOTHING":null}`: {
			"BUFFER_MAX: unknown: did you mean ROTATION.BUFFER_MAX?", "X: unknown", "NOTHING: unknown",
		},
		`{"GENRE_SPLIT":{"arabic":1,"english":-1,"social":"x"},"MASHUP_CHANCE":2}`: {
			"GENRE_SPLIT.arabic: must be one of arabic_hits, english, social",
			"GENRE_SPLIT.english: must be 0 to 1000", "GENRE_SPLIT.social: must be a number", "MASHUP_CHANCE: must be 0 to 1",
		},
		`{"DAYPARTS":[{"start":"25:00","end":3},null,{"start":1,"end":2,"hard":"news","weights":{"english":null},"begin":1}]}`: {
			`DAYPARTS[0].start: time of day "25:00": must be HH:MM`, "DAYPARTS[1]: must not be null",
			"DAYPARTS[2].hard: must be a music category, or empty", "DAYPARTS[2].begin: unknown",
		},
		`{"ROTATION":5,"GENRE_SPLIT":[],"DAYPARTS":{},"MOOD":7,"SINGERS":{"english":["a\u0007b",""],"jazz":[]}}`: {
			"ROTATION: must be an object", "GENRE_SPLIT: must be an object", "DAYPARTS: must be a list", "MOOD: must be text",
			"SINGERS.english[0]: must hold no control characters", "SINGERS.english[1]: must not be empty",
			"SINGERS.jazz: must be one of the ten categories",
		},
		`{"MOOD":"sleepy","BASE":{},"AD_EVERY":-1}`: {
			"MOOD: must be one of chill, romantic, tarab, party, energy, focus, or empty", "BASE: unknown", "AD_EVERY: must be 0 (none) or more",
		},
		`{"CLOCKS":[{"name":"a","days":["noday",7],"hour":[{"category":"news","at":5},{"category":"news","at":"61:00","cat":1}]}]}`: {
			`CLOCKS[0].days[0]: day "noday": must be sun, mon, tue, wed, thu, fri or sat`, "CLOCKS[0].days[1]: must be text",
			"CLOCKS[0].hour[0].at: must be text", `CLOCKS[0].hour[1].at: time after the hour "61:00": must be MM:SS, 00:00 to 59:59`,
			"CLOCKS[0].hour[1].cat: unknown: did you mean category?",
		},
		`{"AD_EVERY":1,"AD_EVERY":2}`: {"AD_EVERY: appears twice: remove one"},
		`[]`:                          {"must be an object"},
		`{"AD_EVERY":1} {}`:           {"something follows the closing brace: remove it"},
		"{\n\"AD_EVERY\":}":           {"not JSON, line 2: invalid character '}' looking for beginning of value"},
		strings.Repeat(`{"live":`, 40): {
			"not JSON, line 1: nested more than 32 levels deep",
		},
	} {
		d := newDesk(t)
		before := d.Current()
		_, err := d.Patch(t.Context(), "", json.RawMessage(patch))
		var inv *policy.InvalidError
		if !errors.As(err, &inv) || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: got %v", patch, err)
			continue
		}
		named := map[string]bool{}
		for _, f := range inv.Fields {
			named[f.String()] = true
		}
		for _, w := range want {
			if !named[w] {
				t.Errorf("%s\nis not told: %s\nbut:\n%v", patch, w, err)
			}
		}
		if len(inv.Fields) != len(want) {
			t.Errorf("%s: %d fields named, want %d:\n%v", patch, len(inv.Fields), len(want), err)
		}
		if diff := cmp.Diff(before, d.Current()); diff != "" || len(d.applied) > 0 {
			t.Errorf("%s was refused and changed something: %s", patch, diff)
		}
	}
}

func TestPatchesMergeDeeplyAndNullBringsTheDefaultBack(t *testing.T) {
	d := newDesk(t)
	first := d.merged(`{"ROTATION":{"BUFFER_MAX":60},"GENRE_SPLIT":{"english":1},"DAYPARTS":[{"start":"22:00","end":6.5,"hard":"english"}]}`)
	got := first.Document
	if got.Rotation.BufferMax != 60 || got.Rotation.RefreshFraction != 0.85 || got.GenreSplit[station.English] != 1 || got.GenreSplit[station.ArabicHits] != 0.65 {
		t.Errorf("%+v", got.Config)
	}
	if !first.Rebuilt || len(d.applied) != 1 || !cmp.Equal(d.applied[0], got.Config) {
		t.Errorf("applied %+v", d.applied)
	}
	d.merged(`{"DAYPARTS":[{"start":1,"end":2}]}`)
	if parts := d.Current().Dayparts; len(parts) != 1 || parts[0].Hard != "" {
		t.Errorf("a list is not replaced whole: %+v", parts)
	}
	d.merged(`{"DAYPARTS":[]}`)
	if parts := d.Current().Dayparts; parts == nil || len(parts) != 0 {
		t.Errorf("no dayparts at all: %+v", parts)
	}
	d.merged(`{"ROTATION":{"BUFFER_MAX":null},"GENRE_SPLIT":{"social":null},"DAYPARTS":null}`)
	got = d.Current()
	if _, there := got.GenreSplit[station.Social]; there || got.Rotation.BufferMax != 120 || got.Dayparts != nil {
		t.Errorf("%+v", got.Config)
	}
	d.merged(`{"GENRE_SPLIT":null}`)
	if diff := cmp.Diff(policy.Defaults(), d.Current()); diff != "" {
		t.Errorf("not the defaults again: %s", diff)
	}
	// What is no setting of the scheduler does not trouble it.
	applied := len(d.applied)
	d.merged(`{"SINGERS":{"arabic_hits":["أم كلثوم"]},"live":{"streams":[{"id":12345678901234567890}]}}`)
	if len(d.applied) != applied {
		t.Error("singers were applied to the scheduler")
	}
	if live := string(d.Current().Live); live != `{"streams":[{"id":12345678901234567890}]}` {
		t.Errorf("live is kept as %s", live)
	}
}

func TestMoodGoesOverTheOperatorsSettingsAndAwayAgain(t *testing.T) {
	d := newDesk(t)
	own := d.merged(`{"GENRE_SPLIT":{"arabic_hits":70,"english":30,"social":null},"MASHUP_CHANCE":0.11,"ROTATION":{"ARTIST_GAP_MS":60000}}`).Document
	for _, mood := range policy.Moods() {
		c, err := d.Mood(t.Context(), "", mood)
		if err != nil || c.Document.Mood != mood {
			t.Fatalf("%s: %v", mood, err)
		}
		if cmp.Equal(c.Document.Config, own.Config) {
			t.Errorf("%s changes nothing", mood)
		}
	}
	for _, way := range []func() (policy.Change, error){
		func() (policy.Change, error) { return d.Mood(t.Context(), "", "") },
		func() (policy.Change, error) { return d.Patch(t.Context(), "", json.RawMessage(`{"MOOD":null}`)) },
	} {
		c, err := way()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own, c.Document); diff != "" {
			t.Errorf("the operator's own settings are not back: %s", diff)
		}
		d.merged(`{"MOOD":"tarab"}`)
	}
	// What the operator sets while a mood is on is his own: it stays. The mood
	// may come with a patch, and over a restart.
	d.merged(`{"MOOD":"party","GENRE_SPLIT":{"english":0.9}}`)
	if err := d.Save(t.Context()); err != nil || !d.Saved() {
		t.Fatal(err)
	}
	on := d.Current()
	d.open()
	if diff := cmp.Diff(on, d.Current()); diff != "" || !d.Saved() {
		t.Errorf("over a restart: %s", diff)
	}
	// A whole document that comes back as it was read holds nothing new.
	whole, _ := json.Marshal(d.Current())
	d.merged(string(whole))
	c, err := d.Mood(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Document; got.GenreSplit[station.English] != 0.9 || got.GenreSplit[station.ArabicHits] != 0.5 || got.MashupChance != 0.11 ||
		got.Rotation.ArtistGap != 60000 || got.Mood != "" {
		t.Errorf("%+v", got.Config)
	}
}

func TestMoodWrittenByHandIsApplied(t *testing.T) {
	d := newDesk(t)
	write(t, d.path, `{"MOOD":"focus","MASHUP_CHANCE":0.3}`)
	d.open()
	if got := d.Current(); got.Mood != "focus" || got.MashupChance != 0 {
		t.Errorf("%+v", got)
	}
	if c, err := d.Mood(t.Context(), "", ""); err != nil || c.Document.MashupChance != 0.3 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestApplyThatFailsLeavesTheDocumentAsItWas(t *testing.T) {
	d := newDesk(t)
	was := d.merged(`{"AD_EVERY":20}`).Document
	d.fail = station.ErrUnavailable
	for name, change := range map[string]func() error{
		"patch": func() error { _, err := d.Patch(t.Context(), "", json.RawMessage(`{"AD_EVERY":1}`)); return err },
		"mood":  func() error { _, err := d.Mood(t.Context(), "", "party"); return err },
		"reset": func() error { _, err := d.Reset(t.Context(), ""); return err },
	} {
		if err := change(); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(was, d.Current()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSaveResetAndTheFile(t *testing.T) {
	d := newDesk(t)
	if !d.Saved() {
		t.Error("no file and the defaults: a restart brings the same")
	}
	d.merged(`{"AD_EVERY":20,"QUERIES":{"english":["summer"]}}`)
	if d.Saved() {
		t.Error("a change counts as saved")
	}
	if err := d.Save(t.Context()); err != nil || !d.Saved() {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(d.path)
	// No reader ever finds anything but a whole document.
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if b, err := os.ReadFile(d.path); err != nil || !json.Valid(b) {
				t.Errorf("found %d bytes, %v", len(b), err)
				return
			}
		}
	})
	for range 20 {
		d.merged(`{"SINGERS":{"english":["` + strings.Repeat("x", 100) + `"]}}`)
		if err := d.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.merged(`{"SINGERS":null}`)
		if err := d.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
	if last, _ := os.ReadFile(d.path); string(last) != string(first) {
		t.Errorf("the same document in another text:\n%s", last)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(d.path), "*")); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	if _, err := d.Reset(t.Context(), ""); err != nil || !d.Saved() {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if diff := cmp.Diff(policy.Defaults(), d.Current()); diff != "" {
		t.Error(diff)
	}
	if _, err := d.Reset(t.Context(), ""); err != nil {
		t.Errorf("once more: %v", err)
	}
}

// What can be in force can be saved and read again, however large.
func TestDocumentIsBoundedBeforeItIsTooLargeToRead(t *testing.T) {
	d := newDesk(t)
	taken := 0
	for i := range 5 {
		_, err := d.Patch(t.Context(), "", json.RawMessage(`{"live":{"`+string(rune('a'+i))+`":"`+strings.Repeat("x", 1<<18)+`"}}`))
		if err != nil && (!errors.Is(err, station.ErrInvalid) || taken < 3) {
			t.Fatalf("after %d: %v", taken, err)
		}
		if err == nil {
			taken++
		}
	}
	if taken == 5 {
		t.Error("it grows without bound")
	}
	for _, more := range []string{
		`{"AD_EVERY":9}`,
		// Indented, this takes more than is ever read.
		`{"live":null}`, `{"live":{"deep":` + strings.Repeat("[", 28) + strings.Repeat("1,", 18_000) + "1" + strings.Repeat("]", 28) + `}}`,
	} {
		d.merged(more)
		if err := d.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := d.Current()
		d.open()
		if !bytes.Equal(before.Live, d.Current().Live) || d.Current().AdEvery != 9 {
			t.Error("read as another")
		}
	}
}

// Each list is within its bounds; all of them together are more than the file
// may hold, and the next start would refuse what was saved.
func TestSingersAndQueriesAreBoundedTogether(t *testing.T) {
	d := newDesk(t)
	refused := 0
	for i, c := range station.Categories() {
		names := make([]string, 500)
		for j := range names {
			names[j] = strconv.Itoa(i*1000+j) + strings.Repeat("𐎀", 190) // four bytes a letter
		}
		edit := policy.Edit{Category: c, Action: policy.Replace, Names: names}
		for _, change := range []func(context.Context, string, policy.Edit) (policy.Change, error){d.Singers, d.SetQueries} {
			if _, err := change(t.Context(), "", edit); errors.Is(err, station.ErrInvalid) {
				refused++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if refused > 1 { // a list of each kind: the others are as long
			break
		}
	}
	if refused == 0 {
		t.Error("it grows without bound")
	}
	if err := d.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := d.Current()
	d.open()
	if diff := cmp.Diff(before, d.Current()); diff != "" {
		t.Errorf("read as another: %s", diff)
	}
}

func TestManyWrongFieldsAreNamedUpToABound(t *testing.T) {
	d := newDesk(t)
	unknown := func(n int) string {
		members := make([]string, n)
		for i := range members {
			members[i] = `"u` + strconv.Itoa(i) + `":1`
		}
		return strings.Join(members, ",")
	}
	for _, patch := range []string{
		`{` + unknown(5000) + `}`, `{"ROTATION":{` + unknown(5000) + `}}`, `{` + unknown(3) + strings.Repeat(`,"u0":1`, 5000) + `}`,
		`{"CLOCKS":[` + strings.TrimSuffix(strings.Repeat(`{`+unknown(100)+`},`, 100), ",") + `]}`,
	} {
		_, err := d.Patch(t.Context(), "", json.RawMessage(patch))
		var wrong *policy.InvalidError
		if !errors.As(err, &wrong) || len(wrong.Fields) == 0 || len(wrong.Fields) > 500 {
			t.Errorf("%.30s: %d fields", patch, len(wrong.Fields))
		}
	}
}

// A folder, a pipe or an endless device in the file's place neither holds the
// start up nor fills the memory.
func TestWhatIsNoPlainFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	for name, put := range map[string]func() error{
		"folder": func() error { return os.Mkdir(path, 0o700) },
		"pipe":   func() error { return syscall.Mkfifo(path, 0o600) },
		"device": func() error { return os.Symlink("/dev/zero", path) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Open(path, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, "{}")
	if err := os.Truncate(path, 1<<40); err != nil { // sparse
		t.Fatal(err)
	}
	if _, err := policy.Open(path, nil); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("a TiB: %v", err)
	}
}

func TestBrokenFileFailsTheStartNamingFileAndFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	for text, want := range map[string][]string{
		`{"ROTATION":{"BUFFER_MAX":0,"BUFER_MAX":1}}`: {path, "ROTATION.BUFFER_MAX: must be 1 to 1000", "ROTATION.BUFER_MAX: unknown: did you mean BUFFER_MAX?"},
		`{"ROTATION":`: {path, "line 1: unexpected EOF"},
		``:             {path, "unexpected EOF"},
		`{"MOOD":"party","BASE":{"MASHUP_CHANCE":9,"MOOD":"x"}}`: {path, "BASE.MOOD: cannot be set by a mood"},
		`{"MOOD":"party","BASE":{"MASHUP_CHANCE":9}}`:            {path, "BASE.MASHUP_CHANCE: must be 0 to 1"},
	} {
		write(t, path, text)
		_, err := policy.Open(path, nil)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q in it", text, err, w)
			}
		}
	}
}

func TestNamesAreOneWhateverTheirSpelling(t *testing.T) {
	d := newDesk(t)
	edit := func(a policy.Action, names ...string) []string {
		c, err := d.Singers(t.Context(), "", policy.Edit{Category: station.ArabicHits, Action: a, Names: names})
		if err != nil {
			t.Fatalf("%s %q: %v", a, names, err)
		}
		return c.Document.Singers[station.ArabicHits]
	}
	if got := edit(policy.Add, " أم  كلثوم ", "ام كلثوم", "Amr Diab"); !cmp.Equal(got, []string{"أم كلثوم", "Amr Diab"}) {
		t.Errorf("added %q", got)
	}
	if got := edit(policy.Add, "AMR DIAB", "فيروز"); !cmp.Equal(got, []string{"أم كلثوم", "Amr Diab", "فيروز"}) {
		t.Errorf("added %q", got)
	}
	if got := edit(policy.Remove, "امّ كلثوم", "unknown"); !cmp.Equal(got, []string{"Amr Diab", "فيروز"}) {
		t.Errorf("removed %q", got)
	}
	if got := edit(policy.Replace); len(got) != 0 {
		t.Errorf("replaced with nothing: %q", got)
	}
	if c, err := d.SetQueries(t.Context(), "", policy.Edit{Category: station.English, Action: policy.Replace, Names: []string{"a", "b", "A"}}); err != nil || len(c.Document.Queries[station.English]) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	many := make([]string, 501)
	for i := range many {
		many[i] = strings.Repeat("n", i%199+1) + string(rune('a'+i/199))
	}
	for want, e := range map[string]policy.Edit{
		"category: must be":                    {Category: "jazz", Action: policy.Add},
		"action: must be":                      {Category: station.English, Action: "drop"},
		"singers: must have at most 500":       {Category: station.English, Action: policy.Add, Names: many},
		"singers[1]: must be at most 200":      {Category: station.English, Action: policy.Add, Names: []string{"a", strings.Repeat("ع", 201)}},
		"singers[0]: must hold no control cha": {Category: station.English, Action: policy.Add, Names: []string{"a\u202eb"}},
	} {
		if _, err := d.Singers(t.Context(), "", e); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// One change after another: none is lost, and the scheduler is never asked twice at once.
func TestConcurrentChangesAreAllKept(t *testing.T) {
	var one sync.Mutex
	o, err := policy.Open(filepath.Join(t.TempDir(), "station.json"), func(context.Context, rotation.Config) (bool, error) {
		if !one.TryLock() {
			t.Error("two applies at once")
			return false, nil
		}
		defer one.Unlock()
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 5 {
				name := strings.Repeat("x", 10*i+j+1)
				if _, err := o.Singers(t.Context(), "", policy.Edit{Category: station.English, Action: policy.Add, Names: []string{name}}); err != nil {
					t.Error(err)
				}
				if _, err := o.Patch(t.Context(), "", json.RawMessage(`{"AD_EVERY":`+string(rune('0'+j))+`}`)); err != nil {
					t.Error(err)
				}
				o.Current().Singers[station.English][0] = "changed by a reader"
			}
		})
	}
	wg.Wait()
	got := o.Current().Singers[station.English]
	if len(got) != 40 || strings.Contains(strings.Join(got, ""), "reader") {
		t.Errorf("%d names: %q", len(got), got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Mood(ctx, "", "chill"); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file in which windows overlap was taken once: the station starts with it, and takes
// every change but another such list.
func TestAnOldOverlapDoesNotKeepAStationFromStarting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	overlapping := `[{"start":"00:00","end":"06:00"},{"name":"gate","start":"02:00","end":"05:00","hard":"english"}]`
	if err := os.WriteFile(path, []byte(`{"DAYPARTS":`+overlapping+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Patch(t.Context(), "", json.RawMessage(`{"MASHUP_CHANCE":0.2}`)); err != nil {
		t.Errorf("another setting: %v", err)
	}
	before := o.Current()
	_, err = o.Patch(t.Context(), "", json.RawMessage(`{"DAYPARTS":[{"start":"01:00","end":"06:00"},{"name":"gate","start":"02:00","end":"05:00","hard":"english"}]}`))
	var inv *policy.InvalidError
	if !errors.As(err, &inv) || len(inv.Fields) != 1 || inv.Fields[0].Path != "DAYPARTS[1].start" || !strings.Contains(inv.Fields[0].Want, "DAYPARTS[0] (01:00 to 06:00)") {
		t.Errorf("another list that overlaps: %v", err)
	}
	if d := cmp.Diff(before, o.Current()); d != "" {
		t.Errorf("a refused change changed:\n%s", d)
	}
	c, err := o.Patch(t.Context(), "", json.RawMessage(`{"DAYPARTS":[]}`))
	if err != nil || len(c.Lost) != 1 || c.Lost[0].End != 6*60 {
		t.Errorf("no windows: %v, lost %+v", err, c.Lost)
	}
}
