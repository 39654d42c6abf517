package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestWrongOptionsNameTheSetting(t *testing.T) {
	at := func(text string) []Media { return []Media{{Public: netip.MustParseAddrPort(text)}} }
	good := Options{Secret: secret.Of(string(north)), Address: "127.0.0.1:0", Media: at("192.0.2.1:8189")}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Options){
		"turn_secret": func(o *Options) { o.Secret = nil }, "ports.turn": func(o *Options) { o.Address = "" },
		"live.public_ips": func(o *Options) { o.Media = nil }, "0.0.0.0:8189": func(o *Options) { o.Media = at("0.0.0.0:8189") },
		"[::]:8189": func(o *Options) { o.Media = at("[::]:8189") }, "224.0.0.1:8189": func(o *Options) { o.Media = at("224.0.0.1:8189") },
		"255.255.255.255:8189": func(o *Options) { o.Media = at("255.255.255.255:8189") }, "192.0.2.1:0": func(o *Options) { o.Media = at("192.0.2.1:0") },
		"invalid AddrPort": func(o *Options) { o.Media = []Media{{}} },
		"0.0.0.0:1":        func(o *Options) { o.Media[0].Inner = netip.MustParseAddrPort("[::ffff:0.0.0.0]:1") },
		"relay ports":      func(o *Options) { o.PortMin, o.PortMax = 5, 4 }, "relay ports 5 to 0": func(o *Options) { o.PortMin = 5 },
		"its static-auth": func(o *Options) { o.External.URLs = []string{"turn:turn.example:3478"} },
	} {
		o := good
		o.Media = append([]Media(nil), good.Media...)
		change(&o)
		_, err := New(o)
		if err == nil || !strings.Contains(err.Error(), says) || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

func TestServersForAPage(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, nil)
	for host, want := range map[string]string{"radio.example": "radio.example", "192.0.2.1": "192.0.2.1", "2001:db8::1": "[2001:db8::1]", "[2001:db8::1]": "[2001:db8::1]"} {
		turn := s.Servers(noon, host, false)
		if len(turn) != 1 || len(turn[0].URLs) != 2 {
			t.Fatalf("%+v", turn)
		}
		if turn[0].URLs[0] != fmt.Sprintf("turn:%s:%d?transport=udp", want, s.Addr("udp").Port()) {
			t.Errorf("%s: %s", host, turn[0].URLs)
		}
		if password, err := Check(north, turn[0].Username, noon); err != nil || password != turn[0].Credential {
			t.Errorf("%+v: %v", turn, err)
		}
	}
	if one, two := s.Servers(noon, "x", false), s.Servers(noon, "x", false); one[0].Username == two[0].Username {
		t.Error("two phones share a user name, and so a quota")
	}
	text, err := json.Marshal(s.Servers(noon, "x", false)[0])
	if err != nil || !strings.HasPrefix(string(text), `{"urls":["turn:x:`) || !strings.Contains(string(text), `"username":"`) || !strings.Contains(string(text), `"credential":"`) {
		t.Errorf("%s %v", text, err) // RTCIceServer of the W3C's WebRTC
	}
	unbound, err := New(Options{Secret: secret.Of(string(north)), Address: ":3478", Media: []Media{{Public: m.at()}}})
	if err != nil || unbound.Servers(noon, "x", false) != nil {
		t.Error("a server that does not listen is given to phones")
	}
}

// An operator's own server gets plain REST credentials, as coturn's use-auth-secret checks
// them, and nothing listens here. The vector is of another language's libraries.
func TestCredentialsForAnOperatorsOwnServer(t *testing.T) {
	urls := []string{"turn:turn.example:3478", "turns:turn.example:5349"}
	s, err := New(Options{External: External{URLs: urls, Secret: secret.Of(string(north))}})
	if err != nil {
		t.Fatal(err)
	}
	stop := testkit.Background(t, s.Run)
	<-s.Ready()
	turn := s.Servers(noon, "radio.example", false)
	if len(turn) != 1 || strings.Join(turn[0].URLs, " ") != strings.Join(urls, " ") || s.Addr("udp").IsValid() {
		t.Fatalf("%+v", turn)
	}
	expires, name, _ := strings.Cut(turn[0].Username, ":")
	if want := fmt.Sprint(noon.Add(Lifetime).Unix()); expires != want || name == "" {
		t.Errorf("user name %q", turn[0].Username)
	}
	if turn[0].Credential != sign(north, turn[0].Username) {
		t.Errorf("%+v", turn)
	}
	if got := sign(north, "1772380800:sara"); got != "nY9V+A1FX7nUQDQ5kPJvi+xIWII=" {
		t.Errorf("signed %q", got)
	}
	stop()
}
