package api

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// limit bounds what one address may send to a route: the size of a body and the
// number of requests. Rows of the same limit count together.
type limit int

const (
	// unmetered routes have other bounds, or serve the station's own programs.
	unmetered limit = iota
	// reading is for answers that pages fetch again and again.
	reading
	// searching is for requests that look through the whole library.
	searching
	// writing is for requests that every listener may send.
	writing
	// sending is writing with an attachment.
	sending
	// operating is for requests that need a key.
	operating
	// heavy is for requests that take minutes, or much bandwidth.
	heavy
)

// Limits are average requests a second from one address; 0 is no limit. Many
// listeners may share an address: carriers have too few of them.
type Limits struct{ Reading, Searching, Writing, Operating, Heavy float64 }

// term is what a limit means.
type term struct {
	name      string
	body      int64 // bytes
	perSecond float64
	atOnce    float64 // the burst, in seconds of the average rate
}

func (l Limits) of(which limit) term {
	switch which {
	case reading:
		return term{"reading", smallBody, l.Reading, 10}
	case searching:
		return term{"searching", smallBody, l.Searching, 10}
	case writing:
		return term{"writing", smallBody, l.Writing, 10}
	case sending:
		return term{"writing", attachedBody, l.Writing, 10}
	case operating:
		return term{"operating", maxBody, l.Operating, 10}
	case heavy:
		return term{"heavy", maxBody, l.Heavy, 30}
	}
	return term{"unmetered", maxBody, 0, 0}
}

// Largest bodies in bytes.
const (
	smallBody = 64 << 10
	maxBody   = 1 << 20
	// attachedBody holds half a minute of plain audio in base64; what is larger has other
	// routes.
	attachedBody = 12 << 20
	// attachedAtOnce bounds how many of them are in memory, from whatever addresses, and
	// attachedOfClient those of one address or IPv6 site: whoever sends bodies slowly holds
	// their places for as long as a body may take, again and again.
	attachedAtOnce, attachedOfClient = 4, 2
)

// meters returns, for each limit, what counts every address's requests. A limit of 0
// has none.
func (l Limits) meters(now func() time.Time) map[limit]*client.Limits {
	out := map[limit]*client.Limits{}
	for _, which := range []limit{reading, searching, writing, sending, operating, heavy} {
		if t := l.of(which); t.perSecond > 0 {
			burst := max(1, int(math.Ceil(t.perSecond*t.atOnce)))
			out[which] = client.NewLimits(burst, time.Duration(float64(time.Second)/t.perSecond), now)
		}
	}
	return out
}

// metered returns the middleware of a limit; nil if it has none.
func (s *Server) metered(which limit) huma.Middlewares {
	var out huma.Middlewares
	if which == sending {
		out = append(out, s.inTurn())
	}
	meter := s.meters[which]
	if meter == nil {
		return out
	}
	return append(huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		if err := meter.Take(client.Address(r)); err != nil {
			if which == sending {
				err = why.New(why.TooFast).Kind(err)
			}
			writeRefusal(ctx, err)
			return
		}
		next(ctx)
	}}, out...)
}

// inTurn lets few requests with an attachment in at a time: each is held whole in memory.
// One that says that it is as small as those of other routes needs no turn.
func (s *Server) inTurn() func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		if r.ContentLength >= 0 && r.ContentLength < smallBody {
			next(ctx)
			return
		}
		from := client.Address(r)
		leave, err := s.attached.Enter(attachedAtOnce, client.Share{Name: cmp.Or(client.Wider(from), from), Most: attachedOfClient})
		if err != nil {
			writeRefusal(ctx, why.New(why.Busy).Kind(station.ErrUnavailable))
			return
		}
		defer leave()
		next(ctx)
	}
}

// text describes a limit in words, for the document.
func (t term) text() string {
	if t.perSecond <= 0 {
		return "Limit: none."
	}
	return fmt.Sprintf("Limit: %s, %g requests a second for each address on average.", t.name, t.perSecond)
}
