package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// ScrubRequest names the deck to check.
type ScrubRequest struct {
	Category station.Category `json:"category"`
	DryRun   bool             `json:"dryRun"` // only list
}

// Junk is a file that does not belong in its deck.
type Junk struct {
	File   string `json:"file"`
	Reason string `json:"reason"` // unreadable, mastering, too_short, too_long, silent, duplicate
	Why    string `json:"why"`    // for people
}

// Scrubbed is what a scrub found and did.
type Scrubbed struct {
	Category station.Category `json:"category"`
	DryRun   bool             `json:"dryRun"`
	Checked  int              `json:"checked"`
	Junk     []Junk           `json:"junk"`
	Reasons  map[string]int   `json:"reasons"` // how many of the junk for each
	Archived []string         `json:"archived"`
	Kept     []string         `json:"kept"` // on air or about to be: next time
	Problems []string         `json:"problems"`
}

// Scrub checks one deck for files that cannot or should not air, and archives them:
// unreadable files, those that mastering refuses, music under the quality floor,
// silence, files that are too long, and all but the best copy of a recording. Nothing
// else moves the operator's own files, and Scrub only when asked.
// station.ErrConflict says what else is running.
func (c *Content) Scrub(ctx context.Context, req ScrubRequest, progress func(Progress)) (Scrubbed, error) {
	out := Scrubbed{Category: req.Category, DryRun: req.DryRun, Junk: []Junk{}, Reasons: map[string]int{}, Archived: []string{}, Kept: []string{}, Problems: []string{}}
	if !req.Category.Valid() {
		return out, fmt.Errorf("category %q: %w: no such category", req.Category, station.ErrInvalid)
	}
	end, err := c.begin("scrub")
	if err != nil {
		return out, err
	}
	defer end()
	if err := c.Recover(ctx); err != nil {
		return out, err
	}
	c.junk(ctx, req.Category, c.watch(progress), &out)
	if err := context.Cause(ctx); err != nil || req.DryRun {
		return out, err
	}
	var purged []string
	for _, same := range []bool{false, true} {
		var paths []string
		for _, j := range out.Junk {
			if (j.Reason == reasonDuplicate) == same {
				paths = append(paths, j.File)
			}
		}
		reason := reasonJunk
		if same {
			reason = reasonDuplicate
		}
		m, e := c.archive(ctx, paths, reason, 0)
		purged = append(purged, m.Archived...)
		out.Kept = append(out.Kept, m.Kept...)
		for _, p := range slices.Sorted(maps.Keys(m.Left)) {
			out.Problems = append(out.Problems, p+": "+m.Left[p])
		}
		err = errors.Join(err, e)
	}
	out.Archived = append(out.Archived, purged...)
	if len(purged) > 0 {
		err = errors.Join(err, c.opt.OnAir.Rebuild(ctx))
	}
	return out, err
}

func (c *Content) junk(ctx context.Context, category station.Category, show func(Progress), out *Scrubbed) {
	add := func(p, reason, why string) {
		out.Junk = append(out.Junk, Junk{p, reason, why})
		out.Reasons[reason]++
		c.log.Info("junk file found", "file", p, "reason", reason, "why", why, "dry_run", out.DryRun)
	}
	broken := c.opt.Registry.Broken()
	for _, p := range slices.Sorted(maps.Keys(broken)) {
		if folderCategory(p) == category {
			out.Checked++
			add(p, "unreadable", broken[p])
		}
	}
	hidden, refused := c.Hidden(), c.opt.Registry.Refused()
	var deck []station.Track
	for _, t := range c.opt.Registry.Tracks() {
		if t.Category == category && !hidden[t.Path] {
			deck = append(deck, t)
		}
	}
	slices.SortFunc(deck, better)
	stays := map[string]bool{}
	for i, t := range deck {
		show(Progress{Step: StepScrub, Done: i, Total: len(deck), Detail: t.Path})
		if ctx.Err() != nil {
			return
		}
		out.Checked++
		if why, ok := refused[t.Path]; ok {
			add(t.Path, "mastering", why)
			continue
		}
		refusal, err := c.belongs(ctx, t, stays)
		switch {
		case err != nil:
			out.Problems = append(out.Problems, t.Path+": "+err.Error())
			stays[t.Path] = true
		case refusal != nil:
			add(t.Path, refusal.Code, refusal.English)
		default:
			stays[t.Path] = true
		}
	}
	show(Progress{Step: StepScrub, Done: len(deck), Total: len(deck)})
}

// better orders copies of one recording: the most bytes a second, then the
// longest, then the one that was there first.
func better(a, b station.Track) int {
	dense := func(t station.Track) int64 { return t.Size / max(1, int64(t.Duration/time.Second)) / 4000 } // in steps of 32 kbit/s
	return cmp.Or(cmp.Compare(dense(b), dense(a)), cmp.Compare(b.Duration.Round(time.Second), a.Duration.Round(time.Second)),
		a.AddedAt.Compare(b.AddedAt), cmp.Compare(a.Path, b.Path))
}

// belongs says why a track does not belong in its deck; nil if it does. stays are
// better tracks that do.
func (c *Content) belongs(ctx context.Context, t station.Track, stays map[string]bool) (*Refusal, error) {
	longest := c.kind(t.Category).longest
	if t.Category.Music() {
		if t.Duration < qualityFloor {
			return &Refusal{Code: "too_short", English: "it lasts " + seconds(t.Duration) + ", music lasts 45 s at least"}, nil
		}
		longest = max(longest, longestMix)
	}
	if t.Duration > longest {
		return &Refusal{Code: "too_long", English: "it lasts " + seconds(t.Duration) + ", the most here is " + seconds(longest)}, nil
	}
	full, ok := inside(c.opt.Media, t.Path)
	if !ok {
		return nil, errors.New("path is outside the media folder")
	}
	h, err := c.hear(ctx, full, longest, unheld)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal, nil
	}
	if err != nil {
		return nil, err
	}
	if h.silent > mostSilence {
		return &Refusal{Code: "silent", English: fmt.Sprintf("%.0f %% of it is silence", 100*h.silent)}, nil
	}
	twins, err := c.opt.Prints.Find(ctx, full)
	if err != nil {
		return nil, err
	}
	for _, p := range twins {
		if p != t.Path && stays[p] {
			return &Refusal{Code: reasonDuplicate, English: "the same recording as " + p}, nil
		}
	}
	return nil, nil
}
