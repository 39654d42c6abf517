package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
)

// Content is the content pipeline.
type Content interface {
	Refresh(ctx context.Context, req content.Request, show func(content.Progress)) (content.Result, error)
	Plan(ctx context.Context, req content.Request, show func(content.Progress)) (content.Plan, error)
	Fetch(ctx context.Context, req content.FetchRequest, show func(content.Progress)) (content.Result, error)
	Restore(ctx context.Context, req content.RestoreRequest, show func(content.Progress)) (content.Restored, error)
	Scrub(ctx context.Context, req content.ScrubRequest, show func(content.Progress)) (content.Scrubbed, error)
	Status(ctx context.Context) (content.Status, error)
}

// Producer makes imaging and bulletins. Each order ends with the decks resynced
// and the rotation pushed.
type Producer interface {
	Imaging(ctx context.Context, o production.ImagingOrder, show func(jobs.Progress)) (production.ImagingMade, error)
	Bulletin(ctx context.Context, show func(jobs.Progress)) (production.BulletinMade, error)
	BulletinStatus() production.BulletinStatus
	Headlines() (bulletin.Kept, error)
	SetHeadlines(lines []string, version string) error
	// Script is what a bulletin would say with headlines that are not kept.
	Script(headlines []string) (production.BulletinScript, error)
	// Rehearse has that spoken, for the operator alone; Rehearsed is the file that it made, and
	// until when it is kept.
	Rehearse(headlines []string) (jobs.Job, error)
	Rehearsed(id string) (path string, until time.Time, err error)
}

// production returns the rows of the mission's sections Content and library, Imaging
// and Bulletin. Rows that start work need the station key.
func (s *Server) production() []route {
	const preview = "/api/station/bulletin/preview"
	return []route{
		{get, "/api/content/status", open, searching, "Counts per category, last run, sources", polled(typed(s.contentStatus), s.ofStation)},
		{post, "/api/content/refresh", programmes, heavy, "Refresh the library", s.refresh()},
		{post, "/api/content/plan", programmes, heavy, "What a refresh would do: nothing is fetched or moved", long(production.ContentLane, "content plan", s.plan)},
		{post, "/api/content/restore", programmes, heavy, "Emergency restore from the archive", long(production.ContentLane, "content restore", s.restore)},
		{post, "/api/imaging/generate", programmes, heavy, "Make sweepers, IDs, voice drops and stingers", long("imaging", "imaging", s.imagingAll)},
		{post, "/api/imaging/sweepers", programmes, heavy, "Make sweepers, drops and IDs anew", long("imaging", "sweepers", s.imagingSweepers)},
		{post, "/api/imaging/stingers", programmes, heavy, "Make stingers anew", long("imaging", "stingers", s.imagingStingers)},
		{post, "/api/bulletin/generate", programmes, heavy, "Make a bulletin", long("bulletin", "bulletin", s.bulletin)},
		{get, "/api/bulletin/status", open, reading, "Newest bulletin, headlines, the time as it is told", typed(s.bulletinStatus)},
		{get, "/api/bulletin/headlines", open, reading, "All headlines that are kept: the next bulletin reads the first three; and the version that PUT needs", typed(s.headlines, may(409))},
		{put, "/api/bulletin/headlines", programmes, operating, "Replace the headlines that were read, for the next bulletin; refused if they have changed since, or were cut", typed(s.setHeadlines, may(409))},
		{post, preview, programmes, operating, "What the next bulletin would say with these headlines, which are not kept", typed(s.scriptOf, noOrder, may(409))},
		{post, preview + "/audio", programmes, heavy, "Have that spoken to listen to it, as it would air; it airs nowhere, and is kept for a quarter of an hour", begins[rehearsalInput, *rehearsalInput, production.BulletinRehearsed](rehearse)},
		{post, preview + "/audio/{id}/ticket", programmes, operating, "An address at which a browser can play it without the key", typed(s.rehearsalTicket, noOrder)},
		{get, "/api/bulletin/preview/audio", open, reading, "A bulletin to listen to, with a ticket of the operator's in the query", raw(s.rehearsalAudio, rehearsalFile)},
		{get, "/api/jobs", inside, operating, "Long work, newest first", typed(s.jobs)},
		{get, "/api/jobs/{id}", inside, operating, "One job: progress, log, result", typed(s.job)},
		{post, "/api/jobs/{id}/cancel", programmes, operating, "Cancel a job", typed(s.cancelJob, may(409))},
	}
}

func (s *Server) refresh() endpoint {
	return long(production.ContentLane, "content refresh", s.refreshContent)
}

type contentStatusAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         content.Status
}

func (s *Server) contentStatus(ctx context.Context, _ *struct{}) (*contentStatusAnswer, error) {
	st, err := s.opt.Content.Status(ctx)
	if !forOperator(ctx) {
		st = publicContent(st)
	}
	return &contentStatusAnswer{"no-store", st}, err
}

type refreshInput struct {
	Await
	Body *struct {
		Songs   *int `json:"songs,omitempty" minimum:"0" maximum:"500" default:"20"`
		Ads     *int `json:"ads,omitempty" minimum:"0" maximum:"500" default:"16"`
		Restore bool `json:"restore,omitempty" doc:"Emergency only: bring back from the archive what categories lack"`
	}
}

func (s *Server) refreshContent(ctx context.Context, in *refreshInput, t *jobs.Task) (content.Result, error) {
	return s.opt.Content.Refresh(ctx, in.request(), production.ContentSteps(t))
}

func (s *Server) plan(ctx context.Context, in *refreshInput, t *jobs.Task) (content.Plan, error) {
	return s.opt.Content.Plan(ctx, in.request(), production.ContentSteps(t))
}

func (in *refreshInput) request() content.Request {
	req := content.DefaultRequest()
	if b := in.Body; b != nil {
		req = content.Request{Songs: or(b.Songs, req.Songs), Ads: or(b.Ads, req.Ads), Restore: b.Restore}
	}
	return req
}

type restoreInput struct {
	Await
	Body *struct {
		All      bool   `json:"all,omitempty" doc:"Everything, not only what categories lack"`
		Category string `json:"category,omitempty" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
	}
}

func (s *Server) restore(ctx context.Context, in *restoreInput, t *jobs.Task) (content.Restored, error) {
	req := content.RestoreRequest{}
	if b := in.Body; b != nil {
		req = content.RestoreRequest{All: b.All, Category: station.Category(b.Category)}
	}
	return s.opt.Content.Restore(ctx, req, production.ContentSteps(t))
}

type fetchInput struct {
	Await
	Body struct {
		Category string `json:"category,omitempty" enum:"arabic_hits,english,mashups,ads,jingles,sfx,shorts" doc:"May be left out beside a kind"`
		Target   int    `json:"target,omitempty" minimum:"1" maximum:"500" default:"10" doc:"Files"`
		Kind     string `json:"kind,omitempty" enum:"song,mashup,ad,jingle,sfx,short"`
	}
}

func (in *fetchInput) request() content.FetchRequest {
	b := in.Body
	return content.FetchRequest{Category: station.Category(b.Category), Target: b.Target, Kind: b.Kind}
}

// Resolve refuses fields that are valid alone but not together. As a job they would
// fail later, when nobody reads the reason.
func (in *fetchInput) Resolve(huma.Context) []error {
	req := in.request()
	var wrong *content.FieldError
	if !errors.As(req.Check(), &wrong) {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: "body." + wrong.Field, Message: wrong.Why}}
}

func (s *Server) fetch(ctx context.Context, in *fetchInput, t *jobs.Task) (content.Result, error) {
	return s.opt.Content.Fetch(ctx, in.request(), production.ContentSteps(t))
}

type scrubInput struct {
	Await
	Body struct {
		Category string `json:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
		DryRun   bool   `json:"dryRun,omitempty" doc:"Only list what would be archived"`
	}
}

func (s *Server) scrub(ctx context.Context, in *scrubInput, t *jobs.Task) (content.Scrubbed, error) {
	return s.opt.Content.Scrub(ctx, content.ScrubRequest{Category: station.Category(in.Body.Category), DryRun: in.Body.DryRun}, production.ContentSteps(t))
}

// Amount is a number of files. The mission leaves open whether its bodies hold
// numbers or booleans: true means the usual number, false none.
type Amount struct {
	set bool
	n   int
}

// UnmarshalJSON takes a whole number, true or false.
func (a *Amount) UnmarshalJSON(text []byte) error {
	a.set = true
	switch {
	case bytes.Equal(text, []byte("true")):
		a.set = false
		return nil
	case bytes.Equal(text, []byte("false")):
		return nil
	}
	if err := json.Unmarshal(text, &a.n); err != nil || a.n < 0 || a.n > mostImaging {
		return fmt.Errorf("must be a number from 0 to %d, or true or false", mostImaging)
	}
	return nil
}

// Schema documents the two forms.
func (Amount) Schema(huma.Registry) *huma.Schema {
	zero, most := 0.0, float64(mostImaging)
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Minimum: &zero, Maximum: &most}, {Type: huma.TypeBoolean},
	}, Description: "Files to make; true is the usual number, false none"}
}

