package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Doorway runs use with the address of an HTTP proxy on loopback that reaches
// what this Client may reach, and nothing else. It is for a program that resolves
// names and follows redirects by itself: with the doorway as its proxy it cannot
// be led into the machine's own network. At most limit bytes come in through it
// in all. It is closed when use returns.
func (c *Client) Doorway(ctx context.Context, limit int64, use func(proxy string) error) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open doorway: %w", err)
	}
	ctx, closing := context.WithCancel(ctx)
	d := &doorway{c: c, ctx: ctx}
	d.left.Store(limit)
	d.plain = &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.Header.Del("X-Forwarded-For") },
		Transport:    c.http.Transport,
		ErrorHandler: d.refuse,
		ModifyResponse: func(answer *http.Response) error {
			answer.Body = struct {
				io.Reader
				io.Closer
			}{d.metered(answer.Body), answer.Body}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // the program says what went wrong
	}
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: c.o.Header, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with ErrServerClosed
	}()
	err = use("http://" + listener.Addr().String())
	closing()
	_ = server.Close()
	<-served
	d.tunnels.Wait()
	return err
}

type doorway struct {
	c       *Client
	ctx     context.Context //nolint:containedctx // ends with the call of Doorway that made it
	plain   http.Handler
	left    atomic.Int64 // bytes that may still come in
	tunnels sync.WaitGroup
}

func (d *doorway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.tunnels.Add(1)
	defer d.tunnels.Done()
	if r.Method == http.MethodConnect {
		d.connect(w, r)
		return
	}
	u, err := d.c.Check(r.URL.String())
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	r.URL = u
	d.plain.ServeHTTP(w, r)
}

// refuse answers in words that the program will show.
func (d *doorway) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code := http.StatusBadGateway
	err = d.c.explain(r.Context(), r.URL, err)
	if errors.As(err, new(*BlockedError)) {
		code = http.StatusForbidden
	}
	http.Error(w, err.Error(), code)
}

// connect opens a tunnel, which is how a program reaches an https address.
func (d *doorway) connect(w http.ResponseWriter, r *http.Request) {
	u, err := d.c.Check("https://" + r.Host)
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	out, err := d.c.reach(r.Context(), withPort(u))
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	defer out.Close() //nolint:errcheck // read to its end
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	defer in.Close() //nolint:errcheck // read to its end
	if _, err := in.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	stop := context.AfterFunc(d.ctx, func() { _, _ = in.Close(), out.Close() })
	defer stop()
	var sending sync.WaitGroup
	sending.Go(func() {
		d.pump(out, buffered, in)
		_ = out.Close()
	})
	d.pump(in, d.metered(out), out)
	_ = in.Close()
	sending.Wait()
}

// pump copies from one side to the other until either ends or from is silent for
// twice the idle time.
func (d *doorway) pump(to io.Writer, body io.Reader, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		_ = from.SetReadDeadline(time.Now().Add(2 * d.c.o.Idle))
		n, err := body.Read(buf)
		if n > 0 {
			if _, failed := to.Write(buf[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// metered counts what comes in, and ends when it is too much.
func (d *doorway) metered(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if d.left.Load() <= 0 {
			return 0, &TooLargeError{}
		}
		n, err := r.Read(p)
		d.left.Add(-int64(n))
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func withPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}
