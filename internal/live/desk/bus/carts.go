package bus

import (
	"fmt"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// MostCarts is how many carts are heard at once. One more makes the oldest fade out: whoever
	// presses wants to hear that one, and not a refusal.
	MostCarts = 8
	// cartIn takes the click off a file that begins within a wave; it leaves its attack.
	cartIn = 2 * time.Millisecond
	// cartOut is the fade of one that is stopped.
	cartOut = 40 * time.Millisecond
)

// Clip is a cart's audio in memory: interleaved stereo of the bus's rate. It belongs to the
// goroutine of the Mixer once it is fired.
type Clip struct {
	pcm   []int16
	whole bool
}

// NewClip is audio that is whole, or the beginning of some that is to be completed.
func NewClip(pcm []int16, whole bool) *Clip { return &Clip{pcm: pcm, whole: whole} }

// Complete gives a clip all of its audio, what it had included.
func (c *Clip) Complete(pcm []int16) {
	if len(pcm) >= len(c.pcm) {
		c.pcm = pcm
	}
	c.whole = true
}

func (c *Clip) frames() int { return len(c.pcm) / live.Channels }

// Press is a cart to be heard.
type Press struct {
	ID   string
	Cart live.Cart
	Clip *Clip
}

// cart is one that is heard.
type cart struct {
	Press
	at          int     // the next frame
	level       float32 // by its gain
	gain, slope float32 // the fade, as of a voice
	leaving     bool    // it fades out; one that was not heard yet has no slope for that
	begun       time.Time
}

// Opened reports that the bus is on its way to listeners.
func (m *Mixer) Opened() bool { return m.open && !m.closing }

// Fire lets a cart be heard from the next tick on, over all else. Error: station.ErrConflict
// while nothing is live.
func (m *Mixer) Fire(p Press, now time.Time) (live.CartPlaying, error) {
	if !m.Opened() {
		return live.CartPlaying{}, fmt.Errorf("nothing live is on the air: %w", station.ErrConflict)
	}
	heard := 0
	for i := len(m.carts) - 1; i >= 0; i-- {
		if c := m.carts[i]; !c.leaving {
			if heard++; heard >= MostCarts {
				c.leave(cartOut)
			}
		}
	}
	c := &cart{Press: p, level: float32(math.Pow(10, p.Cart.GainDB/20)), begun: now}
	c.fade(1, cartIn)
	m.carts = append(m.carts, c)
	m.counters.Carts++
	m.version++
	return c.playing(), nil
}

// StopCart fades out the cart of an id; without one, all of them. It returns how many were
// heard.
func (m *Mixer) StopCart(id string) (stopped int) {
	if stopped = m.fadeCarts(id, cartOut); stopped > 0 {
		m.version++
	}
	return stopped
}

// fadeCarts takes the cart of an id from the bus within d, or all.
func (m *Mixer) fadeCarts(id string, d time.Duration) (n int) {
	for _, c := range m.carts {
		if (id == "" || c.ID == id) && !c.leaving {
			c.leave(d)
			n++
		}
	}
	return n
}

// leave fades a cart out within d.
func (c *cart) leave(d time.Duration) {
	c.fade(0, d)
	c.leaving = true
}

// fade moves the gain to a value within d.
func (c *cart) fade(to float32, d time.Duration) { c.slope = (to - c.gain) / float32(frames(d)) }

// addCarts mixes those that are heard. Their sum goes through the limiter of the bus with all
// else, so no number of them is over the ceiling.
func (m *Mixer) addCarts() {
	keep := m.carts[:0]
	for _, c := range m.carts {
		if c.mix(m.sum[:]) {
			keep = append(keep, c)
		}
	}
	if len(keep) < len(m.carts) {
		m.version++
	}
	clear(m.carts[len(keep):])
	m.carts = keep
}

// mix adds one tick, and reports that there is more.
func (c *cart) mix(out []float32) bool {
	if c.leaving && c.gain <= 0 {
		return false // stopped before it was heard
	}
	for i := 0; i < len(out); i += live.Channels {
		if c.at >= c.Clip.frames() {
			if !c.Clip.whole {
				// The rest is late: silence, and on from here. One that leaves does not wait for
				// it, as the bus is open for as long as it is there.
				return !c.leaving
			}
			if !c.Cart.Loop || c.Clip.frames() == 0 {
				return false
			}
			c.at = 0
		}
		g := c.gain * c.level / 32768
		out[i] += float32(c.Clip.pcm[c.at*live.Channels]) * g
		out[i+1] += float32(c.Clip.pcm[c.at*live.Channels+1]) * g
		c.at++
		if c.slope != 0 {
			switch c.gain += c.slope; {
			case c.gain >= 1:
				c.gain, c.slope = 1, 0
			case c.gain <= 0:
				return false
			}
		}
	}
	return true
}

// playing are the carts that are heard, the oldest first; those that fade out are not.
func (m *Mixer) playing() (out []live.CartPlaying) {
	for _, c := range m.carts {
		if !c.leaving {
			out = append(out, c.playing())
		}
	}
	return out
}

func (c *cart) playing() live.CartPlaying {
	length := c.Cart.DurationMS
	if c.Clip.whole || length == 0 {
		length = int64(c.Clip.frames()) * 1000 / live.Rate
	}
	return live.CartPlaying{
		ID: c.ID, Page: c.Cart.Page, Slot: c.Cart.Slot, StartedAt: c.begun.UnixMilli(), Loop: c.Cart.Loop,
		DurationMS: min(length, live.LongestCartMS), PositionMS: int64(c.at) * 1000 / live.Rate,
	}
}
