package testkit

import (
	"bytes"
	"context"
	"encoding/gob"
	"net"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Handover is kit/reexec within one process: a part of the test stops as the old program,
// and another goes on as the new one with what Next returns.
type Handover struct {
	t    testing.TB
	came *estate

	mu      sync.Mutex
	left    estate
	leaving bool
}

type estate struct {
	files map[string]*os.File
	blobs map[string][]byte
}

// NewHandover is that of a program to which nothing was left.
func NewHandover(t testing.TB) *Handover { return newHandover(t, &estate{}) }

func newHandover(t testing.TB, came *estate) *Handover {
	h := &Handover{t: t, came: came, left: estate{files: map[string]*os.File{}, blobs: map[string][]byte{}}}
	t.Cleanup(func() {
		for _, f := range h.left.files {
			_ = f.Close()
		}
	})
	return h
}

// Order says that another program takes over. Then the old one is to be stopped.
func (h *Handover) Order() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = true
}

// Next is the handover of the next program: each time with all that this one has left, as
// where the next one fails and this one is begun again.
func (h *Handover) Next() *Handover { return newHandover(h.t, &h.left) }

// Settle closes what was left to this program, which has copies of its own.
func (h *Handover) Settle() {
	for _, f := range h.came.files {
		_ = f.Close()
	}
}

// Leaving reports whether another program was ordered.
func (h *Handover) Leaving() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leaving
}

// Leave gives a descriptor to the next program.
func (h *Handover) Leave(name string, f *os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.left.files[name]; old != nil {
		_ = old.Close()
	}
	h.left.files[name] = f
}

// Write leaves a value.
func (h *Handover) Write(name string, value any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left.blobs[name] = b.Bytes()
	return nil
}

// Take returns a copy of a descriptor that was left, nil where none was.
func (h *Handover) Take(name string) *os.File {
	f := h.came.files[name]
	if f == nil {
		return nil
	}
	own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		h.t.Error(err)
		return nil
	}
	return os.NewFile(uintptr(own), name) //nolint:gosec // not negative
}

// Read decodes a value that was left.
func (h *Handover) Read(name string, into any) bool {
	b, is := h.came.blobs[name]
	return is && gob.NewDecoder(bytes.NewReader(b)).Decode(into) == nil
}

// Listen goes on with the socket that was left, or opens one, and leaves it to the next.
func (h *Handover) Listen(ctx context.Context, network, address string) (l net.Listener, err error) {
	name := "listen " + network + " " + address
	if f := h.Take(name); f != nil {
		defer f.Close() //nolint:errcheck // FileListener has a copy
		l, err = net.FileListener(f)
	} else {
		l, err = (&net.ListenConfig{}).Listen(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	if u, is := l.(*net.UnixListener); is {
		u.SetUnlinkOnClose(false)
	}
	f, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return nil, err
	}
	h.Leave(name, f)
	return l, nil
}
