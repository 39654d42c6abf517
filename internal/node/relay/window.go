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
	mediaName  = "main_stream.m3u8" // of the main rendition
)

// segment is one segment listeners can fetch, in each rendition.
type segment struct {
	cut
	sequence      int  // EXT-X-MEDIA-SEQUENCE number
	discontinuity bool // EXT-X-DISCONTINUITY before it
	era           int  // discontinuity sequence number
	until         time.Time
}

func (s *segment) end() time.Time { return s.at.Add(s.duration) }

// window is the sliding part of the stream that listeners see: the playlist's
// segments and those that left it a short while ago.
type window struct {
	target time.Duration
	count  int

	mu         sync.RWMutex
	renditions renditions
	listed     []*segment
	retired    []*segment
	byNumber   map[int]*segment
	heads      map[string][]byte // of all sounds so far, which are few
	sequence   int               // of the next segment
	era        int
	broken     bool // a break lies before the next segment, whatever is there
	total      uint64
	breaks     uint64
	longest    time.Duration // of all playlists so far
	renders    int           // playlists rendered

	// The playlists of this state, by rendition; nil until somebody asks for them. The last
	// master playlist is that of all renditions.
	shownMedia  [mostRenditions]atomic.Pointer[rendered]
	shownMaster [mostRenditions + 1]atomic.Pointer[rendered]
}

// sequenceEpoch is subtracted from the time of day to number segments.
const sequenceEpoch = 1704067200 // 2024-01-01

// newWindow numbers segments from the seconds since 2024. A segment is longer
// than a second, so numbers after a restart of the relay are always above those
// before it: to a player the list has moved on, it has not gone back
// (RFC 8216, 6.2.2). The discontinuity sequence starts at era: it must be above
// all before a restart as well, but small, since players keep a list of that
// length (hls.js walks it at every load of the playlist).
func newWindow(of renditions, target time.Duration, count int, era int, now time.Time) *window {
	return &window{renditions: of, target: target, count: count, byNumber: map[int]*segment{}, heads: map[string][]byte{}, sequence: numberOf(now), era: era}
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
// a segment exceeds the target by less than a frame.
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
	w.moved()
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
	w.hold(s)
}

// hold has a segment be found.
func (w *window) hold(s *segment) {
	w.byNumber[s.sequence] = s
	if name := s.sound.head(); w.heads[name] == nil {
		w.heads[name] = s.sound.header()
	}
}

// moved has the playlists be rendered anew.
func (w *window) moved() {
	for i := range w.shownMedia {
		w.shownMedia[i].Store(nil)
	}
	for i := range w.shownMaster {
		w.shownMaster[i].Store(nil)
	}
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
	w.moved()
}

// show makes a list of consecutive segments the playlist: as it is at another relay.
func (w *window) show(in renditions, target time.Duration, list []*segment, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renditions, w.target, w.longest = in, target, max(w.longest, w.length())
	listed := map[*segment]bool{}
	for _, s := range list {
		listed[s] = true
		if w.byNumber[s.sequence] == s {
			continue
		}
		w.hold(s)
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
	w.moved()
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
		if old := w.retired[0]; w.byNumber[old.sequence] == old { // else it was replaced: see show
			delete(w.byNumber, old.sequence)
		}
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

// segment finds a segment by its number, nil when it is not there.
func (w *window) segment(number int) *segment {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byNumber[number]
}

// file finds the sound of a segment or the header of a run by the name that playlists give it;
// nil: it is not there.
func (w *window) file(name string) []byte {
	w.mu.RLock()
	defer w.mu.RUnlock()
	number, rendition, ok := w.renditions.ofSegment(name)
	if !ok {
		return w.heads[name]
	}
	if s := w.byNumber[number]; s != nil && rendition < len(s.data) {
		return s.data[rendition]
	}
	return nil
}

// whole are the renditions that every listed segment has. The caller holds mu.
func (w *window) whole() renditions {
	n := len(w.renditions)
	for _, s := range w.listed {
		n = min(n, len(s.data))
	}
	return w.renditions[:n]
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

// media is the media playlist of a rendition; nil while there is no segment of it.
func (w *window) media(rendition int) *rendered {
	list, _ := w.playlist(&w.shownMedia[rendition], func() (*rendered, error) { return w.renderMedia(rendition), nil })
	return list
}

// playlist returns what shown holds, and renders it first if the window has moved
// since: every listener asks for the same list.
func (w *window) playlist(shown *atomic.Pointer[rendered], render func() (*rendered, error)) (*rendered, error) {
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
	return list, nil
}

func (w *window) renderMedia(rendition int) *rendered {
	if len(w.listed) == 0 || rendition >= len(w.whole()) {
		return nil
	}
	return render(writeList(w.listed, w.targetDuration(), func(s *segment) string { return w.renditions.segment(s.sequence, rendition) }))
}

// master is the master playlist that names the media playlist of one rendition, or of each
// where none is chosen (noRendition).
func (w *window) master(chosen int) (*rendered, error) {
	at := chosen
	if chosen == noRendition {
		at = mostRenditions
	}
	return w.playlist(&w.shownMaster[at], func() (*rendered, error) { return w.renderMaster(chosen) })
}

func (w *window) renderMaster(chosen int) (*rendered, error) {
	list := playlist.Multivariant{Version: listVersion, IndependentSegments: true}
	for i := range w.whole() {
		if chosen == noRendition || i == chosen {
			list.Variants = append(list.Variants, w.variant(i))
		}
	}
	if len(list.Variants) == 0 { // what was chosen is not there now
		list.Variants = append(list.Variants, w.variant(0))
	}
	text, err := list.Marshal()
	return render(text), err
}

func (w *window) variant(rendition int) *playlist.MultivariantVariant {
	var peak, bits float64
	for _, s := range w.listed {
		if rendition >= len(s.data) {
			continue
		}
		size := float64(8 * len(s.data[rendition]))
		bits += size
		// The rate of a cut-off segment of some milliseconds says nothing.
		if s.duration >= w.target {
			peak = max(peak, size/s.duration.Seconds())
		}
	}
	average := int(bits / max(w.length().Seconds(), 0.001))
	// Of silence there are as few bits in each rendition. A player that came then would take all
	// for the same, and later choose what its network cannot carry.
	peak = max(peak, float64(1000*w.renditions[rendition]))
	return &playlist.MultivariantVariant{
		Bandwidth:        max(int(peak), average),
		AverageBandwidth: &average,
		Codecs:           []string{"mp4a.40.2"},
		URI:              w.renditions.media(rendition) + mark,
	}
}

// shown are the renditions that can be listened to.
func (w *window) shown() renditions {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.whole()
}

// chosen is the rendition that a listener asks for by its bitrate; noRendition where there is
// none.
func (w *window) chosen(kbps string) int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.renditions.chosen(kbps)
}

// ofMedia is the rendition that has the media playlist of a name.
func (w *window) ofMedia(name string) (int, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.renditions.ofMedia(name)
}
