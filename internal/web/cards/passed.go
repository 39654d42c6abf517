package cards

import (
	"context"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/held"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostPicture bounds a card from the control plane, in bytes.
	mostPicture = 2 << 20
	// askWithin is how long it may take.
	askWithin = 10 * time.Second
	// mostAsked bounds the cards that a front asks for at once.
	mostAsked = 8
)

// Passed answers below Prefix in a process that keeps nothing of the station: with what the
// control plane answered last, and again what it asks there where that is old.
type Passed struct {
	control http.Handler
	instead func() string
	clock   func() time.Time
	kept    shelf
	asking  singleflight.Group
	places  client.Places
}

// NewPassed asks a control plane; instead is where a picture is that stands in for a card.
func NewPassed(control http.Handler, instead func() string) *Passed {
	return &Passed{control: control, instead: instead, clock: time.Now}
}

// ServeHTTP implements http.Handler.
func (p *Passed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	id, isPicture := strings.CutSuffix(name, ".png")
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !isPicture || name != NowName && !station.IsTrackID(id) {
		http.NotFound(w, r)
		return
	}
	seconds := trackFor
	if name == NowName {
		seconds = nowFor
	}
	had := p.kept.get(name)
	if had != nil && p.clock().Sub(had.at) < time.Duration(seconds)*time.Second/2 {
		send(w, r, had, seconds/2)
		return
	}
	answer, _, _ := p.asking.Do(name, func() (any, error) { return p.ask(r, name), nil })
	got, _ := answer.(*held.Answer)
	switch {
	case got != nil && got.Status == http.StatusOK && got.Header().Get("Content-Type") == "image/png":
		send(w, r, p.kept.putAt(name, got.Body.Bytes(), p.clock()), seconds/2)
	case got != nil && got.Status == http.StatusNotFound:
		http.NotFound(w, r)
	case had != nil:
		send(w, r, had, nowFor)
	default:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, p.instead(), http.StatusTemporaryRedirect)
	}
}

// ask asks the control plane; nil where too much is asked there already.
func (p *Passed) ask(r *http.Request, name string) *held.Answer {
	leave, err := p.places.Enter(mostAsked)
	if err != nil {
		return nil
	}
	defer leave()
	// Of its own: who asked first may leave while others wait.
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	return held.Ask(ctx, r, p.control, Prefix+name, mostPicture)
}
