package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/station"
)

const streams = `{"streams":[{"id":"LIVE0000000a","title":"a","votes":3}]}`

// Streams are kept at once; what an operator tries out and has not saved is not.
func TestKeepingStreamsSavesNothingElse(t *testing.T) {
	d := newDesk(t)
	d.merged(`{"AD_EVERY":20}`)
	if err := d.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	applied := len(d.applied)
	d.merged(`{"AD_EVERY":7,"MOOD":"chill"}`)
	if err := d.KeepLive(t.Context(), json.RawMessage(streams)); err != nil {
		t.Fatal(err)
	}
	if got := d.Current(); got.AdEvery != 7 || got.Mood != "chill" || string(got.Live) != streams || string(d.Live()) != streams {
		t.Errorf("in force: %+v", got)
	}
	if d.Saved() {
		t.Error("the draft counts as saved")
	}
	if len(d.applied) != applied+1 {
		t.Error("the scheduler was asked because of a stream")
	}
	d.open()
	if got := d.Current(); got.AdEvery != 20 || got.Mood != "" || string(got.Live) != streams || !d.Saved() {
		t.Errorf("after a restart: AD_EVERY %d, mood %q, live %s", got.AdEvery, got.Mood, got.Live)
	}
}

// A file that somebody edits while the station runs keeps what was written there.
func TestKeepingStreamsLeavesAnEditedFileAsItIs(t *testing.T) {
	d := newDesk(t)
	write(t, d.path, `{"AD_EVERY": 33, "live": {"streams": []}}`)
	if err := d.KeepLive(t.Context(), json.RawMessage(streams)); err != nil {
		t.Fatal(err)
	}
	d.open()
	if got := d.Current(); got.AdEvery != 33 || string(got.Live) != streams {
		t.Errorf("AD_EVERY %d, live %s", got.AdEvery, got.Live)
	}
	write(t, d.path, `{"AD_EVERY": 3`)
	err := d.KeepLive(t.Context(), json.RawMessage(`{"streams":[]}`))
	if !errors.Is(err, station.ErrUnavailable) || !strings.Contains(err.Error(), d.path) {
		t.Errorf("a file half written: %v", err)
	}
	if text, _ := os.ReadFile(d.path); string(text) != `{"AD_EVERY": 3` {
		t.Errorf("it was changed: %s", text)
	}
	if string(d.Live()) != streams {
		t.Errorf("refused, and in force: %s", d.Live())
	}
}

func TestStreamsOutliveAReset(t *testing.T) {
	d := newDesk(t)
	d.merged(`{"AD_EVERY":20}`)
	if err := errors.Join(d.Save(t.Context()), d.KeepLive(t.Context(), json.RawMessage(streams))); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reset(t.Context(), ""); err != nil || !d.Saved() {
		t.Fatalf("%v, saved %v", err, d.Saved())
	}
	d.open()
	if got := d.Current(); string(got.Live) != streams || got.AdEvery != policy.Defaults().AdEvery {
		t.Errorf("after a reset and a restart: AD_EVERY %d, live %s", got.AdEvery, got.Live)
	}
}

func TestWhatIsNoListOfStreamsIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, raw := range []string{``, `[]`, `{"a":1,"a":2}`, `{`, `null`, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`} {
		var inv *policy.InvalidError
		if err := d.KeepLive(t.Context(), json.RawMessage(raw)); !errors.As(err, &inv) {
			t.Errorf("%.20s: %v", raw, err)
		}
	}
	// Each part is within its bounds, the file with both would not be.
	write(t, d.path, `{"QUERIES":{"english":["`+strings.Repeat("y", 1<<19)+`"]}}`)
	if err := d.KeepLive(t.Context(), json.RawMessage(`{"x":"`+strings.Repeat("x", 1<<19)+`"}`)); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("a file that the next start would refuse: %v", err)
	}
}
