package bridge

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

// Progress reads ffmpeg's -progress output and remembers when it last moved.
// It is the io.Writer of the bridge's standard output.
type Progress struct {
	mu    sync.Mutex
	line  []byte
	out   time.Duration
	moved time.Time
}

// maxLine bounds a line that never ends.
const maxLine = 4096

// Write takes progress lines in any pieces. It never fails.
func (p *Progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(data)
	for {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if len(p.line)+len(line) <= maxLine {
			p.line = append(p.line, line...)
		}
		if !whole {
			return n, nil
		}
		p.take(p.line)
		p.line, data = p.line[:0], rest
	}
}

// take notes the position. A restarted bridge begins at 0 again: any change counts.
func (p *Progress) take(line []byte) {
	value, ok := bytes.CutPrefix(line, []byte("out_time_us="))
	if !ok {
		return
	}
	us, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	if err != nil { // "N/A" before the first frame
		return
	}
	if at := time.Duration(us) * time.Microsecond; at != p.out || p.moved.IsZero() {
		p.out, p.moved = at, time.Now()
	}
}

// Moved is when the bridge last made audio, zero before the first.
func (p *Progress) Moved() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// Wedged decides whether a running bridge has to be replaced. It is when the
// source delivers but nothing has arrived at the relay, or nothing was made,
// for longer than patience. A bridge whose source is silent waits: not wedged.
// started is when its process started; moved and arrived may be zero.
func Wedged(now, started, moved, arrived time.Time, sourceUp bool, patience time.Duration) bool {
	if !sourceUp || now.Sub(started) <= patience {
		return false
	}
	stale := func(at time.Time) bool { return now.Sub(at) > patience }
	return stale(moved) || stale(arrived)
}
