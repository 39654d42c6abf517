package relay

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

	"github.com/athir-radio/athir/internal/kit/file"
)

const (
	masterName = "index.m3u8"
	mediaName  = "main_stream.m3u8"
)

// segment is one segment listeners can fetch.
type segment struct {
	cut
	sequence      int  // EXT-X-MEDIA-SEQUENCE number
	discontinuity bool // EXT-X-DISCONTINUITY before it
	era           int  // discontinuity sequence number
	until         time.Time
}

func (s *segment) end() time.Time { return s.at.Add(s.duration) }

func (s *segment) name() string { return fmt.Sprintf("seg%d.ts", s.sequence) }

// window is the sliding part of the stream that listeners see: the playlist's
// segments and those that left it a short while ago.
type window struct {
	target time.Duration
	count  int

	mu       sync.RWMutex
	listed   []*segment
	retired  []*segment
	byName   map[string]*segment
	sequence int // of the next segment
	era      int
	broken   bool // a break lies before the next segment, whatever is there
	total    uint64
	breaks   uint64
	longest  time.Duration // of all playlists so far
	renders  int           // playlists rendered

	// The playlists of this state; nil until somebody asks for them.
	shownMedia, shownMaster atomic.Pointer[rendered]
}

// sequenceEpoch is subtracted from the time of day to number segments.
const sequenceEpoch = 1704067200 // 2024-01-01

// newWindow numbers segments from the seconds since 2024. A segment is longer
// than a second, so numbers after a restart of the relay are always above those
// before it: to a player the list has moved on, it has not gone back
// (RFC 8216, 6.2.2). The discontinuity sequence starts at era: it must be above
// all before a restart as well, but small, since players keep a list of that
// length (hls.js walks it at every load of the playlist).
func newWindow(target time.Duration, count int, era int, now time.Time) *window {
	return &window{target: target, count: count, byName: map[string]*segment{}, sequence: numberOf(now), era: era}
}

// numberOf is the number of a segment that a relay begins with.
func numberOf(now time.Time) int { return int(max(now.Unix()-sequenceEpoch, 1)) }

const (
	eraFile = "hls-era"
	// eraRoom is how many discontinuities one life of the relay is given.
	eraRoom = 1000
)

// nextEra takes room for the discontinuities of one life of the relay. On a disk that
// takes no more the room of this life stays free for the next one: a player that outlives
// both may load its list anew.
func nextEra(dir string) (int, error) {
	name := filepath.Join(dir, eraFile)
	era := 1
	if text, err := os.ReadFile(name); err == nil {
		if n, err := strconv.Atoi(string(text)); err == nil && n > 0 && n < math.MaxInt32 {
			era = n
		}
	}
	if err := file.WriteAtomic(name, []byte(strconv.Itoa(era+eraRoom)), 0o600); err != nil && !file.Full(err) {
		return 0, fmt.Errorf("write discontinuity sequence: %w", err)
	}
	return era, nil
}

// targetDuration is EXT-X-TARGETDURATION. It never changes (RFC 8216, 6.2.1);
// a segment exceeds the target by less than one write of frames.
func (w *window) targetDuration() int {
	return int(math.Round((w.target + 250*time.Millisecond).Seconds()))
}

// add appends a segment. afterBreak says that the frames before are not
// continuous with it.
func (w *window) add(c cut, afterBreak bool, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list(c, afterBreak)
	w.retire(now)
	w.shownMedia.Store(nil)
	w.shownMaster.Store(nil)
}

func (w *window) list(c cut, afterBreak bool) {
	s := &segment{cut: c, sequence: w.sequence}
	// Nothing was broken when nothing was there.
	if afterBreak && w.total > 0 || w.broken {
		s.discontinuity, w.broken = true, false
		w.era++
		w.breaks++
	}
	s.era = w.era
	w.sequence++
	w.total++
	w.listed = append(w.listed, s)
	w.byName[s.name()] = s
}

// takeAir begins the list anew at a number, behind a break: see Air. What was cut within the
// last seconds is in it under new numbers. Its old names stay for as long as any.
func (w *window) takeAir(floor int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sequence, w.broken = max(w.sequence, floor), true
	w.longest = max(w.longest, w.length())
	former, from, length := w.listed, len(w.listed), time.Duration(0)
	w.listed = nil
	for from > 0 && length < airTails*w.target && now.Sub(former[from-1].end()) <= time.Duration(w.count)*w.target {
		from--
		length += former[from].duration
	}
	for _, s := range former[from:] {
		w.list(s.cut, s.discontinuity)
	}
	for _, old := range former {
		old.until = now.Add(old.duration + w.longest + time.Second)
		w.retired = append(w.retired, old)
	}
	w.expire(now)
	w.shownMedia.Store(nil)
	w.shownMaster.Store(nil)
}

