// Package onsocial wires the platform of what listeners send to the parts of the control
// plane that it needs.
package onsocial

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/upload"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Library is what the station has besides posts.
type Library interface {
	Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]duplicates.Match, error)
}

// Tracks finds a track by its path.
type Tracks interface {
	Find(path string) (station.Track, bool)
}

// Options are the parts around the platform. All are required.
type Options struct {
	Config   *config.Config
	Log      *slog.Logger
	DB       *store.DB
	Version  string
	Master   mastering.Desk
	Library  Library
	Tracks   Tracks
	OnAir    *scheduler.Scheduler
	Words    check.Words
	Hold     func(ctx context.Context) error
	Tell     func(event string, payload any)
	Happened func(social.Happened)
	Every    func() int
}

// Platform is the platform with what runs beside it. The zero value is one that is switched
// off.
type Platform struct {
	Posts   *social.Social
	uploads *resume.Uploads
	fetcher *fetch.Client
	opt     Options
	limits  social.Limits
}

const (
	megabyte = 1 << 20
	// reserve is what uploads leave free of the disk.
	reserve = 512 * megabyte
	// tus is the folder of unfinished uploads. It is on the disk of the sources, which are
	// links to them.
	tus = "tus"
)

// Open opens the platform; one that is switched off if the settings say so.
func Open(ctx context.Context, o Options) (*Platform, error) {
	set := o.Config.Social
	if !set.Enabled {
		return &Platform{}, nil
	}
	networks, err := set.NetworkList()
	if err != nil {
		return nil, err
	}
	profiles, err := o.Config.Library.ProfileOf()
	if err != nil {
		return nil, err
	}
	p := &Platform{opt: o, fetcher: fetch.New(fetch.Options{Version: o.Version, Allow: networks, Setting: "social.networks", Whole: 10 * time.Minute})}
	p.limits = social.Limits{
		PerHour: set.PerHour, PerDay: set.PerDay, Address: set.Address, Waiting: set.Waiting, Queue: set.Queue, Bytes: int64(set.Megabyte) * megabyte, Reserve: reserve,
	}
	p.Posts, err = social.Open(ctx, social.Options{
		Log: o.Log, DB: o.DB, Now: time.Now, Zone: o.Config.Timezone.Location, Dir: o.Config.SocialDir(), Media: o.Config.PostsRoot(), Master: o.Master,
		Profile: mastering.PerCategory(profiles).For, Library: library{o.Library, o.Tracks}, Fetch: p.fetcher, Air: air{o.OnAir}, Words: o.Words,
		Hold: o.Hold, Tell: o.Tell, Told: o.Happened, Rights: set.RightsAr + "\n" + set.RightsEn, Trust: rule(set), Reports: set.Reports, ApproveVotes: set.Needed(),
		Keep: time.Duration(set.KeepDays) * 24 * time.Hour, Limits: p.limits,
	})
	if err != nil {
		return nil, err
	}
	p.uploads, err = upload.Open(upload.Options{
		Dir: filepath.Join(o.Config.SocialDir(), tus), Base: api.UploadsPath, Taker: taker{p.Posts}, Gate: gate{p.Posts}, Log: o.Log,
		Limits: resume.Limits{Size: p.limits.Bytes}, Problem: api.Problem,
	})
	return p, err
}

// rule is the operator's rule of approval as soon as a post is mastered; nil where every post
// waits. Approval by votes comes later: see config.Social.Needed.
func rule(set config.Social) func(social.Trusted) bool {
	by := map[string]bool{}
	for _, name := range set.Approve {
		by[name] = true
	}
	if !by["trusted"] && !by["regulars"] {
		return nil
	}
	return func(t social.Trusted) bool {
		if !t.Type.Category().Music() || t.Alike { // imaging speaks in the station's name
			return false
		}
		return by["trusted"] && t.Trusted || by["regulars"] && t.Approved >= set.After && t.Rejected == 0
	}
}

// Run runs the platform until ctx ends.
func (p *Platform) Run(ctx context.Context) error {
	if p.Posts == nil {
		return nil
	}
	defer p.fetcher.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.Posts.Run(ctx) })
	g.Go(func() error { return p.uploads.Run(ctx) })
	g.Go(func() error { return p.renew(ctx) })
	return g.Wait()
}

