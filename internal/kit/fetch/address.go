package fetch

import (
	"fmt"
	"net/netip"
)

// special are the ranges no public server answers from: those of the IANA IPv4
// and IPv6 Special-Purpose Address Registries (RFC 6890 and its successors) that
// are not globally reachable, those that lead to another address by translation
// or a tunnel, and multicast. See
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry.
//
// Of IPv6 only 2000::/3 is handed out as global unicast (RFC 4291), so all that
// lies outside is refused without being named one by one; the ranges named here
// either lie inside, or get a better reason.
var special = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this host or network (RFC 791)"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network (RFC 1918)"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a provider's shared network (RFC 6598)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine (loopback)"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's own service address (Azure)"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local, where clouds keep their metadata (RFC 3927)"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network (RFC 1918)"},
	{netip.MustParsePrefix("192.0.0.0/24"), "set aside for protocols (RFC 6890)"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation (RFC 5737)"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay (RFC 7526)"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network (RFC 1918)"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks (RFC 2544)"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation (RFC 5737)"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation (RFC 5737)"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved or broadcast (RFC 1112, RFC 919)"},

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "this machine (loopback)"},
	{netip.MustParsePrefix("::/96"), "an IPv4-compatible address (RFC 4291)"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "an IPv4-translated address (RFC 2765)"},
	{netip.MustParsePrefix("64:ff9b::/96"), "an IPv4 address behind NAT64 (RFC 6052)"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a local translation of IPv4 (RFC 8215)"},
	{netip.MustParsePrefix("100::/64"), "where packets are thrown away (RFC 6666)"},
	{netip.MustParsePrefix("2001::/32"), "a Teredo tunnel (RFC 4380)"},
	{netip.MustParsePrefix("2001::/23"), "set aside for protocols (RFC 2928)"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation (RFC 3849)"},
	{netip.MustParsePrefix("2002::/16"), "a 6to4 tunnel (RFC 3056)"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation (RFC 9637)"},
	{netip.MustParsePrefix("5f00::/16"), "segment routing (RFC 9602)"},
	{netip.MustParsePrefix("fc00::/7"), "a private network (RFC 4193)"},
	{netip.MustParsePrefix("fe80::/10"), "link-local (RFC 4291)"},
	{netip.MustParsePrefix("fec0::/10"), "a site's own network (RFC 3879)"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// Public returns nil for an address of the public internet, and otherwise an
// error that says what the address is for. An IPv4 address written as IPv6
// (::ffff:a.b.c.d) is judged as the IPv4 address it is.
func Public(a netip.Addr) error {
	if a.Zone() != "" {
		return fmt.Errorf("%s names an interface of this machine", a)
	}
	a = a.Unmap()
	for _, s := range special {
		if s.prefix.Contains(a) {
			return fmt.Errorf("%s is %s", a, s.what)
		}
	}
	if !a.IsValid() || a.Is6() && a.As16()[0]>>5 != 1 { // 2000::/3
		return fmt.Errorf("%s is not a public address", a)
	}
	return nil
}

// mayReach is Public with the operator's exceptions.
func (c *Client) mayReach(a netip.Addr) error {
	if c.allowed(a) {
		return nil
	}
	if err := Public(a); err != nil || !c.o.only {
		return err
	}
	return fmt.Errorf("%s %s", a, notOwn)
}
