// Package tape holds the newest audio of a live source for whoever reads it: the bus, and
// who listens in.
package tape

import (
	"sync"

	"github.com/athir-radio/athir/internal/live"
)

// Frames is how much a Ring holds: the two seconds that a reader may be behind, and
// one more so that what comes meanwhile does not overwrite what is read.
const Frames = 3 * live.Rate

// Ring is a bounded ring of a source's newest audio in the format of the bus. One
// goroutine writes; any number read, each at its own place, and none takes anything
// away: what was said just before somebody looks can still be heard whole. Places are
// counted in frames since the tape began.
type Ring struct {
	mu   sync.Mutex
	ring []int16
	end  uint64
	cut  uint64 // the place at which the newest writer began
	odd  []byte // of a frame that has not come whole
}

// New returns an empty tape.
func New() *Ring { return &Ring{ring: make([]int16, Frames*live.Channels)} }

// Write takes audio as signed 16 bit little endian, cut anywhere. It never fails and
// never waits: what nobody has read is overwritten.
func (t *Ring) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	const frame = live.Channels * 2
	if len(t.odd) > 0 {
		take := min(frame-len(t.odd), len(p))
		t.odd = append(t.odd, p[:take]...)
		p = p[take:]
		if len(t.odd) < frame {
			return n, nil
		}
		t.put(t.odd)
		t.odd = t.odd[:0]
	}
	whole := len(p) / frame * frame
	t.put(p[:whole])
	t.odd = append(t.odd, p[whole:]...)
	return n, nil
}

func (t *Ring) put(p []byte) {
	for i := 0; i+3 < len(p); i += 4 {
		at := t.end % Frames * live.Channels
		t.ring[at] = int16(uint16(p[i]) | uint16(p[i+1])<<8)
		t.ring[at+1] = int16(uint16(p[i+2]) | uint16(p[i+3])<<8)
		t.end++
	}
}

// Cut tells that a writer has ended: the next does not go on in the middle of a frame.
func (t *Ring) Cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.odd, t.cut = t.odd[:0], t.end
}

// Began is the place at which the newest writer began.
func (t *Ring) Began() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

// Span is what the tape holds, in frames: from is the oldest, end the one that comes next.
func (t *Ring) Span() (from, end uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end - min(t.end, Frames), t.end
}

// Copy fills dst with the frames from at on. Those that the tape does not hold are silence.
func (t *Ring) Copy(at uint64, dst []int16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.end - min(t.end, Frames)
	for i := 0; i+1 < len(dst); i += live.Channels {
		if at < from || at >= t.end {
			dst[i], dst[i+1] = 0, 0
		} else {
			place := at % Frames * live.Channels
			dst[i], dst[i+1] = t.ring[place], t.ring[place+1]
		}
		at++
	}
}
