// Package whip takes a microphone from a phone or browser over WebRTC (RFC 9725, WHIP)
// and writes its sound as PCM into a named pipe, for the live desk.
//
// It knows nobody: who may publish, and what is on the air, it asks through Control. One
// session at a time holds the pipe; others of another publisher wait, connected and
// decoded. What comes from outside (HTTP, SDP, ICE, RTP, Opus) is judged, bounded and
// limited here, in a process of its own.
package whip

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/fifo"
	"github.com/athir-radio/athir/internal/live/whip/jitter"
)

// Control is the control plane. Its errors are of the kinds in internal/station, whose Again
// says which are worth asking again.
type Control interface {
	// Admit says whether somebody may publish now.
	Admit(ctx context.Context, who live.Credentials) (live.Admission, error)
	// Arrived registers a new audio track and returns the id of its stream.
	Arrived(ctx context.Context, a live.Arrival) (id string, err error)
	// Left tells of its end.
	Left(ctx context.Context, l live.Leaving) error
	// Facts is what the publisher's page shows.
	Facts(ctx context.Context, publisher, stream string) (live.Facts, error)
}

// Turn is one TURN server, as RTCPeerConnection takes it.
type Turn struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username"`
	Credential string   `json:"credential"`
}

// Options are the settings of a Server.
type Options struct {
	Log  *slog.Logger
	Pipe string // the path of the named pipe; its folder is this program's alone

	// UDP and TCP are where media is taken, host:port. Without a host, on all addresses
	// of this machine. An empty TCP disables media over TCP.
	UDP, TCP string
	// Public are the addresses by which publishers reach this machine, where a router
	// with 1:1 NAT stands before it; empty: its own.
	Public []netip.Addr

	Control Control
	// Note tells the desk that the publisher who holds the pipe is muted on purpose, or
	// not any more. It is called again after an error, and while that publisher is muted;
	// station.ErrNotFound says that the desk has not opened the pipe. Nil: nobody is told.
	Note func(ctx context.Context, muted bool) error
	// ICEServers mints what publishers reach this machine by, who know it as host; known
	// where they have shown a key that was admitted. Nil: none.
	ICEServers func(host string, known bool) (stun []string, turn []Turn)
	// Pages serves everything else: /go-live and what it needs. Nil: nothing.
	Pages http.Handler
	// Origins are those whose pages may publish from elsewhere, "*" for any. None: only
	// pages of this server's own origin.
	Origins []string

	Limits Limits
	Jitter jitter.Options
}

// Limits bound what strangers and publishers may use. Zero values mean the defaults.
type Limits struct {
	Sessions     int // at once: 32
	PerAddress   int // of them, from one address: 4
	PerPublisher int // of them, of one publisher: 3
	// Offers is how many one address may make at once, 10; another each OfferEvery, 3 s. As
	// many times it may ask whose key it has.
	Offers     int
	OfferEvery time.Duration
	// Connect is for how long a session may be without ICE and DTLS, 15 s; Track, without
	// audio, 30 s; Lost, without packets while ICE is disconnected, 10 s.
	Connect, Track, Lost time.Duration
	// Return is for how long the pipe is kept for a publisher whose connection broke, 5 s.
	Return time.Duration
}

func (l Limits) withDefaults() Limits {
	for value, fallback := range map[*int]int{&l.Sessions: 32, &l.PerAddress: 4, &l.PerPublisher: 3, &l.Offers: 10} {
		if *value <= 0 {
			*value = fallback
		}
	}
	for value, fallback := range map[*time.Duration]time.Duration{
		&l.OfferEvery: 3 * time.Second, &l.Connect: 15 * time.Second, &l.Track: 30 * time.Second,
		&l.Lost: 10 * time.Second, &l.Return: 5 * time.Second,
	} {
		if *value <= 0 {
			*value = fallback
		}
	}
	return l
}

// Server is the WHIP server. Make it with New and run it once with Run; without Run it
// keeps its ports and answers 503.
type Server struct {
	opt    Options
	log    *slog.Logger
	media  *media
	pipe   *fifo.Pipe
	feed   *feed
	offers *client.Limits
	looks  *client.Limits
	asking chan struct{} // slots of questions to Control.Admit
	known  known
	herald *herald
	muting *muting

	mu       sync.Mutex
	running  bool
	sessions map[string]*session
	byURL    map[string]*session
	ended    []*session // the last ones, so that their pages learn why
	wg       sync.WaitGroup

	seating  sync.Mutex
	seatTold string // whom seated has told of
}

const (
	// mostAsking is how many questions to the control plane go on at once.
	mostAsking = 8
	// keepEnded is how many ended sessions are remembered, for as long as endedFor.
	keepEnded = 64
	endedFor  = time.Minute
)

