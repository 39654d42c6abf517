package reexec

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen listens on an address, with the socket that the program before listened on if it
// left one, and leaves it to the next: who connects between the two waits in its queue. The
// same holds where this program listens there a second time. The file of a Unix socket stays,
// and is its owner's alone from the moment that it is there.
func (h *Handover) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	if h == nil {
		return listen(ctx, network, address)
	}
	name := nameOf(network, address)
	l, err := h.kept(network, name)
	if l == nil && err == nil {
		l, err = h.inherited(name)
	}
	if err != nil || l == nil {
		if l, err = listen(ctx, network, address); err != nil {
			return nil, err
		}
	}
	if u, is := l.(*net.UnixListener); is {
		u.SetUnlinkOnClose(false)
	}
	if s, is := l.(interface{ File() (*os.File, error) }); is {
		if f, err := s.File(); err == nil {
			h.Leave(name, f)
		}
	}
	return l, nil
}

// listen makes a new socket. One of a file has its mode before it has its name (unix_bind in
// Linux takes that of the socket): whoever connects before a later chmod would be let in.
func listen(ctx context.Context, network, address string) (net.Listener, error) {
	var c net.ListenConfig
	if network == "unix" {
		c.Control = func(_, _ string, socket syscall.RawConn) error {
			var wrong error
			err := socket.Control(func(fd uintptr) { wrong = unix.Fchmod(int(fd), 0o600) }) //nolint:gosec // a descriptor
			return errors.Join(err, wrong)
		}
	}
	return c.Listen(ctx, network, address)
}

// Inherited reports whether the program before left a socket that listens on an address.
func (h *Handover) Inherited(network, address string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.came == nil {
		return false
	}
	_, is := h.came.Files[nameOf(network, address)]
	return is
}

func nameOf(network, address string) string { return "listen " + network + " " + address }

// kept returns the listener that this program listened with before, nil where it did not. A
// Unix socket whose file is gone is nobody's.
func (h *Handover) kept(network, name string) (net.Listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.files[name]
	if f == nil || network == "unix" {
		return nil, nil //nolint:nilnil // as above
	}
	return net.FileListener(f)
}

// inherited returns the listener that was left by this name, nil where there is none.
func (h *Handover) inherited(name string) (net.Listener, error) {
	f := h.Take(name)
	if f == nil {
		return nil, nil //nolint:nilnil // none was left
	}
	defer f.Close() //nolint:errcheck // FileListener has a copy
	return net.FileListener(f)
}
