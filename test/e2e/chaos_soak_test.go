//go:build soak

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// chaosFor is how long the chaos lasts: ATHIR_CHAOS, or some 40 s.
func chaosFor(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("ATHIR_CHAOS")
	if text == "" {
		return 40 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("ATHIR_CHAOS: %v", err)
	}
	return d
}

// Every process but the supervisor is killed again and again, at random, while
// listeners comment, chat and react at both the control plane and the edge. No
// write that was acknowledged is lost or doubled. How long nothing was heard is
// printed.
func TestSoakChaosLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, withGuard)
	record(t, s.media, library())
	s.configure(programmeRules(60, []rotation.Daypart{}))
	s.start().whole()
	doors := []string{s.url("control", ""), s.url("chat", ""), s.url("player", "")}
	c := newCrowd(s, doors...)
	heard := newHearing(s.url("icecast", "/main"), s.url("control", "/stream"))
	ctx, cancel := context.WithTimeout(t.Context(), chaosFor(t))
	defer cancel()
	var writers, others sync.WaitGroup
	for who := range 8 {
		writers.Go(func() { c.write(ctx, who) })
	}
	others.Go(func() { heard.run(ctx) })
	kills := s.chaos(ctx, heard)
	writers.Wait()
	others.Wait()
	s.eventually("everything runs again", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
	c.judge()
	t.Logf("CHAOS %s, killed %v; longest silence %s", chaosFor(t), kills, heard)
	for _, gap := range heard.gaps {
		t.Logf("CHAOS silence: %s", gap)
	}
}

// chaos kills a program every few seconds until ctx ends.
func (s *station) chaos(ctx context.Context, heard *hearing) map[string]int {
	kills := map[string]int{}
	names := []string{"control", "chat", "liquidsoap", "icecast", "relay", "bridge", "nginx", "player"}
	for {
		select {
		case <-ctx.Done():
			return kills
		case <-time.After(time.Duration(500+rand.IntN(4000)) * time.Millisecond): // any instant
		}
		name := names[rand.IntN(len(names))]
		p, err := s.process(name)
		if err != nil || p.PID == 0 {
			continue // it is being restarted, or the control plane is, which knows
		}
		if syscall.Kill(p.PID, syscall.SIGKILL) == nil {
			kills[name]++
			heard.note("killed " + name)
		}
	}
}

// hearing is a listener that connects again whenever it is let go, and measures
// how long it heard nothing.
type hearing struct {
	urls []string

	mu      sync.Mutex
	longest map[string]time.Duration
	events  []happened
	gaps    []string // those over gapShown, with what happened meanwhile
}

type happened struct {
	at   time.Time
	what string
}

// gapShown is the length from which a silence is shown with its causes.
const gapShown = 3 * time.Second

// note remembers that something happened.
func (h *hearing) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, happened{time.Now(), what})
}

// heard notes a silence that has ended.
func (h *hearing) heard(url string, last, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gap := now.Sub(last)
	h.longest[url] = max(h.longest[url], gap)
	if gap < gapShown {
		return
	}
	text := fmt.Sprintf("%s %.1f s;", url[strings.LastIndexByte(url, '/'):], gap.Seconds())
	for _, e := range h.events {
		if after := e.at.Sub(last); after > -5*time.Second && e.at.Before(now) {
			text += fmt.Sprintf(" %+.1f %s,", after.Seconds(), e.what)
		}
	}
	h.gaps = append(h.gaps, text)
}

func newHearing(urls ...string) *hearing {
	return &hearing{urls: urls, longest: map[string]time.Duration{}}
}

func (h *hearing) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, url := range h.urls {
		all.Go(func() {
			last := time.Now()
			for ctx.Err() == nil {
				last = h.listen(ctx, url, last)
				time.Sleep(100 * time.Millisecond) // as a player does
			}
		})
	}
	all.Wait()
}

// listen reads one connection to its end, and returns when audio last came.
func (h *hearing) listen(ctx context.Context, url string, last time.Time) time.Time {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return last
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return last
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	buf := make([]byte, 4096)
	for resp.StatusCode == http.StatusOK {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			now := time.Now()
			h.heard(url, last, now)
			last = now
		}
		if err != nil {
			return last
		}
	}
	return last
}

func (h *hearing) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for url, d := range h.longest {
		out = append(out, url[strings.LastIndexByte(url, '/'):]+" "+d.Round(10*time.Millisecond).String())
	}
	return strings.Join(out, ", ") + " (" + strconv.Itoa(len(out)) + " listeners)"
}
