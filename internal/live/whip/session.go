package whip

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/fifo"
	"github.com/athir-radio/athir/internal/live/whip/playout"
	"github.com/athir-radio/athir/internal/live/whip/sdp"
)

// How a session ended, as its page is told. Empty: by its publisher, or its connection
// broke.
const (
	endedReplaced = "replaced" // another session of the same publisher
	endedKicked   = "kicked"   // by the studio
	endedRevoked  = "revoked"
	endedLate     = "late" // the publisher's time is over
	endedServer   = "server"
)

const endedByPublisher = "ended by the publisher"

// session is one publisher's connection. Its URL is a secret that only its publisher
// has; its id is what the station calls it.
type session struct {
	id, url   string
	publisher string
	name      string // the publisher's, or what its page says
	title     string
	push      bool // its presenter wants listeners to be notified
	address   string
	token     [sha256.Size]byte
	since     time.Time
	server    *Server
	log       *slog.Logger
	pc        *webrtc.PeerConnection

	done chan struct{} // closed when the session is over
	wg   sync.WaitGroup

	connected atomic.Bool
	reached   atomic.Int64 // time.Duration of clock, when ICE first chose a path; 0: not yet
	state     atomic.Int32 // webrtc.PeerConnectionState
	patches   *client.Limits
	pages     atomic.Int32
	streams   atomic.Int32
	changes   signal.Changes
	playing   sync.Once

	nack        bool       // it resends what it is asked for
	negotiation sync.Mutex // one ICE exchange at a time
	offer       sdp.Offer
	version     int

	mu       sync.Mutex
	etag     string
	player   *playout.Player
	relays   []netip.AddrPort
	places   map[string]struct{}
	lastRTP  time.Time
	tracks   int
	muted    bool
	facts    live.Facts
	hasFacts bool
	stream   string // id in the registry; empty before it was told
	relayed  bool
	over     bool
	broken   bool // it ended by nobody's will
	parted   bool // the pipe knows of its end
	reported bool // and the control plane
	ended    string
	why      string
	overAt   time.Time
}

// clock is the session's own time, by which packets are played.
func (s *session) clock() time.Duration { return time.Since(s.since) }

// run owns the session until it ends.
func (s *session) run() {
	s.wg.Go(s.tend)
	<-s.done
	s.part()
	s.server.seated("")
	_ = s.pc.GracefulClose()
	s.wg.Wait()
	s.mu.Lock()
	ended, why := s.ended, s.why
	stats, faults := s.player.Buffer.Stats(), s.player.Faults()
	s.server.herald.left(s, why, s.broken || ended == endedServer)
	s.reported = true
	s.mu.Unlock()
	s.log.Info("publisher's session ended", "ended", ended, "why", why, "frames", stats.Frames, "lost", stats.Lost,
		"recovered", stats.Recovered, "restored", stats.Restored, "faults", faults, "concealedMs", stats.ConcealedSamples/48)
	s.server.leave(s)
	s.changes.Tell()
}

// end ends the session, once. How is one of the constants above, why is in words.
func (s *session) end(how, why string) { s.finish(how, why, false) }

// breaks ends it because its connection broke: the pipe is kept for a return.
func (s *session) breaks(why string) { s.finish("", why, true) }

func (s *session) finish(how, why string, broken bool) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	s.over, s.broken, s.ended, s.why, s.overAt = true, broken, how, why, time.Now()
	s.mu.Unlock()
	close(s.done)
	s.changes.Tell()
}

// part gives up the pipe.
func (s *session) part() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server.feed.ends(s.id, s.broken)
	s.parted = true
}

// meant notes that its publisher has ended it, although it counts as broken: a browser that
// stops closes its connection, too, and that word comes by UDP and may overtake the DELETE. By
// itself it says nothing, for a page that is loaded again sends the same. False where no
// return is waited for any more, or nobody is in doubt.
func (s *session) meant() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.broken || time.Since(s.overAt) > s.server.opt.Limits.Return {
		return false
	}
	s.broken, s.why = false, endedByPublisher
	if s.parted {
		s.server.feed.meant(s.id)
	}
	if s.reported {
		s.server.herald.left(s, s.why, false)
	}
	s.log.Info("publisher ended the session whose connection was closed")
	return true
}

