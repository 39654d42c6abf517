package stream

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is a connection's descriptor without what the net package keeps beside it:
// 600 bytes of objects and a place in the poller. Nothing ever waits for it.
type socket struct {
	fd    int
	leave func() // gives back what the connection was counted for; may be nil
}

// placed is a connection that is counted somewhere (kit/crowd). Detach closes it and
// keeps its place until leave is called.
type placed interface{ Detach() (leave func()) }

// detach takes the socket out of a connection and closes the connection; false, and
// nothing has happened, for one whose Write must not be bypassed, such as a *tls.Conn,
// or without a descriptor to spare.
func detach(conn net.Conn) (socket, bool) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return socket{}, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return socket{}, false
	}
	s := socket{fd: -1}
	// The copy shares the socket, which does not wait, and ends with exec.
	if err := raw.Control(func(fd uintptr) { s.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil || s.fd < 0 {
		return socket{}, false
	}
	if p, ok := conn.(placed); ok {
		s.leave = p.Detach()
	} else {
		_ = conn.Close()
	}
	return s, true
}

// write sends without waiting; EAGAIN says that the kernel takes no more for now.
func (s socket) write(pieces [][]byte) (n int, err error) {
	for {
		if len(pieces) == 1 {
			n, err = unix.Write(s.fd, pieces[0])
		} else {
			n, err = unix.Writev(s.fd, pieces)
		}
		if err != unix.EINTR { //nolint:errorlint // the kernel's answer itself
			return max(0, n), err
		}
	}
}

// reset makes close throw away what the kernel still holds for the listener.
func (s socket) reset() {
	_ = unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

func (s socket) close() {
	_ = unix.Close(s.fd)
	if s.leave != nil {
		s.leave()
	}
}
