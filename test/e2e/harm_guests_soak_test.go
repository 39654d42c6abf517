//go:build soak

package e2e

import (
	"context"
	"math"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

const (
	// perDoor is how many listeners each door has; one of them is decoded.
	perDoor = 20
	// givesUp is how long a listener waits for the next byte, or a new segment: then
	// the connection counts as lost, and is made again. Players give up after 8 s and more.
	givesUp = 20 * time.Second
	// comesBack is how soon a lost listener connects again.
	comesBack = 500 * time.Millisecond
)

// doors are the ways to listen, in the order of the table.
var doors = [...]struct {
	name, port, path string
	// slack is what a listener does not notice: of a stream a second, of HLS the three
	// segments that a player holds.
	slack time.Duration
}{
	{"Icecast", "icecast", "/main", time.Second},
	{"/stream", "control", "/stream", time.Second},
	{"HLS", "player", "/hls/main/", 6 * time.Second},
}

// guest is one listener who connects again whenever the connection is lost.
type guest struct {
	mu   sync.Mutex
	last time.Time // of the last byte
	lost int       // connections, since forgive
}

func (g *guest) got() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = time.Now()
}

func (g *guest) lose() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost++
}

// forgive forgets what was lost while the station came up; false where nothing comes.
func (g *guest) forgive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = 0
	return time.Since(g.last) < 5*time.Second
}

func (g *guest) dropped() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost > 0
}

