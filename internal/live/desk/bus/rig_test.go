package bus

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a bus in virtual time, and what the engine hears of it.
type rig struct {
	*Mixer
	t     *testing.T
	now   time.Time
	ticks int
	feeds []*feed
	heard []int16 // all that was sent to the engine
	last  Frame
	opens int
}

func newRig(t *testing.T) *rig {
	return &rig{Mixer: New(Options{}), t: t, now: time.UnixMilli(1_800_000_000_000)}
}

// feed is a source of audio: sound gives the sample of a channel at a time of its own clock.
type feed struct {
	src   live.Source
	tape  *tape.Ring
	rate  float64 // frames a second by the bus's clock
	burst int     // frames that come at once
	sound func(frame int64) int16
	sent  int64
	due   float64
	off   bool
}

func tone(hz, level float64) func(int64) int16 {
	return func(n int64) int16 {
		return int16(level * 32767 * math.Sin(2*math.Pi*hz*float64(n)/live.Rate))
	}
}

func hush(int64) int16 { return 0 }

func (r *rig) feed(id string, sound func(int64) int16) *feed {
	f := &feed{src: live.Source{ID: id, URL: "source:/" + id}, tape: tape.New(), rate: live.Rate, burst: live.FrameSamples, sound: sound}
	r.feeds = append(r.feeds, f)
	r.Attach(f.src, f.tape, 100*time.Millisecond, r.now)
	return f
}

func (f *feed) tick() {
	if f.off {
		return
	}
	f.due += f.rate / 50
	for ; f.due >= float64(f.burst); f.due -= float64(f.burst) {
		buf := make([]byte, 0, f.burst*4)
		for range f.burst {
			v := uint16(f.sound(f.sent))
			buf = binary.LittleEndian.AppendUint16(buf, v)
			buf = binary.LittleEndian.AppendUint16(buf, v)
			f.sent++
		}
		_, _ = f.tape.Write(buf)
	}
}

// run lets time pass.
func (r *rig) run(d time.Duration) {
	for range d / live.Tick {
		r.now = r.now.Add(live.Tick)
		for _, f := range r.feeds {
			f.tick()
		}
		was := r.last.Open
		r.last = r.Tick(r.now)
		r.heard = append(r.heard, r.last.PCM...)
		if r.last.Open && !was {
			r.opens++
		}
	}
}

func (r *rig) want(air *feed, next ...*feed) {
	r.order(live.Order{Why: "stopped by the studio"}, air, next...)
}

func (r *rig) order(o live.Order, air *feed, next ...*feed) {
	r.ticks++
	o.Number = uint64(r.ticks)
	if o.Epoch == "" {
		o.Epoch = "one"
	}
	if air != nil {
		o.Air = &air.src
	}
	for _, f := range next {
		o.Next = append(o.Next, f.src)
	}
	r.Order(o, r.now)
}

func (r *rig) state(id string) live.SourceReport {
	r.t.Helper()
	for _, s := range r.Report(r.now).Sources {
		if s.ID == id {
			return s
		}
	}
	return live.SourceReport{}
}

// longestSilence is the longest stretch below -60 dBFS in what was heard, in ms.
func longestSilence(pcm []int16) float64 {
	longest, run := 0, 0
	for i := 0; i < len(pcm); i += 2 {
		if v := pcm[i]; v > -33 && v < 33 {
			run++
		} else {
			longest, run = max(longest, run), 0
		}
	}
	return float64(max(longest, run)) / live.Rate * 1000
}

// steepest is the greatest step between two samples of a channel.
func steepest(pcm []int16) int {
	top := 0
	for i := 2; i < len(pcm); i++ {
		d := int(pcm[i]) - int(pcm[i-2])
		top = max(top, d, -d)
	}
	return top
}

func pitch(pcm []int16) float64 {
	n := 0
	for i := 2; i < len(pcm); i += 2 {
		if pcm[i-2] < 0 && pcm[i] >= 0 {
			n++
		}
	}
	return float64(n) / (float64(len(pcm)) / 2 / live.Rate)
}
