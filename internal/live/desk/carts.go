package desk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostHeld bounds what is in hand of the wall, in bytes. The first carts of it are in hand
	// from end to end; of those that follow the beginning alone is, where all would be too
	// much, and the rest is decoded while that is heard. The longest wall of the longest
	// carts has 61 MB of beginnings, and three minutes whole.
	mostHeld  = 96 << 20
	beginning = 2 * time.Second
	longest   = live.LongestCartMS * time.Millisecond
	// brokenFor is how long a cart that could not be decoded is left alone, twice as long after
	// each time, up to brokenMost.
	brokenFor, brokenMost = 10 * time.Second, 320 * time.Second
	// wallWait is how long one cart of the wall may keep those behind it waiting.
	wallWait = 30 * time.Second
	// pressWait is how long a press waits for a cart that is not in hand yet.
	pressWait = 3 * time.Second
	// cartSlack is what a file may have more than the library says, in samples: padding.
	cartSlack = live.Rate / 10 * live.Channels
	// mostDecoders is how many carts are decoded at once for presses.
	mostDecoders = bus.MostCarts
	// mostPresses is how many named presses are remembered.
	mostPresses = 64
)

// cartKey tells one audio from another.
type cartKey struct {
	file  live.Path
	stamp string
}

func keyOf(c live.Cart) cartKey { return cartKey{c.File, c.Stamp} }

// clip is what is known of a cart's audio.
type clip struct {
	pcm   []int16 // nil: it is not decoded
	whole bool
	tried time.Time
	why   string // it could not be
	fails int    // so many times, one after another
}

// press is one that has a name.
type press struct {
	name       string
	page, slot int
	done       chan struct{} // closed with the answer
	answer     live.CartPlaying
	err        error
}

// decoding is a cart that is decoded for a press, from end to end: once for all presses of it.
type decoding struct {
	done  chan struct{} // closed with what came of it
	pcm   []int16
	err   error
	heard []*bus.Clip // beginnings that are heard meanwhile
}

// cartShelf is the wall, and what is in hand of it. The desk's mu guards it.
type cartShelf struct {
	wall    live.Wall
	clips   map[cartKey]*clip
	held    int      // bytes of them
	working bool     // a goroutine decodes
	presses []*press // that have a name, the oldest first
	now     map[cartKey]*decoding
}

// Carts takes the wall: what of it is not in hand is decoded while something is live.
func (d *Desk) Carts(w live.Wall) live.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.Mark != d.carts.wall.Mark {
		d.carts.wall = w
		d.extra++
		d.dropCarts()
	}
	d.open()
	d.tell()
	return d.report(time.Now())
}

// openCarts decodes the wall while something is live or about to be, and lets it go
// afterwards. The caller holds mu.
func (d *Desk) openCarts() {
	if d.idle() {
		d.carts.clips, d.carts.held = nil, 0
		return
	}
	if d.carts.working || len(d.carts.wall.Carts) == 0 || d.nextCart(time.Now()) == nil {
		return
	}
	d.carts.working = true
	life := d.life
	d.all.Go(func() error {
		d.decodeWall(life)
		return nil
	})
}

// idle reports that nothing is live, nor about to be. The caller holds mu.
func (d *Desk) idle() bool { return d.order.Air == nil && !d.mix.Opened() }

// dropCarts lets go what the wall no longer has. The caller holds mu.
func (d *Desk) dropCarts() {
	kept := map[cartKey]*clip{}
	d.carts.held = 0
	for _, c := range d.carts.wall.Carts {
		if had := d.carts.clips[keyOf(c)]; had != nil && kept[keyOf(c)] == nil {
			kept[keyOf(c)] = had
			d.carts.held += weightOf(had.pcm)
		}
	}
	d.carts.clips = kept
}

// nextCart is the first of the wall that was not decoded yet, or else the broken one that was
// tried longest ago; nil: none is to be decoded now. The caller holds mu.
func (d *Desk) nextCart(now time.Time) (next *live.Cart) {
	var tried time.Time
	for i, c := range d.carts.wall.Carts {
		had := d.carts.clips[keyOf(c)]
		if had == nil {
			return &d.carts.wall.Carts[i]
		}
		if had.pcm == nil && now.Sub(had.tried) > retry.Doubled(brokenFor, brokenMost, had.fails) && (next == nil || had.tried.Before(tried)) {
			next, tried = &d.carts.wall.Carts[i], had.tried
		}
	}
	return next
}

