package injection

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"time"
)

// mount is the studio's own mount at the live desk.
const mount = "/studio"

// deskWait bounds connecting to the live desk, and each write of audio to it.
const deskWait = 10 * time.Second

// connect opens a source connection to the live desk with Icecast's SOURCE method.
func connect(ctx context.Context, address, password, mime, name string) (net.Conn, error) {
	dial := net.Dialer{Timeout: deskWait}
	conn, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := enter(conn, password, mime, name); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return patient{conn}, nil
}

// enter logs a source in.
func enter(conn net.Conn, password, mime, name string) error {
	_ = conn.SetDeadline(time.Now().Add(deskWait))
	login := base64.StdEncoding.EncodeToString([]byte("source:" + password))
	if _, err := fmt.Fprintf(conn, "SOURCE %s HTTP/1.0\r\nAuthorization: Basic %s\r\nContent-Type: %s\r\nIce-Name: %s\r\nUser-Agent: athir\r\n\r\n", mount, login, mime, name); err != nil {
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
		return fmt.Errorf("the live desk answers %s: is another studio live?", resp.Status)
	}
	return nil
}

// patient is a connection whose writes end after deskWait.
type patient struct{ net.Conn }

func (p patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(deskWait))
	return p.Conn.Write(b)
}
