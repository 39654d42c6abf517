package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxURL bounds an address, in bytes. Signed download links pass 2 KB.
const maxURL = 8 << 10

// Check refuses an address that is not to be fetched, by its form alone: nothing
// is looked up. What it returns is the address as it is asked for: host in ASCII,
// lower case and without a final dot, no fragment.
func (c *Client) Check(address string) (*url.URL, error) {
	if len(address) > maxURL {
		return nil, &BlockedError{Why: "the address is longer than 8 KB"}
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil { // its text repeats the address
		return nil, &BlockedError{Why: "this is not a valid address", Remedy: "write it as https://host/path"}
	}
	blocked := func(why, remedy string) (*url.URL, error) {
		return nil, &BlockedError{URL: redact(u), Why: why, Remedy: remedy}
	}
	switch u.Scheme = strings.ToLower(u.Scheme); {
	case u.Scheme != "http" && u.Scheme != "https":
		return blocked("only http and https are fetched", "")
	case u.Opaque != "" || u.Host == "":
		return blocked("it names no host", "write it as https://host/path")
	case u.User != nil:
		return blocked("it carries a user name", "only open addresses can be fetched")
	}
	host, why := c.checkHost(u.Hostname())
	if why != "" {
		if _, err := netip.ParseAddr(u.Hostname()); err == nil {
			return blocked(why, c.allowing())
		}
		return blocked(why, "")
	}
	port, ok := c.checkPort(u)
	if !ok {
		return blocked("port "+u.Port()+" is not allowed", "use one of the ports "+c.ports())
	}
	u.Host = host
	if port != "" {
		u.Host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// checkHost returns the host as it is to be asked for, an IPv6 address in
// brackets, or why it is refused.
func (c *Client) checkHost(host string) (_, why string) {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil {
			return "", "its IPv6 address is not valid"
		}
		return c.checkLiteral(a)
	}
	host, why = asciiHost(host)
	if why != "" {
		return "", why
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return c.checkLiteral(a)
	}
	// 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 to some resolvers.
	if numeric(host[strings.LastIndexByte(host, '.')+1:]) {
		return "", "its host is a number in an unusual form"
	}
	if c.o.Proxy != nil && localName(host) {
		return "", "its host is a local name"
	}
	return host, ""
}

func (c *Client) checkLiteral(a netip.Addr) (_, why string) {
	if err := c.mayReach(a); err != nil {
		return "", err.Error()
	}
	if a = a.Unmap(); a.Is6() {
		return "[" + a.String() + "]", ""
	}
	return a.String(), ""
}

// asciiHost is the name as DNS knows it. The names of real hosts that IDNA
// forbids, those with an underscore, are ASCII already.
func asciiHost(host string) (_, why string) {
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", "its host is not a valid international name"
		}
		host = ascii
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if len(host) == 0 || len(host) > 253 {
		return "", "its host is empty or too long"
	}
	for label := range strings.SplitSeq(host, ".") {
		if len(label) == 0 || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", "its host is not a valid name"
		}
	}
	return host, ""
}

// numeric reports whether a last label makes its host a number, as the URL
// standard has it: decimal, octal, or hexadecimal after 0x.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// localName reports names that are never public: RFC 6761, 6762, 7686, 8375 and
// ICANN's .internal.
func localName(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".home.arpa", ".onion", ".test", ".invalid"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// ports lists what may be asked for, for people.
func (c *Client) ports() string {
	var out []string
	for _, r := range c.o.Ports {
		if r.From == r.To {
			out = append(out, strconv.Itoa(int(r.From)))
		} else {
			out = append(out, fmt.Sprintf("%d to %d", r.From, r.To))
		}
	}
	return strings.Join(out, ", ")
}

// checkPort returns the port to write into the address: none where it is the
// scheme's own. In a network of Options.Allow any port may be asked for; whether a
// name leads there is seen when it is resolved.
func (c *Client) checkPort(u *url.URL) (_ string, ok bool) {
	own := uint64(80)
	if u.Scheme == "https" {
		own = 443
	}
	n := own
	if u.Port() != "" {
		var err error
		if n, err = strconv.ParseUint(u.Port(), 10, 16); err != nil {
			return "", false
		}
	}
	if n == 0 || !c.listed(uint16(n)) && !c.perhapsOurs(u.Hostname()) {
		return "", false
	}
	if n == own {
		return "", true
	}
	return strconv.FormatUint(n, 10), true
}

// listed reports that a port may be asked for anywhere.
func (c *Client) listed(port uint16) bool {
	return slices.ContainsFunc(c.o.Ports, func(r PortRange) bool { return port >= r.From && port <= r.To })
}

// allowed reports that an address is in a network of Options.Allow.
func (c *Client) allowed(a netip.Addr) bool {
	return a.Zone() == "" && slices.ContainsFunc(c.o.Allow, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// perhapsOurs reports that a host is an address in such a network, or a name that may
// lead to one. A proxy resolves names by itself, and nobody sees where they lead.
func (c *Client) perhapsOurs(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return c.allowed(a)
	}
	return len(c.o.Allow) > 0 && c.o.Proxy == nil
}

// mayDial says why a port of an address may not be connected to; nil if it may.
func (c *Client) mayDial(a netip.Addr, port uint16) error {
	if err := c.mayReach(a); err != nil {
		return &BlockedError{Why: err.Error(), Remedy: c.allowing()}
	}
	if !c.listed(port) && !c.allowed(a) {
		return &BlockedError{Why: fmt.Sprintf("port %d is not allowed", port), Remedy: "use one of the ports " + c.ports()}
	}
	return nil
}
