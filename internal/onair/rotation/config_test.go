package rotation

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/station"
)

func TestDefaultsAreTheMissions(t *testing.T) {
	doc, err := json.Marshal(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rotation map[string]any `json:"ROTATION"`
	}
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"BUFFER_MAX": 120, "REFRESH_FRACTION": 0.85, "MUSIC_FRESH_MS": 10_800_000, "COOLDOWN_PERIOD": 5_400_000,
		"ELEMENT_COOLDOWN": 600_000, "SIG_JINGLE_MIN_SLOTS": 2, "SIG_JINGLE_MAX_SLOTS": 5, "MUSIC_MIN_MS": 45_000,
		"MIN_REST_MS": 1_800_000, "MAX_PLAYS_DAY": 6, "POST_EVERY": 3, "REQUEST_EVERY": 3,
	} {
		if got.Rotation[name] != want {
			t.Errorf("%s is %v, want %v", name, got.Rotation[name], want)
		}
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	var back Config
	if err := json.Unmarshal(doc, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(DefaultConfig(), back); d != "" {
		t.Errorf("through JSON:\n%s", d)
	}
}

func TestEveryWrongFieldIsNamed(t *testing.T) {
	var cfg Config
	err := json.Unmarshal([]byte(`{
		"ROTATION": {"BUFFER_MAX": 0, "REFRESH_FRACTION": 2, "MUSIC_FRESH_MS": -1, "COOLDOWN_PERIOD": 1e12, "ELEMENT_COOLDOWN": -5,
			"SIG_JINGLE_MIN_SLOTS": 4, "SIG_JINGLE_MAX_SLOTS": 3, "MUSIC_MIN_MS": -1},
		"GENRE_SPLIT": {"arabic_hits": -1, "jazz": 1}, "MASHUP_CHANCE": 1.5, "STOCHASTIC_SFX_CHANCE": -0.1, "AD_EVERY": -1,
		"DAYPARTS": [{"start": "25:00", "end": "03:00"}]}`), &cfg)
	if err == nil || !strings.Contains(err.Error(), "25:00") {
		t.Errorf("a time of day of 25:00: %v", err)
	}
	cfg.Dayparts = []Daypart{{Start: 60, End: 120, Hard: station.Ads, Weights: map[station.Category]float64{station.News: 1}}}
	cfg.MashupChance, cfg.SFXChance, cfg.AdEvery = 1.5, -0.1, -1
	cfg.GenreSplit = map[station.Category]float64{station.ArabicHits: -1, "jazz": 1}
	err = cfg.Validate()
	if !errors.Is(err, station.ErrInvalid) {
		t.Fatal(err)
	}
	for _, field := range []string{
		"ROTATION.BUFFER_MAX", "ROTATION.REFRESH_FRACTION", "ROTATION.MUSIC_FRESH_MS", "ROTATION.COOLDOWN_PERIOD", "ROTATION.ELEMENT_COOLDOWN",
		"ROTATION.SIG_JINGLE_MAX_SLOTS", "ROTATION.MUSIC_MIN_MS", "GENRE_SPLIT.arabic_hits", "GENRE_SPLIT.jazz", "MASHUP_CHANCE",
		"STOCHASTIC_SFX_CHANCE", "AD_EVERY", "DAYPARTS[0].hard", "DAYPARTS[0].weights.news",
	} {
		if !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s is not named in:\n%v", field, err)
		}
	}
}

func TestDaypartsChangeAtTheMissionsBoundaries(t *testing.T) {
	cfg := DefaultConfig()
	at := func(h, m int) string { return DaypartKey(cfg, time.Date(2026, 5, 4, h, m, 59, 0, cairo)) }
	keys := map[string]bool{}
	for _, h := range []int{2, 5, 11, 16, 23} {
		if at(h-1, 59) == at(h, 0) {
			t.Errorf("no boundary at %02d:00", h)
		}
		keys[at(h, 0)] = true
	}
	if len(keys) != 5 || at(23, 0) != at(1, 59) || at(23, 0) != at(0, 0) {
		t.Errorf("windows %v; the late one must span midnight", keys)
	}
	// The clock goes forward at 00:00 on 24 April 2026 in Cairo, and the boundary with it.
	before := time.Date(2026, 4, 23, 23, 59, 0, 0, cairo)
	if got := DaypartKey(cfg, before.Add(2*time.Hour)); got != at(3, 0) {
		t.Errorf("two hours past 23:59, on the night the clock goes forward: %s", got)
	}
	cfg.Dayparts = []Daypart{{Start: 22 * 60, End: 6*60 + 30, Hard: station.English, Weights: map[station.Category]float64{station.English: 2, station.ArabicHits: 0.5}}}
	if got, want := at(1, 0), "custom:22-6h30:english:arabic_hits=0.5,english=2"; got != want {
		t.Errorf("custom window: %s, want %s", got, want)
	}
	if got := at(12, 0); got != "open" {
		t.Errorf("outside all windows: %s", got)
	}
	var parts []Daypart
	if err := json.Unmarshal([]byte(`[{"start":22,"end":"06:30","hard":"english","weights":{"english":2,"arabic_hits":0.5}}]`), &parts); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(cfg.Dayparts, parts); d != "" {
		t.Errorf("read from JSON:\n%s", d)
	}
	if cfg.Dayparts = []Daypart{}; at(3, 0) != "open" {
		t.Errorf("cleared dayparts still gate: %s", at(3, 0))
	}
}

