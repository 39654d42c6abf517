package api_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// openOutward opens push and webhooks, which send nothing by themselves here.
func (r *rig) openOutward(t *testing.T) {
	t.Helper()
	sender := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []fetch.PortRange{{From: 1, To: 65535}}})
	var err error
	r.push, err = webpush.Open(t.Context(), webpush.Options{
		Log: r.log, DB: r.db, Sender: sender, Station: "أثير", Lang: "ar", Zone: time.UTC,
		Artists: strings.Fields,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.hooks, err = webhooks.Open(t.Context(), webhooks.Options{Log: r.log, DB: r.db, Sender: sender, Events: []webhooks.Event{{Name: "track.change", Doc: "Something else is on air"}, {Name: "dead_air.raised", Doc: "It is silent"}}})
	if err != nil {
		t.Fatal(err)
	}
}

// The webhook and the message that the manual speaks of.
const (
	exampleHook     = "wh_3F7QZK2M5T4X6VNB"
	exampleDelivery = "msg_Q5J2YD7KXW3RA6ML"
)

// exampleHook makes them, and returns their names in the manual and here.
func (r *rig) exampleHook(t *testing.T) []string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	h, err := r.hooks.Add(t.Context(), webhooks.Order{URL: receiver.URL, Events: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.hooks.Test(t.Context(), h.ID)
	if err != nil {
		t.Fatal(err)
	}
	return []string{exampleHook, h.ID, exampleDelivery, d.ID}
}

// subscription is what a browser sends, with what is ours beside it.
func subscription(t *testing.T, path, ours string) string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	enc := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"endpoint":"https://push.example%s","expirationTime":null,"keys":{"p256dh":%q,"auth":%q,"new":1},"later":true%s}`,
		path, enc(key.PublicKey().Bytes()), enc(make([]byte, 16)), ours)
}

func TestABrowserSubscribesReadsBackAndLeaves(t *testing.T) {
	r := newRigWithKey(t, "open sesame")
	offer := r.json(t, "/api/subscribe")
	if offer["publicKey"] != r.push.PublicKey() || offer["enabled"] != true || len(offer["topics"].([]any)) != 4 {
		t.Errorf("%v", offer)
	}
	const quiet = `,"topics":["artist","live"],"artists":["فيروز"],"lang":"en","quiet":{"from":"23:00","to":"07:00","zone":"Africa/Cairo"}`
	want := `{"topics":["live","artist"],"artists":["فيروز"],"lang":"en","quiet":{"from":"23:00","to":"07:00","zone":"Africa/Cairo"}}`
	for range 2 { // the same endpoint again changes it
		if code, _, body := r.call(t, "POST", "/api/subscribe", subscription(t, "/1", quiet)); code != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%d %s", code, body)
		}
	}
	if code, _, body := r.call(t, "POST", "/api/subscribe/mine", `{"endpoint":"https://push.example/1"}`); code != 200 || strings.TrimSpace(body) != want {
		t.Errorf("%d %s", code, body)
	}
	for range 2 {
		if code, _, body := r.call(t, "DELETE", "/api/subscribe", `{"endpoint":"https://push.example/1"}`); code != 204 {
			t.Errorf("%d %s", code, body)
		}
	}
	if code, _, _ := r.call(t, "POST", "/api/subscribe/mine", `{"endpoint":"https://push.example/1"}`); code != 404 {
		t.Error(code)
	}
	for name, c := range map[string]struct {
		body, where string
	}{
		"private":  {strings.Replace(subscription(t, "/2", ""), "push.example", "10.0.0.1", 1), "body.endpoint"},
		"no https": {strings.Replace(subscription(t, "/2", ""), "https:", "http:", 1), "body.endpoint"},
		"key":      {strings.Replace(subscription(t, "/2", ""), `"p256dh":"B`, `"p256dh":"C`, 1), "body.keys.p256dh"},
		"topic":    {subscription(t, "/2", `,"topics":["lottery"]`), "body.topics[0]"},
		"quiet":    {subscription(t, "/2", `,"quiet":{"from":"24:00","to":"07:00"}`), "body.quiet.from"},
		"zone":     {subscription(t, "/2", `,"quiet":{"from":"23:00","to":"07:00","zone":"Atlantis"}`), "body.quiet.zone"},
	} {
		if code, _, body := r.call(t, "POST", "/api/subscribe", c.body); code != 422 || !strings.Contains(body, `"`+c.where+`"`) {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
}

func TestTheAlertTopicNeedsTheStationKey(t *testing.T) {
	r := newRigWithKey(t, "open sesame")
	body := subscription(t, "/1", `,"topics":["alert"]`)
	if code, h, _ := r.call(t, "POST", "/api/subscribe", body); code != 401 || h.Get("WWW-Authenticate") == "" {
		t.Error(code, h)
	}
	if code, _, _ := r.call(t, "POST", "/api/subscribe", body, "x-station-key", "open barley"); code != 401 {
		t.Error(code)
	}
	if code, _, text := r.call(t, "POST", "/api/subscribe", body, "x-station-key", "open sesame"); code != 200 {
		t.Error(code, text)
	}
}

func TestWebhooksAreKeptTestedAndShownWithoutTheirSecret(t *testing.T) {
	r := newRigWithKey(t, "k")
	got := make(chan http.Header, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { got <- req.Header }))
	t.Cleanup(receiver.Close)
	send := func(method, path, body string, want int) map[string]any {
		t.Helper()
		code, _, text := r.call(t, method, "/api/station/webhooks"+path, body, "x-station-key", "k")
		if code != want {
			t.Fatalf("%s %s: %d %s", method, path, code, text)
		}
		out := map[string]any{}
		_ = json.Unmarshal([]byte(text), &out)
		return out
	}
	if code, _, _ := r.call(t, "GET", "/api/station/webhooks", ""); code != 401 {
		t.Error("open to everyone:", code)
	}
	send("POST", "", `{"url":"http://192.168.0.1/","events":["*"]}`, 422)
	send("POST", "", `{"url":"`+receiver.URL+`","events":["track.left"]}`, 422)
	made := send("POST", "", `{"url":"`+receiver.URL+`","events":["track.change"]}`, 201)
	id := "/" + made["id"].(string)
	if secret := made["secret"].(string); !strings.HasPrefix(secret, "whsec_") {
		t.Error(made)
	}
	for _, doc := range []map[string]any{send("GET", id, "", 200), send("GET", "", "", 200)["webhooks"].([]any)[0].(map[string]any)} {
		if doc["secret"] != nil || doc["url"] != receiver.URL || doc["enabled"] != true {
			t.Error(doc)
		}
	}
	if d := send("POST", id+"/test", "", 200); d["state"] != "delivered" {
		t.Error(d)
	}
	if h := <-got; h.Get("Webhook-Signature") == "" {
		t.Error(h)
	}
	log := send("GET", id+"/deliveries?limit=1", "", 200)["deliveries"].([]any)
	if len(log) != 1 {
		t.Fatal(log)
	}
	one := "/" + log[0].(map[string]any)["id"].(string)
	if d := send("POST", id+"/deliveries"+one+"/redeliver", "", 200); d["state"] != "waiting" {
		t.Error(d)
	}
	if h := send("PUT", id, `{"enabled":false,"rotateSecret":true}`, 200); h["enabled"] != false || h["secret"] == nil || h["secret"] == made["secret"] || h["waiting"] != 0.0 {
		t.Error(h)
	}
	send("POST", id+"/deliveries"+one+"/redeliver", "", 409)
	send("POST", id+"/deliveries/none/redeliver", "", 409)
	send("DELETE", id, "", 204)
	for _, path := range []string{"", "/deliveries"} {
		send("GET", id+path, "", 404)
	}
	send("DELETE", id, "", 404)
}
