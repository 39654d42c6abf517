package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// readAhead is how many bytes of the upstream may be read before they are used.
const readAhead = 4 << 10

// connection is one to the upstream. It is made here rather than by http.Client, which reads
// ahead and keeps its sockets to itself: a hand-over gives the socket to the next program,
// with what was read of it and not used yet.
type connection struct {
	conn   net.Conn
	read   *bufio.Reader // of conn
	body   io.Reader
	format string // Content-Type
	at     string // where the upstream is
}

// connect asks the upstream for its stream. HTTP/1.0 lets a server send it without chunks
// only (RFC 9112 section 6.1), so that the next program can go on anywhere in it.
func connect(ctx context.Context, address string) (*connection, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("request upstream: %w", err)
	}
	host := at.Host
	if at.Port() == "" {
		host = net.JoinHostPort(at.Hostname(), "80")
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("connect upstream: %w", err)
	}
	c := &connection{conn: conn, at: address, read: bufio.NewReaderSize(conn, readAhead)}
	if err := c.request(ctx, at); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *connection) request(ctx context.Context, at *url.URL) error {
	stop := c.interrupted(ctx)
	defer stop()
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: athir-stream\r\n\r\n", at.RequestURI(), at.Host); err != nil {
		return fmt.Errorf("request upstream: %w", err)
	}
	res, err := http.ReadResponse(c.read, nil)
	switch {
	case err != nil:
		return fmt.Errorf("connect upstream: %w", err)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("upstream answers %s", res.Status)
	case len(res.TransferEncoding) > 0:
		return errors.New("upstream answers a request of HTTP/1.0 in chunks")
	}
	c.body, c.format = res.Body, res.Header.Get("Content-Type") //nolint:bodyclose // it is the connection
	if !stop() {
		return fmt.Errorf("connect upstream: %w", context.Cause(ctx))
	}
	return nil
}

// interrupted has a read end once ctx has; the connection stays as it is. stop returns false
// if that has happened.
func (c *connection) interrupted(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
}

func (c *connection) close() { _ = c.conn.Close() }

// legacyUpstream is a connection as the next program gets it, with where in the stream its
// framer is.
type legacyUpstream struct {
	At       string
	Rest     []byte // read of the socket, and not framed
	Partial  []byte // framed, and part of a page that is not whole
	Next     *legacyLink
	Fresh    bool
	Repeated int
}

// leaveUpstream gives the connection to the next program, which goes on in the midst of a
// page: until then the sender's queue holds what comes. A burst on a new connection reaches
// back some seconds only, and a busy machine may take longer.
func (f *Fanout) leaveUpstream() *legacyUpstream {
	c := f.intake.kept
	f.intake.kept = nil
	if c == nil {
		return nil
	}
	defer c.close() // the next program has a copy
	tcp, is := c.conn.(*net.TCPConn)
	if !is {
		return nil
	}
	file, err := tcp.File()
	if err != nil {
		f.log.Warn("cannot hand over the upstream's connection, the next program makes one", "err", err)
		return nil
	}
	rest, _ := c.read.Peek(c.read.Buffered())
	out := &legacyUpstream{At: c.at, Rest: rest}
	if ogg, is := f.intake.framer.(*oggFramer); is {
		out.Partial, out.Next = ogg.pages.buf, legacyOf(ogg.next)
		out.Fresh, out.Repeated = ogg.fresh, ogg.repeated
	}
	f.opt.Handover.Leave(f.upstreamName(), file)
	return out
}

// takeUpstream goes on with the connection of the program before, if it left one.
func (f *Fanout) takeUpstream(in *legacyUpstream) {
	if in == nil || in.At != f.upstream() { // another node has the air by now
		return
	}
	file := f.opt.Handover.Take(f.upstreamName())
	if file == nil {
		return
	}
	defer file.Close() //nolint:errcheck // the connection is a copy
	conn, err := net.FileConn(file)
	if err != nil {
		return
	}
	read := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(in.Rest), conn), max(readAhead, len(in.Rest)))
	_, _ = read.Peek(len(in.Rest)) // where the next hand-over finds it
	f.intake.kept = &connection{conn: conn, read: read, body: read, format: f.format, at: in.At}
	if ogg, is := f.intake.framer.(*oggFramer); is {
		ogg.pages.buf, ogg.next = in.Partial, in.Next.revive()
		ogg.fresh, ogg.repeated = in.Fresh, in.Repeated
	}
}

func (f *Fanout) upstreamName() string { return f.estate() + " upstream" }
