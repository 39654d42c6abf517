package injection

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// mount is the harbor's mount point (mission: Broadcast node endpoints).
const mount = "/channel_live"

// harborWait bounds connecting to the harbor, and each write of audio to it.
const harborWait = 10 * time.Second

// connect opens a source connection to the harbor with Icecast's SOURCE method. The
// password goes over loopback, not on a command line.
func connect(ctx context.Context, address, password string) (net.Conn, error) {
	dial := net.Dialer{Timeout: harborWait}
	conn, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := enter(conn, password); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return patient{conn}, nil
}

// enter logs a source in.
func enter(conn net.Conn, password string) error {
	_ = conn.SetDeadline(time.Now().Add(harborWait))
	login := base64.StdEncoding.EncodeToString([]byte("source:" + password))
	if _, err := fmt.Fprintf(conn, "SOURCE %s HTTP/1.0\r\nAuthorization: Basic %s\r\nContent-Type: audio/mpeg\r\nUser-Agent: athir\r\n\r\n", mount, login); err != nil {
		return err
	}
	if err := admitted(conn); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

func admitted(conn net.Conn) error {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("harbor answers %s: is another source live?", resp.Status)
	}
	return nil
}

// patient is a connection whose writes end after harborWait.
type patient struct{ net.Conn }

func (p patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(harborWait))
	return p.Conn.Write(b)
}

// head keeps the first longestComplaint bytes of the encoder's messages.
type head struct{ b strings.Builder }

const longestComplaint = 300

func (h *head) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), max(0, longestComplaint-h.b.Len()))])
	return len(p), nil
}

func (h *head) String() string { return strings.TrimSpace(h.b.String()) }