// show makes a list of consecutive segments the playlist: as it is at another relay.
func (w *window) show(target time.Duration, list []*segment, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target, w.longest = target, max(w.longest, w.length())
	listed := map[*segment]bool{}
	for _, s := range list {
		listed[s] = true
		if w.byName[s.name()] == s {
			continue
		}
		w.byName[s.name()] = s
		w.total++
		if s.discontinuity {
			w.breaks++
		}
	}
	for _, old := range w.listed {
		if !listed[old] {
			old.until = now.Add(old.duration + w.longest + time.Second)
			w.retired = append(w.retired, old)
		}
	}
	w.listed = list
	w.sequence = list[len(list)-1].sequence + 1
	w.expire(now)
	w.shownMedia.Store(nil)
	w.shownMaster.Store(nil)
}

// retire moves the oldest segments out of the playlist, and forgets those that
// left it long enough ago: RFC 8216, 6.2.2 wants a removed segment available
// for its own length plus that of the longest playlist it was in.
func (w *window) retire(now time.Time) {
	length := w.length()
	w.longest = max(w.longest, length)
	keep := 3 * time.Duration(w.targetDuration()) * time.Second
	for len(w.listed) > w.count && length-w.listed[0].duration >= keep {
		old := w.listed[0]
		old.until = now.Add(old.duration + w.longest + time.Second)
		length -= old.duration
		w.retired = append(w.retired, old)
		w.listed = w.listed[1:]
	}
	w.expire(now)
}

// expire forgets what left the playlist long enough ago.
func (w *window) expire(now time.Time) {
	for len(w.retired) > 0 && now.After(w.retired[0].until) {
		delete(w.byName, w.retired[0].name())
		w.retired = w.retired[1:]
	}
}

func (w *window) length() time.Duration {
	var sum time.Duration
	for _, s := range w.listed {
		sum += s.duration
	}
	return sum
}

// segment finds a segment by its file name, nil when it is not there.
func (w *window) segment(name string) *segment {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byName[name]
}

// next is the number of the next segment.
func (w *window) next() int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.sequence
}

// end is when the newest segment ended; zero when there is none.
func (w *window) end() time.Time {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.listed) == 0 {
		return time.Time{}
	}
	return w.listed[len(w.listed)-1].end()
}

// media is the media playlist; query, when not empty, is put behind every URI. It is
// nil while there is no segment. The bytes are shared and must not be changed.
func (w *window) media(query string) ([]byte, error) {
	return w.playlist(&w.shownMedia, w.renderMedia, query)
}

// playlist returns what shown holds, and renders it first if the window has moved
// since: every listener asks for the same list.
func (w *window) playlist(shown *atomic.Pointer[rendered], render func() (*rendered, error), query string) ([]byte, error) {
	list := shown.Load()
	if list == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if list = shown.Load(); list == nil { // another listener was first
			var err error
			if list, err = render(); list == nil || err != nil {
				return nil, err
			}
			shown.Store(list)
			w.renders++
		}
	}
	return list.with(query), nil
}

func (w *window) renderMedia() (*rendered, error) {
	if len(w.listed) == 0 {
		return nil, nil
	}
	head := w.listed[0]
	era := head.era
	if head.discontinuity {
		era-- // the tag itself is still in the list and counts from there
	}
	list := playlist.Media{
		Version:               3,
		IndependentSegments:   true,
		TargetDuration:        w.targetDuration(),
		MediaSequence:         head.sequence,
		DiscontinuitySequence: &era,
	}
	for _, s := range w.listed {
		at := s.at.UTC()
		list.Segments = append(list.Segments, &playlist.MediaSegment{
			Discontinuity: s.discontinuity, DateTime: &at, Duration: s.duration, URI: s.name() + mark,
		})
	}
	text, err := list.Marshal()
	return render(text), err
}

// master is the master playlist that names the one media playlist.
func (w *window) master(query string) ([]byte, error) {
	return w.playlist(&w.shownMaster, w.renderMaster, query)
}

func (w *window) renderMaster() (*rendered, error) {
	var peak, bits float64
	for _, s := range w.listed {
		size := float64(8 * len(s.data))
		bits += size
		// The rate of a cut-off segment of some milliseconds says nothing.
		if s.duration >= w.target {
			peak = max(peak, size/s.duration.Seconds())
		}
	}
	average := int(bits / max(w.length().Seconds(), 0.001))
	list := playlist.Multivariant{
		Version:             3,
		IndependentSegments: true,
		Variants: []*playlist.MultivariantVariant{{
			Bandwidth:        max(int(peak), average, 1),
			AverageBandwidth: &average,
			Codecs:           []string{"mp4a.40.2"},
			URI:              mediaName + mark,
		}},
	}
	text, err := list.Marshal()
	return render(text), err
}
