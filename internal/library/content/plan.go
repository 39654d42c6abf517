package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// Plan is what a refresh would do. Sources were searched; nothing was fetched or
// moved.
type Plan struct {
	Inbox []string `json:"inbox"` // files of the inbox that would be looked at
	// Fetch are the candidates that would be tried, the best first: more than
	// are wanted, as some are refused.
	Fetch    []PlannedFetch `json:"fetch"`
	Archive  []PlannedMove  `json:"archive"` // files that would leave their decks
	Kept     []string       `json:"kept"`    // that should, but are on air or about to be
	Restore  []string       `json:"restore"` // files that would come back
	Problems []Problem      `json:"problems"`
}

// PlannedFetch is a candidate.
type PlannedFetch struct {
	Category station.Category `json:"category"`
	Source   string           `json:"source"`
	Title    string           `json:"title"`
	Artist   string           `json:"artist"`
	License  string           `json:"license"`
	URL      string           `json:"url"`
}

// PlannedMove is a file that would be archived.
type PlannedMove struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Plan returns what Refresh would do. Errors as Refresh.
func (c *Content) Plan(ctx context.Context, req Request, progress func(Progress)) (Plan, error) {
	if err := req.check(); err != nil {
		return Plan{}, err
	}
	end, err := c.begin("plan")
	if err != nil {
		return Plan{}, err
	}
	defer end()
	p := &planner{
		run:  run{c: c, show: c.watch(progress), fetching: ctx, result: Result{Categories: map[station.Category]*Count{}}},
		plan: Plan{Inbox: []string{}, Fetch: []PlannedFetch{}, Archive: []PlannedMove{}, Kept: []string{}, Restore: []string{}, Problems: []Problem{}},
	}
	p.result.Request = req
	for _, s := range []struct {
		name Step
		do   func(context.Context) error
	}{{StepInbox, p.inbox}, {StepSongs, p.songs}, {StepAds, p.ads}, {StepRetire, p.leaving}, {StepRestore, p.returning}} {
		p.show(Progress{Step: s.name})
		if err := s.do(ctx); err != nil && ctx.Err() == nil {
			p.problem(s.name, err)
		}
	}
	p.plan.Problems = append(p.plan.Problems, p.result.Problems...)
	return p.plan, context.Cause(ctx)
}

// planner is a run that changes nothing.
type planner struct {
	run
	plan Plan
}

func (p *planner) inbox(context.Context) error {
	for _, src := range p.c.opt.Sources {
		if src.Name() != source.NameInbox {
			continue
		}
		found, err := p.search(src, source.Want{Target: inboxMost})
		for _, cand := range found {
			path := cand.ID
			if i := strings.LastIndexByte(path, '?'); i > 0 { // the rest tells the file from a later one
				path = path[:i]
			}
			p.plan.Inbox = append(p.plan.Inbox, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) songs(ctx context.Context) error {
	wants := apportion(p.result.Request.Songs, p.c.opt.Shares)
	for _, category := range p.emptiest(wants) {
		p.candidates(ctx, StepSongs, category, wants[category])
	}
	return nil
}

func (p *planner) ads(ctx context.Context) error {
	if n := p.result.Request.Ads; n > 0 {
		p.candidates(ctx, StepAds, station.Ads, n)
	}
	return nil
}

func (p *planner) candidates(ctx context.Context, step Step, category station.Category, want int) {
	for _, o := range p.offered(ctx, step, category, want) {
		p.plan.Fetch = append(p.plan.Fetch, PlannedFetch{
			Category: category, Source: o.src.Name(), Title: o.cand.Title, Artist: o.cand.Artist, License: o.cand.License, URL: o.cand.URL,
		})
	}
}

// leaving lists what would be archived: imaging for newer, and what is fetched
// beyond a category's cap.
func (p *planner) leaving(ctx context.Context) error {
	protected, err := p.c.opt.OnAir.Protected(ctx)
	if err != nil {
		return fmt.Errorf("look up what is on air: %w", err)
	}
	add := func(paths []string, reason string) {
		for _, path := range paths {
			if slices.Contains(protected, path) {
				p.plan.Kept = append(p.plan.Kept, path)
			} else {
				p.plan.Archive = append(p.plan.Archive, PlannedMove{path, reason})
			}
		}
	}
	var wrong error
	if im := p.c.opt.Imaging; im != nil {
		old, err := im.Old(ctx)
		wrong = err
		add(old, ReasonReplaced)
	}
	over, err := p.c.surplus(ctx)
	add(over, reasonRetired)
	return errors.Join(wrong, err)
}

// returning lists what a restore would bring back.
func (p *planner) returning(ctx context.Context) error {
	if !p.result.Request.Restore {
		return nil
	}
	list, err := p.c.restorable(ctx, RestoreRequest{})
	if err != nil {
		return err
	}
	room := p.c.room()
	for i := range list {
		if e := &list[i]; room[e.category] > spare(e, p.c.opt.keep(e.category)) {
			room[e.category]--
			p.plan.Restore = append(p.plan.Restore, e.path)
		}
	}
	return nil
}
