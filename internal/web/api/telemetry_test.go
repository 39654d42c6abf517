package api_test

import (
	"context"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
)

// counts answers with what it was asked, and one airing of each kind.
type counts struct {
	by       telemetry.By
	from, to time.Time
	limit    int
	category string
	sort     telemetry.TrackSort
	month    telemetry.Month
	failing  error
	past     *telemetry.Telemetry // what was on the air; nil: nothing
}

func (c *counts) Heard() *telemetry.Heard {
	if c.past == nil {
		return &telemetry.Heard{}
	}
	return c.past.Heard()
}

func (c *counts) PathOf(ctx context.Context, id string) (string, bool, error) {
	if c.past == nil {
		return "", false, nil
	}
	return c.past.PathOf(ctx, id)
}

func (c *counts) Played(ctx context.Context, path string, limit int) ([]telemetry.Aired, error) {
	if c.past == nil {
		return nil, nil
	}
	return c.past.Played(ctx, path, limit)
}

func (c *counts) Tracks(_ context.Context, from, to time.Time, category string, sort telemetry.TrackSort, limit int) ([]telemetry.Track, int, error) {
	c.from, c.to, c.category, c.sort, c.limit = from, to, category, sort, limit
	return []telemetry.Track{
		{Path: "a\xff.mp3", Title: "=cmd|' /C calc'!A0", Artist: "@SUM(1)", Category: "english", Plays: 3, Aired: 9*time.Minute + 500*time.Millisecond, Counted: 2, ListenerHours: 1.23456, Start: 10.256, Came: 2, Went: 3, Kept: 2.0 / 3, Reached: 9},
		{Path: "b.mp3", Title: "ب", Category: "jingles", Plays: 1, Aired: time.Second},
	}, 7, nil
}

func (c *counts) Audience(_ context.Context, from, to time.Time) (telemetry.Audience, error) {
	c.from, c.to = from, to
	if c.failing != nil {
		return telemetry.Audience{}, c.failing
	}
	return telemetry.Audience{
		Devices:   []telemetry.Share{{Name: "android", Seconds: 5400}, {Name: "other", Seconds: 1800}},
		Countries: []telemetry.Share{{Name: "EG", Seconds: 7200}}, Since: time.UnixMilli(77),
	}, nil
}

func (c *counts) Used(_ context.Context, m telemetry.Month) (telemetry.Uses, error) {
	c.month = m
	return telemetry.Uses{
		Plays: 3, ListenerHours: 4.5, Uncounted: 90 * time.Second, TuningHours: 1234.567,
		Uses: []telemetry.Use{
			{Title: "أغنية, \"واحدة\"", Artist: "فنان", Release: telemetry.Release{Album: "ألبوم", ISRC: "EGA012600001", Label: "صوت", Composer: "ملحن"}, Plays: 2, Aired: 6 * time.Minute, ListenerHours: 4.5, Performances: 91},
			{Title: "-1+1", Release: telemetry.Release{Label: "\t=x"}, Plays: 1, Aired: 90 * time.Second},
		},
	}, c.failing
}

func (c *counts) Music(_ context.Context, m telemetry.Month, fn func(*telemetry.Aired) error) error {
	c.month = m
	began := time.Date(2026, 11, 1, 0, 0, 5, 0, time.UTC)
	for _, a := range []telemetry.Aired{
		{
			Airing:  telemetry.Airing{Title: "أغنية", Artist: "=HYPERLINK(1)", StartedAt: began, Release: telemetry.Release{Album: "+", ISRC: "EGA012600001", Label: "صوت", Composer: "ملحن"}},
			EndedAt: began.Add(time.Hour + 2*time.Minute + 3*time.Second), Counted: true, Start: 2, End: 2,
		},
		{Airing: telemetry.Airing{Title: "uncounted", StartedAt: began.Add(2 * time.Hour)}, EndedAt: began.Add(2*time.Hour + 59*time.Second)},
	} {
		if err := fn(&a); err != nil {
			return err
		}
	}
	return c.failing
}

