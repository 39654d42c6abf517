package desk_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/station"
)

// answering is the desk's handler as a way there.
type answering struct{ http.Handler }

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Result(), nil
}

// toneFile makes a file of a tone, half as loud as full scale.
func toneFile(t testing.TB, name string, hz int, seconds float64) live.Path {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	run(t, nil, "-f", "lavfi", "-i", fmt.Sprintf("sine=%d:r=44100:d=%g,volume=4", hz, seconds), "-b:a", "192k", path)
	return live.Path(path)
}

// share is how much of a pitch is in a channel: the amplitude, full scale 1.
func share(pcm []int16, hz float64) float64 {
	var re, im float64
	for i, v := range pcm {
		at := 2 * math.Pi * hz * float64(i) / live.Rate
		re += float64(v) * math.Cos(at)
		im += float64(v) * math.Sin(at)
	}
	return 2 * math.Hypot(re, im) / float64(max(1, len(pcm))) / 32768
}

// best is the highest share of a pitch in any tenth of a second.
func best(pcm []int16, hz float64) (top float64) {
	for ; len(pcm) >= live.Rate/10; pcm = pcm[live.Rate/10:] {
		top = max(top, share(pcm[:live.Rate/10], hz))
	}
	return top
}

func (r *recorder) left() []int16 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int16{}, r.pcm...)
}

