package relay

import (
	"sync/atomic"
	"time"
)

type counters struct {
	bytesReceived, bytesSent             atomic.Uint64
	playlists, segments, refused         atomic.Uint64
	busy, hurried                        atomic.Uint64
	rtmpAccepted, rtmpRefused, rtmpLimit atomic.Uint64
}

// Snapshot is the relay's state in figures. Counts run since its start.
type Snapshot struct {
	Sessions        int       // listeners now: those who have fetched a segment
	SessionsTotal   uint64    // sessions begun
	BytesReceived   uint64    // from publishers
	BytesSent       uint64    // playlists and segments, bodies only
	Segments        uint64    // made
	Discontinuities uint64    // breaks between runs of frames
	PlaylistsServed uint64    // media playlists
	SegmentsServed  uint64    // segment requests answered
	Refused         uint64    // requests without a valid session
	Busy            uint64    // sessions refused because the table was full
	Hurried         uint64    // sessions refused because their address began too many
	RTMPAccepted    uint64    // encoders let in
	RTMPRefused     uint64    // encoders with a wrong password or name
	RTMPLimited     uint64    // attempts not even looked at
	Publishing      bool      // a bridge is connected and has shown audio
	LastData        time.Time // of the last audio from the bridge; zero: none yet
	LastSegmentEnd  time.Time // programme time at the playlist's end
}

// Snapshot returns the figures of now.
func (s *Server) Snapshot() Snapshot {
	state := s.path.state()
	s.window.mu.RLock()
	segments, breaks := s.window.total, s.window.breaks
	s.window.mu.RUnlock()
	live, begun := s.sessions.counts(time.Now())
	return Snapshot{
		Sessions: live, SessionsTotal: begun,
		BytesReceived: s.count.bytesReceived.Load(), BytesSent: s.count.bytesSent.Load(),
		Segments: segments, Discontinuities: breaks,
		PlaylistsServed: s.count.playlists.Load(), SegmentsServed: s.count.segments.Load(),
		Refused: s.count.refused.Load(), Busy: s.count.busy.Load(), Hurried: s.count.hurried.Load(),
		RTMPAccepted: s.count.rtmpAccepted.Load(), RTMPRefused: s.count.rtmpRefused.Load(), RTMPLimited: s.count.rtmpLimit.Load(),
		Publishing: state.source != nil, LastData: state.lastData, LastSegmentEnd: s.window.end(),
	}
}
