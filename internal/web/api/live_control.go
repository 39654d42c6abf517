package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
)

// liveControl returns the rows of live broadcasting for operators: those of the
// mission, then ours.
func (s *Server) liveControl() []route {
	const at = "/api/station/live"
	return []route{
		{get, at, inside, operating, "Live streams, the one on the air, and all that comes in", typed(s.liveStatus, may(503))},
		{post, at + "/register", airs, operating, "Add a live stream, or refresh the one of the same url, title and ingest", typed(s.registerLive, may(409))},
		{post, at + "/remove", airs, operating, "Remove a live stream", typed(s.removeLive, may(404, 409))},
		{post, at + "/vote", airs, operating, "Vote on a live stream: the sum counts in the ranking", typed(s.voteLive, may(404))},
		{post, at + "/start", airs, operating, "Put a live stream on the air, the best one without an id; where there is none the rotation stays", typed(s.startLive, may(404, 409))},
		{post, at + "/stop", airs, operating, "Back to the rotation", typed(s.stopLive)},
		{post, at + "/hand", airs, operating, "Hand the air over from the stream on it to another", typed(s.handLive, may(404, 409))},
		{post, at + "/blacklist", airs, operating, "Leave a stream out of the ranking until that is lifted", typed(s.blacklistLive, may(404, 409))},
		{post, at + "/wrapup", airs, operating, "Ask the presenter on the air to end; 0 seconds takes it back", typed(s.wrapUpLive, may(409))},
		{post, at + "/show", airs, operating, "Hold the air for a show, whoever comes and goes", typed(s.showLive, may(404, 409))},
		{post, at + "/show/end", airs, operating, "Let the air go after a show", typed(s.endShowLive)},
		{post, at + "/kick", airs, operating, "Disconnect a phone, whose page is told, or an encoder; who connects again waits for the studio", typed(s.kickLive, may(404, 409))},
		{post, at + "/hold", airs, operating, "Let a phone's session speak; the one before waits", typed(s.holdLive, may(404, 409))},
		{get, at + "/sources/{id}/listen", inside, operating, "A source's input as it comes, WAV without an end", raw(s.listenLive, gives(http.StatusOK, "audio/wav"), sourceID)},
	}
}

func sourceID(op *huma.Operation) {
	asks("path", "id", "As the answer of GET /api/station/live names sources", huma.Schema{Type: huma.TypeString})(op)
	may(http.StatusConflict, http.StatusServiceUnavailable, http.StatusInsufficientStorage)(op)
}

// LiveDone is the answer to an order: the stream that it was about, and what stands now.
type LiveDone struct {
	Stream *live.Stream `json:"stream,omitempty"`
	Live   LiveState    `json:"live"`
}

type liveDone struct {
	CacheControl string `header:"Cache-Control"`
	Body         LiveDone
}

// ordered makes the answer to an order that was about a stream.
func (s *Server) ordered(ctx context.Context, stream *live.Stream, err error) (*liveDone, error) {
	if err != nil {
		return nil, inField(err)
	}
	if stream != nil && stream.ID == "" { // there was none to start
		stream = nil
	}
	return &liveDone{"no-store", LiveDone{stream, s.liveNow(ctx)}}, nil
}

// LiveID names a stream in a body.
type LiveID struct {
	ID string `json:"id" minLength:"1" maxLength:"64" doc:"LIVE and 8 hexadecimal characters"`
}

