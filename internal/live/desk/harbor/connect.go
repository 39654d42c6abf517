// Package harbor brings the bus to the playout engine: one encoder (MP3, 128 kbit/s,
// stereo; mission: Broadcast node endpoints) and one connection to the engine's live
// harbor for each broadcast, both made anew while it lasts.
//
// What was missed meanwhile is left out: a stale tail of a show is never heard.
package harbor

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/kit/shout"
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

// connect opens a source connection. The content type makes the engine decode with MAD,
// which takes a second less to begin than its ffmpeg.
func connect(ctx context.Context, dial Dial, address, mount, password string) (net.Conn, error) {
	if dial == nil {
		dial = system
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := shout.Enter(ctx, conn, enterWait, mount, password, http.Header{"Content-Type": {"audio/MPA"}}); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
