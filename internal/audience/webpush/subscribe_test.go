package webpush_test

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

func TestSubscriptionsThatCannotBeAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		good := r.order("/a", webpush.Wishes{})
		point := func(change func([]byte) []byte) string {
			raw, _ := b64.DecodeString(good.P256dh)
			return b64.EncodeToString(change(raw))
		}
		many := make([]string, 51)
		for i := range many {
			many[i] = fmt.Sprint("artist ", i)
		}
		for name, change := range map[string]func(*webpush.Order){
			"no endpoint":       func(o *webpush.Order) { o.Endpoint = "" },
			"plain http":        func(o *webpush.Order) { o.Endpoint = "http://push.example/a" },
			"a private address": func(o *webpush.Order) { o.Endpoint = "https://192.168.1.1/a" },
			"another loopback":  func(o *webpush.Order) { o.Endpoint = "https://127.0.0.2/a" },
			"the metadata":      func(o *webpush.Order) { o.Endpoint = "https://169.254.169.254/latest" },
			"a disguise":        func(o *webpush.Order) { o.Endpoint = "https://2130706433/" },
			"long":              func(o *webpush.Order) { o.Endpoint = "https://push.example/" + strings.Repeat("x", 2000) },
			"no key":            func(o *webpush.Order) { o.P256dh = "" },
			"no point":          func(o *webpush.Order) { o.P256dh = point(func(b []byte) []byte { b[10] ^= 1; return b }) },
			"compressed point":  func(o *webpush.Order) { o.P256dh = point(func(b []byte) []byte { b[0] = 2 + b[64]&1; return b[:33] }) },
			"point at infinity": func(o *webpush.Order) { o.P256dh = "AA" },
			"no base64":         func(o *webpush.Order) { o.P256dh = "💥" },
			"short auth":        func(o *webpush.Order) { o.Auth = b64.EncodeToString(make([]byte, 15)) },
			"long auth":         func(o *webpush.Order) { o.Auth = b64.EncodeToString(make([]byte, 17)) },
			"expired":           func(o *webpush.Order) { o.Expires = r.now().UnixMilli() - 1 },
			"a strange topic":   func(o *webpush.Order) { o.Topics = []webpush.Topic{"lottery"} },
			"artist without":    func(o *webpush.Order) { o.Topics = []webpush.Topic{webpush.Artist} },
			"too many artists":  func(o *webpush.Order) { o.Artists = many },
			"a long artist":     func(o *webpush.Order) { o.Artists = []string{strings.Repeat("x", 201)} },
			"an empty artist":   func(o *webpush.Order) { o.Artists = []string{"\u200f"} },
			"a strange tongue":  func(o *webpush.Order) { o.Lang = "fr" },
			"no time":           func(o *webpush.Order) { o.Quiet = &webpush.Quiet{From: "25:00", To: "07:00"} },
			"a loose time":      func(o *webpush.Order) { o.Quiet = &webpush.Quiet{From: "3:00", To: "07:00"} },
			"no span":           func(o *webpush.Order) { o.Quiet = &webpush.Quiet{From: "07:00", To: "07:00"} },
			"a strange zone":    func(o *webpush.Order) { o.Quiet = &webpush.Quiet{From: "01:00", To: "07:00", Zone: "../../etc/passwd"} },
		} {
			o := good
			change(&o)
			if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, o); !errors.Is(err, station.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s := r.stats(); s.Subscriptions != 0 {
			t.Errorf("%d kept", s.Subscriptions)
		}
		padded := good
		raw, _ := b64.DecodeString(good.Auth)
		padded.Auth = base64.URLEncoding.EncodeToString(raw)
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, padded); err != nil {
			t.Error("padding is refused:", err)
		}
	})
}

func TestSubscribingAgainChangesTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		first := webpush.Wishes{
			Topics: []webpush.Topic{webpush.Artist, webpush.Live, webpush.Live}, Artists: []string{"Fairuz", "عمرو دياب"}, Lang: "en",
			Quiet: &webpush.Quiet{From: "23:00", To: "07:05", Zone: "Africa/Cairo"},
		}
		r.subscribe("/a", first)
		first.Topics = []webpush.Topic{webpush.Live, webpush.Artist}
		got, err := r.push.Wishes(t.Context(), webpush.Client{}, r.URL+"/a")
		if err != nil || !reflect.DeepEqual(got, first) {
			t.Errorf("%v %+v", err, got)
		}
		r.subscribe("/a", webpush.Wishes{Artists: []string{"Angham"}, Topics: []webpush.Topic{webpush.Artist}}) // with new keys
		if s := r.stats(); s.Subscriptions != 2 {
			t.Errorf("%d subscriptions", s.Subscriptions)
		}
		if got := r.told(webpush.Notice{Topic: webpush.Live}); len(got) != 0 {
			t.Error("told of what it no longer wants")
		}
		if got := r.told(webpush.Notice{Topic: webpush.Artist, Artist: "Fairuz"}); len(got) != 0 {
			t.Error("told of a former favourite")
		}
		if got := r.told(webpush.Notice{Topic: webpush.Artist, Artist: "angham"}); len(got) != 1 || got[0].Lang != "ar" {
			t.Errorf("%+v", got)
		}
		for range 2 { // what is forgotten may be forgotten again
			if err := r.push.Unsubscribe(t.Context(), r.URL+"/a"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.push.Wishes(t.Context(), webpush.Client{}, r.URL+"/a"); !errors.Is(err, station.ErrNotFound) {
			t.Error(err)
		}
		var left int
		if err := r.db.Read().QueryRow(`SELECT count(*) FROM push_artists`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%v: %d favourites of nobody", err, left)
		}
	})
}

func TestAlertsAreForOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		o := r.order("/a", webpush.Wishes{Topics: []webpush.Topic{webpush.Live, webpush.Alert}})
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, o); !errors.Is(err, station.ErrUnauthentic) {
			t.Error(err)
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{Staff: true}, o); err != nil {
			t.Error(err)
		}
	})
}

func TestSubscriptionsAreBoundedPerAddressAndInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *webpush.Options) { o.Most = 25 })
		var limit *client.LimitError
		n := 0
		for ; n < 30; n++ {
			_, err := r.push.Subscribe(t.Context(), webpush.Client{Address: "192.0.2.1"}, r.order(fmt.Sprint("/a", n), webpush.Wishes{}))
			if errors.As(err, &limit) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n != 20 || limit.RetryAfter <= 0 {
			t.Errorf("%d at once, then %v", n, limit)
		}
		if _, err := r.push.Wishes(t.Context(), webpush.Client{Address: "192.0.2.1"}, "https://push.example/guess"); !errors.As(err, &limit) {
			t.Error("endpoints can be guessed without end:", err)
		}
		var err error
		for i := 0; i < 10 && err == nil; i++ {
			_, err = r.push.Subscribe(t.Context(), webpush.Client{}, r.order(fmt.Sprint("/b", i), webpush.Wishes{}))
		}
		if s := r.stats(); !errors.Is(err, station.ErrUnavailable) || s.Subscriptions != 25 {
			t.Errorf("%v with %d", err, s.Subscriptions)
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, r.order("/a0", webpush.Wishes{})); err != nil {
			t.Error("one that is there cannot be changed:", err)
		}
	})
}

func TestAnExpiredSubscriptionIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t)
		o := r.order("/a", webpush.Wishes{})
		o.Expires = r.now().Add(time.Hour).UnixMilli()
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, o); err != nil {
			t.Fatal(err)
		}
		r.later(2 * time.Hour)
		if got := r.told(webpush.Notice{Topic: webpush.Live}); len(got) != 0 || r.stats().Subscriptions != 1 {
			t.Errorf("%s, %+v", paths(got), r.stats())
		}
	})
}

