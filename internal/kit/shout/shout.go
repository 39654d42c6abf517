// Package shout is a client of Icecast's source protocol: the head of a request and of its
// answer, as the user "source". What follows on the connection is the caller's.
//
// The password goes with the request, never on a command line.
package shout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Enter logs in at a mount ("/studio") with the SOURCE method, which every server of the
// protocol knows: audio may follow. Its bounds are those of Ask.
func Enter(ctx context.Context, conn net.Conn, wait time.Duration, mount, password string, header http.Header) error {
	err := Ask(ctx, conn, wait, "SOURCE "+mount, password, header)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return fmt.Errorf("%w: is the password right, and no other source there?", err)
	}
	return err
}

// Ask sends "METHOD TARGET" with a header, and returns nil once it is answered with 200. It
// ends after wait, or when ctx does, and leaves the connection without a deadline.
func Ask(ctx context.Context, conn net.Conn, wait time.Duration, what, password string, header http.Header) error {
	_ = conn.SetDeadline(time.Now().Add(wait))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	err := ask(conn, what, password, header)
	switch {
	case !stop():
		return ctx.Err()
	case err != nil:
		return err
	}
	return conn.SetDeadline(time.Time{})
}

func ask(conn net.Conn, what, password string, header http.Header) error {
	r := http.Request{Header: http.Header{"User-Agent": {"athir"}}}
	r.SetBasicAuth("source", password)
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s HTTP/1.0\r\n", what)
	_, _ = r.Header.Write(&head), header.Write(&head) // a buffer takes all; line breaks in values become spaces
	head.WriteString("\r\n")
	if _, err := conn.Write(head.Bytes()); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // closing would read on, and what follows is the connection's
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return &refusal{resp.Status}
	}
	return nil
}

// refusal is an answer other than 200.
type refusal struct{ status string }

func (r *refusal) Error() string { return "answered " + r.status }
