// Package systemd tells the service manager how a service fares: the protocol of
// sd_notify(3), and log lines for its journal. It starts, stops and asks nothing.
package systemd

import (
	"fmt"
	"net"
	"os"
	"time"
)

// Manager is the service manager that waits for word of this process. A nil Manager is
// none: nothing is told.
type Manager struct{ socket string }

// Find returns the manager that the environment names, nil where none waits. The name stays
// there for a program that replaces this one in its process; kit/proc keeps it from
// children.
func Find() *Manager {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	return &Manager{socket}
}

// Ready tells that the service does its work: systemctl start returns, and what is
// ordered after it starts.
func (m *Manager) Ready() error { return m.send("READY=1") }

// Status gives the line that systemctl status shows.
func (m *Manager) Status(text string) error { return m.send("STATUS=" + text) }

// Alive tells the watchdog that the service is not wedged.
func (m *Manager) Alive() error { return m.send("WATCHDOG=1") }

// send never waits long: the manager reads its socket, and where it does not, systemd
// itself is gone.
func (m *Manager) send(text string) error {
	if m == nil {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"}) // "@…" is an abstract one
	if err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	defer conn.Close() //nolint:errcheck // a datagram is sent or not
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}
