package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// production makes what is aired, and has what it makes planned.
type production struct {
	log     *slog.Logger
	root    string // media
	deck    *deck.Deck
	lib     *media.Library
	rack    *aircopy.Rack
	onair   *scheduler.Scheduler
	content *content.Content
	news    *bulletin.Maker
	imaging *imaging.Maker
	prints  *recordings
	every   time.Duration          // from one bulletin to the next; 0: none by itself
	told    func(api.BulletinMade) // of each bulletin that was made
	board   *jobs.Board
}

// openProduction opens everything that makes files: it starts nothing.
func openProduction(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, d *deck.Deck, lib *media.Library, rack *aircopy.Rack, onair *scheduler.Scheduler, owner *policy.Owner,
	engine playout.Engine, version string,
) (*production, error) {
	p := &production{
		log: log, root: cfg.MediaDir(), deck: d, lib: lib, rack: rack, onair: onair,
		every: time.Duration(cfg.Bulletin.Hours * float64(time.Hour)),
	}
	booth, err := speech.Order{Offline: cfg.Speech.Offline, Voice: cfg.Speech.Voice, PiperModel: cfg.Speech.Piper}.Booth(log)
	if err != nil {
		return nil, fmt.Errorf("voices: %w", err)
	}
	// No records: what it makes is new each time, and measured where it airs.
	m := mastering.New(mastering.Options{Log: log})
	if p.board, err = jobs.Open(ctx, jobs.Options{DB: db, Log: log}); err != nil {
		return nil, err
	}
	if p.news, err = openBulletin(cfg, log, booth, m); err != nil {
		return nil, err
	}
	p.imaging, err = imaging.New(imaging.Options{
		Dir: p.root, Voice: booth, Master: m, Station: cfg.Speech.Name, Songs: p.songs, Log: log,
		Workers: 1, // the air comes first
	})
	if err != nil {
		return nil, err
	}
	if p.prints, err = openRecordings(ctx, db, d, lib, p.root, log); err != nil {
		return nil, err
	}
	if p.content, err = openContent(ctx, cfg, log, db, m, p, owner, engine, version); err != nil {
		return nil, err
	}
	for _, c := range []station.Category{
		station.ArabicHits, station.English, station.Mashups, station.Ads, station.Jingles, station.SFX, station.Shorts,
	} {
		if err := os.MkdirAll(filepath.Join(cfg.InboxDir(), string(c)), 0o755); err != nil {
			log.Warn("content.inbox: cannot make the folder: what is put elsewhere is not seen", "err", err)
			break
		}
	}
	// Without them the station is on the air all the same.
	for _, program := range []string{"espeak-ng", "fpcalc", "aubiotrack"} {
		if _, err := proc.Look(program); err != nil {
			log.Warn("production lacks a program", "err", err)
		}
	}
	return p, nil
}

func openBulletin(cfg *config.Config, log *slog.Logger, booth *speech.Booth, m *mastering.Master) (*bulletin.Maker, error) {
	o := bulletin.Options{
		Dir: filepath.Join(cfg.MediaDir(), string(station.News)), Headlines: cfg.HeadlinesFile(),
		Voice: booth, Master: m, Zone: cfg.Timezone.Location, Station: cfg.Speech.Name, Log: log,
		// A bulletin tells the time: an old one would tell a wrong one.
		Keep: bulletin.Keep{Newest: 1},
	}
	if cfg.Bulletin.Weather && !cfg.Speech.Offline {
		o.Weather = bulletin.NewOpenMeteo()
	}
	return bulletin.New(o)
}