// weightOf is what audio takes of the memory.
func weightOf(pcm []int16) int { return 2 * cap(pcm) }

// samplesOf is how many samples a cart has up to a length, as far as that is known.
func samplesOf(c live.Cart, most time.Duration) int {
	if known := time.Duration(c.DurationMS) * time.Millisecond; known > 0 {
		most = min(most, known)
	}
	return int(most*live.Rate/time.Second) * live.Channels
}

// room reports that a cart may be in hand from end to end, with what is in hand and the
// beginnings of what is not. The caller holds mu.
func (d *Desk) room(c live.Cart) bool {
	need := d.carts.held + 2*samplesOf(c, longest)
	if had := d.carts.clips[keyOf(c)]; had != nil {
		need -= weightOf(had.pcm)
	}
	for _, other := range d.carts.wall.Carts {
		if had := d.carts.clips[keyOf(other)]; keyOf(other) != keyOf(c) && (had == nil || had.pcm == nil) {
			need += 2 * samplesOf(other, beginning)
		}
	}
	return need <= d.opt.CartBytes
}

// decodeWall decodes one cart after another: the air needs the processor more.
func (d *Desk) decodeWall(ctx context.Context) {
	for {
		d.mu.Lock()
		next := d.nextCart(time.Now())
		if next == nil || ctx.Err() != nil || d.idle() {
			d.carts.working = false
			d.mu.Unlock()
			return
		}
		c, room := *next, d.room(*next)
		d.mu.Unlock()
		most := beginning
		if room {
			most = longest
		}
		within, cancel := context.WithTimeout(ctx, wallWait)
		pcm, whole, err := d.decodeCart(within, c, most)
		cancel()
		d.mu.Lock()
		d.keepCart(c, pcm, whole || room, err)
		d.tell()
		d.mu.Unlock()
	}
}

// keepCart keeps what was decoded of a cart, or why nothing was. The caller holds mu.
func (d *Desk) keepCart(c live.Cart, pcm []int16, whole bool, err error) {
	if d.carts.clips == nil {
		d.carts.clips = map[cartKey]*clip{}
	}
	one := &clip{pcm: pcm, whole: whole, tried: time.Now()}
	before := d.carts.clips[keyOf(c)]
	if before != nil {
		d.carts.held -= weightOf(before.pcm)
	}
	if err != nil {
		one.fails = 1
		if before != nil {
			one.fails += before.fails
		}
		if d.life != nil && d.life.Err() == nil && one.fails == 1 {
			d.opt.Log.Warn("cart cannot be played", "page", c.Page, "slot", c.Slot, "file", string(c.File), "why", err)
		}
		one.pcm, one.whole, one.why = nil, false, reasonOf(err)
	}
	d.carts.held += weightOf(one.pcm)
	d.carts.clips[keyOf(c)] = one
	d.extra++
}

// longestWhy bounds why a cart cannot be played, in bytes: a report has that of each.
const longestWhy = 160

// reasonOf is an error for people who work at the station, without paths of this machine.
func reasonOf(err error) string {
	why := "the file cannot be brought to the broadcast node"
	var refused *ffmpeg.RefusedError
	var unfinished *ffmpeg.UnfinishedError
	switch {
	case errors.As(err, &refused):
		why = refused.Reason
	case errors.As(err, &unfinished):
		why = unfinished.Reason
	case errors.Is(err, context.DeadlineExceeded):
		why = "it is not decoded yet: press again in a moment"
	case errors.Is(err, station.ErrInvalid), errors.Is(err, station.ErrTooLarge):
		why = station.Reason(err)
	}
	return strings.ToValidUTF8(why[:min(len(why), longestWhy)], "")
}

var errEnough = errors.New("enough")

