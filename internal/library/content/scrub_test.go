package content

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestScrubArchivesJunkAndOnlyListsItWhenDry(t *testing.T) {
	r := newRig(t)
	r.fill(station.English, 3)
	r.put("music/english/empty.mp3", "")
	r.put("music/english/cut short.mp3", "length 10")
	r.put("music/english/nothing.mp3", "silent")
	r.put("music/english/odd.mp3", "broken")
	r.put("music/english/loud.mp3", "unfit")
	r.put("music/english/twin.mp3", "music/english/track 001.mp3")
	r.put("music/ads/empty.mp3", "")
	_ = r.air.Scan(t.Context())
	r.Content.opt.Registry = lengths{r.air}
	r.air.rotation, r.air.at = []string{"music/english/track 000.mp3"}, 0
	want := map[string]string{
		"music/english/empty.mp3": "unreadable", "music/english/cut short.mp3": "too_short", "music/english/nothing.mp3": "silent",
		"music/english/odd.mp3": "unreadable", "music/english/twin.mp3": "duplicate", "music/english/loud.mp3": "mastering",
	}
	reasons := map[string]int{"unreadable": 2, "too_short": 1, "silent": 1, "duplicate": 1, "mastering": 1}
	for _, dry := range []bool{true, false} {
		got, err := r.Scrub(t.Context(), ScrubRequest{Category: station.English, DryRun: dry}, nil)
		found := map[string]string{}
		for _, j := range got.Junk {
			found[j.File] = j.Reason
			if j.Reason == "mastering" && j.Why != "it cannot be mastered" {
				t.Errorf("why mastering refuses it: %q", j.Why)
			}
		}
		if err != nil || len(got.Junk) != 6 || !maps.Equal(found, want) || !maps.Equal(got.Reasons, reasons) || got.Checked != 9 || (len(got.Archived) == 6) == dry {
			t.Errorf("dry %v: %+v, %v", dry, got, err)
		}
		if moved := len(walk(r.opt.Archive)); (moved == 6) == dry {
			t.Errorf("dry %v: %d files moved", dry, moved)
		}
	}
	if back, err := r.Restore(t.Context(), RestoreRequest{}, nil); err != nil || back.Total != 0 {
		t.Errorf("junk came back: %+v, %v", back, err)
	}
}

// lengths is a registry that has measured its files.
type lengths struct{ *onAir }

func (l lengths) Tracks() []station.Track {
	out := slices.Clone(l.onAir.Tracks())
	for i := range out {
		if strings.Contains(out[i].Path, "cut short") {
			out[i].Duration = 10 * time.Second
		}
	}
	return out
}
