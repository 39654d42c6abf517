package podcast

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func pictured(t testing.TB, w, h int) []byte {
	t.Helper()
	of := image.NewGray(image.Rect(0, 0, w, h))
	for x := range w { // dark at its sides
		for y := range h {
			if x > (w-h)/2+10 && x < (w+h)/2-10 {
				of.SetGray(x, y, color.Gray{200})
			}
		}
	}
	var out bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, of))
	return out.Bytes()
}

func config(t testing.TB, data []byte) image.Config {
	t.Helper()
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	must(t, err)
	return c
}

func TestACoverIsTheMiddleOfWhatWasSent(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	before, _ := r.Show("a")
	s, err := r.SetCover(t.Context(), "a", pictured(t, 2400, 1500))
	must(t, err)
	data, stamp, err := r.Cover(t.Context(), "a")
	must(t, err)
	if c := config(t, data); c.Width != 1500 || c.Height != 1500 || stamp != s.Cover || stamp == "" || s.Changed <= before.Changed {
		t.Errorf("%+v, %s, %+v", c, stamp, s)
	}
	of, err := jpeg.Decode(bytes.NewReader(data))
	must(t, err)
	if left, _, _, _ := of.At(2, 700).RGBA(); left > 100<<8 {
		t.Errorf("the middle begins elsewhere: %d", left)
	}
	if right, _, _, _ := of.At(30, 700).RGBA(); right < 150<<8 {
		t.Errorf("the middle begins elsewhere: %d", right)
	}
	r.open(t)
	again, _, err := r.Cover(t.Context(), "a")
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("after a restart: %v", err)
	}
	s, err = r.RemoveCover(t.Context(), "a")
	if err != nil || s.Cover != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, other, err := r.Cover(t.Context(), "a"); err != nil || other == stamp {
		t.Errorf("%s, %v", other, err)
	}
	if len(r.cover.own) != 0 {
		t.Errorf("%d covers of no show are kept", len(r.cover.own))
	}
	_, _, err = r.Cover(t.Context(), "none")
	is(t, err, station.ErrNotFound)
	_, err = r.SetCover(t.Context(), "none", nil)
	is(t, err, station.ErrNotFound)
}

func TestACoverIsLightWhateverItShows(t *testing.T) {
	noise := image.NewGray(image.Rect(0, 0, 1500, 1500))
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(chance.Uint32())
	}
	var out bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, noise))
	data, err := remade(out.Bytes())
	must(t, err)
	if c := config(t, data); c.Width != leastSide {
		t.Errorf("%+v, %d bytes", c, len(data))
	}
}

func TestWhatIsNoCoverIsRefused(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	whole := pictured(t, 1400, 1400)
	bomb := bytes.Clone(whole)
	copy(bomb[16:], []byte{0, 0, 0x40, 0, 0, 0, 0x40, 0}) // says that it has 16,384 × 16,384
	for name, c := range map[string]struct {
		data []byte
		kind error
	}{
		"nothing": {nil, station.ErrInvalid}, "no picture": {[]byte("<svg onload=alert(1)>"), station.ErrInvalid}, "small": {pictured(t, 1400, 1399), station.ErrInvalid},
		"cut short": {whole[:len(whole)/2], station.ErrInvalid}, "many pixels": {bomb, station.ErrInvalid}, "many bytes": {make([]byte, MostCoverBytes+1), station.ErrTooLarge},
	} {
		_, err := r.SetCover(t.Context(), "a", c.data)
		is(t, err, c.kind)
		var wrong *station.FieldError
		if errors.As(err, &wrong) && (wrong.Field != "cover" || wrong.Arabic == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, _ := r.Show("a"); s.Cover != "" {
		t.Errorf("%+v", s)
	}
}

// A show without a cover has the station's, drawn once for many listeners and again after a while.
func TestAShowWithoutACoverHasTheStations(t *testing.T) {
	drawn, gray, version := 0, byte(10), "1"
	r := newRig(t, func(o *Options) {
		o.CoverStamp = func() string { return version }
		o.StationCover = func(context.Context) image.Image {
			drawn++
			of := image.NewGray(image.Rect(0, 0, leastSide, leastSide))
			for i := range of.Pix {
				of.Pix[i] = gray
			}
			return of
		}
	})
	r.face = r.drawn
	r.show(t, own("a", Live))
	r.show(t, own("b", Live))
	stamps := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			data, stamp, err := r.Cover(t.Context(), []string{"a", "b"}[i%2])
			if err != nil || len(data) == 0 {
				t.Error(err)
			}
			mu.Lock()
			stamps[stamp] = true
			mu.Unlock()
		})
	}
	all.Wait()
	if data, _, _ := r.Cover(t.Context(), "a"); drawn != 1 || len(stamps) != 1 || config(t, data).Width != leastSide {
		t.Errorf("drawn %d times, %v", drawn, stamps)
	}
	gray = 200
	r.clock.pass(faceFor)
	if _, stamp, _ := r.Cover(t.Context(), "a"); drawn != 2 || stamps[stamp] {
		t.Errorf("drawn %d times, %s", drawn, stamp)
	}
	_, before, _ := r.Cover(t.Context(), "a")
	gray, version = 100, "2" // the face is changed
	for range 2 {
		if _, stamp, _ := r.Cover(t.Context(), "b"); drawn != 3 || stamp == before {
			t.Errorf("drawn %d times, %s", drawn, stamp)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r.clock.pass(faceFor)
	if _, _, err := r.Cover(ended, "a"); err == nil {
		t.Error("who has left is waited for")
	}
	none := newRig(t, func(o *Options) { o.StationCover = func(context.Context) image.Image { return nil } })
	none.face = none.drawn
	none.show(t, own("a", Live))
	if data, _, err := none.Cover(t.Context(), "a"); err != nil || config(t, data).Width != leastSide {
		t.Error(err)
	}
}

// Many read and change at once; what listeners get is whole. It is for the race detector.
func TestManyReadWhileMuchIsChanged(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { must(t, r.Run(ctx)) })
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				heard, err := r.Heard("a")
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range heard {
					if e.File == "" || e.Bytes == 0 || e.State != Published {
						t.Errorf("%+v", e)
					}
					r.Count("a", e.ID)
				}
				for _, s := range r.Shows() {
					if s.Episodes > 0 && s.Latest == 0 {
						t.Errorf("%+v", s)
					}
				}
			}
		})
	}
	for i := range 8 {
		r.happens(Live, string(rune('a'+i)), 100)
		r.Wake()
		offers, err := r.Offers(t.Context(), "a")
		must(t, err)
		for _, o := range offers {
			if _, err := r.Add(t.Context(), "a", o.Source); err != nil && !errors.Is(err, station.ErrConflict) {
				t.Error(err)
			}
		}
		of, err := r.Episodes(t.Context(), "a")
		must(t, err)
		for _, e := range of {
			if i%3 == 0 {
				_ = r.RemoveEpisode(t.Context(), "a", e.ID)
			} else {
				_ = r.RestoreEpisode(t.Context(), "a", e.ID)
			}
		}
		r.clock.pass(time.Second)
	}
	cancel()
	all.Wait()
}