func (s *session) endedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overAt
}

func (s *session) isOver() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// mostTracks is how many streams one session may bring: a page that changes its microphone
// begins another, and so does each ICE restart of a client whose offer names none. Each costs memory and goroutines until the session ends, and is news for
// the control plane, which others wait to be told of.
const mostTracks = 64

// bring counts the streams of the connection, those too that its offer does not know: each
// takes memory, and a sender may make up a new one with each packet. A track has two.
func (s *session) bring() {
	if s.streams.Add(1) > 4*mostTracks {
		s.end(endedServer, "the page sent too many streams of audio")
	}
}

// mostPlaces are the addresses and ports that one session may be reached by: a phone that
// changes networks has a few each time. Each costs time at every check of a connection.
const mostPlaces = 256

// from counts the places that connectivity checks come from.
func (s *session) from(place string) {
	s.mu.Lock()
	if len(s.places) <= mostPlaces {
		s.places[place] = struct{}{}
	}
	many := len(s.places) > mostPlaces
	s.mu.Unlock()
	if many {
		s.end(endedServer, "the page connects from too many addresses")
	}
}

// listen sets what the WebRTC stack calls. Nothing in it waits.
//
// Between the first check that chooses a path and the end of the DTLS handshake lie two
// round trips and the phone's own time: an ICE-lite agent sends no checks of its own by
// which to measure one.
func (s *session) listen() {
	opus, red := s.offer.PayloadTypes()
	s.pc.OnICEConnectionStateChange(func(state webrtc.ICEConnectionState) {
		if state == webrtc.ICEConnectionStateConnected {
			s.reached.CompareAndSwap(0, int64(s.clock()))
		}
	})
	s.pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		s.state.Store(int32(state))
		switch state {
		case webrtc.PeerConnectionStateConnected:
			s.connected.Store(true)
		case webrtc.PeerConnectionStateFailed:
			s.breaks("the connection failed")
		case webrtc.PeerConnectionStateClosed:
			s.breaks("the publisher closed the connection")
		}
		s.changes.Tell()
	})
	s.pc.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		s.mu.Lock()
		if s.over || track.Kind() != webrtc.RTPCodecTypeAudio {
			s.mu.Unlock()
			return
		}
		if reached := time.Duration(s.reached.Load()); s.tracks == 0 && reached > 0 {
			s.player.Buffer.Near((s.clock() - reached) / 2)
		}
		if s.tracks++; s.tracks > mostTracks {
			s.mu.Unlock()
			s.end(endedServer, "the page sent too many streams of audio")
			return
		}
		// Under the lock, so that run's Wait comes after it.
		s.wg.Go(func() { s.hear(track, opus, red) })
		s.wg.Go(func() { drain(receiver) })
		s.playing.Do(func() { s.wg.Go(s.play) })
		s.mu.Unlock()
		s.server.arrived(s)
	})
}

// hear takes packets until the track ends, plain ones and redundant audio in any order. A
// read ends with the peer connection.
func (s *session) hear(track *webrtc.TrackRemote, opus, red int) {
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.lastRTP = time.Now()
		switch {
		case len(p.Payload) == 0:
		case int(p.PayloadType) == opus:
			s.player.Push(s.clock(), p.SSRC, p.SequenceNumber, p.Timestamp, slices.Clone(p.Payload))
		case int(p.PayloadType) == red:
			s.player.PushRED(s.clock(), p.SSRC, p.SequenceNumber, p.Timestamp, slices.Clone(p.Payload), uint8(opus))
		}
		s.mu.Unlock()
	}
}

// drain reads the sender's reports, without which ours would not tell it the round trip.
func drain(receiver *webrtc.RTPReceiver) {
	for {
		if _, _, err := receiver.ReadRTCP(); err != nil {
			return
		}
	}
}

const (
	// usualLag is how many ticks are played at once whatever is there: so far a timer may be
	// late on a busy machine.
	usualLag = 10
	// mostLag is how far playing catches up after this process stood still. The desk's clock
	// catches up as much, its tapes hold it, and so does the pipe.
	mostLag = int(fifo.Holds / live.Tick)
)

