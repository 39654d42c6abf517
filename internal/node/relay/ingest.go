package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/secret"
)

// Encoders publish rtmp://HOST:19350/live with the stream key
// NAME?password=SECRET. nginx asks here before it lets one in.
const (
	publishHook = "/rtmp/publish"
	doneHook    = "/rtmp/done"

	rtmpApp = "live"

	// Wrong passwords an address may try at once, and how often after that. One beyond them
	// takes turnWait for its turn at most, and wrongPause for its answer.
	wrongAtOnce = 5
	wrongEvery  = 10 * time.Second
	wrongPause  = time.Second
	turnWait    = 3 * time.Second
	maxSuspects = 1024

	statEvery   = time.Second
	statMisses  = 3 // statistics that cannot be read in a row before all counts as gone
	statTimeout = 2 * time.Second
	maxStat     = 4 << 20
)

var streamName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ingest is the RTMP side: who may publish, and what is published. nginx's own
// statistics are the only record of the latter, so nothing has to be kept when
// the relay restarts while nginx goes on.
type ingest struct {
	password *secret.Secret
	admit    func(context.Context, Encoder) (bool, string, error)
	stat     string
	log      *slog.Logger
	teller   *teller
	guests   *guests
	refused  *refused
	count    *counters
	nudge    chan struct{}

	mu       sync.Mutex
	live     []pathItem
	suspects map[string]*suspect
}

func newIngest(opts Options, count *counters) *ingest {
	g := &ingest{
		password: opts.SourcePassword, admit: opts.Admit, stat: opts.StatAddress, log: opts.Log, count: count,
		teller: newTeller(opts), guests: newGuests(), refused: newRefused(),
		nudge: make(chan struct{}, 1), suspects: map[string]*suspect{},
	}
	g.teller.refused, g.teller.rolled = g.sendAway, g.refused.rolled
	return g
}

// hookHandler answers nginx: 2xx lets the encoder in, anything else turns it away. The
// station's own orders come here too.
func (g *ingest) hookHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+publishHook, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		if err := r.ParseForm(); err != nil {
			refuse(w, http.StatusBadRequest, "cannot read the form")
			return
		}
		w.WriteHeader(g.decide(r.Context(), Encoder{
			Name: r.PostForm.Get("name"), Password: presentedPassword(r), From: r.PostForm.Get("addr"), ID: r.PostForm.Get("clientid"),
		}, time.Now()))
		g.look()
	})
	mux.HandleFunc("POST "+doneHook, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		g.done(Encoder{Name: r.PostFormValue("name"), From: r.PostFormValue("addr"), ID: r.PostFormValue("clientid")})
		w.WriteHeader(http.StatusNoContent)
		g.look()
	})
	mux.HandleFunc("DELETE /encoders/{name}/{id}", g.kick)
	return mux
}

