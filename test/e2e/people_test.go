package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// browser is somebody at the studio of a station.
type browser struct {
	s      *station
	client *http.Client
}

func (s *station) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &browser{s, &http.Client{Jar: jar}}
}

// send gives an order until it is answered with another status than 503; into may be nil.
func (b *browser) send(method, path string, body, into any) (code int) {
	b.s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.s.t.Fatal(err)
	}
	b.s.eventually(path+" is answered", func() bool {
		req, err := http.NewRequestWithContext(b.s.t.Context(), method, b.s.url("control", path), bytes.NewReader(text))
		if err != nil {
			b.s.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := b.client.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		code = resp.StatusCode
		if into != nil && code == http.StatusOK {
			return json.NewDecoder(resp.Body).Decode(into) == nil
		}
		return code != http.StatusServiceUnavailable
	})
	return code
}

// member is the cookie of a viewer, who is removed at the end of the test.
func (s *station) member(login string) string {
	s.t.Helper()
	code, text := s.operate("POST", "/api/people", `{"login":"`+login+`","role":"viewer"}`)
	var made struct {
		Token string
		User  struct{ ID string }
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != http.StatusCreated {
		s.t.Fatalf("add a user: %d %s", code, text)
	}
	s.t.Cleanup(func() { s.operate("DELETE", "/api/people/"+made.User.ID, "") })
	b := s.browser()
	if code := b.send("POST", "/api/session/invitation/accept", map[string]any{"token": made.Token, "password": "the river was low in August"}, nil); code != http.StatusOK {
		s.t.Fatalf("log in: %d", code)
	}
	at, err := url.Parse(s.url("control", "/"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(at) {
		return c.String()
	}
	s.t.Fatal("no cookie")
	return ""
}

// Somebody is added from a terminal, logs in, gives an order, and is still logged in after
// the control plane was killed; the log has the order, and who gave it. Then the phone is
// lost, and a terminal lets that one in again.
func TestAUserIsAddedLogsInAndOutlivesAKill(t *testing.T) {
	s := torment(t)
	s.whole()
	run := func(args ...string) string {
		t.Helper()
		out, err := s.command(append([]string{"people", args[0], "--data", s.data}, args[1:]...)...)
		if err != nil {
			t.Fatalf("athir people %s: %v\n%s", args, err, out)
		}
		return out
	}
	var added struct{ Link string }
	if err := json.Unmarshal([]byte(run("add", "Sara@Example.org", "--name", "سارة", "--role", "owner", "--json")), &added); err != nil {
		t.Fatal(err)
	}
	_, token, ok := strings.Cut(added.Link, "/studio#/invited/")
	if !ok {
		t.Fatalf("the link is %q", added.Link)
	}
	const password = "النهر كان منخفضا في أغسطس"
	sara := s.browser()
	if code := sara.send("POST", "/api/session/invitation/accept", map[string]any{"token": token, "password": password}, nil); code != http.StatusOK {
		t.Fatalf("the link: %d", code)
	}
	if code := sara.send("POST", "/api/station/skip", map[string]any{}, nil); code != http.StatusOK {
		t.Fatalf("an order by a session: %d", code)
	}
	old := s.kill("control")
	s.eventually("the control plane is back", func() bool {
		p, err := s.process("control")
		return err == nil && p.PID != old && p.State == "running"
	})
	var who struct {
		User   struct{ Name string }
		Rights []string
	}
	if code := sara.send("GET", "/api/session", nil, &who); code != http.StatusOK || who.User.Name != "سارة" || len(who.Rights) != 7 {
		t.Errorf("after the kill: %d %+v", code, who)
	}
	if code := sara.send("PUT", "/api/station/mood", map[string]any{"mood": "none of this name"}, nil); code/100 != 4 || code == http.StatusUnauthorized {
		t.Errorf("a wrong order after the kill: %d", code)
	}
	log := run("log", "--user", "sara@example.org")
	for _, want := range []string{"سارة", "200", "POST /api/station/skip", "PUT /api/station/mood", "POST /api/session/invitation/accept"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log of orders lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, password) || strings.Contains(log, token) {
		t.Errorf("the log of orders has a secret:\n%s", log)
	}
	if out := run("reset", "sara@example.org"); !strings.Contains(out, "password alone") {
		t.Error(out)
	}
	if code := sara.send("POST", "/api/station/skip", map[string]any{}, nil); code != http.StatusUnauthorized {
		t.Errorf("a browser that was logged out: %d", code)
	}
	if code := sara.send("POST", "/api/session", map[string]any{"login": "SARA@example.org", "password": password}, nil); code != http.StatusOK {
		t.Errorf("log in again: %d", code)
	}
	if out := run("list"); !strings.Contains(out, "sara@example.org") {
		t.Error(out)
	}
}

// An owner and a presenter come in with Chromium: links, a passkey of the browser's own
// authenticator, an order and the log of it.
func TestPeopleComeInWithChromium(t *testing.T) {
	t.Parallel()
	inTurnOfBrowsers(t)
	s := newStation(t, withKeys, airing44)
	s.start().whole()
	// Passkeys want a name.
	s.pages([]string{"ATHIR_URL=" + strings.Replace(s.url("control", ""), "127.0.0.1", "localhost", 1), "ATHIR_KEY=" + testStationKey, "ATHIR_PEOPLE=1"}, "comein.spec.ts")
}
