// Package ingest takes encoders in by the Icecast source protocol: PUT as current clients
// send it, SOURCE as old ones do, and titles by /admin/metadata. BUTT, Mixxx, libshout,
// ffmpeg and Liquidsoap speak it.
//
// It decides who may send by asking, and what comes is passed on as it is: it decodes
// nothing. Connections, rates, pauses and wrong passwords are bounded.
package ingest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/live"
)

// Options of a Server.
type Options struct {
	Log *slog.Logger
	// Admit says whether somebody may send now.
	Admit func(ctx context.Context, who live.Credentials) (live.Admission, error)
	// Studio is the password of user "source", who may send to any mount: the station
	// itself, and alone to StudioMount. Empty: there is no such user.
	Studio *secret.Secret
	// Carry takes an encoder's audio until it ends, and says why it did.
	Carry func(ctx context.Context, p Push) error
	// Accepts says whether a content type can be decoded; the error is for the encoder.
	Accepts func(contentType string) error
	// Named is told the title that an encoder sends.
	Named func(mount, title, creator string)
}

// Push is an encoder that was let in.
type Push struct {
	Mount     string // "/sara"
	Type      string // content type
	Title     string // ice-name
	Studio    bool
	Presenter live.Presenter
	Address   string
	// Again asks whether it may still send.
	Again func(ctx context.Context) (live.Admission, error)
	Body  io.Reader
}

// StudioMount is where the studio's own microphone comes in, and nothing else: the station's
// password takes it from whoever has it.
const StudioMount = "/studio"

const (
	mostConnections = 64
	mostOfOne       = 8
	// stale is for how long the encoder on a mount has sent nothing when another connection of
	// the same user takes its place: the first has lost its network, and comes again.
	stale = 2 * time.Second
	// keep is for how long the mount of an encoder whose connection broke is kept for its user.
	// Until then it may still be on the air, which whoever came by the same mount would have.
	keep = 6 * time.Second
	// titlesAtOnce are the titles that an encoder may tell at once, and one more each
	// titleEvery: all listeners are told of each.
	titlesAtOnce, titleEvery = 10, 2 * time.Second
)

// Server takes encoders in.
type Server struct {
	opt   Options
	wrong *client.Limits // passwords

	mu      sync.Mutex
	open    map[string]*guest // by address
	all     int               // connections
	waiting []*visit          // of these, those that were not let in yet, the oldest first
	mounts  map[string]*holder
	kept    map[string]kept // mounts
}

// guest is an address that has connections.
type guest struct {
	connections int
	turn        chan struct{} // see Server.turn
}

// visit is a connection that was not let in yet.
type visit struct {
	conn net.Conn
	key  string // the address
	said bool   // it has sent the whole head of a request
}

// kept is whose a mount still is.
type kept struct {
	user  string
	until time.Time
}

// holder is the encoder on a mount.
type holder struct {
	user, secret string
	body         *body
	gone         chan struct{}
	titles       *rate.Limiter
}

// New makes a Server.
func New(opt Options) *Server {
	return &Server{
		opt: opt, wrong: client.NewLimits(5, 30*time.Second, time.Now),
		open: map[string]*guest{}, mounts: map[string]*holder{}, kept: map[string]kept{},
	}
}

// Serve accepts encoders until ctx ends, and returns once all connections have.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for pause := 5 * time.Millisecond; ; {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return ctx.Err()
			}
			s.opt.Log.Warn("cannot accept an encoder", "why", err)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = 5 * time.Millisecond
		key := client.Peer(conn.RemoteAddr())
		if !s.enter(key, conn) {
			_ = conn.Close()
			continue
		}
		all.Go(func() {
			defer s.leave(key, conn)
			s.serve(ctx, conn, peer(conn))
		})
	}
}

// peer is the client's address without its port.
func peer(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}

// enter counts a connection of a client; this machine, with an empty key, has no limit but
// that of all. Where all places are taken one that waits to be let in makes way: many that
// say nothing keep no encoder out.
func (s *Server) enter(key string, conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.open[key]
	if g != nil && key != "" && g.connections >= mostOfOne {
		return false
	}
	if s.all >= mostConnections {
		// One that makes way is still counted until it has ended.
		out := s.oldest()
		if out == nil || s.all >= 2*mostConnections {
			return false
		}
		_ = out.conn.Close()
		s.unwait(out.conn)
	}
	if g == nil {
		g = &guest{turn: make(chan struct{}, 1)}
		s.open[key] = g
	}
	s.all++
	g.connections++
	s.waiting = append(s.waiting, &visit{conn: conn, key: key})
	return true
}

// oldest is the oldest visit without a whole head of the address, or site, that has the most
// visits; nil where there is none. Those who storm the door put each other out.
func (s *Server) oldest() (out *visit) {
	site := func(v *visit) string { return cmp.Or(client.Wider(v.key), v.key) }
	count := map[string]int{}
	for _, v := range s.waiting {
		count[site(v)]++
	}
	for _, v := range s.waiting {
		if !v.said && (out == nil || count[site(v)] > count[site(out)]) {
			out = v
		}
	}
	return out
}

// said notes that a connection has sent the whole head of a request: it is answered in a
// moment, and makes way for nobody.
func (s *Server) said(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.waiting {
		v.said = v.said || v.conn == conn
	}
}

// settled takes a connection from those that wait.
func (s *Server) settled(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwait(conn)
}

func (s *Server) unwait(conn net.Conn) {
	s.waiting = slices.DeleteFunc(s.waiting, func(v *visit) bool { return v.conn == conn })
}

