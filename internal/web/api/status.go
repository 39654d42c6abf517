package api

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	deadair "github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Track is a track as pages show it. Times are epoch milliseconds.
type Track struct {
	ID         string `json:"id" doc:"In addresses, /track/{id}"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	File       string `json:"file" doc:"Path relative to the media root"`
	Album      string `json:"album,omitempty"`
	Category   string `json:"category"`
	Type       string `json:"type" doc:"music, or the kind of short or imaging entry"`
	StartedAt  int64  `json:"startedAt,omitempty" doc:"Epoch milliseconds, as heard"`
	DurationMS int64  `json:"durationMs"`
	License    string `json:"license,omitempty"`
	Cover      string `json:"cover,omitempty" doc:"Id of its picture, of /api/library/covers/{id}; missing where it has none"`
	Lyrics     bool   `json:"lyrics,omitempty" doc:"Whether /api/tracks/{id}/lyrics has words"`
}

// trackOf is a track as pages show it. The picture that an operator gave it comes before its file's.
func (s *Server) trackOf(t station.Track, typ string) Track {
	if typ == "" {
		typ = "music"
	}
	out := Track{
		ID: station.TrackID(t.Path), Title: t.Title, Artist: t.Artist, File: t.Path, Album: t.Album, Category: string(t.Category),
		Type: typ, DurationMS: t.Duration.Milliseconds(), License: t.License,
	}
	if s.opt.Art != nil {
		found := s.opt.Art.Of(t.Path)
		out.Cover, out.Lyrics = found.Cover, found.Lyrics
	}
	if t.Own != nil && t.Own.Cover != "" {
		out.Cover = t.Own.Cover
	}
	return out
}

func (s *Server) heard(a scheduler.OnAir) Track {
	t := s.trackOf(a.Track, a.Type)
	t.StartedAt = a.StartedAt.UnixMilli()
	return t
}

// Status is the answer of GET /api/status.
type Status struct {
	Station    Identity           `json:"station"`
	OnAir      bool               `json:"onAir" doc:"Whether listeners hear anything"`
	State      string             `json:"state" enum:"music,live,emergency,starting,off"`
	Reason     string             `json:"reason" enum:",empty_library,beginning,media_folder,mastering,rotation_not_renewed,disk_full,node_unreachable,machine_short" doc:"What is wrong; the log says why"`
	NowPlaying station.NowPlaying `json:"nowPlaying"`
	Track      *Track             `json:"track,omitempty"`
	History    []Track            `json:"history" doc:"Heard before, newest first"`
	HLS        Renditions         `json:"hls"`
	// Each listener counts in one of the parts, independent of Source.
	Listeners telemetry.Parts `json:"listeners"`
	Source    string          `json:"source" doc:"Server whose count stats_update has as listeners: the relay, else the streaming server"`
	Bandwidth struct {
		BitsPerSecond float64 `json:"bitsPerSecond" doc:"Of all listeners"`
		HLS           float64 `json:"hls"`
		Stream        float64 `json:"stream"`
		Icecast       float64 `json:"icecast"`
	} `json:"bandwidth"`
	Rotation struct {
		Length   int    `json:"length"`
		Consumed int    `json:"consumed"`
		BuiltAt  int64  `json:"builtAt"`
		Daypart  string `json:"daypart"`
		Reason   string `json:"reason" doc:"Why it was last rebuilt"`

		Notes []rotation.Note `json:"notes" nullable:"false" doc:"Where the library cannot give what the configuration asks for, and what the station does about it"`
	} `json:"rotation"`
	Library struct {
		Tracks      int            `json:"tracks"`
		Quarantined int            `json:"quarantined"`
		Scanning    bool           `json:"scanning"`
		Ready       int            `json:"ready" doc:"Files that can air"`
		Unready     int            `json:"unready" doc:"Files that are still to be looked at and cannot air yet"`
		ByCategory  map[string]int `json:"byCategory"`
	} `json:"library"`
	Guard deadair.Standing `json:"guard" doc:"The dead-air guard, which listens to the station's own output"`

	Backup *Backup `json:"backup,omitempty" doc:"The newest backup of the station, with the station key"`

	Node *NodeStanding `json:"node,omitempty" doc:"Which node has the air, where it is another machine, with the station key"`

	Processes  []Process         `json:"processes"`
	Versions   map[string]string `json:"versions,omitempty" doc:"Version of each of Athir's own processes, by role, with the station key"`
	Restart    []string          `json:"restart,omitempty" doc:"Settings that have changed and wait for a restart, and in brackets of what (node, or every role); with the station key"`
	ServerTime int64             `json:"serverTime"`
}

// Backup is the newest backup in the station's folder for them, and the newest try at one.
type Backup struct {
	Made     int64  `json:"made" doc:"Epoch milliseconds; 0: there is none"`
	File     string `json:"file" doc:"Its path on the control plane's machine"`
	Bytes    int64  `json:"bytes"`
	Why      string `json:"why" enum:",by hand,scheduled,before a migration"`
	Verified bool   `json:"verified" doc:"It was read back and checked before it got its name, as every backup is"`
	TriedAt  int64  `json:"triedAt" doc:"Epoch milliseconds: the newest try at a scheduled one since the control plane started; 0: none"`
	Failures int    `json:"failures" doc:"Tries that failed since the last that worked"`
	Error    string `json:"error" doc:"Why the newest try failed; empty: it did not"`

	Continuous *Continuous `json:"continuous,omitempty" doc:"The copy that follows the station, where backup.continuous names a folder for it"`
}

// Continuous is the copy that follows the station.
type Continuous struct {
	To      string `json:"to" doc:"The folder, on the control plane's machine"`
	Until   int64  `json:"until" doc:"Epoch milliseconds: all that was written before is in the copy; 0: nothing is yet, since the control plane started"`
	Bytes   int64  `json:"bytes" doc:"Of the database's newest whole copy and what came after it"`
	Waiting int    `json:"waiting" doc:"Files beside the database that are still to be copied"`
	Error   string `json:"error" doc:"Why it is more than 10 seconds behind, or lacks files; empty: it is not"`
}

type statusAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         Status
}

func (s *Server) status(ctx context.Context, _ *struct{}) (*statusAnswer, error) {
	out := &statusAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.HLS, b.Station = s.renditions(), s.identity()
	b.ServerTime = time.Now().UnixMilli()
	b.Guard = s.guardStatus()
	air := s.opt.Air()
	lib := s.opt.Library()
	// The rest of the answer is useful without the node.
	node, sounding, err := s.node(ctx)
	if b.Processes = node.Programs; !forOperator(ctx) {
		b.Processes, b.Guard = publicProcesses(b.Processes), publicGuard(b.Guard)
	} else if b.Processes == nil {
		b.Processes = []Process{}
	}
	if forOperator(ctx) {
		b.Versions, b.Restart = node.Versions, node.Restart
		if s.opt.Backup != nil {
			newest := s.opt.Backup()
			b.Backup = &newest
		}
		if s.opt.Standing != nil {
			b.Node = s.opt.Standing()
		}
	}
	s.statusOnAir(b, air, sounding)
	b.blame(node, err)
	count := s.opt.Count()
	b.Listeners, b.Source = count.Parts, count.Source
	b.Bandwidth.BitsPerSecond, b.Bandwidth.HLS = count.Bandwidth.Total, count.Bandwidth.HLS
	b.Bandwidth.Stream, b.Bandwidth.Icecast = count.Bandwidth.Stream, count.Bandwidth.Icecast
	b.Rotation.Length, b.Rotation.Consumed = len(air.Rotation.Entries), air.Consumed
	b.Rotation.Daypart, b.Rotation.Reason = air.Rotation.Daypart, air.Reason
	b.Rotation.Notes = append([]rotation.Note{}, air.Notes...) // never null
	if !air.Rotation.BuiltAt.IsZero() {
		b.Rotation.BuiltAt = air.Rotation.BuiltAt.UnixMilli()
	}
	b.Library.Tracks, b.Library.Quarantined, b.Library.Scanning = len(lib.Tracks), len(lib.Quarantined), lib.Scanning
	copies := s.opt.Mastering()
	b.Library.Ready, b.Library.Unready = copies.Ready, copies.Silent
	b.Library.ByCategory = map[string]int{}
	for _, c := range station.Categories() {
		b.Library.ByCategory[string(c)] = lib.Decks[c].Tracks
	}
	return out, nil
}

// node asks the broadcast node, and reports whether listeners are taken to hear it. What
// one that does not answer sends is not known here: it may send music all the same, so the
// last state stands.
func (s *Server) node(ctx context.Context) (node Node, sounding bool, err error) {
	node, err = s.opt.Node(ctx)
	return node, node.Sounding || err != nil || s.guardStatus().Arriving, err
}

// blame makes what is wrong with the broadcast node the reason.
func (b *Status) blame(node Node, err error) {
	if problem := nodeProblem(b.Guard, node, err); problem != "" {
		switch b.Reason {
		case "", "mastering", "rotation_not_renewed": // those two because of it, as a rule
			b.Reason = problem
		}
	}
}

// nodeProblem returns what is wrong with the broadcast node.
func nodeProblem(guard deadair.Standing, node Node, err error) string {
	watched := guard.State != "off" && guard.State != deadair.Starting.String()
	switch {
	case err != nil, watched && !guard.Reachable:
		return "node_unreachable"
	case guard.DiskFull, node.DiskFull:
		return "disk_full"
	case guard.Short && guard.Kind == deadair.Starved:
		return "machine_short"
	}
	return ""
}

// keptHistory is how many tracks of the past are shown.
const keptHistory = 10

func (s *Server) statusOnAir(b *Status, air *scheduler.View, sounding bool) {
	b.History = []Track{}
	for _, past := range air.Past {
		if past.Kind == scheduler.Rotation && len(b.History) < keptHistory {
			b.History = append(b.History, s.heard(past))
		}
	}
	// Texts for pages: the errors themselves hold paths, and are in the log.
	lib, copies := s.opt.Library(), s.opt.Mastering()
	switch {
	case lib.Problem != "":
		b.Reason = "media_folder"
	case copies.Problem != "":
		b.Reason = "mastering"
	case air.Beginning:
		b.Reason = "beginning"
	case air.Problem != "":
		b.Reason = "rotation_not_renewed"
	case air.Waiting:
		b.Reason = "empty_library"
	}
	switch {
	case air.OnAir.StartedAt.IsZero():
		b.State = "starting"
		return
	case air.OnAir.Kind == scheduler.Live:
		b.State = "live"
	case air.OnAir.Kind == scheduler.Emergency:
		b.State = "emergency"
	default:
		b.State = "music"
	}
	// The last track is not on air once a program between it and the listeners fails.
	if b.OnAir = sounding; !b.OnAir {
		b.State = "off"
	}
	t := s.heard(air.OnAir)
	b.Track = &t
	b.NowPlaying = station.NowPlaying{Title: t.Title, Artist: t.Artist, File: t.File, Post: s.postOnAir(air.OnAir)}
}
