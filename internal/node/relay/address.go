package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// maxSocketPath is the longest path a Unix socket can have on Linux: sun_path
// is 108 bytes with its final zero (unix(7)).
const maxSocketPath = 107

// splitAddress parses unix:PATH and tcp:HOST:PORT.
func splitAddress(address string) (network, where string, err error) {
	network, where, found := strings.Cut(address, ":")
	switch {
	case found && network == "tcp":
		if _, _, err := net.SplitHostPort(where); err != nil {
			return "", "", fmt.Errorf("address %q: %w", address, err)
		}
		return network, where, nil
	case found && network == "unix":
		if len(where) > maxSocketPath {
			return "", "", fmt.Errorf("socket path %s has %d bytes, a Unix socket takes %d at most: choose a shorter data directory or a tcp:127.0.0.1:PORT address",
				where, len(where), maxSocketPath)
		}
		return network, where, nil
	}
	return "", "", fmt.Errorf("address %q: want unix:PATH or tcp:HOST:PORT", address)
}

// listen binds an address, or takes over the socket that the program before this one left.
// A Unix socket left behind by a killed process is removed; one that still answers is an
// error. Only the owner may connect.
func listen(ctx context.Context, handover Handover, address string) (net.Listener, error) {
	network, where, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	l, err := handover.Listen(ctx, network, where)
	if network == "unix" && errors.Is(err, syscall.EADDRINUSE) {
		if err := removeStaleSocket(where); err != nil {
			return nil, err
		}
		l, err = handover.Listen(ctx, network, where)
	}
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		if err := os.Chmod(where, 0o600); err != nil {
			_ = l.Close()
			return nil, err
		}
	}
	return l, nil
}

func removeStaleSocket(where string) error {
	info, err := os.Lstat(where)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket: move it away", where)
	}
	conn, err := net.Dial("unix", where)
	if err == nil {
		_ = conn.Close()
		return fmt.Errorf("socket %s is in use by another process", where)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(where)
}
