package e2e

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The pages' own checks in Chromium, against a whole station instead of their
// stand-in: the audio clock advances, sound is heard, both languages stand, two
// listeners write to each other, and a killed control plane loses and doubles
// nothing of it.
func TestPlayerPlaysTheRealStationInChromium(t *testing.T) {
	for _, need := range []string{"../../internal/web/pages/dist/index.html", "../../web/node_modules/.bin/playwright"} {
		if _, err := os.Stat(need); err != nil {
			t.Fatalf("%v: run 'make pages' first", err)
		}
	}
	s := newStation(t, withKeys, rules(shortRules), func(s *station) {
		s.env = append(s.env, "ATHIR_WEBHOOKS_ALLOW_PRIVATE=true") // the one that takes them is a test
	})
	fill(t, s.media, decks)
	s.start().whole()
	s.hlsReady()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "run", "--silent", "e2e")
	npm.Dir = "../../web"
	npm.Env = append(os.Environ(), "ATHIR_URL="+s.url("control", ""), "ATHIR_KEY="+testStationKey, "ATHIR_KILL=1")
	// Its children hold the pipe: end them with it.
	npm.WaitDelay = 5 * time.Second
	out, err := npm.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	if st, err := s.status(); err != nil || st.Source != "athir" {
		t.Errorf("listeners were counted by %q, %v", st.Source, err)
	}
}