// catchUp is the tick to play next, where done were played and due are over. A process that
// stood still finds the packets of that time in its sockets: they are played at once, as the
// desk, which stood still too, catches up with silence otherwise. Where they have not been
// read yet, no tick is spent on their absence: they would be too late for it. The buffer
// plays them later, and takes the delay back in pauses.
func catchUp(done, due int, there bool) int {
	done = max(done, due-mostLag)
	if !there {
		done = max(done, due-usualLag)
	}
	return done
}

// play plays a tick each 20 ms of the session's clock.
func (s *session) play() {
	ticker := time.NewTicker(live.Tick)
	defer ticker.Stop()
	done := int(s.clock() / live.Tick)
	frame := make([]byte, live.FrameBytes)
	heard := false
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
		}
		due := int(s.clock() / live.Tick)
		for ; done < due; done++ {
			s.mu.Lock()
			done = catchUp(done, due, s.player.Buffer.Ready())
			out := s.player.Tick(time.Duration(done+1) * live.Tick)
			if out != nil {
				copy(frame, out)
			}
			s.mu.Unlock()
			if out == nil {
				continue
			}
			if !heard {
				heard = true
				s.server.heard(s)
			}
			s.server.feed.play(s.id, frame)
		}
	}
}

// flows reports whether packets come: at least each 400 ms even in a pause.
func (s *session) flows() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.over && time.Since(s.lastRTP) < 2*time.Second
}

// restart begins a new ICE session within this one (RFC 9725, section 4.3.3), and
// returns the fragment to answer with and its entity tag.
func (s *session) restart(ctx context.Context, who sdp.Credentials, relays []netip.AddrPort) (body, etag string, err error) {
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	offer := s.offer
	offer.Credentials = who
	answer, err := s.negotiate(ctx, offer)
	if err != nil {
		return "", "", err
	}
	if body, err = sdp.Restarted(offer, answer); err != nil {
		return "", "", err
	}
	s.offer = offer
	s.mu.Lock()
	s.etag, s.relays = newETag(), relays
	etag = s.etag
	s.mu.Unlock()
	return body, etag, nil
}

// negotiate gives the stack an offer and returns its answer with all candidates.
func (s *session) negotiate(ctx context.Context, offer sdp.Offer) (string, error) {
	s.version++
	err := s.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer.Text(s.version)})
	if err != nil {
		return "", fmt.Errorf("take the offer: %w", err)
	}
	answer, err := s.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("make an answer: %w", err)
	}
	gathered := webrtc.GatheringCompletePromise(s.pc)
	if err := s.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("take the answer: %w", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", ctx.Err()
	case <-s.done:
		return "", errOver
	}
	return s.pc.LocalDescription().SDP, nil
}

func newETag() string { return `"` + random(12) + `"` }

// credentials are those of the publisher's side of the ICE session.
func (s *session) credentials() (who sdp.Credentials, mid string) {
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	return s.offer.Credentials, s.offer.Mid
}

// report is the session as the station sees it.
func (s *session) report() live.Session {
	holds := s.server.feed.holder() == s.id
	flows := s.flows()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.player.Buffer.Stats()
	out := live.Session{
		ID: s.id, Publisher: s.publisher, Name: s.name, Title: s.title, Holds: holds, Since: s.since.UnixMilli(), Muted: s.muted,
		JitterMS: ms(stats.Jitter), LossPct: 100 * stats.Loss, Packets: stats.Packets, Lost: stats.Lost, Frames: stats.Frames,
		Concealed: stats.ConcealedSamples / live.FrameSamples, PeakDBFS: s.player.PeakDBFS(), Relayed: s.relayed, RTTMS: ms(stats.RoundTrip),
	}
	switch state := webrtc.PeerConnectionState(s.state.Load()); {
	case s.tracks == 0:
		out.State = "connecting"
	case state == webrtc.PeerConnectionStateDisconnected:
		out.State = "disconnected"
	case flows:
		out.State = "flowing"
	default:
		out.State = "silent" // connected, and nothing comes
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
