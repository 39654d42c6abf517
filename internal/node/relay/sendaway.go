package relay

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// An encoder was let in when it came, and may be disconnected later:
//
//	belief                             | evidence                           | what is done
//	-----------------------------------|------------------------------------|------------------
//	it may publish                     | so Admit and the roll are answered | nothing
//	it may no longer: its account was  | the roll's answer, by its name     | it is disconnected
//	revoked or deleted, its time over  |                                    |
//	it may no longer: as above, or its | Admit's answer, by the password    | it is disconnected
//	account has another secret         | that it came with                  |
//	the studio wants it gone           | an order, by name and connection   | it is disconnected
//	nobody knows                       | no answer, or none in time         | nothing; asked again
//
// If "may no longer" is wrong, the encoder connects again by itself and is let in. A relay
// that begins anew does not know who came with which password: then the roll alone says.
//
// nginx's own on_update is no way to this: in libnginx-mod-rtmp 1.2.2 an answer that breaks
// off, as that of a relay that is killed, ends the encoder, and one that could not be asked
// for is not asked for again.
const (
	// againEvery is how often an encoder is asked about; so are those of the live desk.
	againEvery = 30 * time.Second
	mostGuests = 512 // nginx takes no more
)

// guests are the encoders that came with an account's secret.
type guests struct {
	mu sync.Mutex
	in map[Encoder]*guest // without password and address
}

type guest struct {
	secret, from string
	unseen       bool // it did not publish when it was asked about last
}

func newGuests() *guests { return &guests{in: map[Encoder]*guest{}} }

func connection(e Encoder) Encoder { return Encoder{Name: e.Name, ID: e.ID} }

// came notes an encoder that was let in. nginx counts its connections anew when it starts:
// one may have the number of another, which has gone.
func (g *guests) came(e Encoder, secret string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.in, connection(e))
	if secret != "" && len(g.in) < mostGuests {
		g.in[connection(e)] = &guest{secret: secret, from: e.From}
	}
}

// publishing returns those among all that publish, with their secrets, and forgets those
// that have not done so for two calls.
func (g *guests) publishing(all []Encoder) (out []Encoder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	on := map[Encoder]bool{}
	for _, e := range all {
		if one := g.in[connection(e)]; one != nil {
			on[connection(e)], one.unseen = true, false
			out = append(out, Encoder{Name: e.Name, ID: e.ID, From: one.from, Password: one.secret})
		}
	}
	maps.DeleteFunc(g.in, func(e Encoder, one *guest) bool {
		forget := !on[e] && one.unseen
		one.unseen = !on[e]
		return forget
	})
	return out
}

// askAgain asks about all encoders until ctx ends, and sends away those that may no longer
// publish.
func (g *ingest) askAgain(ctx context.Context) error {
	if g.admit == nil {
		return nil
	}
	for retry.Pause(ctx, againEvery) == nil {
		now, _ := g.teller.state()
		for _, e := range g.guests.publishing(now) {
			g.mayGoOn(ctx, e)
		}
	}
	return ctx.Err()
}

func (g *ingest) mayGoOn(ctx context.Context, e Encoder) {
	within, cancel := context.WithTimeout(ctx, admitWait)
	defer cancel()
	question := e
	question.Again = true
	switch allowed, detail, err := g.admit(within, question); {
	case err != nil:
		g.log.Debug("cannot ask whether an encoder may go on", "path", e.Path(), "err", err)
	case !allowed:
		g.sendAway(ctx, e, detail)
	}
}

// sendAway has nginx end a connection. What it ends is seen in the statistics.
func (g *ingest) sendAway(ctx context.Context, e Encoder, why string) {
	g.log.Warn("encoder sent away: it may no longer publish", "from", e.From, "path", e.Path(), "reason", why)
	if err := g.drop(ctx, e); err != nil {
		g.log.Warn("cannot send an encoder away, trying again", "path", e.Path(), "err", err)
	}
	g.look()
}

// kick carries out an order to disconnect an encoder, which may be let in again.
func (g *ingest) kick(w http.ResponseWriter, r *http.Request) {
	e := Encoder{Name: r.PathValue("name"), ID: r.PathValue("id")}
	g.log.Info("encoder sent away by the studio", "path", e.Path())
	if err := g.drop(r.Context(), e); err != nil {
		http.Error(w, fmt.Sprintf("disconnect encoder: %v", err), http.StatusServiceUnavailable)
		return
	}
	g.look()
	w.WriteHeader(http.StatusNoContent)
}

// drop ends the one connection with its number; its name may be another's by now.
func (g *ingest) drop(ctx context.Context, e Encoder) error {
	client := g.client()
	defer client.CloseIdleConnections()
	query := url.Values{"app": {rtmpApp}, "name": {e.Name}, "clientid": {e.ID}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://nginx/control/drop/publisher?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("nginx answered status %d", response.StatusCode)
	}
	return nil
}
