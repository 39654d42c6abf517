package whip

import (
	"net/netip"
	"slices"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
)

// tend asks for lost packets, measures, and ends the session when its time is up.
func (s *session) tend() {
	ticker := time.NewTicker(live.Tick)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-s.done:
			return
		case <-ticker.C:
		}
		s.ask()
		if n%50 == 49 {
			s.measure()
			if why := s.overdue(time.Now()); why != "" {
				s.breaks(why)
			}
		}
	}
}

// ask sends one request for all that is worth asking for (RFC 4585, section 6.2.1).
func (s *session) ask() {
	s.mu.Lock()
	lost := s.player.Buffer.Nacks(s.clock())
	ssrc := s.player.SSRC()
	s.mu.Unlock()
	if len(lost) == 0 || !s.nack {
		return
	}
	_ = s.pc.WriteRTCP([]rtcp.Packet{&rtcp.TransportLayerNack{MediaSSRC: ssrc, Nacks: rtcp.NackPairsFromSequenceNumbers(lost)}})
}

// measure learns by which way the packets come. The round trip is the jitter buffer's to
// measure: an ICE-lite agent sends no checks that would tell it.
func (s *session) measure() {
	var remote netip.AddrPort
	relay := false
	for _, r := range s.pc.GetReceivers() {
		dtls := r.Transport()
		if dtls == nil || dtls.ICETransport() == nil {
			continue
		}
		// GetStats of the peer connection would race with its end (pion/webrtc 4.2.18).
		if pair, err := dtls.ICETransport().GetSelectedCandidatePair(); err == nil && pair != nil && pair.Remote != nil {
			ip, _ := netip.ParseAddr(pair.Remote.Address)
			remote = netip.AddrPortFrom(ip.Unmap(), pair.Remote.Port)
			relay = pair.Remote.Typ == webrtc.ICECandidateTypeRelay
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relayed = relay || slices.Contains(s.relays, remote)
}

// overdue says why a session's time is up; empty: it is not.
func (s *session) overdue(now time.Time) string {
	l := s.server.opt.Limits
	state := webrtc.PeerConnectionState(s.state.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.connected.Load() && now.Sub(s.since) > l.Connect:
		return "no connection came about"
	case s.tracks == 0 && now.Sub(s.since) > l.Track:
		return "no audio came"
	case s.tracks > 0 && state == webrtc.PeerConnectionStateDisconnected && now.Sub(s.lastRTP) > l.Lost:
		return "the network is gone"
	}
	return ""
}

// patchLimits are those of one session's requests.
func patchLimits() *client.Limits { return client.NewLimits(30, 500*time.Millisecond, time.Now) }
