package api_test

import (
	"encoding/csv"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
)

// table asks for a table and returns its rows and the name of its file.
func (r *rig) table(t *testing.T, path string) (rows [][]string, name string) {
	t.Helper()
	code, head, body := r.call(t, "GET", path, "")
	text, marked := strings.CutPrefix(body, "\ufeff")
	if code != 200 || !marked || head.Get("Content-Type") != "text/csv; charset=utf-8" || head.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s: %d %v %q", path, code, head, body)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ = strings.Cut(head.Get("Content-Disposition"), "attachment; filename=")
	return rows, name
}

func TestTracksAreListedAsJSONAndAsATable(t *testing.T) {
	r := newRig(t)
	body := r.json(t, "/api/station/telemetry/tracks?from=1000&to=2000&category=english&sort=kept&limit=5")
	if r.counts.from.UnixMilli() != 1000 || r.counts.to.UnixMilli() != 2000 || r.counts.category != "english" || r.counts.sort != telemetry.ByKept || r.counts.limit != 5 {
		t.Errorf("asked %+v", r.counts)
	}
	list := body["tracks"].([]any)
	want := map[string]any{
		"file": "a\ufffd.mp3", "title": "=cmd|' /C calc'!A0", "artist": "@SUM(1)", "category": "english", "plays": 3.0, "seconds": 540.5, "counted": 2.0,
		"listenerHours": 1.2346, "startAverage": 10.26, "tuneIns": 2.0, "tuneOuts": 3.0, "reached": 9.0, "kept": 0.6667,
	}
	if body["total"] != 7.0 || body["from"] != 1000.0 || body["to"] != 2000.0 || !reflect.DeepEqual(list[0], want) {
		t.Errorf("%v", body)
	}
	if _, has := list[1].(map[string]any)["kept"]; has {
		t.Errorf("of one that nobody was counted with: %v", list[1])
	}
	r.json(t, "/api/station/telemetry/tracks")
	if r.counts.from.UnixMilli() != 0 || time.Since(r.counts.to) > time.Minute || r.counts.sort != telemetry.ByPlays || r.counts.limit != 100 || r.counts.category != "" {
		t.Errorf("asked %+v", r.counts)
	}
	rows, name := r.table(t, "/api/station/telemetry/tracks?format=csv")
	if name != `"tracks.csv"` || strings.Join(rows[1], "|") != "'@SUM(1)|'=cmd|' /C calc'!A0|a\ufffd.mp3|english|3|540.5|2|1.2346|10.26|2|3|0.6667" || rows[2][11] != "" {
		t.Errorf("%s: %q", name, rows)
	}
	for _, bad := range []string{"sort=worst", "category=rock", "limit=0", "limit=20001", "from=2000&to=1000", "format=xml", "from=-1"} {
		if code, _, body := r.call(t, "GET", "/api/station/telemetry/tracks?"+bad, ""); code != 422 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}

func TestTheAudienceIsToldInShares(t *testing.T) {
	r := newRig(t)
	body := r.json(t, "/api/station/telemetry/audience?from=1000&to=2000")
	want := map[string]any{
		"timezone": "UTC", "since": 77.0, "ways": []any{}, "geo": map[string]any{"on": true, "file": "c.mmdb", "builtAt": 1000.0},
		"devices":   []any{map[string]any{"name": "android", "listenerHours": 1.5, "share": 0.75}, map[string]any{"name": "other", "listenerHours": 0.5, "share": 0.25}},
		"countries": []any{map[string]any{"code": "EG", "listenerHours": 2.0, "share": 1.0}},
	}
	delete(body, "$schema")
	if !reflect.DeepEqual(body, want) || r.counts.from.UnixMilli() != 1000 {
		t.Errorf("got  %v\nwant %v", body, want)
	}
	rows, name := r.table(t, "/api/station/telemetry/audience?format=csv")
	if name != `"audience.csv"` || len(rows) != 4 || strings.Join(rows[3], "|") != "country|EG|2|1" {
		t.Errorf("%s: %q", name, rows)
	}
	r.counts.failing = errors.New("disk")
	if code, _, body := r.call(t, "GET", "/api/station/telemetry/audience", ""); code != 500 || strings.Contains(body, "disk") {
		t.Errorf("%d %s", code, body)
	}
}

func TestAMonthsMusicIsReportedInTheColumnsOfEachForm(t *testing.T) {
	r := newRig(t)
	const at = "/api/station/telemetry/royalties?month=2026-11"
	body := r.json(t, at)
	if r.counts.month != (telemetry.Month{Year: 2026, Month: time.November}) {
		t.Errorf("asked for %v", r.counts.month)
	}
	missing := map[string]any{"isrc": 1.0, "album": 1.0, "label": 0.0, "artist": 1.0}
	row := map[string]any{
		"title": `أغنية, "واحدة"`, "artist": "فنان", "album": "ألبوم", "isrc": "EGA012600001", "label": "صوت", "composer": "ملحن",
		"plays": 2.0, "seconds": 360.0, "listenerHours": 4.5, "performances": 91.0,
	}
	if body["month"] != "2026-11" || body["timezone"] != "UTC" || body["plays"] != 3.0 || body["listenerHours"] != 4.5 || body["uncountedSeconds"] != 90.0 ||
		!reflect.DeepEqual(body["missing"], missing) || !reflect.DeepEqual(body["rows"].([]any)[0], row) {
		t.Errorf("%v", body)
	}
	rows, name := r.table(t, at+"&form=soundexchange&format=csv")
	if name != `"soundexchange-2026-11.csv"` || !reflect.DeepEqual(rows, [][]string{
		{"NAME_OF_SERVICE", "TRANSMISSION_CATEGORY", "FEATURED_ARTIST", "SOUND_RECORDING_TITLE", "ISRC", "ALBUM_TITLE", "MARKETING_LABEL", "ACTUAL_TOTAL_PERFORMANCES"},
		{"أثير", "A", "فنان", `أغنية, "واحدة"`, "EGA012600001", "ألبوم", "صوت", "91"},
		{"أثير", "A", "", "'-1+1", "", "", "'\t=x", "0"},
	}) {
		t.Errorf("%s: %q", name, rows)
	}
	rows, _ = r.table(t, at+"&format=csv&measure=hours&transmission=G")
	if strings.Join(rows[0][7:], " ") != "AGGREGATE_TUNING_HOURS CHANNEL_OR_PROGRAM_NAME PLAY_FREQUENCY" || strings.Join(rows[1][7:], "|") != "1234.57|main|2" || rows[1][1] != "G" {
		t.Errorf("%q", rows)
	}
	rows, name = r.table(t, at+"&form=cue&format=csv")
	if name != `"cue-sheet-2026-11.csv"` || !reflect.DeepEqual(rows, [][]string{
		{"date", "time", "title", "artist", "composer", "album", "isrc", "label", "duration", "plays", "listener_hours"},
		{"2026-11-01", "00:00:05", "أغنية", "'=HYPERLINK(1)", "ملحن", "'+", "EGA012600001", "صوت", "1:02:03", "1", "2.0683"},
		{"2026-11-01", "02:00:05", "uncounted", "", "", "", "", "", "0:00:59", "1", ""},
	}) {
		t.Errorf("%s: %q", name, rows)
	}
	for _, bad := range []string{"", "?month=", "?month=2026-13", "?month=2026-1", "?month=november", "?month=2026-11&form=gema", "?month=2026-11&transmission=AA", "?month=2026-11&measure=plays", "?month=٢٠٢٦-١١"} {
		if code, _, body := r.call(t, "GET", "/api/station/telemetry/royalties"+bad, ""); code != 422 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
	r.counts.failing = errors.New("disk")
	for _, form := range []string{"", "&format=csv", "&format=csv&form=cue"} {
		if code, head, body := r.call(t, "GET", at+form, ""); code != 500 || head.Get("Content-Disposition") != "" || strings.Contains(body, "disk") {
			t.Errorf("%s: %d %v %s", form, code, head, body)
		}
	}
}