const (
	// renewAfter gathers several approvals before the rotation is planned with them, and
	// renewApart is the least time between two such plans: each sends a new list to the engine.
	renewAfter = time.Minute
	renewApart = 10 * time.Minute
)

// renew has the rotation planned anew once posts have come: otherwise they would be heard
// only after what was planned before, hours later. What is withdrawn leaves it by itself, as
// any file does that is gone.
func (p *Platform) renew(ctx context.Context) error {
	changed, leave := p.Posts.Subscribe()
	defer leave()
	before := len(*p.Posts.Tracks())
	wait := time.NewTimer(time.Hour)
	wait.Stop()
	defer wait.Stop()
	last := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			now := len(*p.Posts.Tracks())
			if now > before {
				wait.Reset(max(renewAfter, time.Until(last.Add(renewApart))))
			}
			before = now
			continue
		case <-wait.C:
		}
		last = time.Now()
		if err := p.opt.OnAir.Rebuild(ctx); err != nil && ctx.Err() == nil {
			p.opt.Log.Warn("cannot plan the rotation with new posts: they follow with the next plan", "err", err)
		}
	}
}

// Surface is the platform for the API; nil where it is switched off.
func (p *Platform) Surface() *api.Social {
	if p.Posts == nil {
		return nil
	}
	set := p.opt.Config.Social
	return &api.Social{
		Posts: p.Posts, Uploads: p.uploads, Sync: p.sync, Every: p.opt.Every, AdminKey: p.opt.Config.SocialAdminKey,
		Rights: api.Rights{En: set.RightsEn, Ar: set.RightsAr}, Limits: p.limits,
	}
}

// sync attaches the overlay and forces one push (mission: social/sync).
func (p *Platform) sync(ctx context.Context) (pushed bool, err error) {
	if err := p.Posts.Refresh(ctx); err != nil {
		return false, err
	}
	return true, p.opt.OnAir.Rebuild(ctx)
}

// air is the scheduler as the platform sees it.
type air struct{ onair *scheduler.Scheduler }

func (a air) Plays(ctx context.Context) (map[string]social.Airing, error) {
	played, err := a.onair.PlaysOf(ctx, "social/")
	out := make(map[string]social.Airing, len(played))
	for path, p := range played {
		out[path] = social.Airing{Plays: p.Count, Last: p.Last}
	}
	return out, err
}

func (a air) InUse(path string) bool { return a.onair.View().Planned(path) }

func (a air) Subscribe() (<-chan struct{}, func()) { return a.onair.Subscribe() }

// library is what the station has besides posts, with the names of its tracks.
type library struct {
	prints Library
	tracks Tracks
}

func (l library) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) (out []social.Likeness, err error) {
	found, err := l.prints.Alike(ctx, versions, artist, title)
	for _, m := range found {
		t, ok := l.tracks.Find(m.ID)
		if !ok {
			continue // it has left the library meanwhile
		}
		out = append(out, social.Likeness{File: m.ID, Title: t.Title, Artist: t.Artist, Difference: m.Difference, Covered: m.Covered, SameName: m.SameName})
	}
	return out, err
}

// taker takes finished uploads as posts, gate judges them before their first byte.
type (
	taker struct{ posts *social.Social }
	gate  struct{ posts *social.Social }
)

func (t taker) Take(ctx context.Context, u upload.Finished) (upload.Receipt, error) {
	d := draft(u.Meta)
	d.Once = "tus/" + u.ID
	got, err := t.posts.Take(ctx, social.Client(u.From), d, u.Path, u.Size)
	return upload.Receipt{Post: got.ID, Token: got.Token}, err
}

func (g gate) Admit(ctx context.Context, m upload.Meta, from upload.From) error {
	return g.posts.Admit(ctx, social.Client(from), draft(m), m.Size)
}

func draft(m upload.Meta) social.Draft {
	return social.Draft{
		Type: social.Type(m.Type), Title: m.Title, Artist: m.Artist, Description: m.Description, Tags: m.Tags, CreatedBy: m.CreatedBy, Rights: m.Rights, Name: m.Filename,
	}
}