func (s *Server) leave(key string, conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwait(conn)
	s.all--
	if g := s.open[key]; g.connections > 1 {
		g.connections--
	} else {
		delete(s.open, key)
	}
}

// serve answers one connection: one request.
func (s *Server) serve(ctx context.Context, conn net.Conn, address string) {
	defer conn.Close() //nolint:errcheck // nothing is left to say
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(headWait))
	in := bufio.NewReaderSize(conn, 4096)
	r, err := readRequest(in)
	if err != nil {
		if errors.Is(err, errTooLong) {
			s.answer(conn, 431, err.Error())
		} else if errors.Is(err, errNoHTTP) {
			s.answer(conn, 400, err.Error())
		}
		return
	}
	s.said(conn)
	switch {
	case r.method == "PUT" || r.method == "SOURCE":
		s.push(ctx, conn, in, r, address)
	case r.method == "GET" && r.path == "/admin/metadata":
		s.metadata(ctx, conn, r)
	case r.user == "" && len(r.path) >= 6 && r.path[:6] == "/admin":
		s.answer(conn, 401, "log in as your show")
	case r.method == "OPTIONS":
		s.answer(conn, 204, "")
	case r.method == "GET" || r.method == "HEAD":
		s.answer(conn, 404, "encoders send here, nothing is heard here")
	default:
		s.answer(conn, 405, "send PUT or SOURCE")
	}
}

// push takes an encoder in.
func (s *Server) push(ctx context.Context, conn net.Conn, in *bufio.Reader, r *request, address string) {
	if !mountName(r.path) {
		s.answer(conn, 404, "mount: use letters, digits, - and _, as in /sara")
		return
	}
	kind := r.header.Get("Content-Type")
	if kind == "" && r.method == "SOURCE" {
		kind = "audio/mpeg" // as Icecast takes it
	}
	who := live.Credentials{
		Protocol: live.Icecast, User: r.user, Secret: r.secret, Mount: r.path,
		Title: clean(r.header.Get("Ice-Name"), false), Address: address,
	}
	admitted, studio, ok := s.admit(ctx, conn, who)
	if !ok {
		return
	}
	if r.path == StudioMount && !studio {
		s.answer(conn, 403, "this mount is the studio's own: use another")
		return
	}
	if err := s.opt.Accepts(kind); err != nil {
		s.answer(conn, 415, err.Error())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &holder{user: r.user, secret: r.secret, body: newBody(ctx, conn, in, r), gone: make(chan struct{}), titles: rate.NewLimiter(rate.Every(titleEvery), titlesAtOnce)}
	if !s.hold(ctx, r.path, h) {
		s.answer(conn, 403, "Mountpoint in use")
		return
	}
	var ended error
	defer func() {
		_, broke := Ending(ended)
		s.release(r.path, h, broke)
	}()
	s.settled(conn)
	_ = conn.SetDeadline(time.Now().Add(headWait))
	if r.expects && !r.old {
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	} else {
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
	}
	_ = conn.SetDeadline(time.Time{})
	ended = s.opt.Carry(ctx, Push{
		Mount: r.path, Type: kind, Title: who.Title, Studio: studio, Presenter: admitted.Publisher, Address: address, Body: h.body,
		Again: func(ctx context.Context) (live.Admission, error) {
			if studio {
				return live.Admission{Allowed: true}, nil
			}
			again := who
			again.Again = true
			return s.opt.Admit(ctx, again)
		},
	})
	if r.expects && !r.old && ctx.Err() == nil {
		switch {
		case ended == nil, errors.Is(ended, io.EOF):
			s.answer(conn, 200, "")
		default:
			s.answer(conn, 400, ended.Error())
		}
	}
}

// hold gives a mount to an encoder. One that has fallen silent makes way for a new
// connection of the same user, and the studio's whoever has it for who is let in to it.
func (s *Server) hold(ctx context.Context, mount string, h *holder) bool {
	for {
		s.mu.Lock()
		before := s.mounts[mount]
		if before == nil {
			k, ours := s.kept[mount]
			ours = !ours || mount == StudioMount || k.user == h.user || !time.Now().Before(k.until)
			if ours {
				s.mounts[mount] = h
				delete(s.kept, mount)
			}
			s.mu.Unlock()
			return ours
		}
		s.mu.Unlock()
		if mount != StudioMount && (before.user != h.user || before.body.silent() < stale) {
			return false
		}
		before.body.Stop()
		select {
		case <-before.gone:
		case <-ctx.Done():
			return false
		}
	}
}

// release gives a mount back; one whose encoder's connection broke is kept for its user.
func (s *Server) release(mount string, h *holder, broke bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mounts, mount)
	close(h.gone)
	for other, k := range s.kept {
		if !now.Before(k.until) {
			delete(s.kept, other)
		}
	}
	if broke {
		s.kept[mount] = kept{h.user, now.Add(keep)}
	}
}

// Ending says why an error ended an encoder, in words for people, and whether its connection
// broke: then it, or the station, has not ended the broadcast.
func Ending(err error) (why string, broke bool) {
	var network net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, context.Canceled):
		return "the encoder left", false
	case errors.Is(err, net.ErrClosed):
		return "sent away, or replaced by a newer connection", false
	case errors.As(err, &network) && network.Timeout():
		return "no audio came for " + idleWait.String(), true
	case network != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return "its connection broke", true
	}
	return err.Error(), false
}

// Kick ends the encoder on a mount; false where there is none.
func (s *Server) Kick(mount string) bool {
	s.mu.Lock()
	h := s.mounts[mount]
	s.mu.Unlock()
	if h == nil {
		return false
	}
	h.body.Stop()
	return true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
