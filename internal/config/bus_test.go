package config

import (
	"slices"
	"strings"
	"testing"
)

// Fails where an edge's credential opens more than its own name, where it can be made for a
// name that is not one word of a subject, or where refusing a name does not end it.
func TestTheBusKnowsItsUsers(t *testing.T) {
	t.Parallel()
	c := &Config{SyncToken: "shared", Bus: Bus{Refused: []string{"giza"}}}
	for _, name := range []string{"", "a.b", "*", ">", "Cairo", "a b", "cairo:2", "قاهرة", strings.Repeat("a", 41)} {
		if text, err := c.EdgeCredential(name); err == nil {
			t.Errorf("%q has a credential: %s", name, text)
		}
	}
	credential := func(name string) (user, password string) {
		text, err := c.EdgeCredential(name)
		if err != nil {
			t.Fatal(err)
		}
		user, password, _ = strings.Cut(text, ":")
		return user, password
	}
	_, cairo := credential("cairo-2")
	_, giza := credential("giza")
	for _, x := range []struct {
		user, password string
		in             bool
	}{
		{"edge.cairo-2", cairo, true}, {"edge.cairo-3", cairo, false}, {"edge.giza", giza, false}, {"edge.", cairo, false},
		{"node", cairo, false}, {"chat", cairo, false}, {"control", cairo, false}, {"", cairo, false}, {"edge.cairo-2", "", false},
		{"edge.cairo-2.x", c.busPassword("edge.cairo-2.x"), false}, {"edge.*", c.busPassword("edge.*"), false}, {"control", c.busPassword("control"), false},
		{"node", c.busPassword("node"), true}, {"chat", c.busPassword("chat"), true}, {"node", c.busPassword("chat"), false},
	} {
		if in := c.BusAdmits(x.user, x.password); in != x.in {
			t.Errorf("%s with %.8s…: let in %t", x.user, x.password, in)
		}
	}
	edge := &Config{SyncToken: "random", Bus: Bus{Credential: "edge.cairo-2:" + cairo}}
	if user, password, token := edge.BusLogin(BusChat); user != "edge.cairo-2" || password != cairo || token != "" {
		t.Errorf("the edge shows %q %q %q", user, password, token)
	}
	if !c.AdmitsEdge(edge.EdgeToken()) || c.AdmitsEdge("edge.giza:"+giza) || c.AdmitsEdge("node:"+c.busPassword("node")) {
		t.Error("who may vouch for the addresses of listeners")
	}
}

// Where the bus listens on one address, that is where this machine's own roles find it.
func TestTheBusIsFoundWhereItListens(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1": "nats://127.0.0.1:4222", "0.0.0.0": "nats://127.0.0.1:4222", "::": "nats://127.0.0.1:4222", "192.0.2.5": "nats://192.0.2.5:4222", "2001:db8::5": "nats://[2001:db8::5]:4222",
	} {
		c := &Config{Bus: Bus{Listen: listen}, Ports: Ports{NATS: 4222}}
		if got := c.BusURL(); got != want {
			t.Errorf("listen %s: %s, want %s", listen, got, want)
		}
	}
}

func TestBadSettingsOfTheBusAreNamed(t *testing.T) {
	t.Parallel()
	b := Bus{URL: "http://x", Listen: "control.example", Control: "x", Credential: "node:x", Refused: []string{"A"}, TLSCert: "bus.pem", CA: "ca.pem"}
	var all strings.Builder
	for _, err := range b.validate() {
		all.WriteString(err.Error() + "\n")
	}
	for _, name := range []string{"bus.url", "bus.listen", "bus.control", "bus.credential", "bus.refused", "bus.tls_key", "bus.tls_cert: \"bus.pem\"", "bus.ca"} {
		if !strings.Contains(all.String(), name) {
			t.Errorf("%s is not named:\n%s", name, all.String())
		}
	}
}

// Fails where a settings file with a wrong address has its password printed: by the doctor,
// whose output people show to others, and in the log of a reload.
func TestAWrongAddressIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"bus: {url: \"nat://control:secret-word@nats.example:4222\"}", "nat://…@nats.example:4222"},
		{"bus: {url: \"nats://control:secret-word@[nats.example:4222\"}", "nats://…@[nats.example:4222"},
		{"bus: {url: \"nats://control:secret-w/ord@nats.example:4222\"}", "nats://…@nats.example:4222"},
		{"bus: {url: \"nats://control:secret-%zz@nats.example:4222\"}", "percent-encoded"},
		{"bus: {url: \"control:secret-word@nats.example\"}", "…@nats.example"},
		{"content: {feeds: [\"https://example.org/feed?key=secret-word\"]}", "https://example.org/feed?…"},
	} {
		_, err := Parse([]byte("source_password: long-enough\nsync_token: x\nopen: true\n"+c.text+"\n"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-") {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	c := &Config{Bus: Bus{URL: "tls://a:pass%2Fword@x:1,nats://b:other-word@y:2", Credential: "edge.cairo-2:third-word"}}
	for _, secret := range []string{"pass/word", "pass%2Fword", "other-word", "third-word"} {
		if !slices.Contains(c.Secrets(), secret) {
			t.Errorf("the log would show %s: %q", secret, c.Secrets())
		}
	}
}