// Anybody may name a host that has nothing to do with push: the station must not
// be made to send to it as often as somebody wants.
func TestAStrangersHostIsSentToSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		order := func(endpoint string) webpush.Order {
			o := r.order("/x", webpush.Wishes{})
			o.Endpoint = endpoint
			return o
		}
		var limit *client.LimitError
		n := 0
		for ; n < 20 && limit == nil; n++ {
			_, err := r.push.Subscribe(t.Context(), webpush.Client{Address: "192.0.2.1"}, order(fmt.Sprintf("https://v%d.victim.example.org/", n)))
			if err != nil && !errors.As(err, &limit) {
				t.Fatal(err)
			}
		}
		if n != 6 || limit == nil || limit.RetryAfter < 30*time.Minute {
			t.Errorf("%d by one address, then %v", n, limit)
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{Address: "192.0.2.1"}, order("https://v1.victim.example.org/")); err != nil {
			t.Error("one of its own cannot be changed:", err)
		}
		fill := func(endpoint func(i int) string) (n int) {
			for ; n < 2000; n++ {
				if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, order(endpoint(n))); err != nil {
					if !errors.Is(err, station.ErrUnavailable) {
						t.Fatal(err)
					}
					break
				}
			}
			return n
		}
		if n := fill(func(i int) string { return fmt.Sprintf("https://w%d.victim.example.org:443/%d", i, i) }); n != 95 {
			t.Errorf("%d more for one domain", n)
		}
		if n := fill(func(i int) string { return fmt.Sprintf("https://8.8.8.8/%d", i) }); n != 100 {
			t.Errorf("%d for one address", n)
		}
		// Hundreds of domains, each of them somebody's.
		err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `WITH RECURSIVE i (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM i WHERE i < 797)
			INSERT INTO push_subscriptions (hash, endpoint, p256dh, auth, expires, topics, artists, lang, quiet_from, quiet_to, zone, created, updated, artist_at, failures, failing, stranger)
			SELECT CAST('h' || i AS BLOB), endpoint, p256dh, auth, expires, topics, artists, lang, 0, 0, '', 0, 0, 0, 0, 0, 's' || i || '.example' FROM i, push_subscriptions WHERE n = 1`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := fill(func(i int) string { return fmt.Sprintf("https://a%d.duckdns.org/", i) }); n != 3 {
			t.Errorf("%d more for all of them", n)
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, order("https://v1.victim.example.org/")); err != nil {
			t.Error("one that is there cannot be changed:", err)
		}
		for _, endpoint := range []string{
			"https://fcm.googleapis.com/fcm/send/x", "https://updates.push.services.mozilla.com/wpush/v2/x", "https://wns2-par02p.notify.windows.com/w/?token=x",
			"https://web.push.apple.com/x", r.URL + "/y",
		} {
			for range 6 {
				if _, err := r.push.Subscribe(t.Context(), webpush.Client{Address: "192.0.2.2"}, order(endpoint)); err != nil && !errors.As(err, &limit) {
					t.Errorf("%s: %v", endpoint, err)
				}
			}
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, order("https://evil-push.apple.com.example.net/")); !errors.Is(err, station.ErrUnavailable) {
			t.Error("what only looks like a service is one:", err)
		}
	})
}

func TestAStrangerThatRefusesTwiceIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withOperator(t, func(o *webpush.Options) { o.Services = nil })
		r.subscribe("/a", webpush.Wishes{})
		r.answer = func(path string, _ int, w http.ResponseWriter, _ *http.Request) bool {
			if path == "/a" {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return path == "/a"
		}
		for want := range 2 {
			r.later(time.Hour)
			r.push.Notify(webpush.Notice{Topic: webpush.Live})
			r.eventually("it is asked", func() bool { return r.count("/a") == want+1 })
			r.eventually("it is known to have failed", func() bool { return want == 1 || r.stats().Failed == 1 })
			if want == 0 && r.stats().Subscriptions != 2 {
				t.Error("forgotten at once")
			}
		}
		r.eventually("it is forgotten", func() bool { return r.stats().Subscriptions == 1 })
		if n := r.count("/a"); n != 2 {
			t.Errorf("it was sent %d messages", n)
		}
	})
}
