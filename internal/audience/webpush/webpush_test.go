package webpush_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/audience/webpush"
)

func decode(t *testing.T, s string) []byte {
	t.Helper()
	out, err := b64.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// RFC 8291, section 5 and appendix A.
func TestTheMessageOfRFC8291IsReproduced(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := decode(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
	auth, salt := decode(t, "BTBZMqHH6r4Tts7J_aSIgg"), decode(t, "DGv6ra1nlYgDCS1FRnbzlw")
	got, err := webpush.SealWith([]byte("When I grow up, I want to be a watermelon"), theirs, auth, own, salt)
	if err != nil {
		t.Fatal(err)
	}
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_" +
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if b64.EncodeToString(got) != want {
		t.Errorf("%s\nwant %s", b64.EncodeToString(got), want)
	}
	key, err := ecdh.P256().NewPrivateKey(decode(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := (&browser{key: key, auth: auth}).open(decode(t, want))
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("the test's own browser reads %q, %v", text, err)
	}
}

func TestTheLongestMessageFitsAPushService(t *testing.T) {
	b := newBrowser(t, "/")
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("x"), webpush.MostText)
	body, err := webpush.SealWith(text, b.key.PublicKey().Bytes(), b.auth, own, make([]byte, 16))
	if err != nil || len(body) != 4096 || webpush.MostText != 3993 {
		t.Fatalf("%d bytes of %d: %v", len(body), webpush.MostText, err)
	}
	if got, err := b.open(body); err != nil || !bytes.Equal(got, text) {
		t.Error(err)
	}
	if _, err := webpush.SealWith(append(text, 'x'), b.key.PublicKey().Bytes(), b.auth, own, make([]byte, 16)); err == nil {
		t.Error("a longer one is sealed")
	}
}

func TestEachTopicReachesThoseWhoWantItInTheirLanguage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		r.subscribe("/live-ar", webpush.Wishes{})
		r.subscribe("/live-en", webpush.Wishes{Topics: []webpush.Topic{webpush.Live}, Lang: "en"})
		r.subscribe("/artist", webpush.Wishes{Topics: []webpush.Topic{webpush.Artist}, Artists: []string{"Fairuz", "Sherine"}, Lang: "en"})
		r.subscribe("/other", webpush.Wishes{Topics: []webpush.Topic{webpush.Artist}, Artists: []string{"Angham"}})
		r.subscribe("/bulletin", webpush.Wishes{Topics: []webpush.Topic{webpush.Bulletin}})
		for _, c := range []struct {
			notice webpush.Notice
			paths  string
			ttl    time.Duration
			want   letter
		}{
			{
				webpush.Notice{Topic: webpush.Live, Key: "1", Title: "سهرة\u202e الخميس\n"}, "/live-ar /live-en", 30 * time.Minute,
				letter{urgency: "high", topic: "live", Message: webpush.Message{
					Title: "أثير على الهواء مباشرة الآن", Body: "سهرة الخميس", Tag: "live", URL: "/", Icon: "/icon.png", Lang: "ar", Dir: "rtl",
				}},
			},
			{
				webpush.Notice{Topic: webpush.Artist, Key: "2", Artist: "Amr & FAIRUZ", Title: "Nassam"}, "/artist", 3 * time.Minute,
				letter{urgency: "normal", topic: "artist", Message: webpush.Message{
					Title: "Amr & FAIRUZ is on أثير now", Body: "Nassam", Tag: "artist", URL: "/", Icon: "/icon.png", Lang: "en", Dir: "ltr",
				}},
			},
			{
				webpush.Notice{Topic: webpush.Bulletin, Key: "3"}, "/bulletin", time.Hour,
				letter{urgency: "low", topic: "bulletin", Message: webpush.Message{
					Title: "النشرة الآن على أثير", Body: "اضغط للاستماع", Tag: "bulletin", URL: "/", Icon: "/icon.png", Lang: "ar", Dir: "rtl",
				}},
			},
			{
				webpush.Notice{Topic: webpush.Alert, Key: "4", Problem: "silence", URL: "/studio"}, "/operator", 24 * time.Hour,
				letter{urgency: "high", topic: "alert", Message: webpush.Message{
					Title: "إنذار: أثير", Body: "صمت على الهواء", Tag: "alert", URL: "/studio", Icon: "/icon.png", Lang: "ar", Dir: "rtl",
				}},
			},
		} {
			c.notice.At = r.now()
			got := r.told(c.notice)
			if paths(got) != c.paths {
				t.Errorf("%s reached %q, want %q", c.notice.Topic, paths(got), c.paths)
				continue
			}
			first := got[0]
			if first.ttl > int(c.ttl.Seconds()) || first.ttl < int(c.ttl.Seconds())-60 {
				t.Errorf("%s: TTL %d s", c.notice.Topic, first.ttl)
			}
			c.want.path, c.want.ttl, c.want.jwt, c.want.At = first.path, first.ttl, first.jwt, c.notice.At.UnixMilli()
			if first != c.want {
				t.Errorf("%+v\nwant %+v", first, c.want)
			}
		}
		tokens := map[string]bool{}
		for _, l := range r.letters() {
			tokens[l.jwt] = true
		}
		if len(tokens) != 1 {
			t.Errorf("%d signatures for one service", len(tokens))
		}
		r.later(7 * time.Hour)
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "5"}); len(got) != 2 || tokens[got[0].jwt] {
			t.Error("a signature is used for too long")
		}
	})
}

func TestANoticeIsToldOnceOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		r.subscribe("/a", webpush.Wishes{})
		key := r.push.PublicKey()
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "one"}); len(got) != 1 {
			t.Error(paths(got))
		}
		r.stop()
		r.open()
		if r.push.PublicKey() != key {
			t.Fatal("another key after a restart: every subscription is lost")
		}
		r.run()
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "one"}); len(got) != 0 {
			t.Error("told again after a restart:", paths(got))
		}
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "two"}); len(got) != 0 {
			t.Error("an encoder that flaps is told of each time:", paths(got))
		}
		r.later(6 * time.Minute)
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "three"}); len(got) != 1 {
			t.Error(paths(got))
		}
		r.later(6 * time.Minute)
		if got := r.told(webpush.Notice{Topic: webpush.Live, Key: "four", At: r.now().Add(-31 * time.Minute)}); len(got) != 0 {
			t.Error("what is long past is told:", paths(got))
		}
	})
}

func TestAnArtistIsToldAtMostOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		r.subscribe("/a", webpush.Wishes{Artists: []string{"Fairuz"}})
		air := func(key string) int {
			return len(r.told(webpush.Notice{Topic: webpush.Artist, Key: key, Artist: "Fairuz"}))
		}
		if n := air("1"); n != 1 {
			t.Error(n)
		}
		r.later(29 * time.Minute)
		if n := air("2"); n != 0 {
			t.Error("told again within half an hour")
		}
		r.later(2 * time.Minute)
		if n := air("3"); n != 1 {
			t.Error(n)
		}
	})
}

func TestQuietHoursAreThoseOfTheSubscribersZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		at := r.now().In(time.UTC)
		clock := func(d time.Duration) string { return at.Add(d).Format("15:04") }
		all := []webpush.Topic{webpush.Live, webpush.Alert}
		r.subscribe("/asleep", webpush.Wishes{Topics: all, Quiet: &webpush.Quiet{From: clock(-2 * time.Hour), To: clock(2 * time.Hour)}})
		r.subscribe("/awake", webpush.Wishes{Topics: all, Quiet: &webpush.Quiet{From: clock(2 * time.Hour), To: clock(4 * time.Hour)}})
		// The same hours, of clocks that stand nine hours further on (no summer time).
		r.subscribe("/tokyo", webpush.Wishes{Topics: all, Quiet: &webpush.Quiet{From: clock(-2 * time.Hour), To: clock(2 * time.Hour), Zone: "Asia/Tokyo"}})
		r.subscribe("/tokyo-asleep", webpush.Wishes{Topics: all, Quiet: &webpush.Quiet{From: clock(7 * time.Hour), To: clock(11 * time.Hour), Zone: "Asia/Tokyo"}})
		if got := paths(r.told(webpush.Notice{Topic: webpush.Live, Key: "1"})); got != "/awake /tokyo" {
			t.Error(got)
		}
		if got := paths(r.told(webpush.Notice{Topic: webpush.Alert, Key: "2"})); got != "/asleep /awake /operator /tokyo /tokyo-asleep" {
			t.Error("an alert wakes", got)
		}
	})
}