// decodeCart brings the audio of a cart onto this machine and into memory, up to a length;
// whole: that is all of it.
func (d *Desk) decodeCart(ctx context.Context, c live.Cart, most time.Duration) (pcm []int16, whole bool, err error) {
	path := string(c.File)
	if d.opt.Bed != nil {
		at, done, err := d.opt.Bed(ctx, string(c.File))
		if err != nil {
			return nil, false, err
		}
		defer done()
		path = at
	}
	full := samplesOf(live.Cart{}, most)
	pcm = make([]int16, 0, samplesOf(c, most)+cartSlack) // and not the double of it while it grows
	err = ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: live.Rate, Channels: live.Channels, First: most + time.Second, Nice: proc.Air}, func(samples []float32) error {
		for _, v := range samples {
			if len(pcm) == full {
				return errEnough
			}
			if math.IsNaN(float64(v)) {
				v = 0 // its conversion is another on each machine
			}
			pcm = append(pcm, int16(min(max(v*32768, -32768), 32767)))
		}
		return nil
	})
	cut := errors.Is(err, errEnough)
	if err != nil && !cut {
		return nil, false, err
	}
	if cut && most == longest {
		fadeEnd(pcm)
	}
	if len(pcm) == 0 {
		return nil, false, fmt.Errorf("decode cart: there is no sound in it: %w", station.ErrInvalid)
	}
	if cap(pcm)-len(pcm) > 2*cartSlack {
		pcm = slices.Clone(pcm) // its length was not known
	}
	return pcm, !cut, nil
}

// fadeEnd takes the click off audio that was cut.
func fadeEnd(pcm []int16) {
	n := min(len(pcm), live.Rate/50*live.Channels)
	for i, end := 0, pcm[len(pcm)-n:]; i < n; i++ {
		end[i] = int16(int(end[i]) * (n - i) / n)
	}
}

// Fire lets a cart be heard from the next tick on. One that is not in hand is decoded first. A
// named press does not end with its caller's connection: it is sent again by its name then, and
// tried again where it came to nothing. Errors: station.ErrConflict while nothing is live;
// station.ErrUnavailable where it cannot be decoded; station.ErrInvalid for a name of another cart's.
func (d *Desk) Fire(ctx context.Context, p live.CartPress) (live.CartPlaying, error) {
	if p.Request == "" {
		return d.fire(ctx, p.Cart)
	}
	d.mu.Lock()
	if i := slices.IndexFunc(d.carts.presses, func(one *press) bool { return one.name == p.Request }); i >= 0 {
		had := d.carts.presses[i]
		d.mu.Unlock()
		if had.page != p.Page || had.slot != p.Slot {
			return live.CartPlaying{}, fmt.Errorf("request: another cart was pressed by that name: choose a new one for each press: %w", station.ErrInvalid)
		}
		select {
		case <-had.done:
			return had.answer, had.err
		case <-ctx.Done():
			return live.CartPlaying{}, ctx.Err()
		}
	}
	one := &press{name: p.Request, page: p.Page, slot: p.Slot, done: make(chan struct{})}
	if d.carts.presses = append(d.carts.presses, one); len(d.carts.presses) > mostPresses {
		d.carts.presses = slices.Delete(d.carts.presses, 0, 1)
	}
	if d.life != nil {
		ctx = d.life
	}
	d.mu.Unlock()
	one.answer, one.err = d.fire(ctx, p.Cart)
	if one.err != nil {
		d.forgetPress(one)
	}
	close(one.done)
	return one.answer, one.err
}

// forgetPress takes a name back.
func (d *Desk) forgetPress(one *press) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.carts.presses = slices.DeleteFunc(d.carts.presses, func(other *press) bool { return other == one })
}

