package webpush_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

func TestSubscriptionsThatCannotBeAreRefused(t *testing.T) {
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
}

func TestSubscribingAgainChangesTheSubscription(t *testing.T) {
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
}

func TestAlertsAreForOperators(t *testing.T) {
	r := newRig(t)
	o := r.order("/a", webpush.Wishes{Topics: []webpush.Topic{webpush.Live, webpush.Alert}})
	if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, o); !errors.Is(err, station.ErrUnauthentic) {
		t.Error(err)
	}
	if _, err := r.push.Subscribe(t.Context(), webpush.Client{Staff: true}, o); err != nil {
		t.Error(err)
	}
}

func TestSubscriptionsAreBoundedPerAddressAndInAll(t *testing.T) {
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
}

func TestAnExpiredSubscriptionIsNotUsed(t *testing.T) {
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
}
