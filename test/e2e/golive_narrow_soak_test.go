//go:build soak

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/whip/whiptest"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	narrowRate    = 200_000 // bits a second, each way
	narrowDelay   = 150 * time.Millisecond
	narrowLoss    = 0.05
	narrowPresses = 5
	// narrowPiece is what the way takes at once, as a packet.
	narrowPiece = 1460
)

// TestSoakGoLiveOnANarrowWay presses Go live in Chromium, whose profile is new each time,
// behind 200 kbit/s and 300 ms of round trip, and prints the seconds until the page is there,
// until its sign is lit and until a listener of Icecast hears it.
//
// The page and its requests go through a TCP proxy of that rate, delay and one round trip for
// each connection; its packets are not lost, as TCP's own repetition would hide it. The sound
// goes through a UDP proxy of the same rate and delay that loses 5 % of the packets of each
// direction. The two do not share their rate.
func TestSoakGoLiveOnANarrowWay(t *testing.T) {
	s := liveStation(t, withGoLiveLinks)
	air := s.listen()
	air.rotates(s, "the rotation before")
	sound := whiptest.NewProxy(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(s.ports["media"]))) //nolint:gosec // a port
	sound.Set(whiptest.Weather{Loss: narrowLoss, Burst: 1, Delay: narrowDelay, Jitter: 10 * time.Millisecond, Rate: narrowRate})
	way := newNarrow(t, soundBy(t, s.url("whip", ""), sound.Addr))

	presses := filepath.Join(t.TempDir(), "presses.json")
	from := time.Now()
	s.pages([]string{
		"ATHIR_KEY=" + testStationKey, "ATHIR_WHIP=" + way, "ATHIR_MICROPHONE=" + microphone(t, freeTone),
		"ATHIR_PRESSES=" + presses, fmt.Sprintf("ATHIR_PRESS_COUNT=%d", narrowPresses),
	}, "presses.spec.ts")
	text, err := os.ReadFile(presses)
	if err != nil {
		t.Fatal(err)
	}
	var noted []struct{ OpenedAt, ReadyAt, PressedAt, LitAt float64 }
	if err := json.Unmarshal(text, &noted); err != nil || len(noted) != narrowPresses {
		t.Fatalf("%d presses, %v", len(noted), err)
	}
	var toPage, toSign, toHeard []time.Duration
	whole, spoken := time.Duration(0), time.Duration(0)
	for n, p := range noted {
		toPage = append(toPage, epoch(p.ReadyAt).Sub(epoch(p.OpenedAt)))
		toSign = append(toSign, epoch(p.LitAt).Sub(epoch(p.PressedAt)))
		at := air.Position(epoch(p.PressedAt))
		heard := aircheck.Fine.Analyse(air.PCM().Cut(at, air.Position(epoch(p.LitAt).Add(6*time.Second)))).Segments // until it is stopped
		first := slices.IndexFunc(heard, func(seg aircheck.Segment) bool { return seg.ID == freeTone })
		if first < 0 {
			t.Errorf("press %d was never heard: %+v", n, heard)
			continue
		}
		arrived, _ := air.ArrivedAt(at + heard[first].Start)
		toHeard = append(toHeard, arrived.Sub(epoch(p.PressedAt)))
		last := heard[first]
		for _, seg := range heard {
			if seg.ID == freeTone {
				spoken += seg.Length()
				last = seg
			}
		}
		whole += last.End - heard[first].Start
	}
	if len(toHeard) == 0 {
		t.Fatal("nothing was heard")
	}
	for _, all := range [][]time.Duration{toPage, toSign, toHeard} {
		slices.Sort(all)
	}
	t.Logf("%d kbit/s, %s each way, %.0f %% of the packets of sound lost, %d times in %s:", narrowRate/1000, narrowDelay, 100*narrowLoss, narrowPresses, time.Since(from).Round(time.Second))
	t.Logf("page opened to what comes next on it: median %s, worst %s", middle(toPage), slices.Max(toPage).Round(time.Millisecond))
	t.Logf("press to the sign: median %s, worst %s", middle(toSign), slices.Max(toSign).Round(time.Millisecond))
	t.Logf("press to a listener of Icecast: median %s, worst %s; %.1f %% of the time until it ended its tone is heard", middle(toHeard), slices.Max(toHeard).Round(time.Millisecond), 100*spoken.Seconds()/whole.Seconds())
}

// soundBy is the phones' server behind a door whose answers name a proxy for the sound.
func soundBy(t *testing.T, target string, proxy netip.AddrPort) (address string) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	door := &httputil.ReverseProxy{
		FlushInterval: -1, // facts come as events
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			if r.Header.Get("Content-Type") != "application/sdp" {
				return nil
			}
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			_ = r.Body.Close()
			var out strings.Builder
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); strings.HasPrefix(line, "a=candidate:") {
					if f[2] != "udp" {
						continue
					}
					f[4], f[5] = proxy.Addr().String(), strconv.Itoa(int(proxy.Port()))
					line = strings.Join(f, " ") + "\r\n"
				}
				out.WriteString(line)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewBufferString(out.String())), int64(out.Len())
			r.Header.Set("Content-Length", strconv.Itoa(out.Len()))
			return nil
		},
	}
	srv := httptest.NewServer(door)
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// narrow is a slow way for TCP, which all connections share.
type narrow struct {
	mu   sync.Mutex
	free [2]time.Time // when a direction has sent what it has
}

// newNarrow leads to a target, and returns where it begins.
func newNarrow(t *testing.T, target string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &narrow{}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			begun := time.Now().Add(2 * narrowDelay) // the connection's own round trip
			all.Go(func() { n.carry(0, in, out, begun) })
			all.Go(func() { n.carry(1, out, in, begun) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// carry copies one direction of a connection until it ends.
func (n *narrow) carry(direction int, from, to net.Conn, begun time.Time) {
	type piece struct {
		data []byte
		due  time.Time
	}
	queue := make(chan piece, 16)
	var sending sync.WaitGroup
	sending.Go(func() {
		defer to.Close() //nolint:errcheck // its other end is gone
		for p := range queue {
			time.Sleep(time.Until(p.due))
			_, _ = to.Write(p.data) // all is taken in any case, until from ends
		}
	})
	for {
		buf := make([]byte, narrowPiece)
		got, err := from.Read(buf)
		if got > 0 {
			n.mu.Lock()
			sent := n.free[direction]
			if now := time.Now(); sent.Before(now) {
				sent = now
			}
			sent = sent.Add(time.Duration(got+40) * 8 * time.Second / narrowRate) // headers of IP and TCP
			n.free[direction] = sent
			n.mu.Unlock()
			if sent.Before(begun) {
				sent = begun
			}
			queue <- piece{buf[:got], sent.Add(narrowDelay)}
		}
		if err != nil {
			break
		}
	}
	close(queue)
	sending.Wait()
}