func TestQuietHoursMayCrossMidnight(t *testing.T) {
	for _, c := range []struct {
		from, to, at int
		want         bool
	}{
		{0, 0, 0, false}, {60, 60, 60, false},
		{60, 120, 59, false}, {60, 120, 60, true}, {60, 120, 119, true}, {60, 120, 120, false},
		{1380, 420, 1379, false}, {1380, 420, 1380, true}, {1380, 420, 0, true}, {1380, 420, 419, true}, {1380, 420, 420, false},
	} {
		if got := webpush.Quiets(c.from, c.to, time.Date(2026, 1, 1, 0, c.at, 30, 0, time.UTC)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The faults of push services, each with how often it is asked and what is left.
func TestFaultyPushServices(t *testing.T) {
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	for _, c := range []struct {
		name   string
		faults int // attempts that fail; the next is taken
		fault  func(http.ResponseWriter, *http.Request)
		asked  int
		stats  webpush.Stats
	}{
		{"gone", 9, status(410), 1, webpush.Stats{Pruned: 1}},
		{"unknown", 9, status(404), 1, webpush.Stats{Pruned: 1}},
		{"breaks once", 1, status(500), 2, webpush.Stats{Subscriptions: 1, Sent: 1}},
		{"stays broken", 9, status(502), 3, webpush.Stats{Subscriptions: 1, Failed: 1}},
		{"busy", 1, status(429, "Retry-After", "60"), 2, webpush.Stats{Subscriptions: 1, Sent: 1}},
		{"down for an hour", 9, status(503, "Retry-After", "3600"), 1, webpush.Stats{Subscriptions: 1, Failed: 1}},
		{"refuses the key", 9, status(403), 1, webpush.Stats{Subscriptions: 1, Failed: 1}},
		{"too large once", 1, status(413), 2, webpush.Stats{Subscriptions: 1, Sent: 1}},
		{"too large always", 9, status(413), 2, webpush.Stats{Subscriptions: 1, Failed: 1}},
		{"leads elsewhere", 9, status(307, "Location", "/elsewhere"), 1, webpush.Stats{Subscriptions: 1, Failed: 1}},
		{"hangs once", 1, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 2, webpush.Stats{Subscriptions: 1, Sent: 1}},
		{"cuts the line once", 1, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2, webpush.Stats{Subscriptions: 1, Sent: 1}},
		{"talks nonsense", 9, func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_, _ = c.Write([]byte("+OK ready\r\n\r\n"))
				_ = c.Close()
			}
		}, 3, webpush.Stats{Subscriptions: 1, Failed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.answer = func(path string, n int, w http.ResponseWriter, req *http.Request) bool {
					if path == "/a" && n <= c.faults {
						c.fault(w, req)
						return true
					}
					return path != "/a" // elsewhere
				}
				r.run()
				r.subscribe("/a", webpush.Wishes{})
				begin := time.Now()
				r.push.Notify(webpush.Notice{Topic: webpush.Live, Title: strings.Repeat("طويل ", 200)})
				r.eventually("it is over", func() bool { s := r.stats(); return s.Sent+s.Failed+s.Dropped+s.Pruned == 1 })
				if got := r.stats(); got != c.stats || r.count("/a") != c.asked || r.count("/elsewhere") != 0 {
					t.Errorf("%+v after %d requests", got, r.count("/a"))
				}
				if after := time.Since(begin); c.name == "busy" && (after < time.Minute || after > 61*time.Second) {
					t.Errorf("Retry-After of a minute: sent again after %s", after)
				}
				if c.name == "too large once" && (r.letters()[0].Body != "" || r.letters()[0].Icon != "" || r.letters()[0].Title == "") {
					t.Errorf("%+v", r.letters()[0])
				}
			})
		})
	}
}