// A wall that was put before anything is live is decoded once something is; a cart is heard by
// the engine and in the recording, a press that comes twice by its name once, and one that
// cannot be decoded is told of by its place. With the broadcast all of it is let go.
func TestACartIsFiredOverTheLiveMix(t *testing.T) {
	r := newRig(t)
	d := wire.Desk{RoundTripper: answering{r.Handler()}}
	jingle := live.Cart{Page: 1, Slot: 2, File: toneFile(t, "jingle\xff.mp3", 2000, 2), Stamp: "1", GainDB: -6, DurationMS: 2000}
	gone := live.Cart{Slot: 7, File: live.Path(filepath.Join(t.TempDir(), "gone.mp3"))}
	if rep, err := d.Carts(t.Context(), live.Wall{Mark: "one", Carts: []live.Cart{jingle, gone}}); err != nil || rep.Carts.Mark != "one" {
		t.Fatalf("%+v, %v", rep.Carts, err)
	}
	if _, err := d.Fire(t.Context(), live.CartPress{Cart: jingle}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("while nothing is live: %v", err)
	}
	r.encoder(440, "/sara")
	r.state("LIVEsara", live.Ready)
	if n := r.Report().Carts.Ready; n != 0 {
		t.Errorf("%d decoded while nothing is live", n)
	}
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)
	testkit.EventuallyNil(t, "the wall in hand", func() error {
		if c := r.Report().Carts; !c.Open || c.Ready != 1 || len(c.Broken) != 1 || c.Broken[0].Slot != 7 || c.Broken[0].Why == "" || strings.Contains(c.Broken[0].Why, "/") {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	p, err := d.Fire(t.Context(), live.CartPress{Cart: jingle, Request: "k1"})
	if err != nil || p.Page != 1 || p.Slot != 2 || math.Abs(float64(p.DurationMS)-2000) > 60 {
		t.Fatalf("%+v, %v", p, err)
	}
	if again, err := d.Fire(t.Context(), live.CartPress{Cart: jingle, Request: "k1"}); err != nil || again.ID != p.ID {
		t.Errorf("the same press again: %+v, %v", again, err)
	}
	if n := r.Report().Counters.Carts; n != 1 {
		t.Errorf("%d heard", n)
	}
	testkit.Eventually(t, "its tone at the engine", func() bool { return best(r.engine.audio(t, "/channel_live"), 2000) > 0.1 })
	testkit.Eventually(t, "its tone in the recording", func() bool { return best(r.recorder.left(), 2000) > 0.1 })
	testkit.Eventually(t, "its end", func() bool { return len(r.Report().Carts.Playing) == 0 })

	// One that is not in hand is decoded for its press, and stopped by its id.
	late := live.Cart{Slot: 9, File: toneFile(t, "late.mp3", 3000, 8), Loop: true}
	testkit.EventuallyNil(t, "a press of one that is not in hand", func() error { // a machine that is short refuses the first
		p, err = d.Fire(t.Context(), live.CartPress{Cart: late})
		return err
	})
	testkit.Eventually(t, "the late one", func() bool { return best(r.engine.audio(t, "/channel_live"), 3000) > 0.1 })
	if n, err := d.StopCarts(t.Context(), p.ID); n != 1 || err != nil {
		t.Errorf("%d stopped, %v", n, err)
	}
	if _, err := d.Fire(t.Context(), live.CartPress{Cart: gone}); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := d.Fire(t.Context(), live.CartPress{}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("without a file: %v", err)
	}

	// The wall without it, and the file with another content.
	jingle.Stamp = "2"
	if err := os.Rename(string(toneFile(t, "next.mp3", 5000, 1)), string(jingle.File)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Carts(t.Context(), live.Wall{Mark: "two", Carts: []live.Cart{jingle}}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the new file in hand", func() bool { return r.Report().Carts.Ready == 1 })
	if _, err = d.Fire(t.Context(), live.CartPress{Cart: jingle}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the new one", func() bool { return best(r.engine.audio(t, "/channel_live"), 5000) > 0.1 })
	r.order(nil)
	testkit.EventuallyNil(t, "the end of it all", func() error {
		if c := r.Report().Carts; c.Open || c.Ready != 0 || len(c.Playing) != 0 {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
}

func TestAWallThatIsTooLongIsRefused(t *testing.T) {
	r := newRig(t)
	d := wire.Desk{RoundTripper: answering{r.Handler()}}
	for name, w := range map[string]live.Wall{
		"no mark": {}, "no file": {Mark: "x", Carts: make([]live.Cart, 1)}, "too many": {Mark: "x", Carts: make([]live.Cart, live.MostCarts+1)},
	} {
		if _, err := d.Carts(t.Context(), w); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a wall that is more than the memory for it the first carts are in hand whole, and of the
// rest the beginning: what follows is decoded while that is heard.
func TestTheRestOfALongCartIsDecodedWhileItIsHeard(t *testing.T) {
	r := newRigWith(t, func(o *desk.Options) { o.CartBytes = 1 })
	d := wire.Desk{RoundTripper: answering{r.Handler()}}
	first, long := live.Cart{File: toneFile(t, "first.mp3", 2000, 1)}, live.Cart{Slot: 1, File: toneFile(t, "long.mp3", 3000, 40), DurationMS: 40_000}
	if _, err := d.Carts(t.Context(), live.Wall{Mark: "one", Carts: []live.Cart{first, long}}); err != nil {
		t.Fatal(err)
	}
	r.encoder(440, "/sara")
	r.state("LIVEsara", live.Ready)
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)
	testkit.Eventually(t, "the wall in hand", func() bool { return r.Report().Carts.Ready == 2 })
	p, err := d.Fire(t.Context(), live.CartPress{Cart: long})
	if err != nil || p.DurationMS != 40_000 {
		t.Fatalf("%+v, %v", p, err)
	}
	testkit.EventuallyNil(t, "what follows its beginning", func() error {
		c := r.Report().Carts.Playing
		pcm := r.recorder.left()
		if len(c) != 1 || c[0].PositionMS < 4000 || best(pcm[len(pcm)-live.Rate:], 3000) < 0.1 {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
}

// A named press goes on where its caller is cut off, and is answered by its name; one that
// failed is tried again by it. Another cart's place by the same name is refused.
func TestAPressIsSentAgainByItsName(t *testing.T) {
	asked, bring := make(chan string, 8), make(chan error)
	r := newRigWith(t, func(o *desk.Options) {
		o.Bed = func(ctx context.Context, name string) (string, func(), error) {
			asked <- name
			select {
			case err := <-bring:
				return name, func() {}, err
			case <-ctx.Done():
				return "", nil, ctx.Err()
			}
		}
	})
	r.encoder(440, "/sara")
	r.state("LIVEsara", live.Ready)
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)

	jingle := live.Cart{Slot: 1, File: toneFile(t, "jingle.mp3", 2000, 1)}
	gone, leave := context.WithCancel(t.Context())
	first := make(chan live.CartPlaying, 1)
	go func() {
		p, err := r.Fire(gone, live.CartPress{Cart: jingle, Request: "k1"})
		if err != nil {
			t.Errorf("whose caller left: %v", err)
		}
		first <- p
	}()
	<-asked
	leave()
	bring <- nil
	heard := <-first
	if again, err := r.Fire(t.Context(), live.CartPress{Cart: jingle, Request: "k1"}); err != nil || again.ID != heard.ID || heard.ID == "" {
		t.Errorf("sent again: %+v, %v, want that of %+v", again, err, heard)
	}
	if n := r.Report().Counters.Carts; n != 1 {
		t.Errorf("%d heard", n)
	}
	other := live.Cart{Slot: 2, File: toneFile(t, "other.mp3", 3000, 1)}
	if _, err := r.Fire(t.Context(), live.CartPress{Cart: other, Request: "k1"}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("another cart by that name: %v", err)
	}
	for _, err := range []error{errors.New("no route"), nil} {
		go func() { bring <- err }()
		if _, got := r.Fire(t.Context(), live.CartPress{Cart: other, Request: "k2"}); (got == nil) != (err == nil) {
			t.Errorf("a press by its name: %v, want %v", got, err)
		}
	}
}
