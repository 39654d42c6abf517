package desk_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/wire"
)

// onset is a recorder that says when a loud sample first came: carts are louder than the
// voice beneath.
type onset struct {
	recorder
	heard chan time.Time
	quiet int // samples since the last
}

func (o *onset) Write(pcm []byte) {
	for i := 0; i+1 < len(pcm); i += 2 {
		v := int16(uint16(pcm[i]) | uint16(pcm[i+1])<<8)
		if v < 12000 && v > -12000 {
			o.quiet++
			continue
		}
		if o.quiet > 9600 {
			select {
			case o.heard <- time.Now():
			default:
			}
		}
		o.quiet = 0
	}
}

// BenchmarkPressOfACart tells how long it is from a press, as the control plane sends it, to
// the first loud sample on the bus, and to the engine having the frame of MP3 with it. Run it
// with -benchtime 50x.
func BenchmarkPressOfACart(b *testing.B) {
	o := &onset{heard: make(chan time.Time, 1)}
	r := newRigWith(b, func(opt *desk.Options) { opt.Recorder = o })
	d := wire.Desk{RoundTripper: answering{r.Handler()}}
	blip := live.Cart{File: toneFile(b, "blip.wav", 2000, 0.12), Stamp: "1"}
	if _, err := d.Carts(b.Context(), live.Wall{Mark: "one", Carts: []live.Cart{blip}}); err != nil {
		b.Fatal(err)
	}
	r.encoder(440, "/sara")
	r.state("LIVEsara", live.Ready)
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)
	testkit.Eventually(b, "the wall in hand", func() bool { return r.Report().Carts.Ready == 1 })
	testkit.Eventually(b, "a second at the engine", func() bool { return r.engine.seconds("/channel_live") > 1 })
	var bus, engine []float64
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	for range b.N {
		pressed := time.Now()
		if _, err := d.Fire(b.Context(), live.CartPress{Cart: blip}); err != nil {
			b.Fatal(err)
		}
		bus = append(bus, ms(testkit.Receive(b, "the cart on the bus", o.heard).Sub(pressed)))
		time.Sleep(700 * time.Millisecond) // it has ended, and all of it is at the engine
		engine = append(engine, ms(r.engine.arrived(b, "/channel_live", 2000).Sub(pressed)))
	}
	slices.Sort(bus)
	slices.Sort(engine)
	for name, all := range map[string][]float64{"bus": bus, "engine": engine} {
		b.ReportMetric(all[len(all)/2], fmt.Sprintf("ms-to-%s-median", name))
		b.ReportMetric(all[len(all)-1], fmt.Sprintf("ms-to-%s-at-most", name))
	}
}

// arrived is when the frame in which the last of a tone begins had come to the engine. A second
// of MP3 has 16,000 bytes, and a frame 384.
func (e *engine) arrived(t testing.TB, mount string, hz float64) time.Time {
	t.Helper()
	e.mu.Lock()
	all := e.got[mount]
	mp3 := bytes.Clone(all[len(all)-1].Bytes())
	came := slices.Clone(e.came)
	e.mu.Unlock()
	pcm := decoded(t, mp3, "mp3")
	const window = live.Rate / 100
	begins, heard := 0, false
	for at := len(pcm)/window*window - window; at >= 0; at -= window {
		loud := share(pcm[at:at+window], hz) > 0.1
		if heard && !loud {
			break
		}
		if loud {
			begins, heard = at, true
		}
	}
	if !heard {
		t.Fatal("the tone is not at the engine")
	}
	bytes := begins*16_000/live.Rate + 384
	for _, c := range came {
		if c.mount == mount && c.bytes >= bytes {
			return c.at
		}
	}
	t.Fatal("the frame has not come")
	return time.Time{}
}
