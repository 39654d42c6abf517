package webhooks_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/station"
)

// The vector of the Standard Webhooks reference libraries.
func TestSignaturesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	secret, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := webhooks.Sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAMessageArrivesSignedAtTheHooksThatWantIt(t *testing.T) {
	t.Parallel()
	x := receive(t, nil)
	h := open(t, options(database(t)))
	running(t, h)
	one := add(t, h, x.URL+"/one", "door.open")
	all := add(t, h, x.URL+"/all", "*")
	add(t, h, x.URL+"/none", "door.shut")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	queue(t, h, webhooks.Message{Event: "door.open", At: at, Data: map[string]string{"who": "<أم كلثوم>"}})
	states(t, h, one.ID)
	states(t, h, all.ID)
	secrets := map[string]string{"/one": one.Secret, "/all": all.Secret}
	ids := map[string]bool{}
	for _, g := range x.got() {
		ids[g.id] = true
		var body struct{ ID string }
		if err := json.Unmarshal([]byte(g.body), &body); err != nil || body.ID != g.id || !strings.HasPrefix(g.id, "msg_") {
			t.Errorf("%v: %s of %q", err, g.body, g.id)
		}
		if !g.signedBy(secrets[g.path]) || g.Type != "door.open" || g.Timestamp != "2026-01-02T03:04:05.006Z" || g.Station != "أثير" || string(g.Data) != `{"who":"<أم كلثوم>"}` {
			t.Errorf("%+v", g)
		}
		delete(secrets, g.path)
	}
	if len(secrets) != 0 || len(ids) != 2 {
		t.Errorf("nothing at %v; ids %v", secrets, ids)
	}
	// The secret is shown once.
	list, err := h.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatal(err, list)
	}
	for _, k := range list {
		if k.Secret != "" {
			t.Error("a list shows a secret")
		}
	}
}

