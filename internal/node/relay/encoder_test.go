package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// presenters are those who may publish with passwords of their own, and what was told of them.
type presenters struct {
	passwords map[string]string

	mu    sync.Mutex
	told  []string
	rolls []string // names in them
}

func (p *presenters) roll(_ context.Context, all []Encoder) (map[Encoder]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range all {
		p.rolls = append(p.rolls, e.Name)
	}
	return nil, nil
}

func (p *presenters) admit(_ context.Context, e Encoder) (bool, string, error) {
	if want, known := p.passwords[e.Name]; !known || want != e.Password {
		return false, "unknown presenter", nil
	}
	return true, "", nil
}

func (p *presenters) say(what string) func(context.Context, Encoder) error {
	return func(_ context.Context, e Encoder) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.Password != "" || e.ID == "" || e.From != "127.0.0.1" {
			what = fmt.Sprintf("%s with %+v", what, e)
		}
		p.told = append(p.told, what+" "+e.Name)
		return nil
	}
}

func (p *presenters) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

func (p *presenters) options(o *Options) {
	o.Admit, o.Published, o.Ended = p.admit, p.say("published"), p.say("ended")
}

// A presenter publishes with a password of their own, is told of once they really publish
// and once they are gone, and this machine plays it where PullURL says, with the flags of
// the live desk.
func TestPresentersPublishAndAreToldOf(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	p := &presenters{passwords: map[string]string{"sara": "of-sara", "omar": "of-omar"}}
	log, lines := testkit.Log(t)
	both := func(o *Options) { r.relay(o); p.options(o); o.Roll, o.Log = p.roll, log }
	s, stopRelay := start(t, dir, both)
	r.nginx(t, nil)

	_, refused := r.encoder(t, "sara?password=of-omar")
	if err := <-refused; err == nil {
		t.Fatal("another's password was let in")
	}
	stop, _ := r.encoder(t, "sara?password=of-sara")
	testkit.Eventually(t, "sara to be told of", func() bool { return slices.Equal(p.heard(), []string{"published sara"}) })

	// A second with the same name is refused by nginx after it was let in, and its end is not
	// that of the first.
	_, second := r.encoder(t, "sara?password=of-sara")
	if err := <-second; err == nil {
		t.Error("the name was taken twice")
	}
	if err := pull(t, r.rtmp.PullURL("sara")); err != nil {
		t.Errorf("play %s: %v", r.rtmp.PullURL("sara"), err)
	}
	if pull(t, "rtmp://"+r.rtmp.Address+"/live/sara") == nil {
		t.Error("nginx takes a player without the door's words: PullURL could be simpler")
	}
	// Where players come, whoever publishes is asked for a password too.
	inside := *r
	inside.address = strings.TrimSuffix(strings.TrimPrefix(r.rtmp.PullURL(""), "rtmp://"), "/live/")
	_, refused = inside.encoder(t, "omar?password=wrong")
	if err := <-refused; err == nil {
		t.Error("a wrong password was let in where players come")
	}
	stopSecond, _ := r.encoder(t, "omar?password=of-omar")
	testkit.Eventually(t, "omar to be told of", func() bool { return slices.Contains(p.heard(), "published omar") })
	stopSecond()
	testkit.Eventually(t, "the end of omar", func() bool {
		return slices.Equal(p.heard(), []string{"published sara", "published omar", "ended omar"})
	})

	// Nginx goes on without the relay. The next one has sara in its rolls, and says that she
	// publishes to none: a control plane that is new too would give her the air again.
	stopRelay()
	p.mu.Lock()
	p.rolls = nil
	p.mu.Unlock()
	s, _ = start(t, dir, both)
	testkit.Eventually(t, "a roll with sara", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.rolls, "sara")
	})
	stop()
	testkit.Eventually(t, "the end of sara", func() bool { return slices.Equal(p.heard()[3:], []string{"ended sara"}) })
	if live(t, s, "live/sara") != nil {
		t.Error("who has gone is listed")
	}
	for _, secret := range []string{"of-sara", "of-omar", "s3cret"} {
		if lines.Count(secret) > 0 {
			t.Errorf("the log has a password:\n%s", lines)
		}
	}
}

