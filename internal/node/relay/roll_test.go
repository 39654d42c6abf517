package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// rolls keeps what a teller says.
type rolls struct {
	mu   sync.Mutex
	said []string
	deaf bool // to rolls
}

func (r *rolls) say(text string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, text)
	return err
}

func (r *rolls) options(o Options) Options {
	o.Published = func(_ context.Context, e Encoder) error {
		return r.say("+"+e.Name, nil)
	}
	o.Ended = func(_ context.Context, e Encoder) error { return r.say("-"+e.Name, nil) }
	o.Roll = func(_ context.Context, all []Encoder) (map[Encoder]string, error) {
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		r.mu.Lock()
		deaf := r.deaf
		r.mu.Unlock()
		if deaf {
			return nil, errors.New("the control plane is away")
		}
		return nil, r.say(fmt.Sprint(names), nil)
	}
	return o
}

// heard returns what was said since the last call.
func (r *rolls) heard() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.said = nil }()
	return strings.Join(r.said, " ")
}

// Who was away misses comings and goings, and a relay that begins anew does not know which
// ends were told: the roll says both. One that lacked everybody, because nginx was not read
// yet, would have all encoders forgotten.
func TestTheRollIsCalledAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rolls{}
		log, lines := testkit.Log(t)
		teller := newTeller(r.options(Options{Log: log}))
		testkit.Background(t, func(ctx context.Context) error {
			if err := teller.run(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		expect := func(what, want string) {
			t.Helper()
			if got := r.heard(); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		time.Sleep(3 * tellAgain)
		expect("before nginx was read", "")
		sara, omar := Encoder{Name: "sara", ID: "1"}, Encoder{Name: "omar", ID: "2"}
		teller.set([]Encoder{sara, omar})
		expect("once it was", "+sara +omar [sara omar]")
		teller.set([]Encoder{sara, omar})
		expect("read again, and nothing is new", "")
		time.Sleep(tellAgain)
		expect("later", "[sara omar]")
		r.mu.Lock()
		r.deaf = true
		r.mu.Unlock()
		time.Sleep(2 * tellAgain)
		expect("the control plane is away", "")
		r.mu.Lock()
		r.deaf = false
		r.mu.Unlock()
		time.Sleep(tellAgain)
		expect("it is back", "[sara omar]")
		teller.set([]Encoder{sara})
		expect("the end of one", "-omar")
		time.Sleep(tellAgain)
		expect("who is left", "[sara]")
		if n := lines.Count("cannot tell who publishes"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

// Who was there before the relay goes by the roll; who comes later, or was let in by this
// relay before nginx was read, has begun now, and so has one with the number of one before. An
// nginx that is slow to answer makes nobody new.
func TestWhoWasThereBeforeTheRelayIsNotToldOfAsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rolls{}
		log, _ := testkit.Log(t)
		g := newIngest(r.options(Options{Log: log, SourcePassword: secret.Of("s3cret")}), &counters{})
		testkit.Background(t, func(ctx context.Context) error {
			if err := g.teller.run(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		expect := func(what, want string) {
			t.Helper()
			if got := r.heard(); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		read := func(names ...string) {
			var items []pathItem
			for _, name := range names {
				items = append(items, pathItem{Name: "live/" + name, Source: &pathPeer{ID: "of " + name}})
			}
			g.teller.begins(encoders(items))
			g.see(items)
		}
		g.see(nil) // three times nginx had no time
		expect("no answer of nginx", "[]")
		if code := g.decide(t.Context(), Encoder{Name: "omar", Password: "s3cret", ID: "of omar"}, time.Now()); code != 204 {
			t.Fatal(code)
		}
		read("sara", "omar")
		expect("the first answer", "+omar")
		time.Sleep(tellAgain)
		expect("the roll", "[sara omar]")
		read("sara", "omar", "lina")
		expect("one that comes", "+lina")
		read("omar", "lina")
		expect("the end of who was there", "-sara")
		read("sara", "omar", "lina")
		expect("it comes again", "+sara")
	})
}

// Under the name of a revoked account the station's password lets in whom the roll sends away
// at once: an encoder that tries again would come and go for ever. It is refused instead, and
// the log has that once.
func TestANameThatTheRollRefusesIsNotLetInAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{refused: map[string]string{"sara": "revoked by the studio"}}
		log, lines := testkit.Log(t)
		g := newIngest(Options{
			SourcePassword: secret.Of("s3cret"), Log: log, Admit: a.admit, StatAddress: "unix:" + t.TempDir() + "/none",
			Roll: func(_ context.Context, all []Encoder) (map[Encoder]string, error) {
				a.mu.Lock()
				defer a.mu.Unlock()
				out := map[Encoder]string{}
				for _, e := range all {
					if why := a.refused[e.Name]; why != "" {
						out[e] = why
					}
				}
				return out, nil
			},
		}, &counters{})
		testkit.Background(t, func(ctx context.Context) error {
			if err := g.teller.run(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		knocks := func(what, name, password string, want int) {
			t.Helper()
			if got := g.decide(t.Context(), Encoder{Name: name, Password: password, From: "192.0.2.1", ID: "9"}, time.Now()); got != want {
				t.Errorf("%s: %d, want %d", what, got, want)
			}
		}
		publishes := func(all ...Encoder) {
			g.teller.set(all)
			time.Sleep(tellAgain)
			synctest.Wait()
		}
		sara, obs := Encoder{Name: "sara", ID: "1"}, Encoder{Name: "obs", ID: "2"}
		knocks("nothing is known", "sara", "s3cret", 204)
		publishes(sara, obs)
		publishes(obs) // she was sent away, and is in no roll
		for range 20 {
			knocks("the roll refused her", "sara", "s3cret", 403)
		}
		knocks("another name", "obs", "s3cret", 204)
		if n := lines.Count(`level=WARN msg="encoder refused"`); n != 1 {
			t.Errorf("%d lines", n)
		}
		time.Sleep(refusedFor)
		knocks("a minute later", "sara", "s3cret", 204)

		publishes(sara)
		publishes()
		knocks("refused once more", "sara", "s3cret", 403)
		a.set(func() { a.refused = nil })
		knocks("her own secret is good again", "sara", "of-sara", 204)
		knocks("and so is the station's", "sara", "s3cret", 204)

		a.set(func() { a.refused = map[string]string{"sara": "revoked by the studio"} })
		publishes(sara)
		a.set(func() { a.refused = nil })
		publishes(sara)
		knocks("a roll has her, and does not refuse her", "sara", "s3cret", 204)
		many := map[Encoder]string{}
		for i := range 2 * mostGuests {
			many[Encoder{Name: fmt.Sprint(i)}] = "revoked"
		}
		g.refused.rolled(nil, many, time.Now())
		if n := len(g.refused.names); n != mostGuests {
			t.Errorf("%d are remembered", n)
		}
	})
}

// asked is a control plane that a test moves.
type asked struct {
	mu      sync.Mutex
	refused map[string]string // by name, with the reason
	away    bool
	calls   int
	again   int // so many of them were of one that publishes
}

func (a *asked) admit(_ context.Context, e Encoder) (bool, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if e.Again {
		a.again++
	}
	if a.away {
		return false, "", errors.New("the control plane is away")
	}
	why := a.refused[e.Name]
	return why == "" && e.Password == "of-"+e.Name, why, nil
}

func (a *asked) set(f func()) { a.mu.Lock(); defer a.mu.Unlock(); a.calls, a.again = 0, 0; f() }

// An encoder is asked about with the secret that it came with, and sent away by an answer
// alone. That costs its address no try, and what was kept of one that has gone is forgotten:
// the next connection may have its number.
func TestWhoMayGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{}
		log, lines := testkit.Log(t)
		g := newIngest(Options{SourcePassword: secret.Of("s3cret"), Log: log, Admit: a.admit, StatAddress: "unix:" + t.TempDir() + "/none"}, &counters{})
		testkit.Background(t, func(ctx context.Context) error {
			if err := g.askAgain(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		sara := Encoder{Name: "sara", Password: "of-sara", From: "192.0.2.1", ID: "1"}
		studio := Encoder{Name: "studio", Password: "s3cret", From: "192.0.2.1", ID: "2"}
		for _, e := range []Encoder{sara, studio} {
			if got := g.decide(t.Context(), e, time.Now()); got != 204 {
				t.Fatalf("%s: %d", e, got)
			}
		}
		publishes := func(all ...Encoder) {
			for i := range all {
				all[i].Password = ""
			}
			g.teller.set(all)
		}
		expect := func(what string, calls, sentAway int) {
			t.Helper()
			time.Sleep(againEvery)
			synctest.Wait()
			a.mu.Lock()
			defer a.mu.Unlock()
			if got := lines.Count("sent away"); a.calls != calls || a.again != calls || got != sentAway {
				t.Errorf("%s: %d questions, %d of who publishes, and %d sent away, want %d and %d", what, a.calls, a.again, got, calls, sentAway)
			}
			a.calls, a.again = 0, 0
		}
		a.set(func() {})
		publishes(sara, studio)
		expect("all is well", 1, 0) // the station's own is not asked about
		a.set(func() { a.away = true })
		expect("nobody to ask", 1, 0)
		a.set(func() { a.away = false; a.refused = map[string]string{"sara": "revoked by the studio"} })
		expect("revoked", 1, 1)
		expect("nginx was away, and it goes on", 1, 2)
		publishes(studio)
		expect("it has gone", 0, 2)
		expect("it has gone", 0, 2)
		publishes(sara, studio)
		expect("another with its number", 0, 2)
		if g.suspect(sara.From, time.Now()).tries.TokensAt(time.Now()) < wrongAtOnce || lines.Count("of-sara") > 0 {
			t.Errorf("its address has fewer tries, or the log its secret:\n%s", lines)
		}
		// A connection by the station's password has the number of one by a secret.
		g.decide(t.Context(), sara, time.Now())
		g.decide(t.Context(), Encoder{Name: "sara", Password: "s3cret", From: "192.0.2.1", ID: "1"}, time.Now())
		a.set(func() {})
		expect("it is the station's own", 0, 2)
		for i := range 2 * mostGuests {
			g.guests.came(Encoder{Name: "x", ID: fmt.Sprint(i)}, "secret")
		}
		if n := len(g.guests.in); n != mostGuests {
			t.Errorf("%d are remembered", n)
		}
	})
}

// Who may no longer publish, or is not wanted by the studio, is disconnected, by an answer to the roll, also of a relay that
// began anew, and by an answer about the password it came with; nobody else is.
func TestAnEncoderThatMayNoLongerPublishIsDisconnected(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	a := &asked{}
	options := func(o *Options) {
		r.relay(o)
		o.Admit = a.admit
		o.Roll = func(_ context.Context, all []Encoder) (map[Encoder]string, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			out := map[Encoder]string{}
			for _, e := range all {
				if why := a.refused[e.Name]; why != "" {
					out[e] = why
				}
			}
			return out, nil
		}
	}
	s, stopRelay := start(t, dir, options)
	r.nginx(t, nil)
	_, sara := r.encoder(t, "sara?password=of-sara")
	_, omar := r.encoder(t, "omar?password=of-omar")
	_, noor := r.encoder(t, "noor?password=of-noor")
	r.encoder(t, "studio?password=s3cret")
	all := func(s *Server) func() bool {
		return func() bool {
			return live(t, s, "live/sara") != nil && live(t, s, "live/omar") != nil && live(t, s, "live/studio") != nil
		}
	}
	testkit.Eventually(t, "three encoders", all(s))
	stopRelay()
	s, _ = start(t, dir, options)
	testkit.Eventually(t, "three encoders, with the next relay", all(s))
	// One with the number of none is nobody.
	// nginx may be held up for longer than it is waited for: whoever ordered it orders it again.
	testkit.EventuallyNil(t, "the end of nobody", func() error { return s.ingest.drop(t.Context(), Encoder{Name: "sara", ID: "4711"}) })

	// It is listed before it is known to whoever tells of it.
	published := func(name string) (e Encoder) {
		t.Helper()
		testkit.Eventually(t, name+" to be published", func() bool {
			now, _ := s.ingest.teller.state()
			at := slices.IndexFunc(now, func(e Encoder) bool { return e.Name == name })
			if at >= 0 {
				e = now[at]
			}
			return at >= 0
		})
		return e
	}
	testkit.Eventually(t, "live/noor", func() bool { return live(t, s, "live/noor") != nil })
	id := published("noor").ID
	testkit.EventuallyNil(t, "the order to end noor", func() error {
		w := httptest.NewRecorder()
		s.ingest.hookHandler().ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/encoders/noor/"+id, http.NoBody))
		if w.Code != http.StatusNoContent {
			return fmt.Errorf("%d %s", w.Code, w.Body)
		}
		return nil
	})
	if err := <-noor; err == nil {
		t.Error("the encoder ended as if by itself")
	}

	a.set(func() { a.refused = map[string]string{"sara": "revoked by the studio"} })
	if err := <-sara; err == nil {
		t.Error("the encoder ended as if by itself")
	}
	testkit.Eventually(t, "live/sara to go", func() bool { return live(t, s, "live/sara") == nil })
	e := published("omar")
	e.Password = "of-nobody"
	testkit.Eventually(t, "the end of omar", func() bool {
		s.ingest.mayGoOn(t.Context(), e)
		select {
		case err := <-omar:
			if err == nil {
				t.Error("the encoder ended as if by itself")
			}
			return true
		default:
			return false
		}
	})
	testkit.Eventually(t, "live/omar to go", func() bool { return live(t, s, "live/omar") == nil })
	if live(t, s, "live/studio") == nil {
		t.Error("another went with them")
	}
}

// The roll of a relay that begins anew lacks who ended while there was none.
func TestTheRollAfterARestartLacksWhoEndedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	said := &rolls{}
	options := func(o *Options) { r.relay(o); *o = said.options(*o) }
	has := func(text string) func() bool {
		return func() bool {
			said.mu.Lock()
			defer said.mu.Unlock()
			return slices.Contains(said.said, text)
		}
	}
	s, stopRelay := start(t, dir, options)
	r.nginx(t, nil)
	stopSara, _ := r.encoder(t, "sara?password=s3cret")
	r.encoder(t, "omar?password=s3cret")
	testkit.Eventually(t, "sara", has("+sara"))
	testkit.Eventually(t, "omar", has("+omar"))
	stopRelay()
	stopSara()
	client := s.ingest.client()
	defer client.CloseIdleConnections()
	testkit.Eventually(t, "nginx to see the end of sara", func() bool {
		items, err := s.ingest.read(t.Context(), client)
		return err == nil && len(items) == 1
	})
	said.mu.Lock()
	said.said = nil
	said.mu.Unlock()
	start(t, dir, options)
	testkit.Eventually(t, "the roll", has("[omar]"))
	for _, no := range []string{"-sara", "-omar", "+omar", "[]", "[sara omar]", "[omar sara]"} {
		if has(no)() {
			t.Errorf("said %q", no)
		}
	}
}
