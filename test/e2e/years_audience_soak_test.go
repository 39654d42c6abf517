//go:build soak

package e2e

import (
	"context"
	little "encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// explains is how long before a fault the end of a program may lie that is its cause: the
// program has to start again, and what follows from it as well.
const explains = 20 * time.Second

// heardBy are listeners who stay for hours and keep nothing of what they hear but its faults.
type heardBy struct {
	diary   *diary
	end     func() // waits until all have gone
	running sync.WaitGroup

	mu      sync.Mutex
	flaws   []flaw
	longest map[string]time.Duration // silence by door
	heard   map[string]time.Duration // decoded, by door
}

// flaw is a disconnection, a segment that was missed, or a silence.
type flaw struct {
	from, to time.Time
	kind     string
	what     string
}

// audienceOf seats so many listeners of each kind.
func (s *station) audienceOf(ctx context.Context, d *diary, icecast, stream, hls, events int) *heardBy {
	ctx, cancel := context.WithCancel(ctx)
	a := &heardBy{diary: d, longest: map[string]time.Duration{}, heard: map[string]time.Duration{}}
	a.end = func() { cancel(); a.running.Wait() }
	s.t.Cleanup(a.end)
	seat := func(n int, kind string, listen func(context.Context) bool) {
		for range n {
			a.running.Go(func() { a.stays(ctx, kind, listen) })
		}
	}
	seat(icecast, "Icecast", func(ctx context.Context) bool { return drains(ctx, s.url("icecast", "/main")) })
	seat(stream, "/stream", func(ctx context.Context) bool { return drains(ctx, s.url("control", "/stream")) })
	for range hls {
		h := &segmented{hlsListener: newHLS(s)}
		a.running.Go(func() { a.fetches(ctx, h) })
	}
	for i := range events {
		door := s.url([]string{"control", "chat"}[i%2], "")
		seat(1, "events", func(ctx context.Context) bool {
			conn, err := sockettest.Dial(ctx, door, map[string]any{"recover": true})
			if err != nil {
				return false
			}
			select {
			case <-ctx.Done():
				conn.Close()
			case <-conn.Done():
			}
			<-conn.Done()
			return true
		})
	}
	for door, url := range map[string]string{"Icecast": s.url("icecast", "/main"), "/stream": s.url("control", "/stream")} {
		a.running.Go(func() { a.hears(ctx, door, url) })
	}
	return a
}

func (a *heardBy) note(f flaw) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flaws = append(a.flaws, f)
}

// stays listens again and again; whoever was connected and is no more was disconnected.
func (a *heardBy) stays(ctx context.Context, kind string, listen func(context.Context) (connected bool)) {
	for ctx.Err() == nil {
		if listen(ctx) && ctx.Err() == nil {
			a.note(flaw{time.Now(), time.Now(), kind, "disconnected"})
		}
		_ = retry.Pause(ctx, 200*time.Millisecond) // as a player waits
	}
}

// drains reads a stream to its end.
func drains(ctx context.Context, url string) (connected bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return false
	}
	_, _ = io.CopyBuffer(io.Discard, struct{ io.Reader }{resp.Body}, make([]byte, 4<<10))
	return true
}

// fetches listens to HLS: each segment once, in order. A player has some seconds in hand, so
// what counts is a segment that it never gets.
func (a *heardBy) fetches(ctx context.Context, h *segmented) {
	last, lastAt := 0, time.Now()
	media := ""
	for ctx.Err() == nil {
		_ = retry.Pause(ctx, time.Second)
		if media == "" {
			master, err := h.get("index.m3u8")
			if media = mainMedia(master); err != nil {
				media = ""
				continue
			}
		}
		list, err := h.get(media)
		if err != nil {
			media = "" // the session may be gone with the relay
			continue
		}
		for line := range strings.Lines(list) {
			name := strings.TrimSpace(line)
			var n int
			if _, err := fmt.Sscanf(name, "seg%d.m4s", &n); err != nil || n <= last {
				continue
			}
			if _, err := h.get(name); err != nil {
				break // again with the next playlist
			}
			now := time.Now()
			if last != 0 && n != last+1 && ctx.Err() == nil {
				a.note(flaw{lastAt, now, "HLS", fmt.Sprintf("segment %d follows %d", n, last)})
			}
			last, lastAt = n, now
		}
	}
}