// Bulletin implements api.Producer.
func (p *production) Bulletin(ctx context.Context, show func(jobs.Progress)) (api.BulletinMade, error) {
	show(jobs.Progress{Step: "bulletin", Total: 3})
	if err := media.Present(p.root, len(p.lib.Snapshot().Tracks)); err != nil {
		return api.BulletinMade{}, err
	}
	r, err := p.news.Make(ctx)
	if err != nil {
		p.retireStale(ctx)
		return api.BulletinMade{}, err
	}
	rel, _ := p.rel(r.Path)
	out := api.BulletinMade{
		File: rel, At: r.At.UnixMilli(), DurationMS: r.Duration.Milliseconds(),
		LUFS: thousandths(r.Mastered.Integrated), DBTP: thousandths(r.Mastered.TruePeak), Segments: segments(r.Segments),
	}
	if p.told != nil {
		p.told(out)
	}
	retired := make([]string, 0, len(r.Retired))
	for _, path := range r.Retired {
		if old, ok := p.rel(path); ok {
			retired = append(retired, old)
		}
	}
	moved, rebuilt, err := p.takeUp(ctx, []string{rel}, retired, content.ReasonOutdated,
		func(step string, _ int) {
			show(jobs.Progress{Step: step, Detail: rel, Done: map[string]int{stepScan: 1, stepRebuild: 2}[step], Total: 3})
		}, func(ctx context.Context) error { return p.planNews(ctx, rel) })
	out.Archived, out.Rebuilt = len(moved.Archived), rebuilt
	if err != nil {
		p.log.Error("bulletin made, but not planned yet", "file", rel, "err", err)
		out.Problem = station.Reason(err)
	}
	show(jobs.Progress{Step: stepRebuild, Detail: rel, Done: 3, Total: 3})
	return out, ctx.Err()
}

// newsApart is the least time between two bulletins by order.
const newsApart = 20 * time.Minute

// planNews has a bulletin heard while the time it tells is still about right:
// next, unless there was one just now. The planner's own slot for news may be an
// hour away.
func (p *production) planNews(ctx context.Context, rel string) error {
	v := p.onair.View()
	for _, heard := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if heard.Track.Category == station.News && time.Since(heard.StartedAt) < newsApart {
			return p.onair.Rebuild(ctx)
		}
	}
	return p.onair.Queue(ctx, rel)
}

// staleAfter is how long a bulletin may be heard when no newer one can be made.
const staleAfter = 3 * time.Hour

// retireStale takes a bulletin away that tells a time long past: none is better.
func (p *production) retireStale(ctx context.Context) {
	st := p.news.Status()
	old := max(staleAfter, 2*p.every)
	if st.Latest == "" || time.Since(st.LatestAt) < old {
		return
	}
	rel, ok := p.rel(st.Latest)
	if !ok {
		return
	}
	if _, err := p.content.Archive(ctx, []string{rel}, content.ReasonOutdated); err != nil && ctx.Err() == nil {
		p.log.Error("an old bulletin stays on air", "file", rel, "err", err)
	}
}

// The steps of a job once its files are made.
const (
	stepScan    = "scan" // made; the library is to see them
	stepRebuild = "rebuild"
)

// takeUp has new files registered and planned, and old ones archived. show is
// told the step, and how many files are ready for air. plan, where it is not
// nil, plans instead of a plain rebuild.
func (p *production) takeUp(
	ctx context.Context, made, old []string, reason string, show func(step string, ready int), plan func(context.Context) error,
) (moved content.Moved, rebuilt bool, err error) {
	if err := p.register(ctx, made, func(ready int) { show(stepScan, ready) }); err != nil {
		return moved, false, err
	}
	known := time.Now() // a rotation built from here on is of what is new
	var wrong error
	if len(old) > 0 {
		if moved, wrong = p.content.Archive(ctx, old, reason); wrong != nil {
			wrong = fmt.Errorf("archive the old: %w", wrong)
		}
	}
	show(stepRebuild, len(made))
	switch {
	case plan != nil:
	case p.onair.View().Rotation.BuiltAt.After(known):
		return moved, true, wrong // the archive had it rebuilt
	default:
		plan = p.onair.Rebuild
	}
	if err := plan(ctx); err != nil {
		return moved, false, errors.Join(wrong, fmt.Errorf("plan the new: %w", err))
	}
	return moved, true, wrong
}

// Imaging implements api.Producer.
func (p *production) Imaging(ctx context.Context, o api.ImagingOrder, show func(jobs.Progress)) (api.ImagingMade, error) {
	var old []string
	if o.ArchiveOld {
		all, err := imaging.Old(p.root)
		if err != nil {
			return api.ImagingMade{}, err
		}
		old = slices.DeleteFunc(all, func(path string) bool { return !replaced(o, path) })
	}
	r, err := p.image(ctx, o, show)
	out := made(r)
	if len(r.Made) == 0 {
		return out, cmp.Or(err, errors.New("nothing could be made"))
	}
	if len(r.Failed) > len(r.Made) {
		old = nil // a deck is not emptied for a few
	}
	if ctx.Err() != nil {
		return out, ctx.Err() // cancelled: what is made is found by the watch of the folder, and the old stays
	}
	moved, rebuilt, wrong := p.takeUp(ctx, pathsOf(r.Made), old, content.ReasonReplaced, func(step string, ready int) {
		now := jobs.Progress{Step: step, Done: ready, Total: len(r.Made)}
		if step == stepScan {
			now.Detail = "made; waits for the library to see it"
		}
		show(now)
	}, nil)
	out.Archived, out.Kept, out.Rebuilt = len(moved.Archived), len(moved.Kept), rebuilt
	if wrong != nil {
		p.log.Error("imaging made, but not all of it is done", "err", wrong)
		out.Problem = station.Reason(wrong)
	}
	return out, ctx.Err()
}

