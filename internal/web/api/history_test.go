package api_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// heard has had everything on the air, the first the longest ago.
func (r *rig) heard(t *testing.T, all ...telemetry.Airing) {
	t.Helper()
	if err := r.db.Upgrade(t.Context(), telemetry.Schema()); err != nil {
		t.Fatal(err)
	}
	err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
		for i, a := range all {
			if _, err := tx.Exec(`INSERT INTO telemetry_airings (id, started, ended, path, title, artist, category, type, kind, n, total, came, went) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)`,
				fmt.Sprint("a", i), a.StartedAt.UnixMilli(), a.StartedAt.Add(time.Minute).UnixMilli(), []byte(a.Path), a.Title, a.Artist, a.Category, a.Type, a.Kind); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.counts.past, err = telemetry.Open(t.Context(), telemetry.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), DB: r.db, Zone: time.UTC, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
}

func song(at time.Time, path, title, artist string) telemetry.Airing {
	return telemetry.Airing{Path: path, Title: title, Artist: artist, Category: "english", Type: "music", Kind: "rotation", StartedAt: at}
}

func titles(body map[string]any) string {
	out := ""
	for _, one := range body["tracks"].([]any) {
		out += " " + one.(map[string]any)["title"].(string)
	}
	return strings.TrimSpace(out)
}

func TestHistoryIsReadInPartsInBothDirections(t *testing.T) {
	r := newRig(t)
	begin := time.Now().Add(-time.Hour).Truncate(time.Minute)
	var all []telemetry.Airing
	for i := range 9 {
		all = append(all, song(begin.Add(time.Duration(i)*time.Minute), fmt.Sprint(i, ".mp3"), fmt.Sprint("t", i), "x"))
	}
	all[4].StartedAt = all[3].StartedAt // two in one moment are not torn apart
	r.heard(t, all...)
	part := func(query string) (string, string) {
		t.Helper()
		body := r.json(t, "/api/history"+query)
		return titles(body), fmt.Sprintf("%.0f", body["next"])
	}
	if got, next := part(""); got != "t8 t7 t6 t5 t4 t3 t2 t1 t0" || next != "0" {
		t.Errorf("all: %s, next %s", got, next)
	}
	seen, query := "", "?limit=3"
	for range 9 {
		got, next := part(query)
		if seen += " " + got; next == "0" {
			break
		}
		query = "?limit=3&before=" + next
	}
	if seen != " t8 t7 t6 t5 t4 t3 t2 t1 t0" {
		t.Errorf("in parts: %s", seen)
	}
	at := all[2].StartedAt.UnixMilli()
	got, next := part(fmt.Sprint("?limit=3&after=", at))
	if got != "t5 t4 t3" {
		t.Errorf("after t2: %s", got)
	}
	if got, next = part("?limit=9&after=" + next); got != "t8 t7 t6" || next != "0" {
		t.Errorf("and then: %s, next %s", got, next)
	}
	for _, bad := range []string{"?limit=0", "?limit=101", "?before=-1", "?before=x", "?after=1e400", "?q=" + strings.Repeat("a", 101)} {
		if code, _, body := r.call(t, "GET", "/api/history"+bad, ""); code != 422 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}

func TestHistoryNamesWhatListenersHeardAndNothingElse(t *testing.T) {
	r := newRig(t)
	now := time.Now()
	at := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	jingle := song(at(6), "j.mp3", "jingle", "")
	jingle.Category = "jingles"
	live := telemetry.Airing{Title: "سهرة", Artist: "مريم", Type: "live", Kind: "live", StartedAt: at(5)}
	gone := song(at(4), station.PostFile("song", 5, "gone"), "taken away", "")
	known := song(at(3), r.lib.Tracks[2].Path, r.lib.Tracks[2].Title, r.lib.Tracks[2].Artist)
	other := song(at(2), r.lib.Tracks[3].Path, "was in this file before", "")
	odd := song(at(1), "odd\xff.mp3", "odd", "")
	r.heard(t, song(now.Add(-8*24*time.Hour), "old.mp3", "old", ""), jingle, live, gone, known, other, odd)
	body := r.json(t, "/api/history")
	if got := titles(body); got != "odd was in this file before أغنية 2 سهرة" {
		t.Fatalf("%s", got)
	}
	list := body["tracks"].([]any)
	first, second, third, last := list[0].(map[string]any), list[1].(map[string]any), list[2].(map[string]any), list[3].(map[string]any)
	if first["id"] != station.TrackID("odd\xff.mp3") || first["file"] != "odd\ufffd.mp3" || first["durationMs"] != float64(60_000) {
		t.Errorf("%v", first)
	}
	if second["durationMs"] != float64(60_000) || third["durationMs"] != float64(180_000) || third["startedAt"] != float64(at(3).UnixMilli()) {
		t.Errorf("%v\n%v", second, third)
	}
	if last["id"] != "" || last["type"] != "live" {
		t.Errorf("a live show: %v", last)
	}
	if from := body["from"].(float64); now.UnixMilli()-int64(from) < telemetry.HeardFor.Milliseconds() {
		t.Errorf("from %.0f", from)
	}
	if got := titles(r.json(t, "/api/history?q="+url.QueryEscape("maryam"))); got != "سهرة" {
		t.Errorf("Latin for Arabic: %s", got)
	}
	if got := titles(r.json(t, "/api/history?q=jingle")); got != "" {
		t.Errorf("imaging: %s", got)
	}
}

func TestATrackHasAPageWithItsAirings(t *testing.T) {
	r := newRig(t)
	begin := time.Now().Add(-48 * time.Hour)
	path := r.lib.Tracks[4].Path
	var all []telemetry.Airing
	for i := range 25 {
		all = append(all, song(begin.Add(time.Duration(i)*time.Hour), path, r.lib.Tracks[4].Title, "فنان"))
	}
	all = append(all, song(begin, "gone.mp3", "gone <b>", "x"), song(begin, station.PostFile("song", 5, "gone"), "taken away", ""))
	r.heard(t, all...)
	r.view.Rotation.Starts = time.Now()
	r.view.Rotation.Entries[4] = rotation.Entry{Track: r.lib.Tracks[4], Type: "music"}
	body := r.json(t, "/api/tracks/"+station.TrackID(path))
	airings := body["airings"].([]any)
	if len(airings) != 20 || airings[0] != float64(begin.Add(24*time.Hour).UnixMilli()) || body["track"].(map[string]any)["title"] != "أغنية 4" {
		t.Errorf("%d airings: %v", len(airings), body)
	}
	if next, _ := body["nextAt"].(float64); int64(next) < time.Now().UnixMilli() {
		t.Errorf("it comes at %v", body["nextAt"])
	}
	if body["requestable"] == nil {
		t.Errorf("%v", body)
	}
	body = r.json(t, "/api/tracks/"+station.TrackID("gone.mp3"))
	if one := body["track"].(map[string]any); one["title"] != "gone <b>" || body["requestable"] != false || body["nextAt"] != nil {
		t.Errorf("a file that has left: %v", body)
	}
	never := r.json(t, "/api/tracks/"+station.TrackID(r.lib.Tracks[5].Path))
	if len(never["airings"].([]any)) != 0 {
		t.Errorf("what never aired: %v", never)
	}
	for _, id := range []string{station.TrackID("nothing.mp3"), station.TrackID(""), station.TrackID(station.PostFile("song", 5, "gone")), "short", "ABCDEFGHIJKLMNOP", "..%2f..%2fetc%2fpasswd", strings.Repeat("a", 64)} {
		if code, _, body := r.call(t, "GET", "/api/tracks/"+id, ""); code != 404 {
			t.Errorf("%s: %d %s", id, code, body)
		}
	}
	if title, artist, err := r.api.Named(t.Context(), station.TrackID("gone.mp3")); title != "gone <b>" || artist != "x" || err != nil {
		t.Errorf("named %q %q %v", title, artist, err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if title, _, err := r.api.Named(late, station.TrackID("music/english/1.mp3")); title == "" || err != nil {
		t.Errorf("one of the library, which no database is asked for: %q %v", title, err)
	}
	if _, _, err := r.api.Named(late, station.TrackID("nothing.mp3")); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("what there is not, which no database is asked for either: %v", err)
	}
	if _, _, err := r.api.Named(late, station.TrackID("gone.mp3")); err == nil || errors.Is(err, station.ErrNotFound) {
		t.Errorf("a file that has left, while the database does not answer: %v", err)
	}
}

// Other sites embed the station's own addresses alone, and nothing in them becomes markup.
func TestOtherSitesEmbedTheStation(t *testing.T) {
	r := newRig(t)
	r.heard(t, song(time.Now().Add(-time.Hour), "gone.mp3", `"><script>`, "x"))
	ask := func(query, host string) (int, string) {
		t.Helper()
		code, _, body := r.call(t, "GET", "/api/oembed?"+query, "", "Host", host)
		return code, body
	}
	at := func(address string) string { return "url=" + url.QueryEscape(address) }
	for _, one := range []struct {
		query string
		want  []string
	}{
		{at("http://radio.example/"), []string{`"provider_name":"أثير"`, `"provider_url":"http://radio.example/"`, `"width":600`, `"height":140`, `src=\"http://radio.example/embed\"`, `"version":"1.0"`, `"type":"rich"`}},
		{at("https://RADIO.example") + "&format=json&maxwidth=320&maxheight=100", []string{`"width":320`, `"height":80`, `src=\"http://radio.example/embed?compact=1\"`}},
		{at("http://radio.example/embed?compact=1"), []string{`"height":80`}},
		{at("http://radio.example/history?q=x"), []string{`"title":"أثير"`}},
		{at("http://radio.example/track/"+station.TrackID("gone.mp3")) + "&maxheight=20", []string{`"title":"\"\u003e\u003cscript\u003e · x"`, `"height":20`}},
	} {
		code, body := ask(one.query, "radio.example")
		body = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(body)
		for _, want := range one.want {
			if want = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(want); code != 200 || !strings.Contains(body, want) {
				t.Errorf("%s: %d %s\nwants %s", one.query, code, body, want)
			}
		}
		if strings.Contains(body, `<script>\"`) || strings.Count(body, "<iframe") != 1 {
			t.Errorf("%s: %s", one.query, body)
		}
	}
	for query, want := range map[string]int{
		at("http://other.example/"): 404, at("http://radio.example.evil.example/"): 404, at("http://radio.example@evil.example/"): 404, at("javascript:alert(1)"): 404, at("//radio.example/"): 404,
		at("http://radio.example/studio"): 404, at("http://radio.example/track/" + station.TrackID("none")): 404, at("http://u:p@radio.example/"): 404, at("::"): 404,
		at("http://radio.example/") + "&format=xml": 422, "format=json": 422, at("http://radio.example/") + "&maxwidth=0": 422, at("http://radio.example/" + strings.Repeat("a", 2000)): 422,
	} {
		if code, body := ask(query, "radio.example"); code != want {
			t.Errorf("%s: %d, want %d: %s", query, code, want, body)
		}
	}
}
