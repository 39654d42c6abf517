package onpodcast

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/feed"
)

// A show is on the air with its streams alone, in any mode, and its feed tells of it for a day.
func TestAShowIsOnTheAirWithItsStreams(t *testing.T) {
	clock := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)
	var status takeover.Status
	shows := map[string]*podcast.Show{}
	for slug, from := range map[string]podcast.From{
		"nour": {Kind: podcast.Live, Streams: []string{"LIVE1"}}, "all": {Kind: podcast.Live}, "other": {Kind: podcast.Live, Streams: []string{"LIVE2"}}, "news": {Kind: podcast.Bulletins}, "off": {Kind: podcast.Live},
	} {
		shows[slug] = &podcast.Show{Own: podcast.Own{Slug: slug, On: slug != "off", From: from}}
	}
	o := &onAir{now: func() takeover.Status { return status }, clock: func() time.Time { return clock }, show: func(slug string) (*podcast.Show, error) {
		if s := shows[slug]; s != nil {
			return s, nil
		}
		return nil, station.ErrNotFound
	}}
	only := func(what string, on, over string) {
		t.Helper()
		for _, slug := range []string{"nour", "all", "other", "news", "off", "none"} {
			b, ok := o.item(slug)
			got := "-"
			if ok && b.Ended.IsZero() {
				got = "on"
			} else if ok {
				got = "over"
			}
			want := "-"
			for list, state := range map[string]string{on: "on", over: "over"} {
				for _, s := range []string{"nour", "all", "other"} {
					if s == slug && strings.Contains(list, s) {
						want = state
					}
				}
			}
			if got != want {
				t.Errorf("%s: %s is %s, want %s", what, slug, got, want)
			}
		}
	}
	only("before", "", "")
	one := live.Stream{ID: "LIVE1", Title: "سهرة", Creator: "نور"}
	began := clock.UnixMilli()
	o.told(takeover.Event{Kind: takeover.Started, Stream: one, At: began})
	status.Active = &takeover.Active{ID: "LIVE1", Title: "سهرة", Creator: "نور", Mode: live.Over, Since: began - 700}
	only("ordered, and not heard yet", "", "")
	status.Active.OnAir = true
	only("on the air over music", "nour all", "")
	b, _ := o.item("nour")
	if b != (feed.Live{Key: fmt.Sprintf("LIVE1-%d", began), Title: "سهرة", Creator: "نور", Began: time.UnixMilli(began)}) {
		t.Errorf("%+v", b)
	}
	clock = clock.Add(time.Hour)
	o.told(takeover.Event{Kind: takeover.Failed, Stream: one, At: clock.UnixMilli()})
	two := live.Stream{ID: "LIVE2"}
	o.told(takeover.Event{Kind: takeover.Follows, Stream: two, Before: "LIVE1", At: clock.UnixMilli()})
	status.Active = &takeover.Active{ID: "LIVE2", OnAir: true, Since: clock.UnixMilli()}
	only("another follows", "other all", "nour")
	if over, _ := o.item("nour"); over.Key != b.Key || !over.Began.Equal(b.Began) || !over.Ended.Equal(time.UnixMilli(clock.UnixMilli())) {
		t.Errorf("%+v", over)
	}
	status.Active = nil
	o.told(takeover.Event{Kind: takeover.Ended, Stream: two, At: clock.UnixMilli(), Since: began})
	only("all is over", "", "nour other all")
	clock = clock.Add(24*time.Hour + time.Second)
	only("a day later", "", "")
	o.told(takeover.Event{Kind: takeover.Ended, Stream: two, At: clock.UnixMilli()})
	if len(o.past) != 0 {
		t.Errorf("%d are remembered", len(o.past))
	}
}
