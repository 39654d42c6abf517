package fetch_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

func TestAddressesThatAreNotPublicAreNamedForWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, a := range strings.Fields(`
		0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
		168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
		192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
		:: ::1 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:7f00:1
		64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
		2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 4000::1 5f00::1 1::1
		fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2606:4700::1111%eth0`) {
		if fetch.Public(netip.MustParseAddr(a)) == nil {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range strings.Fields(`
		1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.17
		169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255
		198.20.0.0 223.255.255.255 207.241.224.2 ::ffff:8.8.8.8 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00::1 3ffe::1`) {
		if err := fetch.Public(netip.MustParseAddr(a)); err != nil {
			t.Error(err)
		}
	}
	if fetch.Public(netip.Addr{}) == nil {
		t.Error("no address at all counts as public")
	}
}

func TestAddressesAreRefusedByTheirForm(t *testing.T) {
	t.Parallel()
	c := fetch.New(fetch.Options{})
	for _, bad := range []string{
		"", "x", "//host/a", "/etc/passwd", "file:///etc/passwd", "ftp://host/a", "gopher://host/_", "data:audio/mpeg,x",
		"javascript:alert(1)", "pipe:0", "concat:a|b", "http:host", "http:/host", "http://", "http:///a", "https://:80/", "http://?q",
		"http://user@host/", "http://user:pass@host/", "http://host@127.0.0.1/", "http://:@host/",
		"http://127.0.0.1/", "http://127.0.0.1./", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/",
		"http://0177.0.0.1/", "http://017700000001/", "http://0/", "http://0.0.0.0/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://a.0x/", "http://a.1/",
		"http://１２７.０.０.１/", "http://127。0。0。1/", "http://①②⑦.0.0.1/",
		"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
		"http://[64:ff9b::127.0.0.1]/", "http://[2002:7f00:1::]/", "http://[fe80::1%25lo]/", "http://[fe80::1]/", "http://[fd00::1]/", "http://[::1", "http://[:::]/",
		"http://[v1.x]/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/",
		"http://host:22/", "http://host:0/", "http://host:65536/", "http://host:99999999999999999999/", "http://host:6379/", "http://host:-1/", "http://host:7999/", "http://host:9000/",
		"http://ho st/", "http://ho\x00st/", "http://host\r\nX: y/", "http://ho%20st/", "http://a..b/", "http://.host/", "http://./", "http://host../",
		"http://ho_st!/", "http://" + strings.Repeat("a", 64) + ".org/", "http://" + strings.Repeat("a.", 127) + "org/", "http://xn--\u0080/", "http://a\u200db/",
		"http://host/" + strings.Repeat("a", 9000), "http://\u202ehost/", "http://ho\\st/",
	} {
		u, err := c.Check(bad)
		var blocked *fetch.BlockedError
		if !errors.As(err, &blocked) || !blocked.Lasting() {
			t.Errorf("%.60q: got %v, %v", bad, u, err)
		}
	}
	for in, want := range map[string]string{
		"https://archive.org/a b?q=1#top":                 "https://archive.org/a%20b?q=1",
		"HTTP://EXAMPLE.ORG:80/":                          "http://example.org/",
		"https://example.org:443":                         "https://example.org",
		"http://example.org.:8000/x":                      "http://example.org:8000/x",
		" https://under_score.example.org/ ":              "https://under_score.example.org/",
		"http://مثال.إختبار/صوت.mp3":                      "http://xn--mgbh0fb.xn--kgbechtv/%D8%B5%D9%88%D8%AA.mp3",
		"http://8.8.8.8/":                                 "http://8.8.8.8/",
		"http://[2001:4860:4860:0:0:0:0:8888]:8443/a":     "http://[2001:4860:4860::8888]:8443/a",
		"http://[::ffff:8.8.8.8]/":                        "http://8.8.8.8/",
		"http://8.8.8.8./":                                "http://8.8.8.8/",
		"http://1.example.org/":                           "http://1.example.org/",
		"http://localhost/ is resolved, then refused":     "http://localhost/%20is%20resolved,%20then%20refused",
		"http://example.org/%2e%2e/%00?u=http://10.0.0.1": "http://example.org/%2e%2e/%00?u=http://10.0.0.1",
	} {
		if u, err := c.Check(in); err != nil || u.String() != want {
			t.Errorf("%q: got %v, %v; want %q", in, u, err, want)
		}
	}
}

func TestAnErrorNeverShowsCredentialsOrQuery(t *testing.T) {
	t.Parallel()
	c := fetch.New(fetch.Options{})
	for _, address := range []string{
		"http://user:secret@host/a?key=secret#secret", "http://host:22/a?key=secret", "ftp://user:secret@host/a?secret", "http://ho st/?secret", "http://10.0.0.1/a?secret",
		"http://host/%zz?secret", "mailto:secret",
	} {
		if _, err := c.Check(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := fetch.Redact("https://u:p@host/path?q#f"); got != "https://host/path" {
		t.Error(got)
	}
	if got := fetch.Redact("https://host/" + strings.Repeat("م", 500)); len(got) > 210 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestThroughAProxyLocalNamesAndNumbersAreStillRefused(t *testing.T) {
	t.Parallel()
	c := fetch.New(fetch.Options{Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:3128"}})
	for _, bad := range []string{"http://localhost/", "http://localhost./", "http://intranet/", "http://nas.local/", "http://metadata.google.internal/", "http://10.0.0.1/", "http://[::1]/"} {
		if u, err := c.Check(bad); err == nil {
			t.Errorf("%s passes as %s", bad, u)
		}
	}
	if _, err := c.Check("http://example.org/"); err != nil {
		t.Error(err)
	}
}

func FuzzWhatPassesTheCheckIsStableAndHarmless(f *testing.F) {
	for _, s := range []string{
		"http://example.org/", "http://127.1/", "http://[::ffff:8.8.8.8]:8000/a?b#c", "http://مثال.إختبار./", "https://user@host/", "http://0x7f.1:80", "HTTP://A.B:0443/%",
		"http://[::1%25lo]/", "http://１.２.３.４/", "http://a%2eb/", "http:/\\host",
	} {
		f.Add(s)
	}
	c := fetch.New(fetch.Options{})
	f.Fuzz(func(t *testing.T, s string) {
		u, err := c.Check(s)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "blocked") {
				t.Fatal(err)
			}
			return
		}
		again, err := c.Check(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q became %q, which becomes %v, %v", s, u, again, err)
		}
		if (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Opaque != "" || u.Fragment != "" || u.Hostname() == "" {
			t.Fatalf("%q became %#v", s, u)
		}
		host := u.Hostname()
		if a, err := netip.ParseAddr(host); err == nil {
			if err := fetch.Public(a); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		} else if last := host[strings.LastIndexByte(host, '.')+1:]; strings.Trim(last, "0123456789") == "" {
			t.Fatalf("%q: host %q may be read as a number", s, host)
		}
		if strings.ContainsFunc(u.String(), func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			t.Fatalf("%q became %q", s, u)
		}
	})
}

func TestRefusalOfAnAddressSaysWhatCanBeDone(t *testing.T) {
	t.Parallel()
	c := fetch.New(fetch.Options{Setting: "content.networks"})
	for address, want := range map[string]string{
		"http://192.168.1.5:8080/feed.xml": "if it is yours, allow it by content.networks in the settings",
		"http://[fd00::1]/feed.xml":        "if it is yours, allow it by content.networks in the settings",
		"http://host:9000/feed.xml":        "use one of the ports 80, 443, 8000 to 8999",
	} {
		if _, err := c.Check(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// In a network of the operator's own any port serves; elsewhere none that is not of the
// web, whatever a name leads to.
func TestAnyPortOfTheOperatorsNetworks(t *testing.T) {
	t.Parallel()
	var dialled []string
	names := map[string][]netip.Addr{
		"feeds.lan": {netip.MustParseAddr("10.1.2.3")}, "away.example": {netip.MustParseAddr("8.8.8.8")},
		"both.example": {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.1.2.3")},
	}
	var mu sync.Mutex
	c := fetch.New(fetch.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Setting: "content.networks", Resolver: book(names), Attempts: 1,
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			dialled = append(dialled, address)
			return nil, errors.New("nobody is there")
		},
	})
	for address, want := range map[string]string{
		"http://10.1.2.3:9123/f": "10.1.2.3:9123", "http://feeds.lan:9123/f": "10.1.2.3:9123", "http://both.example:9123/f": "10.1.2.3:9123",
		"http://away.example:8080/f": "8.8.8.8:8080", "http://away.example:9123/f": "", "http://8.8.8.8:9123/f": "", "http://10.1.2.3:0/f": "",
	} {
		dialled = nil
		_, err := c.Document(t.Context(), fetch.Request{URL: address, Limit: 1 << 10})
		if got := strings.Join(dialled, " "); got != want {
			t.Errorf("%s: connects to %q, want %q", address, got, want)
		}
		if want == "" && (err == nil || !strings.Contains(err.Error(), "is not allowed (use one of the ports 80, 443, 8000 to 8999")) {
			t.Errorf("%s: %v", address, err)
		}
	}
	strict := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:3128"}})
	if _, err := strict.Check("http://away.example:25/"); err == nil {
		t.Error("through a proxy, a name passes at port 25")
	}
}

// book is a resolver that knows these names.
type book map[string][]netip.Addr

func (b book) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return b[host], nil
}
