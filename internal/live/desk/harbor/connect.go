// Package harbor brings the bus to the playout engine: one encoder (MP3, 128 kbit/s,
// stereo; mission: Broadcast node endpoints) and one connection to the engine's live
// harbor for each broadcast, both made anew while it lasts.
//
// What was missed meanwhile is left out: a stale tail of a show is never heard.
package harbor

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"time"
)

// The mounts of the engine's harbor.
const (
	Replace = "/channel_live" // instead of the rotation
	Over    = "/channel_over" // over it
)

const (
	// enterWait bounds connecting and being admitted.
	enterWait = 5 * time.Second
	// writeWait bounds each write: an engine that takes nothing for so long is given up.
	writeWait = 4 * time.Second
)

// Dial connects to the harbor's address; nil is the system's.
type Dial func(ctx context.Context, address string) (net.Conn, error)

func system(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: enterWait}).DialContext(ctx, "tcp", address)
}

// connect opens a source connection with Icecast's SOURCE method. The password goes over
// loopback, not on a command line. The content type makes the engine decode with MAD,
// which takes a second less to begin than its ffmpeg.
func connect(ctx context.Context, dial Dial, address, mount, password string) (net.Conn, error) {
	if dial == nil {
		dial = system
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	err = enter(conn, mount, password)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// enter logs the bus in as a source.
func enter(conn net.Conn, mount, password string) error {
	_ = conn.SetDeadline(time.Now().Add(enterWait))
	resp, err := ask(conn, "SOURCE "+mount, password, "Content-Type: audio/MPA\r\n")
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("harbor answers %s: is another source live?", resp.Status)
	}
	return conn.SetDeadline(time.Time{})
}

// ask sends the head of a request to the harbor, as its user "source", and returns the head of
// the answer. The connection's deadline is the caller's.
func ask(conn net.Conn, what, password, header string) (*http.Response, error) {
	login := base64.StdEncoding.EncodeToString([]byte("source:" + password))
	if _, err := fmt.Fprintf(conn, "%s HTTP/1.0\r\nAuthorization: Basic %s\r\n%sUser-Agent: athir\r\n\r\n", what, login, header); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close() // what follows is nothing to wait for
	return resp, nil
}