func (c *counts) History(_ context.Context, by telemetry.By, from, to time.Time) ([]telemetry.Point, error) {
	c.by, c.from, c.to = by, from, to
	return []telemetry.Point{{At: from.UnixMilli(), Samples: 12}}, nil
}

func (c *counts) Airings(_ context.Context, from, to time.Time, limit int) ([]telemetry.Aired, error) {
	c.from, c.to, c.limit = from, to, limit
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return []telemetry.Aired{
		{Airing: telemetry.Airing{ID: "b", Path: "b\xff.mp3", Title: "=1+1", Kind: "live", StartedAt: began.Add(time.Hour)}},
		{
			Airing:  telemetry.Airing{ID: "a", Path: "a.mp3", Title: `أغنية, "واحدة"`, Artist: "فنان", Category: "english", Type: "music", Kind: "rotation", StartedAt: began},
			EndedAt: began.Add(30 * time.Minute), Counted: true, Start: 10, End: 7, Came: 1, Went: 4,
		},
	}, nil
}

func TestListenersHistoryIsOpenAndBounded(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	body := r.json(t, "/api/telemetry/listeners?by=hour&from=1000&to=2000")
	if r.counts.by != telemetry.Hour || r.counts.from.UnixMilli() != 1000 || r.counts.to.UnixMilli() != 2000 || body["timezone"] != "UTC" || body["by"] != "hour" {
		t.Errorf("asked %+v, answered %v", r.counts, body)
	}
	r.json(t, "/api/telemetry/listeners")
	if r.counts.by != telemetry.Minute || r.counts.from.UnixMilli() != 0 || time.Since(r.counts.to) > time.Minute {
		t.Errorf("asked %+v", r.counts)
	}
	for _, bad := range []string{"by=week", "from=-1", "from=x", "from=2000&to=1000", "to=99999999999999999", "from=1e400"} {
		if code, _, body := r.call(t, "GET", "/api/telemetry/listeners?"+bad, ""); code != 422 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}

func TestAiringsAreListedAsJSONAndAsATable(t *testing.T) {
	r := newRig(t)
	list := r.json(t, "/api/station/telemetry/airings?limit=5")["airings"].([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	if r.counts.limit != 5 || first["listeners"] != nil || first["endedAt"] != nil || first["file"] != "b\ufffd.mp3" {
		t.Errorf("%v", first)
	}
	if l := second["listeners"].(map[string]any); l["start"] != 10.0 || l["average"] != 10.0 || l["end"] != 7.0 ||
		second["seconds"] != 1800.0 || second["listenerHours"] != 5.0 || second["tuneOuts"] != 4.0 {
		t.Errorf("%v", second)
	}
	for _, ask := range [][]string{{"?format=csv"}, {"", "Accept", "text/csv"}} {
		code, head, body := r.call(t, "GET", "/api/station/telemetry/airings"+ask[0], "", ask[1:]...)
		if code != 200 || !strings.HasPrefix(head.Get("Content-Type"), "text/csv") || !strings.Contains(head.Get("Content-Disposition"), "airings.csv") {
			t.Fatalf("%d %v", code, head)
		}
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 3 {
			t.Fatalf("%q %v", rows, err)
		}
		if got := strings.Join(rows[2], "|"); got != `2026-11-21T12:00:00Z|1800|فنان|أغنية, "واحدة"|a.mp3|english|music|rotation|10|10|7|1|4|5` {
			t.Errorf("%s", got)
		}
		if rows[1][3] != "'=1+1" || rows[1][8] != "" { // no formula, and nobody counted
			t.Errorf("%q", rows[1])
		}
	}
	if code, head, _ := r.call(t, "GET", "/api/station/telemetry/airings?format=json", "", "Accept", "text/csv"); code != 200 || head.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", code, head)
	}
}
