package whip

import (
	"encoding/binary"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/fifo"
)

// feed writes the sound of whoever holds the pipe.
type feed struct {
	pipe   *fifo.Pipe
	log    *slog.Logger
	keep   time.Duration
	mu     sync.Mutex
	seat   seat
	joint  joint
	broken time.Time // when an error of the pipe was last logged
}

func newFeed(pipe *fifo.Pipe, log *slog.Logger, keep time.Duration) *feed {
	return &feed{pipe: pipe, log: log, keep: keep}
}

func (f *feed) holder() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seat.holder
}

func (f *feed) arrives(session, publisher string, may bool) (replaced []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seat.arrives(session, publisher, may)
}

// takes seats a session whose sound is still to come, if nobody is in its way.
func (f *feed) takes(session, publisher string, may bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seat.holder != "" || f.seat.publisher != "" && f.seat.publisher != publisher {
		return false
	}
	f.seat.arrives(session, publisher, may)
	return f.seat.holder == session
}

// allows notes whether a session may take the air without the studio.
func (f *feed) allows(session string, may bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seat.allows(session, may)
}

// ends fades the session out, if it was heard, and closes the pipe if nobody follows.
func (f *feed) ends(session string, broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.seat.holder == session
	f.seat.ends(session, broken, time.Now().Add(f.keep))
	if held && f.seat.holder == "" {
		if last := f.joint.close(time.Now()); last != nil {
			f.write(last)
		}
	}
	f.release()
}

// meant ends the reservation for a session that broke, which its publisher had ended.
func (f *feed) meant(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seat.meant(session)
	f.release()
}

func (f *feed) handed(session string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seat.handed(session)
}

// expires ends a reservation whose time is over.
func (f *feed) expires(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seat.expires(now)
	f.release()
}

// release closes the pipe while it is nobody's: the desk sees the end of the feed.
func (f *feed) release() {
	if f.seat.holder == "" && f.seat.publisher == "" {
		f.pipe.Release()
	}
}

// play writes 20 ms of a session that holds the pipe; of any other it does nothing.
// The frame is changed.
func (f *feed) play(session string, frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seat.holder != session {
		return
	}
	f.joint.play(session, frame, time.Now())
	f.write(frame)
}

func (f *feed) write(frame []byte) {
	if _, err := f.pipe.Write(frame); err != nil && time.Since(f.broken) > time.Minute {
		f.broken = time.Now()
		f.log.Error("cannot write live audio to the pipe", "error", err)
	}
}

const (
	// fade is the length of the fades between two sessions, 10 ms, in samples.
	fade = live.Rate / 100
	// fresh is how long ago the last frame may have been to be joined to.
	fresh = 3 * live.Tick
)

// joint lets one session's sound follow another's without a click: what was heard last
// goes on, mirrored, and fades out while the new one fades in.
type joint struct {
	from string
	at   time.Time
	tail [fade * live.Channels]int16
}

func (j *joint) play(from string, frame []byte, now time.Time) {
	if j.from != from {
		old := j.from != "" && now.Sub(j.at) <= fresh
		for i := range fade {
			in := float64(i) / fade
			for ch := range live.Channels {
				k := i*live.Channels + ch
				v := float64(sample(frame, k)) * in
				if old {
					v += float64(j.mirrored(i, ch)) * (1 - in)
				}
				setSample(frame, k, int16(v))
			}
		}
	}
	j.from, j.at = from, now
	for i := range j.tail {
		j.tail[i] = sample(frame, len(frame)/2-len(j.tail)+i)
	}
}

// close is the frame that ends what was heard last; nil where that is long past.
func (j *joint) close(now time.Time) []byte {
	fresh := j.from != "" && now.Sub(j.at) <= fresh
	j.from = ""
	if !fresh {
		return nil
	}
	frame := make([]byte, live.FrameBytes)
	for i := range fade {
		for ch := range live.Channels {
			setSample(frame, i*live.Channels+ch, int16(float64(j.mirrored(i, ch))*(1-float64(i)/fade)))
		}
	}
	return frame
}

func (j *joint) mirrored(i, ch int) int16 { return j.tail[(fade-1-i)*live.Channels+ch] }

func sample(frame []byte, i int) int16 { return int16(binary.LittleEndian.Uint16(frame[2*i:])) }

func setSample(frame []byte, i int, v int16) { binary.LittleEndian.PutUint16(frame[2*i:], uint16(v)) }
