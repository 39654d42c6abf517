package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/secret"
)

// Bus configures how the processes of a station speak to each other.
type Bus struct {
	URL    string `koanf:"url"`
	Listen string `koanf:"listen"`
	// Control is where an edge finds the control plane's HTTP, host:port.
	Control string `koanf:"control"`
	// Credential is an edge's own, "edge.NAME:password", where it does not have the SYNC_TOKEN.
	Credential string `koanf:"credential"`
	// Refused names edges whose credentials are no longer good.
	Refused []string `koanf:"refused"`
	TLSCert string   `koanf:"tls_cert"`
	TLSKey  string   `koanf:"tls_key"`
	CA      string   `koanf:"ca"`
}

func (b Bus) validate() (wrong []error) {
	for part := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(part)
		if b.URL != "" && (err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "") {
			wrong = append(wrong, fmt.Errorf("bus.url: %q must be nats://host:port; user and password before an @, percent-encoded", hushed(part)))
		}
	}
	if net.ParseIP(b.Listen) == nil {
		wrong = append(wrong, fmt.Errorf("bus.listen: %q is not an IP address: use 127.0.0.1, or 0.0.0.0 when other machines join", b.Listen))
	}
	if _, _, err := net.SplitHostPort(b.Control); b.Control != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("bus.control: %q must be host:port", b.Control))
	}
	if name, _ := b.edge(); b.Credential != "" && name == "" {
		wrong = append(wrong, errors.New("bus.credential: must be edge.NAME:… as 'athir credential NAME' prints it on the control plane's machine"))
	}
	for _, name := range b.Refused {
		if !EdgeName(name) {
			wrong = append(wrong, fmt.Errorf("bus.refused: %q is not the name of an edge: a to z, 0 to 9 and -, at most 40", name))
		}
	}
	if (b.TLSCert == "") != (b.TLSKey == "") {
		wrong = append(wrong, errors.New("bus.tls_cert: needs bus.tls_key, and bus.tls_key needs bus.tls_cert"))
	}
	for name, path := range map[string]string{"tls_cert": b.TLSCert, "tls_key": b.TLSKey, "ca": b.CA} {
		if path != "" && !filepath.IsAbs(path) {
			wrong = append(wrong, fmt.Errorf("bus.%s: %q must be an absolute path", name, path))
		}
	}
	return wrong
}

// hushed is an address, well-formed or not, without what may be a secret in it: what stands
// before an @, and a query.
func hushed(address string) string {
	begin := 0
	if i := strings.Index(address, "//"); i >= 0 {
		begin = i + len("//")
	}
	if at := strings.LastIndexByte(address, '@'); at > begin {
		address = address[:begin] + "…" + address[at:]
	}
	if query := strings.IndexByte(address, '?'); query >= 0 {
		address = address[:query+1] + "…"
	}
	return address
}

// secrets are those of the settings of the bus.
func (b Bus) secrets() (all []string) {
	_, password, _ := strings.Cut(b.Credential, ":")
	all = append(all, password)
	for part := range strings.SplitSeq(b.URL, ",") {
		if u, err := url.Parse(part); err == nil && u.User != nil {
			decoded, _ := u.User.Password()
			_, written, _ := strings.Cut(u.User.String(), ":")
			all = append(all, decoded, written)
		}
	}
	return all
}

// BusURL is the address of the bus for this process.
func (c *Config) BusURL() string {
	if c.Bus.URL != "" {
		return c.Bus.URL
	}
	host := c.Bus.Listen
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = Loopback
	}
	return "nats://" + net.JoinHostPort(host, strconv.Itoa(c.Ports.NATS))
}

// BusListen is where the bus inside the control plane listens, host and port.
func (c *Config) BusListen() (string, int) { return c.Bus.Listen, c.Ports.NATS }

// BusToken is what whoever has the SYNC_TOKEN showed to the bus before each role had a
// credential of its own, and still vouches with for the addresses of listeners.
func (c *Config) BusToken() string { return derived(c.Secret(SyncToken).Current(), ofBus) }

func derived(from, what string) string {
	h := hmac.New(sha256.New, []byte(from))
	h.Write([]byte(what))
	return hex.EncodeToString(h.Sum(nil))
}

