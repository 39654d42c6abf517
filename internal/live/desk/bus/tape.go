package bus

import (
	"sync"

	"github.com/athir-radio/athir/internal/live"
)

// tapeFrames is how much a Tape holds: the two seconds that a reader may be behind, and
// one more so that what comes meanwhile does not overwrite what is read.
const tapeFrames = 3 * live.Rate

// Tape is a bounded ring of a source's newest audio in the format of the bus. One
// goroutine writes; any number read, each at its own place, and none takes anything
// away: what was said just before somebody looks can still be heard whole. Places are
// counted in frames since the tape began.
type Tape struct {
	mu   sync.Mutex
	ring []int16
	end  uint64
	cut  uint64 // the place at which the newest writer began
	odd  []byte // of a frame that has not come whole
}

// NewTape returns an empty tape.
func NewTape() *Tape { return &Tape{ring: make([]int16, tapeFrames*live.Channels)} }

// Write takes audio as signed 16 bit little endian, cut anywhere. It never fails and
// never waits: what nobody has read is overwritten.
func (t *Tape) Write(p []byte) (int, error) {
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

func (t *Tape) put(p []byte) {
	for i := 0; i+3 < len(p); i += 4 {
		at := t.end % tapeFrames * live.Channels
		t.ring[at] = int16(uint16(p[i]) | uint16(p[i+1])<<8)
		t.ring[at+1] = int16(uint16(p[i+2]) | uint16(p[i+3])<<8)
		t.end++
	}
}

// Cut tells that a writer has ended: the next does not go on in the middle of a frame.
func (t *Tape) Cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.odd, t.cut = t.odd[:0], t.end
}

// began is the place at which the newest writer began.
func (t *Tape) began() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

// Span is what the tape holds, in frames: from is the oldest, end the one that comes next.
func (t *Tape) Span() (from, end uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end - min(t.end, tapeFrames), t.end
}

// Copy fills dst with the frames from at on. Those that the tape does not hold are silence.
func (t *Tape) Copy(at uint64, dst []int16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.end - min(t.end, tapeFrames)
	for i := 0; i+1 < len(dst); i += live.Channels {
		if at < from || at >= t.end {
			dst[i], dst[i+1] = 0, 0
		} else {
			place := at % tapeFrames * live.Channels
			dst[i], dst[i+1] = t.ring[place], t.ring[place+1]
		}
		at++
	}
}
