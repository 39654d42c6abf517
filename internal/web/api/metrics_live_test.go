package api_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Every figure is what the takeover and the phones know, in the units of Prometheus, and
// nobody is asked on the node.
func TestMetricsOfLive(t *testing.T) {
	r := newRig(t)
	r.live.phonesFail, r.live.deskAway = station.ErrUnavailable, true
	r.view.OnAir.Kind = scheduler.Live
	_, _, text := r.call(t, "GET", "/metrics", "")
	for _, line := range []string{
		`live_takeover_state{state="handing_over"} 1`, `live_takeover_state{state="normal_mix"} 0`, "live_on_air 1",
		`live_sources{state="on_air"} 1`, `live_sources{state="ready"} 2`, `live_sources{state="gone"} 1`, `live_sources{state="grace"} 0`,
		"live_streams 1", "live_streams_blacklisted 0", "live_desk_up 1", "live_harbor_open 1",
		"live_broadcasts_total 3", "live_failovers_total 2", "live_filled_seconds_total 1.5", "live_dropped_seconds_total 0.04",
		"live_trimmed_seconds_total 0.25", "live_harbor_breaks_total 1", "live_carts_total 4", "live_recording 1", "live_recording_problem 1",
		"live_phones_up 1", "live_phones 2", "live_phones_relayed 1", "live_phone_packets_total 900", "live_phone_packets_lost_total 11",
		"live_phone_frames_total 800", "live_phone_frames_concealed_total 7", "live_phone_round_trip_seconds 0.24", "live_phone_jitter_seconds 0.012",
		"live_turn_allocations 1", `live_turn_bytes_total{way="up"} 5`, `live_turn_refused_total{for="credential"} 1`, `live_turn_refused_total{for="target"} 4`, "live_turn_ousted_total 6",
	} {
		if !strings.Contains(text, "\nathir_"+line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if r.live.looks != 0 {
		t.Error("a scrape asks the desk")
	}
	// Without a phone and without a relay their series end.
	quiet := newRigWith(t, func(o *api.Options) {
		o.Live.Figures.Phones = func() takeover.PhoneFigures { return takeover.PhoneFigures{} }
		o.Live.Figures.Status = func() takeover.Status { return takeover.Status{State: takeover.Unknown} }
	})
	_, _, text = quiet.call(t, "GET", "/metrics", "")
	for name, there := range map[string]bool{
		"live_phone_jitter_seconds ": false, "live_turn_": false, "live_desk_up 0": true, "live_recording 0": true, "live_phones_up 0": true, "live_on_air 0": true,
	} {
		if strings.Contains(text, "\nathir_"+name) != there {
			t.Errorf("%s: there %v", name, !there)
		}
	}
}

// The levels of the studio's look are the desk's own, each time anew, and what was known
// last where it does not answer.
func TestTheStudiosLookAsksTheDesk(t *testing.T) {
	r := newRig(t)
	for i, want := range []float64{-14.2, -13.2, -12.2} {
		if s := r.order(t, "GET", "", "", 200); at(at(s, "sources").([]any)[0], "peakDbfs") != want || at(s, "desk") != true {
			t.Errorf("look %d: %v", i, at(s, "sources"))
		}
	}
	r.live.deskAway = true
	if s := r.order(t, "GET", "", "", 200); at(s, "desk") != false || at(at(s, "sources").([]any)[0], "state") != string(live.Ready) {
		t.Errorf("away: %v", s)
	}
}

func TestMetricsOfOneReadingAreReadOnce(t *testing.T) {
	read := 0
	r := newRigWith(t, func(o *api.Options) {
		o.Groups = []api.Group{{
			Of: []api.Metric{{Name: "rows", Help: "Of a table.", Label: "kind"}, {Name: "rows_total", Help: "Ever.", Counter: true}},
			Read: func(add func(name string, value float64, label string)) {
				read++
				add("rows", 2, "old")
				add("rows", 3, "new")
				add("rows_total", 5, "")
			},
		}}
	})
	_, _, body := r.call(t, "GET", "/metrics", "")
	for _, line := range []string{`athir_rows{kind="old"} 2`, `athir_rows{kind="new"} 3`, "# TYPE athir_rows_total counter", "athir_rows_total 5"} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if read != 1 {
		t.Errorf("read %d times", read)
	}
}
