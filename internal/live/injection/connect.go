package injection

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/kit/shout"
)

// mount is the studio's own mount at the live desk.
const mount = "/studio"

// deskWait bounds connecting to the live desk, and each write of audio to it.
const deskWait = 10 * time.Second

// connect opens a source connection to the live desk.
func connect(ctx context.Context, address, password, mime, name string) (net.Conn, error) {
	dial := net.Dialer{Timeout: deskWait}
	conn, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := enter(ctx, conn, password, mime, name); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return patient{conn}, nil
}

// enter logs the studio in.
func enter(ctx context.Context, conn net.Conn, password, mime, name string) error {
	return shout.Enter(ctx, conn, deskWait, mount, password, http.Header{"Content-Type": {mime}, "Ice-Name": {name}})
}

// patient is a connection whose writes end after deskWait.
type patient struct{ net.Conn }

func (p patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(deskWait))
	return p.Conn.Write(b)
}