func (d *Desk) fire(ctx context.Context, c live.Cart) (live.CartPlaying, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mix.Opened() {
		return live.CartPlaying{}, fmt.Errorf("nothing live is on the air: %w", station.ErrConflict)
	}
	had := d.carts.clips[keyOf(c)]
	if had != nil && had.whole {
		return d.press(c, bus.NewClip(had.pcm, true))
	}
	rest, err := d.decode(c)
	if err != nil {
		return live.CartPlaying{}, err
	}
	if had != nil && had.pcm != nil {
		audio := bus.NewClip(had.pcm, false)
		out, err := d.press(c, audio)
		if err == nil {
			rest.heard = append(rest.heard, audio)
		}
		return out, err
	}
	d.mu.Unlock()
	late := time.NewTimer(pressWait)
	defer late.Stop()
	select {
	case <-rest.done:
		err = rest.err
	case <-late.C:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	d.mu.Lock()
	if err != nil {
		return live.CartPlaying{}, fmt.Errorf("the cart cannot be played: %s: %w", reasonOf(err), station.ErrUnavailable)
	}
	return d.press(c, bus.NewClip(rest.pcm, true))
}

// press lets a clip be heard. The caller holds mu.
func (d *Desk) press(c live.Cart, audio *bus.Clip) (live.CartPlaying, error) {
	out, err := d.mix.Fire(bus.Press{ID: rand.Text(), Cart: c, Clip: audio}, time.Now())
	if err == nil {
		d.opt.Log.Info("cart fired", "page", c.Page, "slot", c.Slot, "file", string(c.File))
		d.tell()
	}
	return out, err
}

// decode has all of a cart decoded, unless it is being so already. The caller holds mu.
func (d *Desk) decode(c live.Cart) (*decoding, error) {
	if one := d.carts.now[keyOf(c)]; one != nil {
		return one, nil
	}
	if len(d.carts.now) >= mostDecoders || d.all == nil || d.life.Err() != nil {
		return nil, fmt.Errorf("%d carts are being decoded: press again in a moment: %w", len(d.carts.now), station.ErrUnavailable)
	}
	if d.carts.now == nil {
		d.carts.now = map[cartKey]*decoding{}
	}
	one, life := &decoding{done: make(chan struct{})}, d.life
	d.carts.now[keyOf(c)] = one
	d.all.Go(func() error {
		pcm, _, err := d.decodeCart(life, c, longest)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil && life.Err() == nil {
			d.opt.Log.Warn("cart cannot be played", "page", c.Page, "slot", c.Slot, "file", string(c.File), "why", err)
		}
		one.pcm, one.err = pcm, err
		if err == nil && d.room(c) && d.mix.Opened() {
			d.keepCart(c, pcm, true, nil) // the next press finds it
		}
		for _, audio := range one.heard {
			audio.Complete(pcm)
		}
		delete(d.carts.now, keyOf(c))
		close(one.done)
		return nil
	})
	return one, nil
}

// StopCart fades out one that is heard, or all; how many it were.
func (d *Desk) StopCart(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.mix.StopCart(id)
	d.tell()
	return n
}

// cartReport adds what is in hand to what is heard. The caller holds mu.
func (d *Desk) cartReport(r live.CartReport) live.CartReport {
	r.Mark = d.carts.wall.Mark
	for _, c := range d.carts.wall.Carts {
		switch had := d.carts.clips[keyOf(c)]; {
		case had == nil:
		case had.pcm != nil:
			r.Ready++
		case had.why != "":
			r.Broken = append(r.Broken, live.BrokenCart{Page: c.Page, Slot: c.Slot, Why: had.why})
		}
	}
	return r
}

// mostPress bounds the body of one press, in bytes.
const mostPress = 16 << 10

func (d *Desk) putCarts(w http.ResponseWriter, r *http.Request) {
	var wall live.Wall
	if !innerhttp.Read(w, r, mostOrder, &wall) {
		return
	}
	if err := checkWall(wall); err != nil {
		innerhttp.Refuse(w, err)
		return
	}
	innerhttp.Answer(w, d.Carts(wall))
}

func checkWall(w live.Wall) error {
	if w.Mark == "" || len(w.Carts) > live.MostCarts {
		return fmt.Errorf("mark, carts: there must be a mark and at most %d carts: %w", live.MostCarts, station.ErrInvalid)
	}
	for _, c := range w.Carts {
		if c.File == "" {
			return fmt.Errorf("carts: each needs a file: %w", station.ErrInvalid)
		}
	}
	return nil
}

func (d *Desk) fireCart(w http.ResponseWriter, r *http.Request) {
	var p live.CartPress
	if !innerhttp.Read(w, r, mostPress, &p) {
		return
	}
	if p.File == "" || len(p.Request) > longestEar {
		innerhttp.Refuse(w, fmt.Errorf("file, request: there must be a file, and a request has at most %d bytes: %w", longestEar, station.ErrInvalid))
		return
	}
	out, err := d.Fire(r.Context(), p)
	if err != nil {
		innerhttp.Refuse(w, err)
		return
	}
	innerhttp.Answer(w, out)
}

func (d *Desk) stopCarts(w http.ResponseWriter, r *http.Request) {
	var which struct {
		ID string `json:"id"`
	}
	if !innerhttp.Read(w, r, mostPress, &which) {
		return
	}
	innerhttp.Answer(w, map[string]int{"stopped": d.StopCart(which.ID)})
}