// New makes the pipe and binds the media ports. Errors name the setting to change.
func New(opt Options) (*Server, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Control == nil {
		return nil, errors.New("whip: Control is missing")
	}
	opt.Limits = opt.Limits.withDefaults()
	pipe, err := fifo.Make(opt.Pipe)
	if err != nil {
		return nil, err
	}
	media, err := newMedia(opt)
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	s := &Server{
		opt: opt, log: opt.Log, media: media, pipe: pipe,
		offers: client.NewLimits(opt.Limits.Offers, opt.Limits.OfferEvery, time.Now), looks: client.NewLimits(opt.Limits.Offers, opt.Limits.OfferEvery, time.Now),
		asking: make(chan struct{}, mostAsking), known: known{keys: map[[32]byte]time.Time{}}, sessions: map[string]*session{}, byURL: map[string]*session{},
	}
	s.feed = newFeed(pipe, opt.Log, opt.Limits.Return)
	s.herald = newHerald(opt.Control, live.PipeScheme+opt.Pipe, opt.Log)
	s.muting = newMuting(opt.Note, s.muted, opt.Log)
	return s, nil
}

// MediaUDP and MediaTCP are the addresses that media is taken at.
func (s *Server) MediaUDP() []netip.AddrPort { return s.media.udpAddrs }

// MediaTCP is nil where media over TCP is disabled.
func (s *Server) MediaTCP() []netip.AddrPort { return s.media.tcpAddrs }

// Run serves until ctx ends; then it ends all sessions, tells the control plane, and
// removes the pipe.
func (s *Server) Run(ctx context.Context) error {
	// Sessions outlive ctx by as long as their pages need to be told.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	var background sync.WaitGroup
	background.Go(func() { s.herald.run(working) })
	background.Go(func() { s.muting.run(working) })
	background.Go(func() { s.poll(working) })
	background.Go(func() { s.keepSeat(working) })
	<-ctx.Done()

	s.mu.Lock()
	s.running = false
	all := make([]*session, 0, len(s.sessions))
	for _, one := range s.sessions {
		all = append(all, one)
	}
	s.mu.Unlock()
	for _, one := range all {
		one.end(endedServer, "the server restarts")
	}
	s.wg.Wait()
	stop()
	background.Wait()
	return errors.Join(s.media.close(), s.pipe.Close())
}

// Refusals for want of a place, and of what is over.
var (
	errBusy      = errors.New("the server has no more places")
	errAddress   = errors.New("your address has too many sessions")
	errPublisher = errors.New("this publisher has too many sessions")
	errStopping  = errors.New("the server is not running")
	errOver      = errors.New("the session ended")
)

// enter gives a session its place, or says which bound it meets. A publisher's own
// attempts that never connected make way for the next.
func (s *Server) enter(one *session) error {
	s.mu.Lock()
	var gone *session
	defer func() {
		s.mu.Unlock()
		if gone != nil {
			gone.end(endedReplaced, "another attempt of the same publisher")
		}
	}()
	if !s.running {
		return errStopping
	}
	address, publisher := 0, 0
	for _, other := range s.sessions {
		if other.isOver() {
			continue // it gives its place back in a moment
		}
		if one.address != "" && other.address == one.address {
			address++
		}
		if other.publisher == one.publisher {
			publisher++
			if !other.connected.Load() && (gone == nil || other.since.Before(gone.since)) {
				gone = other
			}
		}
	}
	switch {
	case len(s.sessions) >= s.opt.Limits.Sessions:
		gone = nil
		return errBusy
	case publisher >= s.opt.Limits.PerPublisher && gone == nil:
		return errPublisher
	case publisher >= s.opt.Limits.PerPublisher: // its place is taken over
	case address >= s.opt.Limits.PerAddress:
		gone = nil
		return errAddress
	default:
		gone = nil
	}
	s.sessions[one.id], s.byURL[one.url] = one, one
	s.wg.Add(1)
	return nil
}

// leave gives the place of an ended session back.
func (s *Server) leave(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wg.Done()
	delete(s.sessions, one.id)
	s.ended = append(s.ended, one)
	for len(s.ended) > keepEnded || len(s.ended) > 0 && time.Since(s.ended[0].endedAt()) > endedFor {
		delete(s.byURL, s.ended[0].url)
		s.ended = s.ended[1:]
	}
}

// at finds a session by its URL; ended ones too.
func (s *Server) at(url string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byURL[url]
}

// all lists the sessions that are not over.
func (s *Server) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*session, 0, len(s.sessions))
	for _, one := range s.sessions {
		if !one.isOver() {
			out = append(out, one)
		}
	}
	return out
}

// Connected counts the sessions that are not over.
func (s *Server) Connected() int { return len(s.all()) }

// live reports whether audio flows from the session that holds the pipe.
func (s *Server) live() bool {
	holder := s.feed.holder()
	s.mu.Lock()
	one := s.sessions[holder]
	s.mu.Unlock()
	return one != nil && one.flows()
}

func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (s *Server) iceServers(r *http.Request) (stun []string, turn []Turn) {
	if s.opt.ICEServers == nil {
		return nil, nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return s.opt.ICEServers(strings.Trim(host, "[]"), s.known.has(bearer(r)))
}