// The path of an endpoint is all one needs to push to its owner.
func TestNoEndpointIsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log strings.Builder
		r := newRig(t)
		r.opt.Log = slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			log.Write(line)
			return r.Write(line)
		}), &slog.HandlerOptions{Level: slog.LevelDebug}))
		r.answer = func(string, int, http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
		r.open()
		r.run()
		const secret = "/push/a-secret-of-its-owner"
		r.subscribe(secret+strings.Repeat("x", 300), webpush.Wishes{})
		r.subscribe(secret, webpush.Wishes{})
		r.told(webpush.Notice{Topic: webpush.Live})
		mu.Lock()
		defer mu.Unlock()
		if text := log.String(); !strings.Contains(text, "push message not delivered") || strings.Contains(text, "a-secret") {
			t.Errorf("the log: %s", text)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(line []byte) (int, error) { return f(line) }

func TestABusyServiceIsLeftAloneForAllItsSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		r.answer = func(path string, n int, w http.ResponseWriter, _ *http.Request) bool {
			if path == "/a" && n == 1 {
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}
			return false
		}
		r.subscribe("/a", webpush.Wishes{})
		r.subscribe("/b", webpush.Wishes{})
		begin := time.Now()
		r.push.Notify(webpush.Notice{Topic: webpush.Live})
		r.eventually("both came", func() bool { return len(r.letters()) == 2 })
		if after := time.Since(begin); after < time.Minute || after > 61*time.Second || r.count("/b") != 1 {
			t.Errorf("%d requests for the other, after %s", r.count("/b"), after)
		}
	})
}

func TestASubscriptionThatFailsForWeeksIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		r.subscribe("/a", webpush.Wishes{})
		broken := true
		r.answer = func(path string, _ int, w http.ResponseWriter, _ *http.Request) bool {
			if path == "/a" && broken {
				w.WriteHeader(http.StatusBadRequest)
			}
			return path == "/a" && broken
		}
		live := func(times int) int {
			for range times {
				r.later(40 * time.Hour)
				r.told(webpush.Notice{Topic: webpush.Live})
			}
			return r.stats().Subscriptions
		}
		if n := live(8); n != 2 {
			t.Error(n)
		}
		broken = false
		live(1) // taken: it counts from the start again
		broken = true
		if n := live(9); n != 2 {
			t.Error(n)
		}
		live(2)
		r.eventually("it is forgotten", func() bool { return r.stats().Subscriptions == 1 })
	})
}

func TestNobodyWhoGivesANoticeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t) // not running
		for range 100 {
			r.push.Notify(webpush.Notice{Topic: webpush.Alert})
		}
		if n := r.stats().Dropped; n != 36 {
			t.Errorf("%d dropped", n)
		}
	})
}

func TestTextsFromOutsideAreOnePlainLine(t *testing.T) {
	for in, want := range map[string]string{
		"أغنية":                    "أغنية",
		"\ta\r\n\tb\n":             "a   b",
		"a\u202eb\u2066c\u200fd":   "abcd",
		"می\u200cخواهم":            "می\u200cخواهم",
		"👩\u200d🎤":                 "👩\u200d🎤",
		"bad\xff":                  "bad",
		strings.Repeat("ط", 100):   strings.Repeat("ط", 23) + "…",
		strings.Repeat("x\x00", 9): "xxxxxxxxx",
	} {
		if got := webpush.Plain(in, 50); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAnAlertWaitsBehindNoCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t, func(o *webpush.Options) { o.Timeout = time.Minute })
		hang := make(chan struct{})
		r.answer = func(path string, _ int, _ http.ResponseWriter, _ *http.Request) bool {
			if path == "/a" {
				<-hang
			}
			return false
		}
		r.subscribe("/a", webpush.Wishes{})
		r.subscribe("/b", webpush.Wishes{})
		r.push.Notify(webpush.Notice{Topic: webpush.Live})
		r.eventually("the only worker hangs", func() bool { return r.count("/a") == 1 })
		r.push.Notify(webpush.Notice{Topic: webpush.Alert, Problem: "gone"})
		r.eventually("the operator knows", func() bool { return len(r.letters()) == 1 })
		close(hang)
		r.eventually("the crowd knows", func() bool { return len(r.letters()) == 3 })
	})
}

func TestThoseWhoseServiceFailsComeLastAndAreTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		var mu sync.Mutex
		var order []string
		r.answer = func(path string, _ int, w http.ResponseWriter, _ *http.Request) bool {
			mu.Lock()
			order = append(order, path)
			mu.Unlock()
			if path == "/bad" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			return path == "/bad"
		}
		r.subscribe("/bad", webpush.Wishes{})
		r.subscribe("/good", webpush.Wishes{})
		r.told(webpush.Notice{Topic: webpush.Live})
		r.later(time.Hour)
		r.told(webpush.Notice{Topic: webpush.Live})
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(order[len(order)-2:], " "); got != "/good /bad" || len(order) != 6 {
			t.Error(order)
		}
	})
}
