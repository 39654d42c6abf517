// Package cards serves the pictures that links to the station show where they are shared: of what
// plays now, and of a track. It draws each once, keeps few, and lets nobody have it draw without
// end. How a card looks is another's to say.
package cards

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/negotiate"
	"github.com/athir-radio/athir/internal/station"
)

// Prefix is where cards are; NowName is that of what plays.
const (
	Prefix  = "/card/"
	NowName = "now.png"
)

const (
	// mostWaiting bounds those who wait for a card while another is drawn.
	mostWaiting = 8
	// burst cards of tracks are drawn at once, and then one every: whoever asks for those of a
	// hundred thousand tracks gets the rest of them in a day, and the machine does its work.
	burst = 16
	every = time.Second
	// nowFor and trackFor are how long others may keep a card, in seconds.
	nowFor, trackFor = 60, 3600
)

// Scene is what a card shows. The texts are drawn as they are.
type Scene struct {
	Station, Title, Artist, Line string
	Accent                       color.RGBA // alpha 0: none
	RTL                          bool
	// Mark is another where logo or cover are; the texts count themselves.
	Mark string
	// Pictures returns both, each of them nil where there is none. It is called once, for the drawing.
	Pictures func() (logo, cover image.Image)
}

// Options of cards.
type Options struct {
	// Draw returns a PNG; nil: no cards are drawn.
	Draw func(s Scene, logo, cover image.Image) ([]byte, error)
	// Now is the scene of what plays.
	Now func() Scene
	// Track is that of a track; false: there is none.
	Track func(ctx context.Context, id string) (Scene, bool)
	// Instead is where a picture is that stands in for a card.
	Instead func() string
	// Clock is time.Now when nil.
	Clock func() time.Time
}

// Cards answers below Prefix. Make it with New.
type Cards struct {
	opt     Options
	kept    shelf
	making  singleflight.Group
	pen     chan struct{} // who has it draws
	waiting atomic.Int32
	turns   *client.Limits // of tracks' cards, whoever asks for them
}

// New makes Cards.
func New(opt Options) *Cards {
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	return &Cards{opt: opt, pen: make(chan struct{}, 1), turns: client.NewLimits(burst, every, opt.Clock)}
}

var (
	errBusy   = errors.New("too many cards are asked for at once")
	errUndraw = errors.New("no card can be drawn")
)

// ServeHTTP implements http.Handler.
func (c *Cards) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	id, isPicture := strings.CutSuffix(name, ".png")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case name == NowName:
		c.answer(w, r, c.opt.Now(), nowFor, false)
	case isPicture && station.IsTrackID(id):
		scene, known := c.opt.Track(r.Context(), id)
		if !known {
			http.NotFound(w, r)
			return
		}
		c.answer(w, r, scene, trackFor, true)
	default:
		http.NotFound(w, r)
	}
}

func (c *Cards) answer(w http.ResponseWriter, r *http.Request, s Scene, seconds int, metered bool) {
	picture, err := c.picture(s, metered)
	switch {
	case errors.Is(err, errBusy):
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Retry-After", "2")
		http.Error(w, "many cards are being drawn: try again in a moment", http.StatusServiceUnavailable)
	case err != nil:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, c.opt.Instead(), http.StatusTemporaryRedirect)
	default:
		send(w, r, picture, seconds)
	}
}

// send answers with a picture, or that it is the one the client has.
func send(w http.ResponseWriter, r *http.Request, picture *picture, seconds int) {
	h := w.Header()
	h.Set("ETag", picture.tag)
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(seconds))
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // it is made to be shown elsewhere
	if negotiate.Has(r.Header.Get("If-None-Match"), picture.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "image/png")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(picture.body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(picture.body) // an error means that the client is gone
	}
}

// picture is the card of a scene, drawn where it is not kept. Those who ask for the same wait for
// one drawing; it goes on when they leave.
func (c *Cards) picture(s Scene, metered bool) (*picture, error) {
	if c.opt.Draw == nil {
		return nil, errUndraw
	}
	key := fmt.Sprintf("%q %q %q %q %v %v %q", s.Station, s.Title, s.Artist, s.Line, s.Accent, s.RTL, s.Mark)
	if p := c.kept.get(key); p != nil {
		return p, nil
	}
	p, err, _ := c.making.Do(key, func() (any, error) {
		if p := c.kept.get(key); p != nil {
			return p, nil
		}
		if metered && c.turns.Take("all") != nil {
			return nil, errBusy
		}
		return c.draw(key, s)
	})
	if err != nil {
		return nil, err
	}
	return p.(*picture), nil //nolint:forcetypeassert,errcheck // as above
}

func (c *Cards) draw(key string, s Scene) (*picture, error) {
	if c.waiting.Add(1) > mostWaiting+1 { // one of them draws
		c.waiting.Add(-1)
		return nil, errBusy
	}
	defer c.waiting.Add(-1)
	c.pen <- struct{}{}
	defer func() { <-c.pen }()
	var logo, cover image.Image
	if s.Pictures != nil {
		logo, cover = s.Pictures()
	}
	body, err := c.opt.Draw(s, logo, cover)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUndraw, err)
	}
	return c.kept.put(key, body), nil
}
