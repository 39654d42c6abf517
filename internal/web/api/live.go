package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/station"
)

// Live are the parts behind the routes of live broadcasting. All are required.
type Live struct {
	Takeover   Takeover
	Registry   LiveRegistry
	Publishers LivePublishers
	Phones     Phones
	Recordings LiveRecordings
	Carts      LiveCarts
	// Listen is a source's input as WAV, for as long as the caller reads; it closes the
	// body. Errors: station.ErrNotFound, station.ErrUnavailable.
	Listen func(ctx context.Context, source string) (*http.Response, error)
	Door   LiveDoor
	// Entrances are where live audio comes in, for the studio to show.
	Entrances LiveEntrances
	// Figures are what is known without asking the node, for /metrics.
	Figures LiveFigures
}

// Takeover decides which live stream is on the air.
type Takeover interface {
	// View is what it knows at this moment.
	View() LiveView
	// Look asks the desk on the node for its report, levels included; where it does not
	// answer within a second the report is the last one. Known: it is heard of.
	Look(ctx context.Context) (r live.Report, known bool)
	// Start puts a stream on the air, the best when id is empty, and returns once the
	// desk sends it; a stream without an id where none may be aired.
	// Errors: station.ErrNotFound; station.ErrConflict where no audio came from it.
	Start(ctx context.Context, id string, mode live.Mode) (live.Stream, error)
	// Stop goes back to the rotation; false when nothing was live.
	Stop(ctx context.Context) (stopped bool, err error)
	// Hand passes the air from the stream on it to another.
	// Errors: station.ErrNotFound; station.ErrConflict while nothing is live.
	Hand(ctx context.Context, id string) (live.Stream, error)
	// WrapUp shows the presenter on the air a sign to end in so many seconds; 0 takes it
	// back. Error: station.ErrConflict while nothing is live.
	WrapUp(ctx context.Context, in time.Duration) error
	// Kick ends the session of a phone, whose page is told why, or of an encoder: it is off
	// the air, and waits for the studio when it connects again.
	// Errors: station.ErrNotFound; station.ErrConflict for the studio's own microphone.
	Kick(ctx context.Context, session, why string) error
	// Show holds the air until a moment, whoever comes and goes; bed is a file of the
	// library, or empty. EndShow lets it go.
	Show(ctx context.Context, title string, until time.Time, bed string) error
	EndShow(ctx context.Context) error
}

// LiveView is what the takeover knows.
type LiveView struct {
	Registry []LiveStream // the best first, then what nobody sends, blacklisted ones last
	Active   *LiveActive
	Next     string // id of what would follow if Active failed, or be started first
	Show     *live.Show
	WrapUpAt int64 // epoch milliseconds; 0: no sign is shown
	Encoders []live.Encoder
}

// LiveRegistry keeps the streams that may be aired.
type LiveRegistry interface {
	// Register adds a stream, or refreshes the one of the same url, title and ingest.
	// Errors: station.ErrInvalid, naming the field; station.ErrConflict when there are
	// too many.
	Register(ctx context.Context, f registry.Fields) (live.Stream, error)
	Find(id string) (live.Stream, error)
	Remove(ctx context.Context, id string) error
	Vote(ctx context.Context, id string, delta int) (live.Stream, error)
	// Block leaves a stream out of the ranking until Unblock.
	Block(ctx context.Context, id string) error
	Unblock(ctx context.Context, id string) error
}

// Phones are the sessions of the node's WHIP server.
type Phones interface {
	Sessions(ctx context.Context) ([]live.Session, error)
	// Hold lets a session feed the pipe; the one before waits. Error: station.ErrNotFound.
	Hold(ctx context.Context, session string) error
}

// LiveEntrances are where live audio comes in.
type LiveEntrances struct {
	GoLive string `json:"goLive" doc:"Address of the phones' page, as live.address has it; empty: nothing is known but port whip of this host"`
	WHIP   int    `json:"whip" doc:"Port of phones"`
	Secure bool   `json:"secure" doc:"That port speaks https, by live.tls_cert"`
	Source int    `json:"source" doc:"Port of encoders that speak Icecast's protocol"`
	RTMP   int    `json:"rtmp" doc:"Port of encoders that speak RTMP"`
}

// LiveStream is a stream of the registry as the studio sees it.
type LiveStream struct {
	live.Stream
	Available   bool                  `json:"available" doc:"It may be put on the air now: somebody sends it, or the station fetches it"`
	Blacklisted *registry.Blacklisted `json:"blacklisted,omitempty" doc:"It is left out of the ranking: until a time, or until the order is taken back"`
}

// LiveActive is the stream that has taken the air.
type LiveActive struct {
	live.Stream
	Mode  live.Mode `json:"mode" enum:"replace,over" doc:"over: the rotation goes on, 12 dB lower"`
	Since int64     `json:"since" doc:"Epoch milliseconds"`
	// OnAir is told of a talk-over too, for which the engine has no marker of its own.
	OnAir     bool   `json:"onAir" doc:"It is heard"`
	Publisher string `json:"publisher" doc:"Name of the publisher who sends it; empty: none"`
}