// stream listens to one endless answer after the other until ctx ends.
func (g *guest) stream(ctx context.Context, client *http.Client, url string) {
	for ctx.Err() == nil {
		g.hold(ctx, client, url)
		if ctx.Err() != nil {
			return
		}
		g.lose()
		pause(ctx, comesBack)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// hold is one connection.
func (g *guest) hold(ctx context.Context, client *http.Client, url string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(givesUp, cancel)
	defer late.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	buf := make([]byte, 4096)
	for resp.StatusCode == http.StatusOK {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			late.Reset(givesUp)
			g.got()
		}
		if err != nil {
			return
		}
	}
}

// segments fetches playlists and their newest segment until ctx ends. What fails is tried
// again; only a listener for whom nothing new comes is lost.
func (g *guest) segments(ctx context.Context, url string) {
	jar, _ := cookiejar.New(nil)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	h := &hlsListener{&http.Client{Jar: jar, Timeout: givesUp / 2, Transport: transport}, url}
	seen, since := "", time.Now()
	for ctx.Err() == nil {
		if newest, err := h.playlist(); err == nil && newest != seen {
			if _, err := h.get(newest); err == nil {
				seen, since = newest, time.Now()
				g.got()
			}
		}
		if time.Since(since) >= givesUp {
			g.lose()
			since = time.Now()
		}
		pause(ctx, time.Second)
	}
}

// audience are the listeners of one station.
type audience struct {
	guests [len(doors)][]*guest
	ears   [len(doors)]*aircheck.Recorder
	leave  func()
}

// gather connects them until a test ends.
func (s *station) gather(t *testing.T) *audience {
	a := &audience{}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for d, door := range doors {
		url := s.url(door.port, door.path)
		for range perDoor - 1 {
			g := &guest{}
			a.guests[d] = append(a.guests[d], g)
			if door.port == "player" {
				all.Go(func() { g.segments(ctx, url) })
			} else {
				all.Go(func() { g.stream(ctx, client, url) })
			}
		}
		ear, g := url, &guest{}
		if door.port == "player" {
			ear += "index.m3u8"
		}
		a.ears[d] = aircheck.NewRecorder(ear)
		a.guests[d] = append(a.guests[d], g)
		all.Go(func() { g.decode(ctx, a.ears[d]) })
	}
	a.leave = func() {
		cancel()
		all.Wait()
	}
	t.Cleanup(a.leave)
	return a
}

// decode listens with a decoder until ctx ends.
func (g *guest) decode(ctx context.Context, ear *aircheck.Recorder) {
	for ctx.Err() == nil {
		once, cancel := context.WithCancel(ctx)
		watching := make(chan struct{})
		go func() { // gives up where nothing comes
			defer close(watching)
			heard, at := ear.PCM().Duration(), time.Now()
			for once.Err() == nil {
				pause(once, 200*time.Millisecond)
				if now := ear.PCM().Duration(); now > heard {
					heard, at = now, time.Now()
					g.got()
				} else if time.Since(at) >= givesUp {
					cancel()
				}
			}
		}()
		_ = ear.Run(once) // whatever ended it, it is a connection that is lost
		cancel()
		<-watching
		if ctx.Err() != nil {
			return
		}
		g.lose()
		pause(ctx, comesBack)
	}
}

// here reports that everybody hears, and forgets what went before.
func (a *audience) here() bool {
	here := true
	for d := range doors {
		for _, g := range a.guests[d] {
			here = g.forgive() && here
		}
		here = here && a.well(d, time.Now())
	}
	return here
}

// dropped counts the listeners of a door who lost a connection.
func (a *audience) dropped(d int) (n int) {
	for _, g := range a.guests[d] {
		if g.dropped() {
			n++
		}
	}
	return n
}

const (
	// settled is how long a listener must hear before it counts as heard again.
	settled = 5 * time.Second
	// hiccup is how long a gap beyond what is not noticed may be for that: on a busy machine
	// there are some without any fault. They count as silence all the same.
	hiccup = 2 * time.Second
)

// well reports that the decoded listener of a door has heard for long enough.
func (a *audience) well(d int, now time.Time) bool {
	_, longest, _ := a.silence(d, now.Add(-settled-doors[d].slack-hiccup), now)
	return longest <= hiccup
}

// gaps are the stretches of the clock from one moment to another in which nothing
// audible came to the decoded listener of a door, those longer than what a listener
// does not notice.
//
//go:norace
func (a *audience) gaps(d int, since, until time.Time) (out [][2]time.Time) {
	slack, ear := doors[d].slack, a.ears[d]
	pcm := ear.PCM()
	const step = 50 * time.Millisecond
	last := since
	for at := ear.Position(since.Add(-slack)); at+step <= pcm.Duration(); at += step {
		power, block := 0.0, pcm.Cut(at, at+step).Samples
		for _, v := range block {
			power += float64(v) * float64(v) / float64(len(block)) / (1 << 30)
		}
		if 10*math.Log10(max(power, 1e-12)) < audibleLevel {
			continue
		}
		arrived, ok := ear.ArrivedAt(at)
		if !ok || arrived.After(until) {
			break
		}
		// HLS comes in pieces: what came before the beginning counts.
		if arrived.Sub(last) > slack {
			out = append(out, [2]time.Time{last, arrived})
		}
		if arrived.After(last) || last.Equal(since) {
			last = arrived
		}
	}
	if until.Sub(last) > slack {
		out = append(out, [2]time.Time{last, until})
	}
	return out
}

// silence is for how long the decoded listener of a door heard nothing beyond what is not
// noticed, the longest time of it, and when the last one that was more than a hiccup ended;
// zero without any.
func (a *audience) silence(d int, since, until time.Time) (sum, longest time.Duration, end time.Time) {
	for _, g := range a.gaps(d, since, until) {
		beyond := g[1].Sub(g[0]) - doors[d].slack
		sum, longest = sum+beyond, max(longest, beyond)
		if beyond > hiccup {
			end = g[1]
		}
	}
	return sum, longest, end
}

// A stretch in which nothing comes is measured as one.
func TestSoakAudienceHearsAHole(t *testing.T) {
	path := t.TempDir() + "/hole.mp3"
	if err := aircheck.WriteMP3(t.Context(), path, aircheck.Track{ID: 3, Duration: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	a := &audience{}
	a.ears[0] = aircheck.NewRecorder(path)
	began := time.Now()
	if err := a.ears[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := time.Now()
	if a.well(0, first.Add(4*time.Second)) || !slices.Equal(a.gaps(0, began, first), nil) {
		t.Errorf("gaps %v", a.gaps(0, began, first))
	}
	sum, longest, _ := a.silence(0, began, first.Add(10*time.Second))
	if sum < 8*time.Second || sum > 9500*time.Millisecond || longest != sum {
		t.Errorf("ten seconds after the end: %s, the longest %s", sum, longest)
	}
}
