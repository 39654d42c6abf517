package doors

import "net"

// ShownHost is an address that works from the operator's own network where
// everyone is served, and the bound one elsewhere.
func ShownHost(bind string) string {
	if ip := net.ParseIP(bind); ip == nil || !ip.IsUnspecified() {
		return bind
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsPrivate() {
			return n.IP.String()
		}
	}
	return "localhost"
}