// A killed nginx ends all that was published.
func TestEncodersEndWithNginx(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	p := &presenters{}
	start(t, dir, func(o *Options) { r.relay(o); p.options(o) })
	_, kill := r.nginx(t, nil)
	r.encoder(t, "studio?password=s3cret")
	testkit.Eventually(t, "the encoder to be told of", func() bool { return slices.Equal(p.heard(), []string{"published studio"}) })
	kill()
	testkit.Eventually(t, "its end", func() bool { return slices.Equal(p.heard(), []string{"published studio", "ended studio"}) })
}

// pull plays a moment as the live desk does.
func pull(t *testing.T, address string) error {
	t.Helper()
	out, err := proc.Output(t.Context(), proc.Spec{Name: "desk", Path: "ffmpeg", Args: []string{
		"-hide_banner", "-nostdin", "-loglevel", "error", "-rw_timeout", "10000000", "-probesize", "65536", "-analyzeduration", "500000",
		"-rtmp_live", "live", "-i", address, "-t", "0.5", "-ar", "48000", "-ac", "2", "-f", "s16le", "-",
	}}, 1<<20)
	if err == nil && len(out) < 48000*4*4/10 { // half a second, to a frame of AAC
		err = fmt.Errorf("%d bytes of audio", len(out))
	}
	return err
}

func TestWhoIsAskedAboutEncoders(t *testing.T) {
	unreachable := errors.New("connection refused")
	for _, c := range []struct {
		what, station string
		e             Encoder
		allowed       bool
		err           error
		asked         bool
		want          int
		says          string
	}{
		{"the station's own password", "s3cret", Encoder{Name: "x", Password: "s3cret"}, false, nil, false, 204, "encoder accepted"},
		{"a presenter", "s3cret", Encoder{Name: "x", Password: "mine"}, true, nil, true, 204, "encoder accepted"},
		{"a presenter of a station without a password", "", Encoder{Name: "x", Password: "mine"}, true, nil, true, 204, "encoder accepted"},
		{"a stranger", "s3cret", Encoder{Name: "x", Password: "guess"}, false, nil, true, 403, "the show begins at 20:00"},
		{"no password", "s3cret", Encoder{Name: "x"}, true, nil, false, 403, "no password"},
		{"no password anywhere", "", Encoder{Name: "x"}, true, nil, false, 403, "no password"},
		{"a wrong name", "s3cret", Encoder{Name: "../x", Password: "mine"}, true, nil, false, 403, "name: want"},
		{"nobody to ask", "s3cret", Encoder{Name: "x", Password: "mine"}, true, unreachable, true, 503, "unavailable"},
	} {
		log, lines := testkit.Log(t)
		asked := false
		s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "tcp:127.0.0.1:0", SourcePassword: secret.Of(c.station), Log: log,
			Admit: func(_ context.Context, e Encoder) (bool, string, error) {
				asked = true
				if e != c.e {
					t.Errorf("%s: asked about %+v", c.what, e)
				}
				return c.allowed, "the show begins at 20:00", c.err
			}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.ingest.decide(t.Context(), c.e, noon); got != c.want || asked != c.asked {
			t.Errorf("%s: %d, want %d; asked %v", c.what, got, c.want, asked)
		}
		if lines.Count(c.says) != 1 || c.e.Password != "" && lines.Count(c.e.Password) > 0 {
			t.Errorf("%s: the log:\n%s", c.what, lines)
		}
	}
}

