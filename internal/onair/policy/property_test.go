package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// anyPatch draws patches that are often right, and wrong in every place.
func anyPatch(t *rapid.T) json.RawMessage {
	num := rapid.Custom(func(t *rapid.T) any {
		return rapid.SampledFrom([]any{0, 1, 0.5, 0.25, 120, 60_000, -1, 1e9, 0.1, nil, "1", true, []int{}}).Draw(t, "number")
	})
	some := func(names []string, value *rapid.Generator[any]) map[string]any {
		out := map[string]any{}
		for _, n := range names {
			if rapid.IntRange(0, 3).Draw(t, n) == 0 {
				out[n] = value.Draw(t, n)
			}
		}
		return out
	}
	splits := []string{"arabic_hits", "english", "social", "mashups"}
	part := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			"start":   rapid.SampledFrom([]any{0, 6.5, "22:30", "24:00", 25}).Draw(t, "start"),
			"end":     rapid.SampledFrom([]any{0, 6, "24:00"}).Draw(t, "end"),
			"hard":    rapid.SampledFrom([]any{"", "english", nil, "news"}).Draw(t, "hard"),
			"weights": some(splits, num),
		}
	})
	names := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]any{"a", "A", "أحمد", "احمد", "b ", "", 1}), 0, 4), func(s []any) any { return s })
	patch := some([]string{"MASHUP_CHANCE", "STOCHASTIC_SFX_CHANCE", "AD_EVERY", "AD_EVRY"}, num)
	add := func(name string, v any) {
		if rapid.IntRange(0, 2).Draw(t, name) == 0 {
			patch[name] = v
		}
	}
	add("ROTATION", some([]string{
		"BUFFER_MAX", "REFRESH_FRACTION", "MUSIC_FRESH_MS", "COOLDOWN_PERIOD", "SIG_JINGLE_MIN_SLOTS", "SIG_JINGLE_MAX_SLOTS", "ARTIST_GAP_MS", "X",
	}, num))
	add("GENRE_SPLIT", some(splits, num))
	add("DAYPARTS", rapid.SliceOfN(part, 0, 2).Draw(t, "dayparts"))
	clock := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			"name": rapid.SampledFrom([]any{"a", "b", ""}).Draw(t, "name"), "days": rapid.SampledFrom([]any{nil, []string{}, []string{"Friday", "sat"}}).Draw(t, "days"),
			"hour": []any{map[string]any{"category": "news", "at": rapid.SampledFrom([]any{nil, "00:00", ":30", 5}).Draw(t, "at")}, map[string]any{"category": "music", "count": 9}},
		}
	})
	add("CLOCKS", rapid.SliceOfN(clock, 0, 2).Draw(t, "clocks"))
	add("MOOD", rapid.SampledFrom([]any{"party", "tarab", "focus", "", nil, "none"}).Draw(t, "mood"))
	add("SINGERS", some([]string{"english", "arabic_hits", "jazz"}, names))
	add("live", rapid.SampledFrom([]any{nil, map[string]any{"streams": []int{1}}, map[string]any{"x": map[string]any{"y": nil}}}).Draw(t, "live"))
	b, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever is asked, in any order, with a scheduler that sometimes refuses.
func TestAnySequenceOfChangesKeepsAValidDocument(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "station.json")
		_ = os.Remove(path)
		refuses := false
		inForce := policy.Defaults().Config
		apply := func(_ context.Context, cfg rotation.Config) (bool, error) {
			if refuses {
				return false, station.ErrUnavailable
			}
			inForce = cfg
			return false, nil
		}
		o, err := policy.Open(path, apply)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			before := o.Current()
			refuses = rapid.IntRange(0, 5).Draw(t, "refuses") == 0
			var err error
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				_, err = o.Mood(t.Context(), "", rapid.SampledFrom(append(policy.Moods(), "", "?")).Draw(t, "mood"))
			case 1:
				_, err = o.Reset(t.Context(), "")
			default:
				p := anyPatch(t)
				if _, err = o.Patch(t.Context(), "", p); err == nil {
					twice(t, o, p)
				}
			}
			now := o.Current()
			if err != nil && !cmp.Equal(before, now) {
				t.Fatalf("refused with %v, and changed: %s", err, cmp.Diff(before, now))
			}
			if err != nil && !errors.Is(err, station.ErrInvalid) && !errors.Is(err, station.ErrUnavailable) {
				t.Fatal(err)
			}
			if err := now.Validate(); err != nil {
				t.Fatalf("in force: %v", err)
			}
			if !cmp.Equal(now.Config, inForce) {
				t.Fatalf("the scheduler has something else: %s", cmp.Diff(inForce, now.Config))
			}
			if rapid.IntRange(0, 3).Draw(t, "restart") > 0 {
				continue
			}
			if err := o.Save(t.Context()); err != nil {
				t.Fatal(err)
			}
			again, err := policy.Open(path, apply)
			if err != nil {
				t.Fatalf("what was saved is not read: %v", err)
			}
			if !cmp.Equal(now, again.Current()) || !again.Saved() {
				t.Fatalf("saved and read again: %s", cmp.Diff(now, again.Current()))
			}
			o = again
		}
		// A mood can always be taken away.
		refuses = false
		if _, err := o.Mood(t.Context(), "", ""); err != nil || o.Current().Mood != "" {
			t.Fatalf("the mood stays: %v", err)
		}
	})
}

// twice: a patch that was taken once changes nothing when it comes again.
func twice(t *rapid.T, o *policy.Owner, patch json.RawMessage) {
	before := o.Current()
	if _, err := o.Patch(t.Context(), "", patch); err != nil || !cmp.Equal(before, o.Current()) {
		t.Fatalf("%s again: %v %s", patch, err, cmp.Diff(before, o.Current()))
	}
}

func FuzzPatch(f *testing.F) {
	for _, s := range []string{`{}`, `{"AD_EVERY":0}`, `{"MOOD":"party","GENRE_SPLIT":{"english":1}}`, `{"DAYPARTS":[{"start":22,"end":"06:30"}]}`, `{"live":{"a":[1e400,"\ud800"]}}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		d := newDesk(t)
		d.merged(`{"MOOD":"chill","AD_EVERY":9}`)
		before := d.Current()
		_, err := d.Patch(t.Context(), "", patch)
		now := d.Current()
		switch {
		case err != nil && (!errors.Is(err, station.ErrInvalid) || !cmp.Equal(before, now)):
			t.Fatalf("%q: %v, %s", patch, err, cmp.Diff(before, now))
		case now.Validate() != nil:
			t.Fatalf("%q: %v", patch, now.Validate())
		}
		if err := d.Save(t.Context()); err != nil {
			t.Fatalf("%q: %v", patch, err)
		}
		d.open()
		if diff := cmp.Diff(now, d.Current()); diff != "" {
			t.Fatalf("%q: %s", patch, diff)
		}
	})
}