func TestATimeOfDayIsReadWithinTheDay(t *testing.T) {
	for doc, want := range map[string]string{
		`0`: "00:00", `24`: "24:00", `6.5`: "06:30", `"00:00"`: "00:00", `"23:59"`: "23:59", `"24:00"`: "24:00", `"6:05"`: "06:05",
	} {
		var c TimeOfDay
		if err := json.Unmarshal([]byte(doc), &c); err != nil || c.String() != want {
			t.Errorf("%s is read as %s, %v", doc, c, err)
		}
	}
	for _, doc := range []string{`-0.1`, `24.1`, `"-1:00"`, `"24:01"`, `"12:60"`, `"12:-1"`, `"12"`, `"a:00"`, `"12:b"`, `true`} {
		var c TimeOfDay
		if err := json.Unmarshal([]byte(doc), &c); err == nil {
			t.Errorf("%s is read as %s", doc, c)
		}
	}
	if got := TimeOfDay(22*60 + 30).key(); got != "22h30" {
		t.Errorf("the key of 22:30 is %s", got)
	}
}

func TestWindowsAreReadWithinTheirBounds(t *testing.T) {
	part := func(start, end TimeOfDay, weight float64) Config {
		cfg := DefaultConfig()
		cfg.Dayparts = []Daypart{{Start: start, End: end, Weights: map[station.Category]float64{station.English: weight}}}
		return cfg
	}
	for name, tc := range map[string]struct {
		cfg   Config
		valid bool
	}{
		"the whole day": {part(0, 24*60, 1), true}, "the last minute": {part(24*60-1, 0, 0), true}, "heavy": {part(60, 60, 1000), true},
		"starts before the day": {part(-1, 60, 1), false}, "starts after it": {part(24*60, 60, 1), false},
		"ends before the day": {part(0, -1, 1), false}, "ends after it": {part(0, 24*60+1, 1), false},
		"a weight below 0": {part(0, 60, -0.1), false}, "a weight above 1000": {part(0, 60, 1000.1), false},
	} {
		if err := tc.cfg.Validate(); (err == nil) != tc.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, tc := range map[string]struct {
		window Daypart
		at     TimeOfDay
		want   bool
	}{
		"its start": {Daypart{Start: 60, End: 120}, 60, true}, "its end": {Daypart{Start: 60, End: 120}, 120, false},
		"before it": {Daypart{Start: 60, End: 120}, 59, false}, "over midnight, its start": {Daypart{Start: 120, End: 60}, 120, true},
		"over midnight, early": {Daypart{Start: 120, End: 60}, 59, true}, "over midnight, its end": {Daypart{Start: 120, End: 60}, 60, false},
		"start and end alike": {Daypart{Start: 60, End: 60}, 10, true},
	} {
		if got := tc.window.covers(tc.at); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Weights that exclude all music would leave nothing but broken rules.
func TestAWindowMustLeaveMusicToPlay(t *testing.T) {
	cfg := DefaultConfig()
	none := map[station.Category]float64{station.ArabicHits: 0, station.English: 0, station.Social: 0, station.Mashups: 0}
	cfg.Dayparts = []Daypart{{Start: 60, End: 120}, {Start: 120, End: 180, Weights: none}, {Start: 180, End: 240, Hard: station.English, Weights: none}}
	if err := cfg.Validate(); err == nil || err.Error() != "DAYPARTS[1].weights: must leave music that may be played: invalid" {
		t.Errorf("got %v", err)
	}
}

// The multipliers make up for the English-only night: over a day every category has the
// share that GENRE_SPLIT and MASHUP_CHANCE give it.
func TestTheBuiltInDaypartsKeepTheSplitOverADay(t *testing.T) {
	cfg := DefaultConfig()
	plenty := func(station.Category) int { return 100 }
	got := map[station.Category]float64{}
	for _, d := range builtIn() {
		hours := float64((d.End-d.Start+24*60)%(24*60)) / 60
		m := newMix(weights(cfg, d), plenty, d.Hard != "")
		for i, c := range m.cats {
			got[c] += m.share[i] * hours / 24
		}
	}
	for c, want := range weights(cfg, Daypart{}) {
		if math.Abs(got[c]-want) > 0.01 {
			t.Errorf("%s has %.1f %% of a day, want %.1f %%", c, 100*got[c], 100*want)
		}
	}
}