// image makes an order.
func (p *production) image(ctx context.Context, o api.ImagingOrder, show func(jobs.Progress)) (imaging.Result, error) {
	if err := media.Present(p.root, len(p.lib.Snapshot().Tracks)); err != nil {
		return imaging.Result{}, err
	}
	order := imaging.Order{
		Sweepers: o.Sweepers, SongDrops: o.SongDrops, IDs: o.IDs, VoiceDrops: o.VoiceDrops, Stingers: o.Stingers, Seed: rand.Uint64(),
	}
	return p.imaging.Make(ctx, order, func(now imaging.Progress) {
		at := jobs.Progress{Step: "imaging", Done: now.Done, Total: now.Of}
		if now.Asset != nil {
			at.Detail = now.Asset.Path
		}
		show(at)
	})
}

// replaced reports that an order makes files of a kind anew.
func replaced(o api.ImagingOrder, path string) bool {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "SFX_"):
		return o.Stingers > 0
	case strings.HasPrefix(name, "ID_"):
		return o.IDs > 0
	}
	return o.Sweepers+o.SongDrops+o.VoiceDrops > 0
}

func pathsOf(assets []imaging.Asset) []string {
	out := make([]string, len(assets))
	for i, a := range assets {
		out[i] = a.Path
	}
	return out
}

func made(r imaging.Result) api.ImagingMade {
	out := api.ImagingMade{Made: []api.ImagingAsset{}, Failed: []api.ImagingFailure{}}
	for _, a := range r.Made {
		item := api.ImagingAsset{
			File: a.Path, Kind: string(a.Kind), Design: a.Design, Text: a.Text, Voice: a.Voice,
			DurationMS: a.Duration.Milliseconds(), LUFS: thousandths(a.LUFS), DBTP: thousandths(a.DBTP),
		}
		if a.Song != nil {
			item.Song = a.Song.Title
		}
		out.Made = append(out.Made, item)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, api.ImagingFailure{Kind: string(f.Kind), Design: f.Design, Error: f.Err.Error()})
	}
	return out
}

// songs lists what sweepers may cut.
func (p *production) songs(context.Context) ([]imaging.Song, error) {
	var out []imaging.Song
	for _, t := range p.deck.Snapshot().Tracks {
		if t.Category.Music() && t.Duration >= time.Minute {
			out = append(out, imaging.Song{Path: p.rack.Path(t.Path), Title: t.Title, Artist: t.Artist, Duration: t.Duration})
		}
	}
	return out, nil
}

// BulletinStatus implements api.Producer.
func (p *production) BulletinStatus() api.BulletinStatus {
	st := p.news.Status()
	out := api.BulletinStatus{
		Headlines: append([]string{}, st.Headlines...), HeadlinesProblem: st.HeadlinesProblem, Sentence: st.Sentence,
		Making: st.Making, Segments: []api.BulletinSegment{}, EveryHours: p.every.Hours(),
	}
	if rel, ok := p.rel(st.Latest); ok {
		out.Latest, out.LatestAt = rel, st.LatestAt.UnixMilli()
	}
	if st.Last != nil {
		out.Segments = segments(st.Last.Segments)
	}
	if !st.Tried.IsZero() {
		out.TriedAt = st.Tried.UnixMilli()
	}
	if st.Err != nil {
		out.Error = st.Err.Error()
	}
	return out
}

func segments(in []bulletin.Segment) []api.BulletinSegment {
	out := make([]api.BulletinSegment, len(in))
	for i, s := range in {
		out[i] = api.BulletinSegment{Kind: string(s.Kind), Text: s.Text, Voice: s.Voice, Problem: s.Problem}
	}
	return out
}

// rel is a file of the media folder relative to it.
func (p *production) rel(abs string) (string, bool) { return strings.CutPrefix(abs, p.root+"/") }