func (a *Amount) or(usual int) int {
	if a == nil || !a.set {
		return usual
	}
	return a.n
}

// mostImaging bounds one order.
const mostImaging = 200

type imagingAllInput struct{ Await }

func (s *Server) imagingAll(ctx context.Context, _ *imagingAllInput, t *jobs.Task) (production.ImagingMade, error) {
	return s.opt.Producer.Imaging(ctx, production.UsualImaging(), t.Show)
}

type sweepersInput struct {
	Await
	Body *struct {
		Count      *Amount `json:"count,omitempty" doc:"Sweepers over a music bed"`
		SongDrops  *Amount `json:"songDrops,omitempty" doc:"Sweepers that cut a song of the library"`
		IDs        *Amount `json:"ids,omitempty" doc:"Station IDs"`
		VoiceDrops *Amount `json:"voiceDrops,omitempty"`
		ArchiveOld *bool   `json:"archiveOld,omitempty" default:"true"`
	}
}

func (s *Server) imagingSweepers(ctx context.Context, in *sweepersInput, t *jobs.Task) (production.ImagingMade, error) {
	o := production.UsualImaging()
	if o.Stingers = 0; in.Body != nil {
		b := in.Body
		o.Sweepers, o.SongDrops = b.Count.or(o.Sweepers), b.SongDrops.or(o.SongDrops)
		o.IDs, o.VoiceDrops = b.IDs.or(o.IDs), b.VoiceDrops.or(o.VoiceDrops)
		o.ArchiveOld = or(b.ArchiveOld, true)
	}
	return s.opt.Producer.Imaging(ctx, o, t.Show)
}

type stingersInput struct {
	Await
	Body *struct {
		Count      *Amount `json:"count,omitempty"`
		ArchiveOld *bool   `json:"archiveOld,omitempty" default:"true"`
	}
}

func (s *Server) imagingStingers(ctx context.Context, in *stingersInput, t *jobs.Task) (production.ImagingMade, error) {
	o := production.ImagingOrder{Stingers: production.UsualImaging().Stingers, ArchiveOld: true}
	if b := in.Body; b != nil {
		o.Stingers, o.ArchiveOld = b.Count.or(o.Stingers), or(b.ArchiveOld, true)
	}
	return s.opt.Producer.Imaging(ctx, o, t.Show)
}

type bulletinInput struct{ Await }

func (s *Server) bulletin(ctx context.Context, _ *bulletinInput, t *jobs.Task) (production.BulletinMade, error) {
	return s.opt.Producer.Bulletin(ctx, t.Show)
}

type bulletinStatusAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         production.BulletinStatus
}

func (s *Server) bulletinStatus(ctx context.Context, _ *struct{}) (*bulletinStatusAnswer, error) {
	st := s.opt.Producer.BulletinStatus()
	if !forOperator(ctx) {
		st = publicBulletin(st)
	}
	return &bulletinStatusAnswer{"no-store", st}, nil
}

type headlinesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Headlines []string `json:"headlines" doc:"At most 50, each cut after 160 characters"`
		Version   string   `json:"version" doc:"Of the file: changes with it"`
		Cut       bool     `json:"cut" doc:"The file holds more than is shown here: it is not replaced by who has read only this"`
	}
}

func (s *Server) headlines(context.Context, *struct{}) (*headlinesAnswer, error) {
	kept, err := s.opt.Producer.Headlines()
	if err != nil {
		return nil, err
	}
	out := &headlinesAnswer{CacheControl: "no-store"}
	out.Body.Headlines, out.Body.Version, out.Body.Cut = append([]string{}, kept.Lines...), kept.Version, kept.Cut
	return out, nil
}

type headlinesInput struct {
	Body struct {
		Headlines []string `json:"headlines" nullable:"false" maxItems:"50" doc:"One headline each, at most 160 characters; an empty list removes all"`
		Version   string   `json:"version" maxLength:"64" doc:"As GET has told it with the lines that these replace; any replaces whatever is there"`
	}
}

func (s *Server) setHeadlines(ctx context.Context, in *headlinesInput) (*headlinesAnswer, error) {
	if err := s.opt.Producer.SetHeadlines(in.Body.Headlines, in.Body.Version); err != nil {
		return nil, inField(err)
	}
	return s.headlines(ctx, nil)
}

// or returns the value, or the usual one if it was left out.
func or[T any](v *T, usual T) T {
	if v == nil {
		return usual
	}
	return *v
}