// The users of the bus. The control plane's own is known to nobody else, so it has no
// password here.
const (
	BusControl = "control"
	BusNode    = "node"
	BusChat    = "chat"  // an edge that has the SYNC_TOKEN
	BusEdge    = "edge." // and the name of one that has not
)

// mostEdgeName bounds the name of an edge, in bytes.
const mostEdgeName = 40

// EdgeName reports whether an edge may have this name: it is a word of subjects.
func EdgeName(name string) bool {
	return name != "" && len(name) <= mostEdgeName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// EdgeCredential makes the credential of an edge, for its bus.credential.
func (c *Config) EdgeCredential(name string) (string, error) {
	if !EdgeName(name) {
		return "", fmt.Errorf("name of the edge: %q must be a to z, 0 to 9 and -, at most %d", name, mostEdgeName)
	}
	user := BusEdge + name
	return user + ":" + c.busPassword(user), nil
}

func (c *Config) busPassword(user string) string {
	return derived(c.Secret(SyncToken).Current(), ofBus+" "+user)
}

// ofBus is what credentials of the bus are derived from a SYNC_TOKEN by.
const ofBus = "athir bus"

// fromAny reports whether what was shown was derived from one of the SYNC_TOKENs that hold.
func (c *Config) fromAny(shown, what string) bool {
	all := c.SyncTokens()
	for i, token := range all {
		all[i] = derived(token, what)
	}
	return secret.Among(shown, all)
}

// edge splits the credential; the name is empty where there is none, or a malformed one.
func (b Bus) edge() (name, password string) {
	user, password, ok := strings.Cut(b.Credential, ":")
	name, isEdge := strings.CutPrefix(user, BusEdge)
	if !ok || !isEdge || !EdgeName(name) || !printable(password) || password == "" {
		return "", ""
	}
	return name, password
}

// Edge is the name of this edge, empty for one that has the SYNC_TOKEN.
func (b Bus) Edge() string {
	name, _ := b.edge()
	return name
}

// BusLogin is what a role shows to the bus. The token is for a control plane of the
// version before.
func (c *Config) BusLogin(role string) (user, password, token string) {
	switch name, password := c.Bus.edge(); {
	case name != "":
		return BusEdge + name, password, ""
	case c.Bus.Foreign(): // the operator's own server, whose URL holds the credentials
		return "", "", ""
	case role == BusNode:
		return BusNode, c.busPassword(BusNode), c.BusToken()
	}
	return BusChat, c.busPassword(BusChat), c.BusToken()
}

// BusAdmits reports whether a user's password is right.
func (c *Config) BusAdmits(user, password string) bool {
	name, named := strings.CutPrefix(user, BusEdge)
	switch {
	case named && (!EdgeName(name) || slices.Contains(c.Bus.Refused, name)):
		return false
	case !named && user != BusNode && user != BusChat:
		return false
	}
	return c.fromAny(password, ofBus+" "+user)
}

// BusAdmitsToken reports whether a token is that of the version before.
func (c *Config) BusAdmitsToken(token string) bool { return c.fromAny(token, ofBus) }

// EdgeToken is what this process vouches with to the control plane's HTTP.
func (c *Config) EdgeToken() string {
	if c.Bus.Edge() != "" {
		return c.Bus.Credential
	}
	return c.BusToken()
}

// AdmitsEdge reports whether an edge may vouch for the addresses of listeners.
func (c *Config) AdmitsEdge(token string) bool {
	if user, password, ok := strings.Cut(token, ":"); ok {
		return strings.HasPrefix(user, BusEdge) && c.BusAdmits(user, password)
	}
	return c.BusAdmitsToken(token)
}

// Vouches is AdmitsEdge, and guest reports whether it is by a credential of its own: such an
// edge speaks for listeners alone.
func (c *Config) Vouches(token string) (ok, guest bool) {
	return c.AdmitsEdge(token), strings.Contains(token, ":")
}

// ControlAddress is where the control plane answers HTTP, host:port.
func (c *Config) ControlAddress() string {
	if c.Bus.Control != "" {
		return c.Bus.Control
	}
	return net.JoinHostPort(Loopback, strconv.Itoa(c.Ports.Control))
}

// Foreign reports whether the URL holds credentials of its own: no token then.
func (b Bus) Foreign() bool { return strings.Contains(b.URL, "@") }
