package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The pages' own checks in Chromium, against a whole station instead of their
// stand-in: the audio clock advances, sound is heard, both languages stand, and
// two listeners write to each other. Its songs outlast the checks: what is voted
// for must still be to come when the page is loaded again.
func TestPlayerPlaysTheRealStationInChromium(t *testing.T) {
	t.Parallel()
	inTurnOfBrowsers(t)
	s := newStation(t, withKeys, withWebhooks)
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 6, time.Minute}, {"music/english", 10, 16, time.Minute}})
	s.start().whole()
	s.hlsReady()
	s.pages([]string{"ATHIR_KEY=" + testStationKey})
	s.eventually("listeners are counted by the station itself", func() bool { st, err := s.status(); return err == nil && st.Source == "athir" })
}

// Two listeners write in Chromium while the control plane is killed: all of it
// counts, once.
func TestWhatIsWrittenInChromiumOutlivesAKill(t *testing.T) {
	torment(t, inTurnOfBrowsers).pages([]string{"ATHIR_KILL=1", "ATHIR_KEY=" + testStationKey}, "killed.spec.ts")
}

// browsers has room for one.
var browsers = make(chan struct{}, 1)

// inTurnOfBrowsers waits until no other test has a browser, which takes more of the machine
// than a station. A test takes its station afterwards, lest that wait for the browser with it.
func inTurnOfBrowsers(t *testing.T) {
	t.Helper()
	browsers <- struct{}{}
	t.Cleanup(func() { <-browsers })
}

// pages runs the pages' own checks against the station: those of a file, or all.
func (s *station) pages(settings []string, files ...string) {
	s.t.Helper()
	for _, need := range []string{"../../internal/web/pages/dist/index.html", "../../web/node_modules/.bin/playwright"} {
		if _, err := os.Stat(need); err != nil {
			s.t.Fatalf("%v: run 'make pages' first", err)
		}
	}
	results, err := filepath.Abs(filepath.Join("../../web/test-results", s.t.Name()))
	if err != nil {
		s.t.Fatal(err)
	}
	npm := exec.CommandContext(s.t.Context(), "npm", slices.Concat([]string{"run", "--silent", "e2e", "--", "--output=" + results}, files)...)
	npm.Dir = "../../web"
	npm.Env = append(append(os.Environ(), "ATHIR_URL="+s.url("control", "")), settings...)
	// Its children hold the pipe: end them with it.
	npm.WaitDelay = 5 * time.Second
	out, err := npm.CombinedOutput()
	s.t.Logf("%s", out)
	if err != nil {
		s.t.Error(err)
	}
}
