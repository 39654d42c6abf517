//go:build soak

package e2e

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// audibleLevel is the guard's own default, in dBFS.
const audibleLevel = -50

// without returns the stretches of the clock, longer than a second, in which
// nothing audible came to the listener since a moment.
func (l *listener) without(since time.Time) (out [][2]time.Time) {
	pcm := l.rec.PCM()
	const step = 50 * time.Millisecond
	last := since
	begin := l.rec.Position(since)
	for at := begin; at+step <= pcm.Duration(); at += step {
		power, block := 0.0, pcm.Cut(at, at+step).Samples
		for _, v := range block {
			power += float64(v) * float64(v) / float64(len(block)) / (1 << 30)
		}
		arrived, ok := l.rec.ArrivedAt(at)
		if !ok || 10*math.Log10(max(power, 1e-12)) < audibleLevel {
			continue
		}
		if arrived.Sub(last) > time.Second {
			out = append(out, [2]time.Time{last, arrived})
		}
		last = arrived
	}
	if now := time.Now(); now.Sub(last) > time.Second {
		out = append(out, [2]time.Time{last, now})
	}
	return out
}

// The figures, and by how much a slow machine may miss them before it
// counts as a fault.
const (
	detectWithin  = 5 * time.Second
	recoverWithin = 10 * time.Second
	allowance     = 3
)

// The five faults of dead air, one after the other, on one station: each is
// noticed, mended, told, and kept; listeners of Icecast, of /stream and of HLS
// stay connected through all of them.
func TestSoakDeadAirIsNoticedAndMended(t *testing.T) {
	s := newStation(t, withKeys, withGuard, rules(shortRules))
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 8, 10 * time.Second}})
	s.start().whole()
	s.hlsReady()
	s.standbyReady()
	s.calm("at the start")
	ears := []*listener{listen(t, "icecast", s.url("icecast", "/main")), listen(t, "stream", s.url("control", "/stream"))}
	hls := newHLS(s)
	s.eventually("listeners", func() bool {
		return !slices.ContainsFunc(ears, func(l *listener) bool { return l.rec.PCM().Duration() < 3*time.Second })
	})
	if g, err := s.guard(); err != nil || g.LastAlarm != nil {
		t.Errorf("an alarm before any fault: %+v %v", g.LastAlarm, err)
	}

	for _, f := range []struct {
		name, kind string
		// audible: listeners hear something all the time.
		audible bool
		put     func() (at time.Time)
		mend    func() // from outside, where the station cannot
		steps   []string
	}{
		{"engine wedged (SIGSTOP)", "gone", false, func() time.Time { _, at := s.wedge(); return at }, nil, []string{"restart_engine"}},
		{"source dropped at Icecast", "gone", false, s.dropSource, nil, nil},
		{"all-silent track", "silence", false, s.airSilence, s.takeSilence, []string{"skip"}},
		{"playlist emptied by hand", "playlist", true, s.emptyPlaylist, nil, []string{"rewrite"}},
		{"media folder unmounted", "emergency", true, s.unmount, s.mount, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			before, err := hls.playlist()
			if err != nil {
				t.Fatal(err)
			}
			at := f.put()
			var g guarded
			s.eventually("an alarm: "+f.name, func() bool {
				g, err = s.guard()
				return err == nil && g.LastAlarm != nil && g.LastAlarm.Kind == f.kind && g.LastAlarm.Raised >= at.UnixMilli()
			})
			if f.mend != nil {
				f.mend()
			}
			s.calm("after: " + f.name)
			g, err = s.guard()
			if err != nil || g.LastAlarm == nil {
				t.Fatal(err)
			}
			alarm := *g.LastAlarm
			// A fault that comes with the next track begins when it is heard.
			began, dead := at, time.Duration(0)
			spans := ears[0].without(at)
			if alarm.Began > at.Add(time.Second).UnixMilli() {
				began = time.UnixMilli(alarm.Began)
			}
			detected := time.UnixMilli(alarm.Raised).Sub(began)
			recovered := time.Duration(0)
			if f.kind == "playlist" {
				recovered = time.UnixMilli(alarm.Heard).Sub(began)
			}
			for _, span := range spans {
				dead += span[1].Sub(span[0])
				recovered = max(recovered, span[1].Sub(began))
			}
			t.Logf("DEAD AIR %-26s detected %5.2f s (target 5), recovered %5.2f s (target 10), nothing heard for %5.2f s, steps %v",
				f.name, detected.Seconds(), recovered.Seconds(), dead.Seconds(), alarm.Steps)
			if detected > allowance*detectWithin || recovered > allowance*recoverWithin {
				t.Errorf("detected after %s, recovered after %s", detected, recovered)
			}
			if f.audible && dead > 0 {
				t.Errorf("listeners heard nothing for %s", dead)
			}
			if len(f.steps) > 0 && (len(alarm.Steps) == 0 || alarm.Steps[0] != f.steps[0]) {
				t.Errorf("steps %v, want %v first", alarm.Steps, f.steps)
			}
			for _, l := range ears {
				select {
				case err := <-l.ended:
					t.Error(err)
				default:
				}
			}
			s.eventually("a new HLS segment for the connected listener", func() bool {
				now, err := hls.playlist()
				return err == nil && now != before
			})
		})
	}
	s.toldOfDeadAir(t)
}