func (s *Server) registerLive(ctx context.Context, in *struct {
	Body struct {
		URL       string `json:"url" minLength:"1" maxLength:"2000" doc:"http, https or rtmp address; pipe: with a path for the phones' pipe, source: with a mount for encoders"`
		Title     string `json:"title,omitempty" maxLength:"300"`
		Creator   string `json:"creator,omitempty" maxLength:"300"`
		Listeners int    `json:"listeners,omitempty" minimum:"0" maximum:"1000000000"`
		Ingest    string `json:"ingest,omitempty" maxLength:"40" doc:"rtmp, rtmp2, webrtc or pipe; kept as pipe or rtmp"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	b := in.Body
	stream, err := parts.Registry.Register(ctx, registry.Fields{URL: b.URL, Title: b.Title, Creator: b.Creator, Listeners: b.Listeners, Ingest: b.Ingest})
	return s.ordered(ctx, &stream, err)
}

func (s *Server) removeLive(ctx context.Context, in *struct{ Body LiveID }) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return s.ordered(ctx, nil, parts.Registry.Remove(ctx, in.Body.ID))
}

func (s *Server) voteLive(ctx context.Context, in *struct {
	Body struct {
		LiveID
		Delta int `json:"delta" minimum:"-1000" maximum:"1000"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	stream, err := parts.Registry.Vote(ctx, in.Body.ID, in.Body.Delta)
	return s.ordered(ctx, &stream, err)
}

func (s *Server) startLive(ctx context.Context, in *struct {
	Body *struct {
		ID   string    `json:"id,omitempty" maxLength:"64" doc:"Without it the best stream that is not blacklisted"`
		Mode live.Mode `json:"mode,omitempty" enum:"replace,over" doc:"over: talk over the rotation, which goes on 12 dB lower"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	id, mode := "", live.Replace
	if in.Body != nil {
		id = in.Body.ID
		if in.Body.Mode != "" {
			mode = in.Body.Mode
		}
	}
	stream, err := parts.Takeover.Start(ctx, id, mode)
	return s.ordered(ctx, &stream, err)
}

func (s *Server) stopLive(ctx context.Context, _ *struct{}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	var stopped *live.Stream
	if active := parts.Takeover.View().Active; active != nil {
		stopped = &active.Stream
	}
	was, err := parts.Takeover.Stop(ctx)
	if !was {
		stopped = nil
	}
	return s.ordered(ctx, stopped, err)
}

func (s *Server) handLive(ctx context.Context, in *struct{ Body LiveID }) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	stream, err := parts.Takeover.Hand(ctx, in.Body.ID)
	return s.ordered(ctx, &stream, err)
}

func (s *Server) blacklistLive(ctx context.Context, in *struct {
	Body struct {
		LiveID
		Lift bool `json:"lift,omitempty" doc:"Take the mark off"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	mark := parts.Registry.Block
	if in.Body.Lift {
		mark = parts.Registry.Unblock
	}
	if err := mark(ctx, in.Body.ID); err != nil {
		return nil, err
	}
	stream, err := parts.Registry.Find(in.Body.ID)
	return s.ordered(ctx, &stream, err)
}

func (s *Server) wrapUpLive(ctx context.Context, in *struct {
	Body struct {
		Seconds int `json:"seconds" minimum:"0" maximum:"3600"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return s.ordered(ctx, nil, parts.Takeover.WrapUp(ctx, time.Duration(in.Body.Seconds)*time.Second))
}

func (s *Server) showLive(ctx context.Context, in *struct {
	Body struct {
		Title   string `json:"title" minLength:"1" maxLength:"300"`
		Minutes int    `json:"minutes" minimum:"1" maximum:"720"`
		Bed     string `json:"bed,omitempty" maxLength:"16384" doc:"File of the library that plays while nobody speaks, as /api/library shows it; without it the rotation comes in after five seconds"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	b := in.Body
	if b.Bed != "" { // only files of the library are found, so no path leads out of it
		track, err := s.find("", b.Bed)
		if err != nil {
			return nil, err
		}
		b.Bed = track.Path
	}
	return s.ordered(ctx, nil, parts.Takeover.Show(ctx, b.Title, time.Now().Add(time.Duration(b.Minutes)*time.Minute), b.Bed))
}

func (s *Server) endShowLive(ctx context.Context, _ *struct{}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return s.ordered(ctx, nil, parts.Takeover.EndShow(ctx))
}

func (s *Server) kickLive(ctx context.Context, in *struct {
	Body struct {
		Session string `json:"session" minLength:"1" maxLength:"100" doc:"Of sessions or encoders, as GET /api/station/live has them"`
		Why     string `json:"why,omitempty" maxLength:"300" doc:"Shown to the presenter by the phone's page"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return s.ordered(ctx, nil, parts.Takeover.Kick(ctx, in.Body.Session, in.Body.Why))
}

func (s *Server) holdLive(ctx context.Context, in *struct {
	Body struct {
		Session string `json:"session" minLength:"1" maxLength:"64"`
	}
}) (*liveDone, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return s.ordered(ctx, nil, parts.Phones.Hold(ctx, in.Body.Session))
}

// listenStall is how long a studio that listens in may take nothing.
const listenStall = 10 * time.Second

// listenLive passes a source's audio on until either end goes. The studio reads it with
// fetch, which sends the key as a header: an address that carries a ticket would stand in
// the logs of every proxy, and an audio element buffers WAV for seconds before it plays.
func (s *Server) listenLive(w http.ResponseWriter, r *http.Request) error {
	parts, err := s.live()
	if err != nil {
		return err
	}
	answer, err := parts.Listen(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Cache-Control", "no-store")
	return passOn(deadline.Writer(w, listenStall), answer.Body)
}

// passOn copies audio as it comes. Once an answer has begun, its end is all that a client
// can be told: an error would be written into the audio.
func passOn(w http.ResponseWriter, from io.Reader) error {
	control := http.NewResponseController(w)
	if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil //nolint:nilerr // the client has left
	}
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, failed := w.Write(buffer[:n]); failed != nil {
				return nil //nolint:nilerr // the client has left
			}
			_ = control.Flush()
		}
		if err != nil {
			return nil //nolint:nilerr // the source has gone, as sources do
		}
	}
}