// A refusal costs a try, whoever refuses; an answer that does not come costs none, and is
// waited for three seconds.
func TestTriesAreSpentOnRefusalsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(context.Context) (bool, error) { return true, nil }
		s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "tcp:127.0.0.1:0", SourcePassword: secret.Of("s3cret"),
			Admit: func(ctx context.Context, _ Encoder) (bool, string, error) {
				ok, err := answer(ctx)
				return ok, "", err
			}})
		if err != nil {
			t.Fatal(err)
		}
		try := func() int {
			return s.ingest.decide(t.Context(), Encoder{Name: "x", Password: "mine", From: "192.0.2.1"}, time.Now())
		}
		for range 3 * wrongAtOnce {
			if got := try(); got != 204 {
				t.Fatalf("a presenter is refused: %d", got)
			}
		}
		answer = func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }
		for range 3 * wrongAtOnce {
			begin := time.Now()
			if got := try(); got != 503 || time.Since(begin) != 3*time.Second {
				t.Fatalf("nobody answers: %d after %s", got, time.Since(begin))
			}
		}
		// Many at once are not more tries than one after another.
		time.Sleep(time.Minute)
		open := make(chan struct{})
		answer = func(context.Context) (bool, error) { <-open; return false, nil }
		results := make(chan int, 50)
		for range cap(results) {
			go func() { results <- try() }()
		}
		synctest.Wait()
		close(open)
		count := map[int]int{}
		for range cap(results) {
			count[<-results]++
		}
		if count[403] != wrongAtOnce || count[429] != cap(results)-wrongAtOnce {
			t.Errorf("fifty at once: %v", count)
		}
	})
}

// A guesser behind the same address keeps no presenter out, and guesses one a second. Once the
// tries of the address were spent, right secrets were refused too.
func TestARightSecretIsLetInFromAnAddressThatGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, together, most := 0, 0, 0
		var mu sync.Mutex
		g := newIngest(Options{SourcePassword: secret.Of("s3cret"), Log: slog.New(slog.DiscardHandler),
			Admit: func(_ context.Context, e Encoder) (bool, string, error) {
				mu.Lock()
				asked++
				together++
				most = max(most, together)
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
				mu.Lock()
				together--
				mu.Unlock()
				return e.Password == "mine", "unknown", nil
			}}, &counters{})
		try := func(password string) int {
			return g.decide(t.Context(), Encoder{Name: "x", Password: password, From: "192.0.2.1"}, time.Now())
		}
		for range wrongAtOnce {
			if got := try("guess"); got != 403 {
				t.Fatalf("a guess gets %d", got)
			}
		}
		for _, password := range []string{"mine", "s3cret"} {
			if got := try(password); got != 204 {
				t.Errorf("%q gets %d from an address that has spent its tries", password, got)
			}
		}
		mu.Lock()
		asked, most = 0, 0
		mu.Unlock()
		begin := time.Now()
		results := make(chan int, 20)
		for range cap(results) {
			go func() { results <- try("guess") }()
		}
		synctest.Wait()
		for range cap(results) {
			if got := <-results; got != 429 {
				t.Errorf("a guess beyond the tries gets %d", got)
			}
		}
		if most != 1 || asked > int(time.Since(begin)/wrongPause)+1 {
			t.Errorf("%d looked at in %s, %d at once", asked, time.Since(begin), most)
		}
		if got := try("mine"); got != 204 {
			t.Errorf("a right secret after them gets %d", got)
		}
	})
}

// What could not be told is told again, in the order of what is so, and what is over by
// then is not.
func TestWhatCouldNotBeToldIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		fail := true
		say := func(what string) func(context.Context, Encoder) error {
			return func(_ context.Context, e Encoder) error {
				mu.Lock()
				defer mu.Unlock()
				if fail {
					return errors.New("the control plane is away")
				}
				said = append(said, what+e.Name+e.ID)
				return nil
			}
		}
		log, lines := testkit.Log(t)
		teller := newTeller(Options{Published: say("+"), Ended: say("-"), Log: log})
		testkit.Background(t, func(ctx context.Context) error {
			if err := teller.run(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		a1, a2, b := Encoder{Name: "a", ID: "1"}, Encoder{Name: "a", ID: "2"}, Encoder{Name: "b", ID: "3"}
		teller.set([]Encoder{a1, b})
		synctest.Wait()
		teller.set([]Encoder{a1})
		synctest.Wait()
		told := func() []string {
			mu.Lock()
			defer mu.Unlock()
			fail = false
			return slices.Clone(said)
		}
		if got := told(); len(got) > 0 || lines.Count("cannot tell") != 1 {
			t.Errorf("told %q, the log:\n%s", got, lines)
		}
		time.Sleep(tellAgain)
		synctest.Wait()
		if got := told(); !slices.Equal(got, []string{"+a1"}) {
			t.Errorf("told again: %q", got)
		}
		teller.set([]Encoder{a2})
		synctest.Wait()
		teller.set(nil)
		synctest.Wait()
		if want := []string{"+a1", "-a1", "+a2", "-a2"}; !slices.Equal(told(), want) {
			t.Errorf("told %q, want %q", told(), want)
		}
	})
}