// toldOfDeadAir looks at the history, the metrics and the log.
func (s *station) toldOfDeadAir(t *testing.T) {
	t.Helper()
	if kept := s.alarms(); len(kept) < 5 {
		t.Errorf("history: %+v", kept)
	}
	metrics, err := s.get("control", "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`athir_dead_air_total{kind="silence"} [1-9]`, `athir_dead_air_total{kind="gone"} [1-9]`, `athir_dead_air_total{kind="frozen"} 0`,
		`athir_dead_air_seconds_total [1-9]`, `athir_guard_steps_total{step="restart_engine"} [1-9]`, `athir_guard_state{state="watching"} 1`,
	} {
		if !regexp.MustCompile(want).Match(metrics) {
			t.Errorf("metrics have no %s", want)
		}
	}
	if s.logged("dead-air guard: alarm") < 5 || s.logged("dead-air guard: cleared") < 5 {
		t.Error("the log does not tell of the alarms")
	}
}

var adminPassword = regexp.MustCompile(`<admin-password>(.*)</admin-password>`)

// kicker returns what kicks the engine's source, as an administrator of Icecast can.
func (s *station) kicker() (kick func()) {
	s.t.Helper()
	var found []byte
	for _, p := range processes() {
		if p.name != "icecast2" {
			continue
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		args := strings.Split(string(line), "\x00")
		config, err := os.ReadFile(args[min(2, len(args)-1)])
		if err == nil && bytes.Contains(config, fmt.Appendf(nil, "<port>%d</port>", s.ports["icecast"])) {
			found = adminPassword.FindSubmatch(config)[1]
		}
	}
	return func() {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url("icecast", "/admin/killsource?mount=/main"), nil)
		if err != nil {
			s.t.Fatal(err)
		}
		req.SetBasicAuth("admin", string(found))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatalf("kick the source: %v", err)
		}
		_ = resp.Body.Close() // 400 while there is none
	}
}

// dropSource kicks the engine's source again whenever it is back.
func (s *station) dropSource() time.Time {
	s.t.Helper()
	kick, at := s.kicker(), time.Now()
	// Kicked once, the engine is back within a second. It is kicked until that is noticed.
	s.eventually("an alarm while the source is kicked", func() bool {
		kick()
		g, err := s.guard()
		return err == nil && g.LastAlarm != nil && g.LastAlarm.Raised >= at.UnixMilli()
	})
	return at
}

const silentTrack = "music/arabic_hits/صمت.mp3"

// airSilence puts a silent track into the library and on air.
func (s *station) airSilence() time.Time {
	s.t.Helper()
	path := filepath.Join(s.media, silentTrack)
	if err := aircheck.WriteMP3(s.t.Context(), path, aircheck.Track{ID: 1, Duration: 40 * time.Second, Level: -100, Title: "صمت", Artist: "لا أحد"}); err != nil {
		s.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		s.t.Fatal(err)
	}
	var at time.Time
	s.eventually("the silent track on air", func() bool {
		at = time.Now()
		code, _ := s.call("POST", "control", "/api/station/play", testStationKey, fmt.Sprintf(`{"file":%q}`, silentTrack))
		return code == http.StatusOK
	})
	return at
}

// takeSilence takes it out again, and waits for a rotation without it.
func (s *station) takeSilence() {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.media, silentTrack)); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("a rotation without the silent track", func() bool {
		entries, consumed, err := s.rotation()
		return err == nil && !slices.ContainsFunc(entries[min(consumed, len(entries)):], func(e entry) bool { return e.File == silentTrack })
	})
}

func (s *station) emptyPlaylist() time.Time {
	s.t.Helper()
	at := time.Now()
	if err := os.Truncate(filepath.Join(s.data, "node", "main.m3u"), 0); err != nil {
		s.t.Fatal(err)
	}
	return at
}

func (s *station) unmount() time.Time {
	s.t.Helper()
	at := time.Now()
	if err := os.Rename(s.media, s.media+".away"); err != nil {
		s.t.Fatal(err)
	}
	return at
}

func (s *station) mount() {
	s.t.Helper()
	at := time.Now()
	if err := os.Rename(s.media+".away", s.media); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the rotation on air again", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music"
	})
	s.t.Logf("the rotation is on air again %.2f s after its folder", time.Since(at).Seconds())
}
