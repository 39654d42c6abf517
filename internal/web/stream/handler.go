package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/web/problem"
)

// retryAfter is what a refused listener is told to wait, in seconds.
const retryAfter = "5"

// ServeHTTP answers GET with the stream from now on, HEAD with its headers, and
// the OPTIONS a browser sends before a request for ICY metadata. 503 with
// Retry-After says that there is no room, or no upstream within Options.Wait.
func (f *Fanout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.cors(w.Header())
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		refuse(w, http.StatusMethodNotAllowed, "use GET to listen to a stream")
		return
	}
	if r.Method == http.MethodHead {
		f.head(w, r)
		return
	}
	var from caller
	if f.opt.MaxPerClient > 0 {
		from.key = f.opt.ClientKey(r)
	}
	if f.opt.Who != nil {
		from.who = f.opt.Who(r)
	}
	if why := f.door.enter(from, f.opt.MaxListeners, f.opt.MaxPerClient); why != "" {
		refuse(w, http.StatusServiceUnavailable, why)
		return
	}
	at, format := f.await(r.Context())
	if at == nil {
		f.door.unserved(from)
		refuse(w, http.StatusServiceUnavailable, nothingToSend)
		return
	}
	f.rush.Arrived()
	f.describe(w.Header(), format, wantsICY(r))
	f.play(w, r, from, start(at, nil, wantsICY(r)))
}

const nothingToSend = "the station is not sending at the moment, try again soon"

func (f *Fanout) head(w http.ResponseWriter, r *http.Request) {
	at, format := f.await(r.Context())
	if at == nil {
		refuse(w, http.StatusServiceUnavailable, nothingToSend)
		return
	}
	f.describe(w.Header(), format, wantsICY(r))
	w.WriteHeader(http.StatusOK)
}

func wantsICY(r *http.Request) bool { return r.Header.Get("Icy-MetaData") == "1" }

// play hands the connection to a shared writer if it can be taken over. Otherwise
// it serves the connection itself until the listener is gone.
func (f *Fanout) play(w http.ResponseWriter, r *http.Request, from caller, c cursor) {
	control := http.NewResponseController(w)
	if r.TLS == nil {
		conn, _, err := control.Hijack()
		if err == nil {
			c.lead = responseHead(w.Header(), r)
			f.takeOver(r.Context(), conn, from, c)
			return
		}
		if !errors.Is(err, http.ErrNotSupported) {
			f.door.leave(from) // the connection broke meanwhile
			return
		}
	}
	defer f.door.leave(from)
	w.WriteHeader(http.StatusOK)
	f.serveAlone(r.Context(), &c, alone{w, control.SetWriteDeadline, control.Flush})
}

// takeOver gives a hijacked connection to a writer, or serves it until it ends
// where its socket cannot be reached.
func (f *Fanout) takeOver(ctx context.Context, conn net.Conn, from caller, c cursor) {
	if tcp, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		// Audio for a slow listener waits in the shared window, not in
		// megabytes of kernel memory for each.
		_ = tcp.SetWriteBuffer(f.opt.SendBuffer)
	}
	if s, ok := detach(conn); ok {
		l := &listener{cursor: c, socket: s, caller: from}
		if f.writers[f.turn.Add(1)%uint64(len(f.writers))].add(l) {
			return
		}
		s.close()
	} else {
		f.serveAlone(ctx, &c, alone{conn, conn.SetWriteDeadline, func() error { return nil }})
		_ = conn.Close()
	}
	f.door.leave(from)
}

// alone is a connection that has a goroutine of its own.
type alone struct {
	io.Writer
	deadline func(time.Time) error
	flush    func() error
}

func (f *Fanout) serveAlone(ctx context.Context, c *cursor, to alone) {
	for {
		more := f.drain(c, to)
		if more == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

// drain sends all there is and returns a channel that is closed when there is more;
// nil when the listener is done or gone.
func (f *Fanout) drain(c *cursor, to alone) <-chan struct{} {
	title := f.titleNow()
	_ = to.deadline(time.Now().Add(f.opt.Stall))
	for b := c.next(title); len(b) > 0; b = c.next(title) {
		n, err := to.Write(b)
		f.count.out.Add(uint64(n)) //nolint:gosec // not negative
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if late || f.tooSlow(c) {
			f.count.slow.Add(1)
			return nil
		}
		if err != nil {
			return nil
		}
		c.took(n)
	}
	if to.flush() != nil || c.ended() {
		return nil
	}
	return c.at.more
}

// tooSlow reports whether the listener has fallen out of the window.
func (f *Fanout) tooSlow(c *cursor) bool { return c.position() < f.floor.Load() }

// describe sets the headers of a stream.
func (f *Fanout) describe(h http.Header, format string, icy bool) {
	h.Set("Content-Type", oneLine(format))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Accept-Ranges", "none")
	info := f.opt.Info
	for name, value := range map[string]string{
		"icy-name": info.Name, "icy-description": info.Description, "icy-genre": info.Genre, "icy-url": info.URL,
	} {
		if value = clip(oneLine(value), maxHeaderValue); value != "" {
			h.Set(name, value)
		}
	}
	if info.Bitrate > 0 {
		h.Set("icy-br", strconv.Itoa(info.Bitrate))
	}
	if icy {
		h.Set("icy-metaint", strconv.Itoa(icyInterval))
	}
}

// maxHeaderValue keeps icy-* headers within what small players read, in bytes.
const maxHeaderValue = 512

func (f *Fanout) cors(h http.Header) {
	if f.opt.AllowOrigin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", f.opt.AllowOrigin)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Icy-MetaData, Range")
	h.Set("Access-Control-Expose-Headers", "icy-br, icy-description, icy-genre, icy-metaint, icy-name, icy-url")
}

// responseHead writes the response head as net/http would. The body has no length:
// the end of the connection ends it, which any HTTP client understands.
func responseHead(h http.Header, r *http.Request) []byte {
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.%d 200 OK\r\n", min(r.ProtoMinor, 1))
	_ = h.Write(&b) // replaces line breaks in values
	b.WriteString("\r\n")
	return b.Bytes()
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	problem.Answer(w, status, why)
}
