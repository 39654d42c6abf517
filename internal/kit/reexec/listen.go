package reexec

import (
	"context"
	"net"
	"os"
)

// Listen listens on an address, with the socket that the program before listened on if it
// left one, and leaves it to the next: who connects between the two waits in its queue. The
// same holds where this program listens there a second time. The file of a Unix socket stays.
func (h *Handover) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	if h == nil {
		return (&net.ListenConfig{}).Listen(ctx, network, address)
	}
	name := nameOf(network, address)
	l, err := h.kept(network, name)
	if l == nil && err == nil {
		l, err = h.inherited(name)
	}
	if err != nil || l == nil {
		if l, err = (&net.ListenConfig{}).Listen(ctx, network, address); err != nil {
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
