package bridge_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// The master stream of these tests is a row of tones of a second and a half, each a
// logical Ogg stream of its own as Liquidsoap makes one of each track. A bit
// of noise gives it the bitrate of music.
const (
	toneCount  = 4
	toneLength = 1500 * time.Millisecond
	sourceRate = 44100
	burst      = 2 * time.Second
)

func toneOf(n int) float64 { return 400 + 100*float64(n%toneCount) }

// page is one Ogg page.
type page struct {
	data   []byte
	header bool
	end    time.Duration // within its track
}

// encodeTones makes the tracks once per test.
func encodeTones(t *testing.T) [][]page {
	t.Helper()
	tracks := make([][]page, toneCount)
	for i := range tracks {
		out, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{"-hide_banner", "-nostdin", "-loglevel", "error",
			"-f", "lavfi", "-i", fmt.Sprintf("sine=frequency=%g:sample_rate=%d:duration=%g", toneOf(i), sourceRate, toneLength.Seconds()),
			"-f", "lavfi", "-i", fmt.Sprintf("anoisesrc=amplitude=0.02:sample_rate=%d:duration=%g", sourceRate, toneLength.Seconds()),
			"-filter_complex", "amix=inputs=2:normalize=0,volume=3", "-ac", "2", "-c:a", "libvorbis", "-b:a", "160k",
			"-page_duration", "200000", "-f", "ogg", "-"}}, 1<<20)
		if err != nil {
			t.Fatalf("encode tone: %v", err)
		}
		tracks[i] = pages(out)
	}
	return tracks
}

// pages cuts an Ogg file into its pages (RFC 3533).
func pages(data []byte) []page {
	var all []page
	for len(data) > 27 {
		lacing := data[27 : 27+int(data[26])]
		size := 27 + len(lacing)
		for _, n := range lacing {
			size += int(n)
		}
		granule := int64(binary.LittleEndian.Uint64(data[6:14]))
		all = append(all, page{data: data[:size], header: granule <= 0, end: time.Duration(granule) * time.Second / sourceRate})
		data = data[size:]
	}
	return all
}

// fakeIcecast serves the tones in real time like Icecast: headers, a burst,
// then each page when it is due. Its faults are those of the real one.
type fakeIcecast struct {
	*httptest.Server
	tracks [][]page
	begin  time.Time

	mu      sync.Mutex
	missing int                // so many requests are answered 404, no source is connected; negative: all
	asked   int                // requests so far
	cut     context.CancelFunc // ends every connection
	alive   context.Context
	hush    context.CancelFunc // has every connection stay, and not a byte come
	heard   context.Context
}

func newFakeIcecast(t *testing.T, tracks [][]page) *fakeIcecast {
	t.Helper()
	f := &fakeIcecast{tracks: tracks, begin: time.Now().Add(-burst)}
	f.alive, f.cut = context.WithCancel(context.Background())
	f.heard, f.hush = context.WithCancel(context.Background())
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.fail(-1)
		f.hush()
		f.Close()
	})
	return f
}

// fail cuts every listener off, and has so many requests find no mount. Their number ends the
// fault, not a test that may be held up: ffmpeg does not try for ever.
func (f *fakeIcecast) fail(missing int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing = missing
	f.cut()
	f.alive, f.cut = context.WithCancel(context.Background())
}

// stall keeps the connections that are there and sends nothing on them any more.
func (f *fakeIcecast) stall() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hush()
	f.heard, f.hush = context.WithCancel(context.Background())
}

func (f *fakeIcecast) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fakeIcecast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked++
	missing, alive, heard := f.missing != 0, f.alive, f.heard
	if f.missing > 0 {
		f.missing--
	}
	f.mu.Unlock()
	if missing {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/ogg")
	// Icecast does not chunk: its end of file is the end of the connection.
	w.Header().Set("Transfer-Encoding", "identity")
	_ = feed(f, time.Since(f.begin)-burst, func(data []byte, due time.Time) error {
		select {
		case <-alive.Done():
			return alive.Err()
		case <-r.Context().Done():
			return r.Context().Err()
		case <-time.After(time.Until(due)):
		}
		if heard.Err() != nil {
			select {
			case <-alive.Done():
			case <-r.Context().Done():
			}
			return heard.Err()
		}
		_, err := w.Write(data)
		w.(http.Flusher).Flush()
		return err
	})
}

// feed hands out the pages from a position on, each with its time.
func feed(f *fakeIcecast, from time.Duration, send func(data []byte, due time.Time) error) error {
	from = max(from, 0)
	for n := int(from / toneLength); ; n++ {
		start := time.Duration(n) * toneLength
		for _, p := range f.tracks[n%toneCount] {
			if !p.header && start+p.end < from {
				continue
			}
			if err := send(p.data, f.begin.Add(start+p.end)); err != nil {
				return err
			}
		}
	}
}

// decode turns any audio into mono samples at listenRate.
const listenRate = 8000

func decode(t *testing.T, stdin io.Reader, args ...string) []int16 {
	t.Helper()
	raw, err := proc.Output(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: stdin,
		Args: append(append([]string{"-hide_banner", "-nostdin", "-loglevel", "fatal"}, args...),
			"-ac", "1", "-ar", fmt.Sprint(listenRate), "-f", "s16le", "-"),
	}, 64<<20)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	samples := make([]int16, len(raw)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return samples
}

// heard is a stretch of one tone in captured audio.
type heard struct {
	tone   int // 0 to toneCount-1, -1: none
	from   time.Duration
	length time.Duration
}

const hop = 10 * time.Millisecond

// listen reads the tones from the samples, by the strongest of them in every
// 50 ms. Stretches shorter than 60 ms are the seams between tones.
func listenTo(samples []int16) []heard {
	const step, size = listenRate / 100, listenRate / 20
	var all []heard
	for i := 0; i+size <= len(samples); i += step {
		tone := strongest(samples[i : i+size])
		at := time.Duration(i) * time.Second / listenRate
		if n := len(all); n > 0 && all[n-1].tone == tone {
			all[n-1].length += hop
			continue
		}
		all = append(all, heard{tone: tone, from: at, length: hop})
	}
	var clear []heard
	for _, h := range all {
		switch n := len(clear); {
		case h.length < 60*time.Millisecond && h.tone >= 0:
		case n > 0 && clear[n-1].tone == h.tone:
			clear[n-1].length = h.from + h.length - clear[n-1].from
		default:
			clear = append(clear, h)
		}
	}
	return clear
}

// strongest is the tone with the most power (Goertzel), -1 in silence.
func strongest(samples []int16) int {
	energy := 0.0
	for _, s := range samples {
		energy += float64(s) * float64(s)
	}
	if math.Sqrt(energy/float64(len(samples))) < 300 { // −40 dBFS
		return -1
	}
	best, power := -1, 0.0
	for n := range toneCount {
		w := 2 * math.Pi * toneOf(n) / listenRate
		c := 2 * math.Cos(w)
		a, b := 0.0, 0.0
		for _, s := range samples {
			a, b = float64(s)+c*a-b, a
		}
		if p := a*a + b*b - c*a*b; p > power {
			best, power = n, p
		}
	}
	return best
}

// longestSilence is the longest stretch without a tone.
func longestSilence(all []heard) time.Duration {
	longest := time.Duration(0)
	for _, h := range all {
		if h.tone < 0 {
			longest = max(longest, h.length)
		}
	}
	return longest
}