// LiveState is the live takeover: which streams there are, and which has the air.
type LiveState struct {
	Registry   []LiveStream        `json:"registry" nullable:"false" doc:"All streams, the best first, then those that nobody sends and those that are left out"`
	Active     *LiveActive         `json:"active,omitempty" doc:"The stream that has taken the air; missing: the rotation is on"`
	OnAir      bool                `json:"onAir" doc:"Live audio is heard: the engine says so, or takes what talks over the rotation"`
	NowPlaying *station.NowPlaying `json:"nowPlaying,omitempty" doc:"While the rotation makes way"`
	Show       *live.Show          `json:"show,omitempty" doc:"What holds the air between presenters"`
	WrapUpAt   int64               `json:"wrapUpAt" doc:"Epoch milliseconds by which the presenter was asked to end; 0: no sign is shown"`
}

// LiveStatus is the answer of GET /api/station/live.
type LiveStatus struct {
	LiveState
	Next      string                `json:"next" doc:"Id of the stream that follows if the one on the air fails; while none is, the one that start begins with"`
	Sources   []live.SourceReport   `json:"sources" nullable:"false" doc:"What comes in at the live desk"`
	Sessions  []live.Session        `json:"sessions" nullable:"false" doc:"Phones that are connected"`
	Encoders  []live.Encoder        `json:"encoders" nullable:"false" doc:"Encoders that are connected"`
	Ended     *live.Ending          `json:"ended,omitempty" doc:"How the last broadcast ended"`
	Recording *live.RecordingReport `json:"recording,omitempty" doc:"The recording under way"`
	Counters  live.Counters         `json:"counters" doc:"Since the desk began"`
	Harbor    bool                  `json:"harbor" doc:"The engine takes what the desk sends"`
	Desk      bool                  `json:"desk" doc:"The live desk answers"`
	Phones    bool                  `json:"phones" doc:"The server of phones answers"`
	Listeners int                   `json:"listeners" doc:"Of the station, now"`
	Entrances LiveEntrances         `json:"entrances"`
	Now       int64                 `json:"now" doc:"Epoch milliseconds"`
}

// errLiveOff refuses the routes of a station without live broadcasting.
var errLiveOff = fmt.Errorf("live broadcasting is switched off: %w", station.ErrUnavailable)

// live returns the parts, or the reason why there are none.
func (s *Server) live() (*Live, error) {
	if s.opt.Live == nil {
		return nil, errLiveOff
	}
	return s.opt.Live, nil
}

// liveState is what the takeover knows beside what the engine says.
func liveState(view LiveView, now Status) LiveState {
	out := LiveState{Registry: view.Registry, Active: view.Active, Show: view.Show, WrapUpAt: view.WrapUpAt}
	if out.Registry == nil {
		out.Registry = []LiveStream{}
	}
	if out.OnAir = view.Active != nil && view.Active.OnAir; now.State == "live" {
		out.OnAir = true
		playing := now.NowPlaying
		out.NowPlaying = &playing
	}
	return out
}

// liveNow is the state of the takeover at this moment.
func (s *Server) liveNow(ctx context.Context) LiveState {
	var view LiveView
	if s.opt.Live != nil {
		view = s.opt.Live.Takeover.View()
	}
	var now Status
	_, sounding, _ := s.node(ctx)
	s.statusOnAir(&now, s.opt.Air(), sounding)
	return liveState(view, now)
}

type liveAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         LiveStatus
}

// askPhones bounds what the studio's look, which comes each second, waits for the node.
const askPhones = 2 * time.Second

func (s *Server) liveStatus(ctx context.Context, _ *struct{}) (*liveAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	r, known := parts.Takeover.Look(ctx)
	view := parts.Takeover.View()
	out := &liveAnswer{CacheControl: "no-store"}
	b := &out.Body
	var now Status
	_, sounding, _ := s.node(ctx)
	s.statusOnAir(&now, s.opt.Air(), sounding)
	b.LiveState = liveState(view, now)
	b.Next, b.Desk, b.Entrances, b.Now = view.Next, known, parts.Entrances, time.Now().UnixMilli()
	if b.Encoders = view.Encoders; b.Encoders == nil {
		b.Encoders = []live.Encoder{}
	}
	b.Sources, b.Ended, b.Recording, b.Counters, b.Harbor = r.Sources, r.Ended, r.Recording, r.Counters, r.Harbor
	if b.Sources == nil {
		b.Sources = []live.SourceReport{}
	}
	b.Listeners = s.opt.Count().Parts.Total
	// The rest is useful without the phones.
	bounded, done := context.WithTimeout(ctx, askPhones)
	defer done()
	sessions, err := parts.Phones.Sessions(bounded)
	if b.Phones = err == nil; b.Phones && sessions != nil {
		b.Sessions = sessions
	} else {
		b.Sessions = []live.Session{}
	}
	return out, nil
}
