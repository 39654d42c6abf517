package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const path = "/api/webhooks/123/secret-of-the-webhook"

// discord answers as the API of webhooks does: 204 without a body, 404 for another address,
// 400 for a text that is too long, and what a test sets.
type discord struct {
	*httptest.Server
	code   int
	answer string
	header http.Header
	got    []order
}

func newDiscord(t *testing.T) *discord {
	t.Helper()
	s := &discord{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say := func(code int, body string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
		var got order
		switch err := json.NewDecoder(r.Body).Decode(&got); {
		case r.URL.Path != path || r.Method != http.MethodPost:
			say(404, `{"message":"Unknown Webhook","code":10015}`)
		case s.code != 0:
			for name, value := range s.header {
				w.Header()[name] = value
			}
			say(s.code, s.answer)
		case err != nil || len([]rune(got.Content)) > longest || got.Content == "":
			say(400, `{"content":["Must be 2000 or fewer in length."]}`)
		default:
			s.got = append(s.got, got)
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func sender() *fetch.Client {
	return fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

var alarmed = alarm.Message{Subject: "[أثير] إنذار", Text: "صمت على الهواء @everyone"}

// What was found may name everybody, and calls nobody.
func TestAMessageMentionsNobody(t *testing.T) {
	s := newDiscord(t)
	if err := Receiver(sender(), s.URL+path).Send(t.Context(), alarmed); err != nil {
		t.Fatal(err)
	}
	if len(s.got) != 1 || s.got[0].Content != alarmed.Subject+"\n\n"+alarmed.Text || s.got[0].Mentions.Parse == nil || len(s.got[0].Mentions.Parse) != 0 {
		t.Errorf("%+v", s.got)
	}
}

// Each refusal has its words and remedy; none shows the address, which is the key.
func TestRefusalsAreNamedWithTheirRemedy(t *testing.T) {
	for _, c := range []struct {
		what             string
		code             int
		answer           string
		header           http.Header
		address          string
		lasting, perhaps bool
		after            time.Duration
		why, remedy      string
	}{
		{"too many, by the body", 429, `{"message":"You are being rate limited.","retry_after":1.5,"global":false}`, nil, "", false, false, 1500 * time.Millisecond, "429", ""},
		{"too many, by the header", 429, "error code: 1015", http.Header{"Retry-After": {"65"}}, "", false, false, 65 * time.Second, "429", ""},
		{"no such webhook", 0, "", nil, "/api/webhooks/123/secret-other", true, false, 0, "Unknown Webhook", "alarms.discord.url"},
		{"another token", 401, `{"message":"Invalid Webhook Token","code":50027}`, nil, "", true, false, 0, "50027", "alarms.discord.url"},
		{"moved", 301, "", http.Header{"Location": {"https://discord.com"}}, "", true, false, 0, "301", "alarms.discord.url"},
		{"a text that it does not take", 400, `{"message":"Invalid Form Body","code":50035}`, nil, "", true, false, 0, "50035", ""},
		{"ill", 503, "", nil, "", false, true, 0, "503", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := newDiscord(t)
			s.code, s.answer, s.header = c.code, c.answer, c.header
			if c.address == "" {
				c.address = path
			}
			err := Receiver(sender(), s.URL+c.address).Send(t.Context(), alarmed)
			var f *alarm.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Lasting != c.lasting || f.Perhaps != c.perhaps || f.After != c.after || !strings.Contains(f.Why, c.why) || !strings.Contains(f.Remedy, c.remedy) {
				t.Errorf("lasting %v, perhaps %v, after %s, %q, %q", f.Lasting, f.Perhaps, f.After, f.Why, f.Remedy)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q shows the address", err)
			}
		})
	}
	err := Receiver(sender(), fmt.Sprintf("http://127.0.0.1:%d%s", testkit.Port(t), path)).Send(t.Context(), alarmed)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "firewall") {
		t.Errorf("nobody there: %v", err)
	}
}