// nginx that is short of time has not lost its encoders; one that does not answer three
// times running, or is not there, has.
func TestStatisticsThatCannotBeReadEndNobodyAtOnce(t *testing.T) {
	const page = `<rtmp><server><application><name>live</name><live><stream><name>a</name><publishing/>` +
		`<client><id>7</id><address>192.0.2.1</address><publishing/></client></stream></live></application></server></rtmp>`
	var mu sync.Mutex
	status, asked := 200, 0
	set := func(to int) {
		mu.Lock()
		defer mu.Unlock()
		status, asked = to, 0
	}
	nginx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		w.WriteHeader(status)
		_, _ = w.Write([]byte(page))
	}))
	defer nginx.Close()
	s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "tcp:127.0.0.1:0", StatAddress: "tcp:" + nginx.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	published := func() []Encoder { now, _ := s.ingest.teller.state(); return now }
	on := func() bool { return slices.Equal(published(), []Encoder{{Name: "a", From: "192.0.2.1", ID: "7"}}) }
	client := s.ingest.client()
	client.Timeout = 0 // this machine may be held up
	defer client.CloseIdleConnections()
	missed := 0
	look := func() { missed = s.ingest.once(t.Context(), client, missed) }
	look()
	if !on() {
		t.Fatalf("published: %v", published())
	}
	set(500)
	look()
	look()
	if !on() {
		t.Error("two misses end an encoder")
	}
	set(200)
	look()
	set(500)
	look()
	look()
	if !on() {
		t.Error("misses are counted over a good answer")
	}
	if look(); len(published()) > 0 {
		t.Error("three misses end nobody")
	}
	set(200)
	if look(); !on() {
		t.Error("nobody is back")
	}
	nginx.Close()
	if look(); len(published()) > 0 {
		t.Error("an nginx that is not there has encoders")
	}
}

// nginx says of a refused encoder too that it is done, and its name is that of one who
// goes on.
func TestTheEndOfOneConnectionIsNotThatOfAnother(t *testing.T) {
	s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "tcp:127.0.0.1:0", SourcePassword: secret.Of("s3cret")})
	if err != nil {
		t.Fatal(err)
	}
	s.ingest.see([]pathItem{{Name: "live/a", Source: &pathPeer{ID: "7"}}})
	done := func(id string) int {
		form := url.Values{"name": {"a"}, "clientid": {id}, "addr": {"192.0.2.1"}}
		r := httptest.NewRequest(http.MethodPost, doneHook, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.ingest.hookHandler().ServeHTTP(w, r)
		return w.Code
	}
	if code := done("8"); code != 204 || len(s.ingest.items()) != 1 {
		t.Errorf("%d, %d listed: another's end took it away", code, len(s.ingest.items()))
	}
	if code := done("7"); code != 204 || len(s.ingest.items()) != 0 {
		t.Errorf("%d, %d listed after its end", code, len(s.ingest.items()))
	}
}

func TestAnEncodersPasswordIsNotPrinted(t *testing.T) {
	e := Encoder{Name: "sara", Password: "of-sara", From: "192.0.2.1", ID: "7"}
	log, lines := testkit.Log(t)
	log.Info("asked", "encoder", e, slog.Any("pointer", &e))
	if text := lines.String() + fmt.Sprint(e) + fmt.Sprintf("%v %+v %s", e, e, &e); strings.Contains(text, "of-sara") || !strings.Contains(text, "live/sara") {
		t.Error(text)
	}
}