// hears decodes what a door sends, and measures how long nothing sounds. It is a player that
// connects again at once.
func (a *heardBy) hears(ctx context.Context, door, url string) {
	const rate, block = 44100, 441 // 10 ms; as it is sent: the tests' tones go up high
	sounded := time.Time{}
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "quiet", "-nostdin", "-i", url, "-ac", "1", "-ar", fmt.Sprint(rate), "-f", "s16le", "-flush_packets", "1", "-")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			a.note(flaw{time.Now(), time.Now(), door, "no decoder: " + err.Error()})
			return
		}
		buf, decoded := make([]byte, 2*block), 0
		for {
			if _, err := io.ReadFull(out, buf); err != nil {
				break
			}
			decoded++
			if !sounds(buf) {
				continue
			}
			now := time.Now()
			if !sounded.IsZero() {
				a.silence(door, sounded, now)
			}
			sounded = now
		}
		_ = cmd.Wait()
		a.mu.Lock()
		a.heard[door] += time.Duration(decoded) * 10 * time.Millisecond
		a.mu.Unlock()
		_ = retry.Pause(ctx, 100*time.Millisecond)
	}
}

// sounds reports that a block of samples is over -50 dBFS.
func sounds(block []byte) bool {
	var sum float64
	for i := 0; i+1 < len(block); i += 2 {
		v := float64(int16(little.LittleEndian.Uint16(block[i:]))) / 32768 //nolint:gosec // a sample
		sum += v * v
	}
	return sum/float64(len(block)/2) > 1e-5
}

// silenceShown is the length from which a silence is a fault: audio arrives in pages and,
// from a busy machine, in some seconds at once, which a player's buffer covers.
const silenceShown = 2 * time.Second

func (a *heardBy) silence(door string, from, to time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	gap := to.Sub(from)
	a.longest[door] = max(a.longest[door], gap)
	if gap >= silenceShown {
		a.flaws = append(a.flaws, flaw{from, to, door, fmt.Sprintf("silence of %.1f s", gap.Seconds())})
	}
}

// judge wants a kill behind every fault, and returns what was seen.
func (a *heardBy) judge(t *testing.T) (page []string) {
	t.Helper()
	counts, bare := map[string]int{}, 0
	shown := map[string]bool{}
	for _, f := range a.flaws {
		kind := f.what
		if strings.HasPrefix(kind, "segment") {
			kind = "segments missed"
		} else if strings.HasPrefix(kind, "silence") {
			kind = "silences"
		}
		counts[f.kind+" "+kind]++
		near := a.diary.between(f.from.Add(-explains), f.to)
		cause := "killed "
		if f.kind == "events" { // their clients come back after an upgrade, too
			cause = ""
		}
		if !slices.ContainsFunc(near, func(e string) bool { return strings.Contains(e, cause) }) {
			if bare++; bare <= 20 {
				t.Errorf("%s: %s at %s, and no program was killed before: %v", f.kind, f.what, f.from.Format(time.TimeOnly), near)
			}
		} else if line := fmt.Sprintf("%s: %s; %s", f.kind, f.what, strings.Join(near, ", ")); strings.HasPrefix(f.what, "silence") && !shown[line] {
			shown[line] = true
			page = append(page, line)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		page = append(page, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	for _, door := range slices.Sorted(maps.Keys(a.longest)) {
		page = append(page, fmt.Sprintf("longest silence at %s: %.1f s of %s decoded", door, a.longest[door].Seconds(), a.heard[door].Round(time.Second)))
	}
	return append(page, fmt.Sprintf("faults without a kill before them: %d", bare))
}
