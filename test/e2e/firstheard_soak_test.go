//go:build soak

package e2e

import (
	"cmp"
	"context"
	endian "encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	run "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// firstEar is a listener who is there before the first byte. It keeps what Icecast sends,
// and decodes it afterwards: on a starved machine a decoder would be heard, not the
// station.
type firstEar struct {
	mu    sync.Mutex
	body  []byte
	marks []received
	parts int // connections that gave audio
}

// received says that so many bytes had come by then.
type received struct {
	bytes int
	at    time.Time
}

// run listens until ctx ends, and connects again where the server lets go.
func (e *firstEar) run(ctx context.Context, s *station) {
	for ctx.Err() == nil {
		if !port.Listening(s.ports["icecast"]) { // Icecast does not survive every connection while it starts
			time.Sleep(10 * time.Millisecond)
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("icecast", "/main"), nil)
		if err != nil {
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if resp.StatusCode == http.StatusOK {
			e.take(resp.Body)
		}
		_ = resp.Body.Close()
		time.Sleep(10 * time.Millisecond)
	}
}

func (e *firstEar) take(from io.Reader) {
	buf := make([]byte, 64<<10)
	for first := true; ; {
		n, err := from.Read(buf)
		if n > 0 {
			e.mu.Lock()
			if first {
				e.parts, first = e.parts+1, false
			}
			e.body = append(e.body, buf[:n]...)
			e.marks = append(e.marks, received{len(e.body), time.Now()})
			e.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// file is what was heard, as it came.
func (e *firstEar) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heard.ogg")
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := os.WriteFile(path, e.body, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// began is when the first byte came; zero before.
func (e *firstEar) began() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.marks) == 0 {
		return time.Time{}
	}
	return e.marks[0].at
}

// arrival returns when the audio at a position had come. The positions are told by the
// times of the Ogg pages (RFC 3533), each stream's from its own first one on. Of one
// connection to a stream that was on its way, length is what was decoded: what its first
// page holds is not told, so positions are counted from the end. 0: from the beginning.
func (e *firstEar) arrival(length time.Duration) func(time.Duration) time.Time {
	type page struct {
		frames int64 // of all streams, up to its end
		end    int   // bytes
	}
	var pages []page
	var base, origin, last int64
	var serial uint32
	fresh := true
	for at := 0; at+27 <= len(e.body); {
		b := e.body[at:]
		if string(b[:4]) != "OggS" || len(b) < 27+int(b[26]) {
			at++ // between two connections
			continue
		}
		size := 27 + int(b[26])
		for _, n := range b[27:size] {
			size += int(n)
		}
		granule := int64(endian.LittleEndian.Uint64(b[6:])) //nolint:gosec // -1 is none
		if now := endian.LittleEndian.Uint32(b[14:]); now != serial || b[5]&2 != 0 {
			base, serial, fresh = base+last, now, true
			last = 0
		}
		if granule > 0 {
			if fresh {
				origin, fresh = granule, false
				if granule < 3*heardRate { // the stream's own beginning
					origin = 0
				}
			}
			last = granule - origin
			pages = append(pages, page{base + last, at + size})
		}
		at += size
	}
	before := int64(0)
	if length > 0 {
		before = base + last - int64(length.Seconds()*heardRate)
	}
	return func(position time.Duration) time.Time {
		frames := before + int64(position.Seconds()*heardRate)
		i := min(sort.Search(len(pages), func(i int) bool { return pages[i].frames >= frames }), len(pages)-1)
		j := sort.Search(len(e.marks), func(j int) bool { return e.marks[j].bytes >= pages[i].end })
		return e.marks[min(j, len(e.marks)-1)].at
	}
}

const heardRate = 44100

// pcm is interleaved stereo at heardRate.
type pcm []float32

func decoded(t *testing.T, path string) (out pcm) {
	t.Helper()
	err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: heardRate, Channels: 2}, func(frames []float32) error {
		out = append(out, frames...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (p pcm) duration() time.Duration {
	return time.Duration(float64(len(p)/2) / heardRate * float64(time.Second))
}

func (p pcm) cut(from, to time.Duration) pcm {
	at := func(d time.Duration) int { return min(len(p), 2*int(max(0, d).Seconds()*heardRate)) }
	return p[at(from):at(to)]
}

// level is the root mean square in dBFS.
func (p pcm) level() float64 {
	sum := 0.0
	for _, v := range p {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(max(sum/float64(max(1, len(p))), 1e-12))
}

// silences are the stretches under -60 dBFS that are longer than least.
func (p pcm) silences(least time.Duration) (out []time.Duration) {
	const step = 10 * time.Millisecond
	silent := time.Duration(0)
	for at := time.Duration(0); at <= p.duration(); at += step {
		if block := p.cut(at, at+step); len(block) > 0 && block.level() < -60 {
			silent += step
			continue
		}
		if silent > least {
			out = append(out, silent)
		}
		silent = 0
	}
	return out
}

// audible is the first moment from a position on that is above audibleLevel.
func (p pcm) audible(from time.Duration) time.Duration { return p.above(audibleLevel, from) }

// above is the first moment from a position on that is above a level in dBFS.
func (p pcm) above(level float64, from time.Duration) time.Duration {
	const step = 20 * time.Millisecond
	for at := max(0, from); at < p.duration(); at += step {
		if p.cut(at, at+step).level() > level {
			return at
		}
	}
	return p.duration()
}

// An acoustic fingerprint has an item each 4096/3 samples at 11,025 Hz, made of the
// 2.6 s from there on (Chromaprint, algorithm 2).
const (
	printItem = 4096 * time.Second / 3 / 11025
	printSpan = 16 // items that are compared at a time
	// printSame is the share of differing bits (%) up to which sound is that of a file:
	// unrelated sound differs by 35 and more at its best alignment, a copy by 10.
	printSame = 24
)

// shelf keeps the fingerprints of files, by path below the media folder and size.
type shelf struct{ prints map[string][]uint32 }

// print takes as much of a file as a capture of that length may hold of it, rounded up so
// that captures of about the same length share it.
func (s *shelf) print(t *testing.T, key, path string, capture time.Duration) []uint32 {
	t.Helper()
	seconds := (int(capture.Seconds())/120 + 1) * 120
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	key = fmt.Sprint(key, " ", info.Size(), " ", seconds)
	p, ok := s.prints[key]
	if !ok {
		// fpcalc calls what is too short for a print a failure.
		out, _ := run.Output(t.Context(), run.Spec{Name: "fpcalc", Path: "fpcalc", Args: []string{"-raw", "-plain", "-ignore-errors", "-length", strconv.Itoa(seconds), path}}, 1<<20)
		for field := range strings.SplitSeq(strings.TrimSpace(string(out)), ",") {
			if v, err := strconv.ParseUint(field, 10, 32); err == nil {
				p = append(p, uint32(v))
			}
		}
		s.prints[key] = p
	}
	return p
}

// span is a stretch of the capture in which one file was heard.
type span struct {
	file     string // relative to the media folder; emergencyFile
	from, to time.Duration
	offset   time.Duration // of the file's own beginning in the capture; negative where that was cut off
}

const emergencyFile = "the emergency loop"

func (s span) song() bool { return isSong(s.file) }

// isSong reports whether a file of the library is a song, and neither imaging nor speech.
func isSong(file string) bool {
	folder, _, _ := strings.Cut(filepath.ToSlash(file), "/")
	return file != emergencyFile && !slices.Contains([]string{"jingles", "sweepers", "ads", "news", "shorts", "sfx", "social"}, folder)
}

// spans tells what was heard, by the sound alone.
func (s *shelf) spans(capture []uint32, files map[string][]uint32) (out []span) {
	const step = 2
	for at := 0; at+printSpan <= len(capture); at += step {
		best, offset, least := "", 0, printSame*32*printSpan/100
		for file, p := range files {
			for i := 0; i+printSpan <= len(p); i++ {
				different := 0
				for j := 0; j < printSpan && different < least; j++ {
					different += bits.OnesCount32(capture[at+j] ^ p[i+j])
				}
				if different < least {
					best, offset, least = file, at-i, different
				}
			}
		}
		if best == "" {
			continue
		}
		from, to := time.Duration(at)*printItem, time.Duration(at+printSpan)*printItem
		if n := len(out) - 1; n >= 0 && out[n].file == best && (best == emergencyFile || from-out[n].to < 10*time.Second) { // that one goes round
			out[n].to = to
			continue
		}
		out = append(out, span{best, from, to, time.Duration(offset) * printItem})
	}
	// One window that resembles another file is no sound of it.
	return slices.DeleteFunc(out, func(s span) bool { return s.to-s.from <= (printSpan+step)*printItem })
}

// sound is every file that may have been heard, by its name for people.
func (s *shelf) sounds(t *testing.T, st *station, capture time.Duration) map[string][]uint32 {
	t.Helper()
	files := map[string][]uint32{emergencyFile: s.print(t, emergencyFile, filepath.Join(st.data, "node", "emergency.wav"), capture)}
	err := filepath.WalkDir(st.media, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(st.media, path) // a path below it
		if err != nil || d.IsDir() || !slices.Contains([]string{".mp3", ".ogg", ".flac", ".wav", ".m4a"}, filepath.Ext(path)) {
			return err
		}
		if p := s.print(t, rel, path, capture); len(p) >= printSpan {
			files[filepath.ToSlash(rel)] = p
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// byFile counts how often each file of a list comes.
func byFile(plays []played, song bool) map[string]int {
	out := map[string]int{}
	for _, p := range plays {
		if isSong(p.file) == song {
			out[p.file]++
		}
	}
	return out
}

func spread(v []float64, digits int) string {
	if len(v) == 0 {
		return "–"
	}
	v = slices.Clone(v)
	slices.Sort(v)
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	middle := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	return text(v[0]) + " / " + text(middle) + " / " + text(v[len(v)-1])
}

// often lists words with how often each comes, the most frequent first.
func often(words []string) string {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	keys := make([]string, 0, len(count))
	for w := range count {
		keys = append(keys, w)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, w := range keys {
		keys[i] = fmt.Sprintf("%d × %s", count[w], w)
	}
	return strings.Join(keys, ", ")
}
