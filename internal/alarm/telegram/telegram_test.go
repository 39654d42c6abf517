package telegram

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

const token = "123456789:AAF-secret-of-the-bot_0123456789abcdef"

// telegram answers as the Bot API does: a token that is malformed or unknown, a chat that is
// not there, and what a test sets.
type telegram struct {
	*httptest.Server
	answer string // of sendMessage, with its code
	code   int
	got    []map[string]any
}

func newTelegram(t *testing.T) *telegram {
	t.Helper()
	s := &telegram{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say := func(code int, body string) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
		given, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
		switch {
		case !strings.Contains(given, ":"):
			say(404, `{"ok":false,"error_code":404,"description":"Not Found"}`)
			return
		case given != token:
			say(401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
			return
		case r.Method != http.MethodPost || method != "sendMessage":
			say(404, `{"ok":false,"error_code":404,"description":"Not Found"}`)
			return
		}
		var got map[string]any
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			say(400, `{"ok":false,"error_code":400,"description":"Bad Request: message text is empty"}`)
			return
		}
		s.got = append(s.got, got)
		switch {
		case s.answer != "":
			say(s.code, s.answer)
		case got["chat_id"] != "-1001234":
			say(400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`)
		default:
			say(200, `{"ok":true,"result":{"message_id":7}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *telegram) options(t *testing.T) Options {
	t.Helper()
	sender := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	return Options{Sender: sender, Server: s.URL, Token: token, Chat: "-1001234"}
}

var alarmed = alarm.Message{Subject: "[أثير] إنذار", Text: "صمت على الهواء _*<b>"}

// A message is taken as it is, without its marks meaning anything.
func TestAMessageIsSentAsItIs(t *testing.T) {
	s := newTelegram(t)
	if err := Receiver(s.options(t)).Send(t.Context(), alarmed); err != nil {
		t.Fatal(err)
	}
	if len(s.got) != 1 || s.got[0]["text"] != alarmed.Subject+"\n\n"+alarmed.Text || s.got[0]["parse_mode"] != nil {
		t.Errorf("%v", s.got)
	}
}

// Each refusal has its words and remedy; none shows the token, which is in the address.
func TestRefusalsAreNamedWithTheirRemedy(t *testing.T) {
	const refused = `{"ok":false,"error_code":%d,"description":"%s"%s}`
	for _, c := range []struct {
		what             string
		code             int
		answer           string
		change           func(*Options)
		lasting, perhaps bool
		after            time.Duration
		why, remedy      string
	}{
		{"too many", 429, fmt.Sprintf(refused, 429, "Too Many Requests: retry after 37", `,"parameters":{"retry_after":37}`), nil, false, false, 37 * time.Second, "429", ""},
		{"no such chat", 0, "", func(o *Options) { o.Chat = "42" }, true, false, 0, "chat not found", "alarms.telegram.chat"},
		{"another token", 0, "", func(o *Options) { o.Token = "1:x" }, true, false, 0, "401", "alarms.telegram.token"},
		{"no token", 0, "", func(o *Options) { o.Token = "x" }, true, false, 0, "404", "alarms.telegram.token"},
		{"blocked", 403, fmt.Sprintf(refused, 403, "Forbidden: bot was blocked by the user", ""), nil, true, false, 0, "blocked", "unblock"},
		{"put out", 403, fmt.Sprintf(refused, 403, "Forbidden: bot was kicked from the supergroup chat", ""), nil, true, false, 0, "kicked", "add it"},
		{"may not post", 400, fmt.Sprintf(refused, 400, "Bad Request: not enough rights to send text messages to the chat", ""), nil, true, false, 0, "rights", "let it post"},
		{"group moved", 400, fmt.Sprintf(refused, 400, "Bad Request: group chat was upgraded to a supergroup chat", `,"parameters":{"migrate_to_chat_id":-1009999}`), nil, true, false, 0, "upgraded", `alarms.telegram.chat: "-1009999"`},
		{"ill", 502, fmt.Sprintf(refused, 502, "Bad Gateway", ""), nil, false, true, 0, "502", ""},
		{"a proxy's page", 403, "<html>no</html>", nil, true, false, 0, "not Telegram's Bot API", "alarms.telegram.server"},
		{"a page that is well", 200, "<html>login</html>", nil, true, true, 0, "not Telegram's Bot API", "alarms.telegram.server"},
		{"nobody there", 0, "", func(o *Options) { o.Server = fmt.Sprintf("http://127.0.0.1:%d", testkit.Port(t)) }, false, false, 0, "refused", "firewall"},
		{"a private address", 0, "", func(o *Options) {
			o.Sender = fetch.New(fetch.Options{Setting: "alarms.allow_private: true", Ports: []fetch.PortRange{{From: 1, To: 65535}}})
		}, true, false, 0, "alarms.allow_private: true", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := newTelegram(t)
			s.code, s.answer = c.code, c.answer
			o := s.options(t)
			if c.change != nil {
				c.change(&o)
			}
			err := Receiver(o).Send(t.Context(), alarmed)
			var f *alarm.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Lasting != c.lasting || f.Perhaps != c.perhaps || f.After != c.after || !strings.Contains(f.Why, c.why) || !strings.Contains(f.Remedy, c.remedy) {
				t.Errorf("lasting %v, perhaps %v, after %s, %q, %q", f.Lasting, f.Perhaps, f.After, f.Why, f.Remedy)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q shows the token", err)
			}
		})
	}
}
