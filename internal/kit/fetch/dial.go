package fetch

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// allowing is the remedy where an address is not public.
func (c *Client) allowing() string {
	if c.o.Setting == "" {
		return ""
	}
	return "if it is yours, allow it by " + c.o.Setting + " in the settings"
}

// dial connects to the first address of host that may be reached and answers.
// Addresses that may not be reached are left out rather than fatal: networks
// behind NAT64 add a translated address to every name.
func (c *Client) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	slow := &TimeoutError{Part: "no connection", After: c.o.Connect}
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Connect, slow)
	defer cancel()
	conn, err := c.connect(ctx, hostPort)
	if err != nil && errors.Is(context.Cause(ctx), slow) {
		return nil, slow
	}
	return conn, err
}

func (c *Client) connect(ctx context.Context, hostPort string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	addresses, err := c.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	dial := c.o.Dial
	if dial == nil {
		dial = (&net.Dialer{Control: c.control}).DialContext
	}
	var first error
	for i, a := range addresses {
		if err := c.mayDial(a, uint16(port)); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		conn, err := dialShare(ctx, dial, netip.AddrPortFrom(a, uint16(port)), len(addresses)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// dialShare gives one of the addresses that are left its share of the time, so
// that a silent first one does not use it up.
func dialShare(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), to netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return dial(ctx, "tcp", to.String())
}

// mostAddresses bounds how many of a name's addresses are tried.
const mostAddresses = 8

// addresses resolves a host once and keeps what may be reached.
func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if err := c.mayReach(a); err != nil {
			return nil, &BlockedError{Why: err.Error(), Remedy: c.allowing()}
		}
		return []netip.Addr{a.Unmap()}, nil
	}
	var resolver Resolver = net.DefaultResolver
	if c.o.Resolver != nil {
		resolver = c.o.Resolver
	}
	found, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, bare(err))
	}
	var open []netip.Addr
	var refused error
	for _, a := range found {
		if err := c.mayReach(a); err != nil {
			refused = err
		} else if len(open) < mostAddresses {
			open = append(open, a.Unmap())
		}
	}
	switch {
	case len(open) > 0:
		return open, nil
	case refused != nil:
		return nil, &BlockedError{Why: host + " leads to " + refused.Error(), Remedy: c.allowing()}
	}
	return nil, fmt.Errorf("resolve %s: it has no address", host)
}

// bare is a DNS error without the host name, which the caller adds.
func bare(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && !dns.IsTimeout {
		return errors.New(dns.Err)
	}
	return err
}

// control sees every address right before the kernel connects to it. It holds
// even if a mistake above let another one through.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{Why: err.Error(), Remedy: c.allowing()}
	}
	return c.mayDial(to.Addr(), to.Port())
}

// dialProxy connects to the operator's own proxy, wherever it is.
func (c *Client) dialProxy(ctx context.Context, network, hostPort string) (net.Conn, error) {
	return (&net.Dialer{Timeout: c.o.Connect}).DialContext(ctx, network, hostPort)
}

// reach connects to a host for a tunnel, by the operator's proxy if there is one.
func (c *Client) reach(ctx context.Context, hostPort string) (net.Conn, error) {
	if c.o.Proxy == nil {
		return c.dial(ctx, "tcp", hostPort)
	}
	if c.o.Proxy.Scheme != "http" {
		return nil, fmt.Errorf("open a tunnel through a %q proxy: not supported: use an http proxy", c.o.Proxy.Scheme)
	}
	at := c.o.Proxy.Host
	if c.o.Proxy.Port() == "" {
		at = net.JoinHostPort(c.o.Proxy.Hostname(), "80")
	}
	conn, err := c.dialProxy(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	if err := c.tunnel(conn, hostPort); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// tunnel asks the proxy at the other end of conn for a connection. A proxy says
// nothing more before the client does, so that nothing is left in the reader.
func (c *Client) tunnel(conn net.Conn, hostPort string) error {
	_ = conn.SetDeadline(time.Now().Add(c.o.Header))
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: hostPort}, Host: hostPort, Header: http.Header{"User-Agent": {c.UserAgent()}}}
	if user := c.o.Proxy.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return fmt.Errorf("open a tunnel through the proxy: %w", err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxHeader)), request)
	if err != nil {
		return fmt.Errorf("open a tunnel through the proxy: %w", err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("open a tunnel through the proxy: it answered %s", answer.Status)
	}
	return conn.SetDeadline(time.Time{})
}