// presentedPassword is the password, under any of the names in encoders' manuals.
func presentedPassword(r *http.Request) string {
	for _, name := range []string{"password", "pass", "key"} {
		if value := r.PostForm.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// decide returns the HTTP status that admits or refuses an encoder at nginx. Wrong passwords
// alone are limited; see suspect.
func (g *ingest) decide(ctx context.Context, e Encoder, now time.Time) int {
	own := streamName.MatchString(e.Name) && g.password.Matches(e.Password)
	suspect := g.suspect(e.From, now)
	giveBack, spent := suspect.pay(own, now)
	if spent {
		done, ok := suspect.wait(ctx)
		if !ok {
			g.count.rtmpLimit.Add(1)
			return http.StatusTooManyRequests
		}
		defer done()
	}
	if own {
		if why, news, is := g.refused.of(e.Name, now); is {
			return g.refuse(e, why, news)
		}
		return g.accept(e, "")
	}
	allowed, detail, err := g.ask(ctx, e)
	switch {
	case err != nil:
		giveBack()
		g.count.rtmpRefused.Add(1)
		g.log.Warn("encoder refused: the service that knows presenters is unavailable, the encoder may try again",
			"from", e.From, "name", e.Name, "status", http.StatusServiceUnavailable, "err", err)
		return http.StatusServiceUnavailable
	case allowed:
		giveBack()
		g.refused.forget(e.Name)
		return g.accept(e, e.Password)
	case spent:
		select {
		case <-time.After(wrongPause):
		case <-ctx.Done():
		}
		g.count.rtmpLimit.Add(1)
		return http.StatusTooManyRequests
	}
	return g.refuse(e, detail, true)
}

// ask says whether an encoder without the station's password may publish.
func (g *ingest) ask(ctx context.Context, e Encoder) (allowed bool, detail string, err error) {
	if !streamName.MatchString(e.Name) || e.Password == "" || g.admit == nil {
		return false, g.reason(e), nil
	}
	ctx, cancel := context.WithTimeout(ctx, admitWait)
	defer cancel()
	return g.admit(ctx, e)
}

// accept lets an encoder in; secret is that of its account, empty for the station's own.
func (g *ingest) accept(e Encoder, secret string) int {
	g.guests.came(e, secret)
	g.teller.came(e)
	g.count.rtmpAccepted.Add(1)
	g.log.Info("encoder accepted", "from", e.From, "path", e.Path())
	return http.StatusNoContent
}

func (g *ingest) refuse(e Encoder, reason string, news bool) int {
	g.count.rtmpRefused.Add(1)
	level := slog.LevelDebug
	if news {
		level = slog.LevelWarn
	}
	g.log.Log(context.Background(), level, "encoder refused", "from", e.From, "name", strconv.Quote(e.Name), "reason", reason)
	return http.StatusForbidden
}

func (g *ingest) reason(e Encoder) string {
	switch {
	case !streamName.MatchString(e.Name):
		return "name: want letters, digits, - and _, 64 at most"
	case !g.password.Set() && g.admit == nil:
		return "no source password is set"
	case e.Password == "":
		return "no password"
	}
	return "wrong password"
}

// done takes a connection out of what is published. nginx says so too of one that was
// refused, whose name may be another's that goes on: the statistics, read at once after
// this, tell.
func (g *ingest) done(e Encoder) {
	g.mu.Lock()
	var rest []pathItem
	gone := false
	for _, item := range g.live {
		if item.Name == e.Path() && (item.Source == nil || item.Source.ID == e.ID) {
			gone = true
			continue
		}
		rest = append(rest, item)
	}
	g.live = rest
	g.mu.Unlock()
	if gone {
		g.log.Info("encoder disconnected", "path", e.Path(), "from", e.From)
	}
}

// suspect is the limit of an address on wrong passwords. From one that has spent its tries,
// passwords are looked at one after another, and the answer to a wrong one is held back: it
// guesses one a second, and a presenter behind the same address is let in all the same.
type suspect struct {
	tries *rate.Limiter
	turn  chan struct{}
}

// pay takes a try before it is known whether the password is right: many at once are no more
// tries. giveBack returns it. Who has the station's own password pays nothing, as that is
// known at once.
func (s *suspect) pay(own bool, now time.Time) (giveBack func(), spent bool) {
	if own {
		return func() {}, s.tries.TokensAt(now) < 1
	}
	try := s.tries.ReserveN(now, 1)
	if !try.OK() || try.DelayFrom(now) > 0 {
		try.CancelAt(now)
		return func() {}, true
	}
	return func() { try.CancelAt(now) }, false
}

// wait waits for the turn of an address that has spent its tries; false where it does not
// come in time.
func (s *suspect) wait(ctx context.Context) (done func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, true
	case <-ctx.Done():
		return nil, false
	}
}

// suspect is what is remembered of an address; that of a network of IPv6, which
// one household has whole. Where too many are remembered, the one that has most tries left
// is forgotten: who makes up addresses does not get the tries of one back.
func (g *ingest) suspect(from string, now time.Time) *suspect {
	if network := client.Peer(&net.TCPAddr{IP: net.ParseIP(from)}); network != "" {
		from = network
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.suspects[from]
	if known == nil {
		if len(g.suspects) >= maxSuspects {
			least, most := "", -1.0
			for other, s := range g.suspects {
				if left := s.tries.TokensAt(now); left > most {
					least, most = other, left
				}
			}
			delete(g.suspects, least)
		}
		known = &suspect{tries: rate.NewLimiter(rate.Every(wrongEvery), wrongAtOnce), turn: make(chan struct{}, 1)}
		g.suspects[from] = known
	}
	return known
}

func (g *ingest) look() {
	select {
	case g.nudge <- struct{}{}:
	default:
	}
}

// follow keeps the list of what is published until ctx ends.
func (g *ingest) follow(ctx context.Context) error {
	if g.stat == "" {
		return nil
	}
	client := g.client()
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(statEvery)
	defer ticker.Stop()
	missed := 0
	for {
		missed = g.once(ctx, client, missed)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-g.nudge:
		}
	}
}

// once reads the statistics and returns how often in a row they could not be read. An
// nginx that does not answer may be short of time only, and go on with its encoders.
func (g *ingest) once(ctx context.Context, client *http.Client, missed int) int {
	items, err := g.read(ctx, client)
	switch {
	case ctx.Err() != nil:
		return missed
	case err == nil:
		g.teller.begins(encoders(items))
		g.see(items)
		return 0
	}
	g.log.Debug("cannot read nginx statistics", "err", err)
	away := nginxIsAway(err)
	if away {
		g.teller.begins(nil)
	}
	if missed++; missed >= statMisses || away {
		g.see(nil)
	}
	return missed
}

// see takes what is published from the statistics.
func (g *ingest) see(items []pathItem) {
	g.mu.Lock()
	g.live = items
	g.mu.Unlock()
	g.teller.set(encoders(items))
}

// encoders are those among what is published.
func encoders(items []pathItem) (out []Encoder) {
	for _, item := range items {
		name, ours := strings.CutPrefix(item.Name, rtmpApp+"/")
		if ours && item.Source != nil {
			out = append(out, Encoder{Name: name, From: item.from, ID: item.Source.ID})
		}
	}
	return out
}

// nginxIsAway reports whether nobody answers where nginx should: then nothing is published.
func nginxIsAway(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
}

func (g *ingest) client() *http.Client {
	return &http.Client{
		Timeout: statTimeout,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			network, where, err := splitAddress(g.stat)
			if err != nil {
				return nil, err
			}
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, where)
		}},
	}
}

func (g *ingest) read(ctx context.Context, client *http.Client) ([]pathItem, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://nginx/", nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("nginx answered status %d", response.StatusCode)
	}
	return parseStat(io.LimitReader(response.Body, maxStat), time.Now())
}

func (g *ingest) items() []pathItem {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.live
}