// The path of a receiver is often all one needs to write to it: neither the log
// nor a note, which goes to the log, has it.
func TestAReceiversPathIsInNoLog(t *testing.T) {
	t.Parallel()
	x := receive(t, func(_ got, _ int, w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	log, lines := testkit.Log(t)
	o := options(database(t))
	o.Log, o.Pauses, o.Patience = log, []time.Duration{}, time.Nanosecond
	h := open(t, o)
	running(t, h)
	k := add(t, h, x.URL+"/services/a-secret-token", "*")
	queue(t, h, webhooks.Message{Event: "door.open", Data: 1})
	testkit.Eventually(t, "the hook is disabled", func() bool { return lines.Count("webhook disabled") > 0 })
	now, err := h.Find(t.Context(), k.ID)
	if err != nil || now.Enabled || strings.Contains(now.Note, "a-secret") {
		t.Errorf("%+v %v", now, err)
	}
	if lines.Count("a-secret") > 0 {
		t.Errorf("the log: %s", lines)
	}
}

// A receiver's faults, each with what becomes of the message and how often it is
// sent, at the pauses and time-outs of production. The receiver counts attempts of
// one message from 1.
func TestFaultyReceivers(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	status := func(code int) func(got, int, http.ResponseWriter, *http.Request) {
		return func(_ got, _ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for _, c := range []struct {
		name     string
		answer   func(g got, n int, w http.ResponseWriter, r *http.Request)
		state    string
		attempts int
		disabled bool
	}{
		{"mends itself", func(_ got, n int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(map[bool]int{true: 500, false: 200}[n < 3])
		}, "delivered", 3, false},
		{"stays broken", status(500), "failed", 7, false},
		{"refuses", status(404), "failed", 7, false},
		{"gone", status(410), "failed", 1, true},
		{"redirects", func(_ got, _ int, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				elsewhere.Add(1)
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "failed", 7, false},
		{"hangs once", func(_ got, n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				<-r.Context().Done()
			}
		}, "delivered", 2, false},
		{"breaks off once", func(_ got, n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
		}, "delivered", 2, false},
		{"talks nonsense once", func(_ got, n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				c, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
					_ = c.Close()
				}
			}
		}, "delivered", 2, false},
		{"wants a pause", func(_ got, n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}, "delivered", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, sender := inMemory(t, c.answer)
				o := options(database(t))
				o.Sender, o.Pauses = sender, nil
				h := open(t, o)
				running(t, h)
				k := add(t, h, "http://receiver.example/", "*")
				queue(t, h, webhooks.Message{Event: "door.open", Data: 1})
				if c.attempts == 7 {
					time.Sleep(7 * time.Hour)
				}
				time.Sleep(2 * time.Hour) // with those, longer than all pauses together
				all := states(t, h, k.ID)
				if len(all) != 1 || all[0].State != c.state || len(all[0].Attempts) != c.attempts {
					t.Fatalf("%+v", all)
				}
				for i, a := range all[0].Attempts {
					last := i == len(all[0].Attempts)-1 && c.state == "delivered"
					if (a.Error == "") != last || a.N != i+1 {
						t.Errorf("attempt %+v", a)
					}
				}
				ids := map[string]bool{}
				for _, g := range x.got() {
					ids[g.id] = true
					if !g.signedBy(k.Secret) {
						t.Errorf("not signed: %+v", g)
					}
				}
				if len(ids) != 1 {
					t.Errorf("one message under %d ids", len(ids))
				}
				wantPauses(t, c.name, all[0].Attempts)
				now, err := h.Find(t.Context(), k.ID)
				if err != nil || now.Enabled == c.disabled || (now.Note != "") != c.disabled {
					t.Errorf("%v %+v", err, now)
				}
				if (now.FailingSince != 0) == (c.state == "delivered") && !c.disabled {
					t.Errorf("failing since %d", now.FailingSince)
				}
			})
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// wantPauses holds the times of attempts against the pauses of production, which
// chance makes a tenth shorter or longer.
func wantPauses(t *testing.T, name string, attempts []webhooks.Attempt) {
	t.Helper()
	pauses := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}
	for i, a := range attempts[1:] {
		least, most := pauses[i]*9/10, pauses[i]*11/10
		switch name {
		case "wants a pause":
			least, most = time.Hour, time.Hour
		case "hangs once":
			least, most = least+10*time.Second, most+10*time.Second
		}
		const slack = 50 * time.Millisecond // times are kept in whole milliseconds
		if waited := time.Duration(a.At-attempts[i].At) * time.Millisecond; waited < least-slack || waited > most+slack {
			t.Errorf("attempt %d came %s after the one before, want %s to %s", a.N, waited, least, most)
		}
	}
}

func TestAFailingMessageHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	x := receive(t, func(g got, n int, w http.ResponseWriter, _ *http.Request) {
		if string(g.Data) == "0" && n < 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	o := options(database(t))
	o.Pauses = []time.Duration{300 * time.Millisecond, 300 * time.Millisecond}
	h := open(t, o)
	k := add(t, h, x.URL, "*")
	for i := range 20 {
		queue(t, h, webhooks.Message{Event: "door.open", Data: i})
	}
	running(t, h)
	for _, d := range states(t, h, k.ID) {
		if d.State != "delivered" {
			t.Errorf("%+v", d)
		}
	}
	// In order, but for the one that failed.
	var order []string
	for _, g := range x.got() {
		if string(g.Data) != "0" {
			order = append(order, string(g.Data))
		}
	}
	want := make([]string, 19)
	for i := range want {
		want[i] = fmt.Sprint(i + 1)
	}
	if got := strings.Join(order, " "); got != strings.Join(want, " ") {
		t.Error(got)
	}
}

func TestAHookThatFailsForDaysIsDisabledAndStartsAnew(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	x := receive(t, func(_ got, _ int, w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	var ahead atomic.Int64
	o := options(database(t))
	o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	h := open(t, o)
	running(t, h)
	k := add(t, h, x.URL, "*")
	fail := func() webhooks.Hook {
		t.Helper()
		queue(t, h, webhooks.Message{Event: "door.open"})
		states(t, h, k.ID)
		now, err := h.Find(t.Context(), k.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	if now := fail(); !now.Enabled || now.FailingSince == 0 {
		t.Errorf("%+v", now)
	}
	ahead.Store(int64(71 * time.Hour))
	if now := fail(); !now.Enabled {
		t.Errorf("%+v", now)
	}
	ahead.Store(int64(73 * time.Hour))
	now := fail()
	if now.Enabled || !strings.Contains(now.Note, "nothing has arrived since") || !strings.Contains(now.Note, "500") {
		t.Errorf("%+v", now)
	}
	before := len(x.got())
	queue(t, h, webhooks.Message{Event: "door.open"})
	last := states(t, h, k.ID)
	if _, err := h.Redeliver(t.Context(), k.ID, last[0].ID); !errors.Is(err, station.ErrConflict) {
		t.Error(err)
	}
	if len(x.got()) != before {
		t.Error("a disabled hook is told")
	}
	well.Store(true)
	yes := true
	if _, err := h.Change(t.Context(), k.ID, webhooks.Change{Enabled: &yes}); err != nil {
		t.Fatal(err)
	}
	if d, err := h.Redeliver(t.Context(), k.ID, last[0].ID); err != nil || d.ID != last[0].ID {
		t.Errorf("%v %+v", err, d)
	}
	all := states(t, h, k.ID)
	if all[0].State != "delivered" || len(all[0].Attempts) != 5 {
		t.Errorf("%+v", all[0])
	}
	if now, _ := h.Find(t.Context(), k.ID); !now.Enabled || now.Note != "" || now.FailingSince != 0 {
		t.Errorf("%+v", now)
	}
}

func TestTheQueueAndTheLogAreBounded(t *testing.T) {
	t.Parallel()
	x := receive(t, nil)
	o := options(database(t))
	o.MostWaiting, o.Kept = 5, 3
	h := open(t, o)
	k := add(t, h, x.URL, "*")
	for i := range 8 {
		queue(t, h, webhooks.Message{Event: "door.open", Data: i})
	}
	all, err := h.Deliveries(t.Context(), k.ID, "", 100)
	if err != nil || len(all) != 8 || all[7].State != "dropped" || all[4].State != "waiting" {
		t.Fatalf("%v %+v", err, all)
	}
	if now, err := h.Find(t.Context(), k.ID); err != nil || now.Waiting != 5 {
		t.Errorf("%v %+v", err, now)
	}
	running(t, h)
	states(t, h, k.ID)
	var data []string
	for _, g := range x.got() {
		data = append(data, string(g.Data))
	}
	if got := strings.Join(data, " "); got != "3 4 5 6 7" {
		t.Error(got)
	}
	if all, _ = h.Deliveries(t.Context(), k.ID, "", 100); len(all) != 3 {
		t.Errorf("%d messages in the log", len(all))
	}
	page, err := h.Deliveries(t.Context(), k.ID, all[0].ID, 1)
	if err != nil || len(page) != 1 || page[0].ID != all[1].ID {
		t.Errorf("%v %+v", err, page)
	}
	if err := h.Queue(t.Context(), webhooks.Message{Event: "door.open", Data: strings.Repeat("x", 70_000)}); err == nil {
		t.Error("data of any size is queued")
	}
}

func TestAMessageWithTheKeyOfTheNewestIsQueuedOnce(t *testing.T) {
	t.Parallel()
	x := receive(t, nil)
	db := database(t)
	h := open(t, options(db))
	k := add(t, h, x.URL, "*")
	for _, key := range []string{"a", "a", "b", "b"} {
		queue(t, h, webhooks.Message{Event: "door.open", Key: key, Data: key})
		queue(t, h, webhooks.Message{Event: "door.shut", Key: key, Data: key})
	}
	h = open(t, options(db)) // as after a restart
	queue(t, h, webhooks.Message{Event: "door.open", Key: "b", Data: "again"})
	all, err := h.Deliveries(t.Context(), k.ID, "", 100)
	if err != nil || len(all) != 4 {
		t.Errorf("%v %d messages", err, len(all))
	}
}

func TestWhatIsToldIsQueuedEvenAtTheEnd(t *testing.T) {
	t.Parallel()
	db := database(t)
	h := open(t, options(db))
	k := add(t, h, "http://127.0.0.1:1/", "*")
	for i := range 10 {
		h.Tell(webhooks.Message{Event: "door.open", Data: i})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Run(ctx); err != nil {
		t.Fatal(err)
	}
	now, err := open(t, options(db)).Find(t.Context(), k.ID)
	if err != nil || now.Waiting != 10 {
		t.Errorf("%v %+v", err, now)
	}
}

func TestASecretIsChangedWithoutALostMessage(t *testing.T) {
	t.Parallel()
	x := receive(t, nil)
	var ahead atomic.Int64
	o := options(database(t))
	o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	h := open(t, o)
	running(t, h)
	const own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	k, err := h.Add(t.Context(), webhooks.Order{URL: x.URL, Events: []string{"*"}, Secret: own})
	if err != nil || k.Secret != own {
		t.Fatal(err, k)
	}
	next, err := h.Change(t.Context(), k.ID, webhooks.Change{Rotate: true})
	if err != nil || next.Secret == "" || next.Secret == own {
		t.Fatal(err, next)
	}
	send := func() got {
		t.Helper()
		queue(t, h, webhooks.Message{Event: "door.open"})
		states(t, h, k.ID)
		all := x.got()
		return all[len(all)-1]
	}
	if g := send(); !g.signedBy(own) || !g.signedBy(next.Secret) {
		t.Errorf("%+v", g)
	}
	ahead.Store(int64(25 * time.Hour))
	if g := send(); g.signedBy(own) || !g.signedBy(next.Secret) {
		t.Errorf("%+v", g)
	}
}

func TestATestIsSentAtOnceAndTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	code := http.StatusOK
	x := receive(t, func(_ got, _ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	h := open(t, options(database(t))) // not running: a test needs no queue
	k := add(t, h, x.URL, "door.open")
	d, err := h.Test(t.Context(), k.ID)
	if err != nil || d.State != "delivered" || d.Attempts[0].Status != 200 || !x.got()[0].signedBy(k.Secret) || x.got()[0].Type != webhooks.TestEvent {
		t.Errorf("%v %+v", err, d)
	}
	code = 401
	if d, err = h.Test(t.Context(), k.ID); err != nil || d.State != "failed" || d.Attempts[0].Status != 401 {
		t.Errorf("%v %+v", err, d)
	}
	if all, err := h.Deliveries(t.Context(), k.ID, "", 10); err != nil || len(all) != 2 || all[0].State != "failed" {
		t.Errorf("%v %+v", err, all)
	}
}

func TestHooksThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	db := database(t)
	h := open(t, options(db))
	for _, o := range []webhooks.Order{
		{URL: "", Events: []string{"*"}},
		{URL: "ftp://example.org/", Events: []string{"*"}},
		{URL: "http://10.0.0.1/", Events: []string{"*"}},
		{URL: "http://[::1]/", Events: []string{"*"}},
		{URL: "https://example.org/" + strings.Repeat("x", 2000), Events: []string{"*"}},
		{URL: "https://example.org/"},
		{URL: "https://example.org/", Events: []string{"door.opened"}},
		{URL: "https://example.org/", Events: []string{"*"}, Secret: "whsec_c2hvcnQ="},
		{URL: "https://example.org/", Events: []string{"*"}, Secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	} {
		if _, err := h.Add(t.Context(), o); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	var last webhooks.Hook
	for range 32 {
		last = add(t, h, "https://example.org/", "door.open", "door.open")
	}
	if _, err := h.Add(t.Context(), webhooks.Order{URL: "https://example.org/", Events: []string{"*"}}); !errors.Is(err, station.ErrConflict) {
		t.Error(err)
	}
	bad := "http://192.168.1.1/"
	if _, err := h.Change(t.Context(), last.ID, webhooks.Change{URL: &bad}); !errors.Is(err, station.ErrInvalid) {
		t.Error(err)
	}
	if err := h.Remove(t.Context(), last.ID); err != nil {
		t.Error(err)
	}
	if err := h.Remove(t.Context(), last.ID); !errors.Is(err, station.ErrNotFound) {
		t.Error(err)
	}
	list, err := open(t, options(db)).List(t.Context())
	if err != nil || len(list) != 31 || len(list[0].Events) != 1 || list[0].URL != "https://example.org/" {
		t.Errorf("%v %d", err, len(list))
	}
}

// A name may lead anywhere, whatever it led to when the hook was made.
func TestANameThatLeadsInsideIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	x := receive(t, nil)
	o := options(database(t))
	o.Sender = pinned(func() net.IP { return net.IPv4(127, 0, 0, 2) })
	h := open(t, o)
	k := add(t, h, "http://harmless.example:8080/", "*")
	d, err := h.Test(t.Context(), k.ID)
	if err != nil || d.State != "failed" || !strings.Contains(d.Attempts[0].Error, "loopback") || len(x.got()) != 0 {
		t.Errorf("%v %+v", err, d)
	}
}
