package e2e

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/turn"
)

// Each secret is rotated three times under listeners of Icecast, HLS, /stream and events: with
// the old one kept, which then opens beside the new one; for a second, after which it does
// not; and at once, by which those before end, too. Nobody is disconnected, and no program of
// the station is started again.
func TestNobodyNoticesARotation(t *testing.T) {
	t.Parallel()
	s := newStation(t, steady).start()
	s.whole()
	s.hlsReady()
	names := []string{"liquidsoap", "icecast", "bridge", "control", "relay", "player", "chat", "desk", "whip"}
	before := s.pids(names...)
	audience := s.seat(2)
	c := newCrowd(s, s.url("control", ""), s.url("chat", ""))
	stop := c.begin(1)
	s.eventually("every client of events hears comments", func() bool {
		return !slices.ContainsFunc(audience.clients, func(c *socketed) bool { return c.count() == 0 })
	})
	held, ended := s.encoding(freeTone, "-c:a", "libvorbis", "-content_type", "application/ogg", "-f", "ogg",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/held", s.secret(config.SourcePassword), s.ports["icecast"]))
	for _, secret := range []struct {
		name  string
		opens func(s *station, secret string) bool
	}{
		{config.StationKey, keyOpens},
		{config.SyncToken, tokenOpens},
		{config.TurnSecret, relayOpens},
		{config.SourcePassword, passwordOpens},
	} {
		s.rotatesThrice(secret.name, secret.opens)
		s.airs(2) // the engine's markers are taken, and by the newest token
	}
	if n := s.logged("marker", "refused"); n > 0 {
		t.Errorf("%d markers of the engine were refused", n)
	}
	if after := s.pids(names...); !slices.Equal(before, after) {
		t.Errorf("processes %v became %v", before, after)
	}
	stop()
	c.judge()
	var comments []string
	for _, m := range c.pages(func(last string) string { return "/api/comments?limit=100&after=" + last }, "comments") {
		comments = append(comments, m.ID)
	}
	audience.leave(t, comments)
	for i, c := range audience.clients {
		if c.breaks != 1 {
			t.Errorf("client %d of events was connected %d times", i, c.breaks)
		}
	}
	select {
	case <-ended:
		t.Error("an encoder that was connected with the first password was disconnected")
	default:
	}
	held()
	// Each finds the other again: the engine goes on with the password that it was given at
	// its start, which no source password is any more, and with another after its next.
	for _, name := range []string{"icecast", "liquidsoap", "icecast"} {
		s.kill(name)
		s.eventually(name+" runs again", func() bool { p, err := s.process(name); return err == nil && p.State == "running" })
		s.eventually("the stream after the end of "+name, func() bool {
			body, err := s.get("icecast", "/status-json.xsl")
			return err == nil && strings.Contains(string(body), "/main\"")
		})
		s.airs(2)
	}
}

// rotatesThrice rotates a secret, which opens what opens tries.
func (s *station) rotatesThrice(name string, opens func(s *station, secret string) bool) {
	s.t.Helper()
	check := func(when, which, secret string, want bool) {
		s.t.Helper()
		if got := opens(s, secret); got != want {
			s.t.Errorf("%s %s: the %s one opens: %v", name, when, which, got)
		}
	}
	first := s.secret(name)
	check("before", "only", first, true)
	s.rotate(name, "--keep", "1h")
	second := s.secret(name)
	check("kept", "new", second, true)
	check("kept", "old", first, true)
	s.rotate(name, "--keep", "1s")
	third := s.secret(name)
	check("rotated again", "new", third, true)
	s.eventually("the end of what was kept for a second", func() bool { return !opens(s, second) })
	check("after the second", "first", first, true)
	check("after the second", "new", third, true)
	s.rotate(name, "--now")
	check("leaked", "first", first, false)
	check("leaked", "last", third, false)
	check("leaked", "new", s.secret(name), true)
	for when, secret := range map[string]string{"second": second, "third": third, "first": first} {
		if text, err := os.ReadFile(filepath.Join(s.data, "athir.yaml")); err != nil || strings.Contains(string(text), secret) {
			s.t.Errorf("%s: the %s one is in the settings still: %v", name, when, err)
		}
	}
}

// secret is one of the settings.
func (s *station) secret(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, "athir.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + `: "([^"]*)"`).FindSubmatch(text)
	if found == nil {
		s.t.Fatalf("no %s in the settings", name)
	}
	return string(found[1])
}

// rotate runs the command, which every role of the station obeys.
func (s *station) rotate(name string, args ...string) {
	s.t.Helper()
	out, err := s.command(append([]string{"rotate", name, "--data", s.data}, args...)...)
	if err != nil {
		s.t.Fatalf("athir rotate %s: %v\n%s", name, err, out)
	}
	if took := strings.Count(out, "took it"); took != 7 {
		s.t.Errorf("%d roles took the %s, want 7:\n%s", took, name, out)
	}
	for _, variable := range []string{s.secret(name)} {
		if strings.Contains(out, variable) {
			s.t.Errorf("the command shows the secret:\n%s", out)
		}
	}
	list, err := s.command("rotate", "--data", s.data)
	if err != nil || strings.Contains(list, "NOT what") || strings.Contains(list, s.secret(name)) {
		s.t.Errorf("athir rotate: %v\n%s", err, list)
	}
}

func (s *station) command(args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), s.program, args...)
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// keyOpens reads what only operators may.
func keyOpens(s *station, key string) bool {
	code, text := s.call(http.MethodGet, "control", "/api/station/config", key, "")
	if code != http.StatusOK && code != http.StatusUnauthorized {
		s.t.Errorf("the station key: %d %s", code, text)
	}
	return code == http.StatusOK
}

// tokenOpens pulls the rotation, as a node does. What the engine reports is taken with the same
// token, which the rotation that goes on shows.
func tokenOpens(s *station, token string) bool {
	code, text := s.call(http.MethodGet, "control", "/api/sync/m3u?token="+url.QueryEscape(token), "", "")
	if code != http.StatusOK && code != http.StatusUnauthorized {
		s.t.Errorf("the sync token: %d %s", code, text)
	}
	return code == http.StatusOK
}

// relayOpens opens an allocation at the TURN server, as a phone does that was given its
// credential while the secret was in force.
func relayOpens(s *station, secret string) bool {
	s.t.Helper()
	user, password := turn.Issue(secret, "phone", time.Now())
	at := "127.0.0.1:" + strconv.Itoa(s.ports["turn"])
	conn, err := (&net.ListenConfig{}).ListenPacket(s.t.Context(), "udp4", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test's
	client, err := pion.NewClient(&pion.ClientConfig{Conn: conn, TURNServerAddr: at, STUNServerAddr: at, Username: user, Password: password, RTO: 2 * time.Second})
	if err == nil {
		err = client.Listen()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	relayed, err := client.Allocate()
	if err != nil {
		return false
	}
	_ = relayed.Close()
	return true
}

// passwordOpens logs in as user source wherever there is one: at Icecast on a mount of no
// part of the station, at the live desk and at the engine's harbor.
func passwordOpens(s *station, password string) bool {
	s.t.Helper()
	doors := map[string]string{
		"icecast": "SOURCE /guest HTTP/1.0\r\nContent-Type: audio/mpeg\r\n",
		"live":    "SOURCE /guest HTTP/1.0\r\nContent-Type: audio/mpeg\r\n",
		"harbor":  "GET /admin/metadata?mode=updinfo&mount=/channel_live&title=x HTTP/1.0\r\n", // 404: nobody sends
	}
	opened := map[string]bool{}
	testkit.EventuallyNil(s.t, "all doors agree", func() error { // a second may end between two of them
		for name, head := range doors {
			answer := s.login(name, head, password)
			switch {
			case strings.Contains(answer, " 200 "), name == "harbor" && strings.Contains(answer, " 404 "):
				opened[name] = true
			case strings.Contains(answer, " 401 "), strings.Contains(answer, " 429 "): // who is wrong too often
				opened[name] = false
			default: // the mount is taken, by the try before
				return fmt.Errorf("%s answers %q", name, answer)
			}
		}
		if opened["icecast"] != opened["live"] || opened["live"] != opened["harbor"] {
			return fmt.Errorf("some open and others do not: %v", opened)
		}
		return nil
	})
	return opened["icecast"]
}

// login sends the head of a request with a password, and returns the first line of the answer.
func (s *station) login(port, head, password string) string {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", s.ports[port]))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test's
	if _, err := fmt.Fprintf(conn, "%sAuthorization: Basic %s\r\n\r\n", head, base64.StdEncoding.EncodeToString([]byte("source:"+password))); err != nil {
		return err.Error()
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return line
}
