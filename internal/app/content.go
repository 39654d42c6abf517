package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/content"
	from "github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

func openContent(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, m *mastering.Master, p *production, owner *policy.Owner, engine playout.Engine, version string,
) (*content.Content, error) {
	sources, err := contentSources(cfg, version)
	if err != nil {
		return nil, err
	}
	profiles, err := cfg.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	days := func(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }
	o := content.Options{
		Media: cfg.MediaDir(), Archive: cfg.ArchiveDir(), Work: cfg.WorkDir(),
		Registry: inventory{p}, OnAir: airing{p.rack, p.onair, engine}, Master: m, Profiles: profiles,
		Prints: p.prints, Catalog: catalog{owner}, Sources: sources,
		Log: alsoTo(log, cfg, contentLog, slog.LevelDebug), Changed: p.deck.Hide,
		Every: time.Duration(cfg.Content.RefreshHours * float64(time.Hour)), Queue: p.refreshDue,
		ArchiveKeep: days(cfg.Content.ArchiveDays), ArchiveMaxBytes: int64(cfg.Content.ArchiveGigabytes * (1 << 30)),
		Speech: content.Speech(cfg.Content.Speech),
	}
	if cfg.Content.Imaging {
		o.Imaging = imagery{p}
	}
	return content.Open(ctx, db, o)
}

// contentSources are those the settings name, in the order in which they are
// asked: what an operator chose himself comes first.
func contentSources(cfg *config.Config, version string) ([]from.Source, error) {
	networks, err := cfg.Content.NetworkList()
	if err != nil {
		return nil, err
	}
	feeds, err := cfg.Content.FeedList()
	if err != nil {
		return nil, err
	}
	client := fetch.New(fetch.Options{Version: version, Allow: networks, Setting: "content.networks"})
	out := []from.Source{&from.Inbox{Dir: cfg.InboxDir()}, &from.Link{Client: client}}
	if len(feeds) > 0 {
		s := &from.Feeds{Client: client}
		for _, f := range feeds {
			s.Feeds = append(s.Feeds, from.Feed{URL: f.URL, Category: f.Category})
		}
		out = append(out, s)
	}
	if cfg.Content.InternetArchive {
		out = append(out, &from.Archive{Client: client})
	}
	if cfg.Content.YTDLP != "" {
		out = append(out, &from.YTDLP{Client: client, Program: cfg.Content.YTDLP})
	}
	return out, nil
}

// inventory is the registry as the content pipeline knows it.
type inventory struct{ p *production }

func (i inventory) Tracks() []station.Track { return i.p.lib.Snapshot().Tracks }

func (i inventory) Broken() map[string]string {
	out := map[string]string{}
	for _, q := range i.p.lib.Snapshot().Quarantined {
		out[q.Path] = q.Reason
	}
	return out
}

func (i inventory) Refused() map[string]string {
	out := map[string]string{}
	for _, r := range i.p.rack.Snapshot().Refused {
		out[r.Path] = r.Reason
	}
	return out
}

// Scan registers what changed. What is gone is planned no more when it returns.
// What is new may be planned once it is found fit, which is not waited for here:
// a run places many files.
func (i inventory) Scan(ctx context.Context) error { return i.p.deck.Scan(ctx) }

// airing is what is on air as the content pipeline knows it.
type airing struct {
	rack   *aircopy.Rack
	onair  *scheduler.Scheduler
	engine playout.Engine
}

func (a airing) Protected(ctx context.Context) ([]string, error) {
	v := a.onair.View()
	out := v.Protected(time.Now())
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	st, err := a.engine.Status(ctx)
	if err != nil {
		// An engine that is away, or does not answer, may come back with any
		// entry of the list that is in place.
		for _, it := range v.Items() {
			out = append(out, it.Track.Path)
		}
		return out, nil
	}
	for _, abs := range st.Prepared {
		if rel, ok := a.rack.Rel(abs); ok {
			out = append(out, rel)
		}
	}
	return out, nil
}

func (a airing) Holding(ctx context.Context, paths []string) ([]string, error) {
	return a.onair.Holding(ctx, paths)
}

func (a airing) Rebuild(ctx context.Context) error { return a.onair.Rebuild(ctx) }

func (a airing) Plays(ctx context.Context) (map[string]int, error) { return a.onair.Plays(ctx) }

// imagery is the imaging generator as the content pipeline knows it.
type imagery struct{ p *production }

func (i imagery) Old(context.Context) ([]string, error) { return imaging.Old(i.p.root) }

// Make returns once what it made may be planned: the old leaves for it.
func (i imagery) Make(ctx context.Context, progress func(done, total int, detail string)) (int, error) {
	r, err := i.p.image(ctx, api.UsualImaging(), func(now jobs.Progress) { progress(now.Done, now.Total, now.Detail) })
	if err == nil && len(r.Failed) > len(r.Made) {
		err = fmt.Errorf("%d of %d could not be made, the first: %w", len(r.Failed), len(r.Failed)+len(r.Made), r.Failed[0].Err)
	}
	if err != nil {
		return len(r.Made), err
	}
	return len(r.Made), i.p.register(ctx, pathsOf(r.Made), func(ready int) {
		progress(ready, len(r.Made), "made; waits for the library to see it")
	})
}

// catalog is what to look for.
type catalog struct{ owner *policy.Owner }

func (c catalog) Singers() map[station.Category][]string { return c.owner.Current().Singers }

func (c catalog) Queries() map[station.Category][]string { return c.owner.Current().Queries }
