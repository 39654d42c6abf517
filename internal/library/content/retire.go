package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// Why files are archived, as the journal has it; it decides what comes back, see
// RestoreRequest.
const (
	ReasonReplaced = "replaced" // imaging, by newer
	ReasonOutdated = "outdated" // a bulletin, whose time has passed
)

// The reasons of this package alone.
const (
	reasonRetired   = "retired"   // fetched, beyond the category's cap
	reasonJunk      = "junk"      // see Scrub
	reasonDuplicate = "duplicate" // the same recording is there, and better
)

// Reasons lists what this package archives files for. They are codes: what reads the journal,
// a page in another language too, tells them apart by them.
func Reasons() []string {
	return []string{ReasonReplaced, ReasonOutdated, reasonRetired, reasonJunk, reasonDuplicate}
}

// junk reports reasons for which a file does not come back by itself.
func junk(reason string) bool {
	return reason == reasonJunk || reason == reasonDuplicate
}

// settled is how long fetched material stays at least.
const settled = 24 * time.Hour

// retire archives files that earlier runs kept, and fetched tracks beyond a category's
// cap. It never touches the operator's own files, which include those of the inbox.
func (r *run) retire(ctx context.Context) error {
	r.c.moving.Lock()
	again, err := r.c.keptBefore(ctx, r.id)
	r.c.moving.Unlock()
	if err != nil {
		return err
	}
	err = r.leave(ctx, again, "")
	over, err2 := r.c.surplus(ctx)
	if err2 != nil {
		return errors.Join(err, err2)
	}
	return errors.Join(err, r.leave(ctx, over, reasonRetired))
}

// surplus lists what was fetched beyond the caps, sorted.
func (c *Content) surplus(ctx context.Context) ([]string, error) {
	plays, err := c.opt.OnAir.Plays(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up what was played: %w", err)
	}
	all, err := c.fetchedTracks(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for category, list := range all {
		paths = append(paths, surplus(list, plays, c.opt.keep(category), c.now())...)
	}
	slices.Sort(paths)
	return paths, nil
}

// late archives files that could not leave while they were on the air or about to be.
func (c *Content) late(ctx context.Context) {
	c.moving.Lock()
	defer c.moving.Unlock()
	paths, err := c.keptBefore(ctx, noRun)
	if err == nil && len(paths) > 0 {
		_, err = c.takeOut(ctx, paths, "", 0)
	}
	if err != nil && ctx.Err() == nil {
		c.log.Error("cannot archive what has aired meanwhile: it is tried again", "err", err)
	}
}

const (
	// lateEvery is how often files are looked at that were on the air, or about to be, as
	// they were archived. They are planned no more, so most may leave after a minute or two.
	lateEvery = time.Minute
	noRun     = -1
)

// keptBefore lists files that could not be archived, but for those of a run. Entries whose
// file is gone or replaced are closed. The caller has c.moving.
func (c *Content) keptBefore(ctx context.Context, run int64) ([]string, error) {
	all, err := c.entries(ctx, "state = 'kept' AND run <> ?", run)
	var out []string
	for i := range all {
		e := &all[i]
		full, ok := inside(c.opt.Media, e.path)
		s, err := c.look(full, e.stamp)
		switch {
		case !ok || err != nil:
		case s == nothing && c.away(): // what is behind a mount has not gone
		case s == same:
			out = append(out, e.path)
		case s == nothing:
			err = c.turn(ctx, e, lost, "the file is gone from the media folder")
		default:
			err = c.turn(ctx, e, dropped, "another file has the name")
		}
		if err != nil {
			return out, err
		}
	}
	c.publish(ctx)
	return out, err
}

// away reports that the media folder cannot be listed, or is the empty one beneath a mount.
func (c *Content) away() bool {
	f, err := os.Open(c.opt.Media)
	if err != nil {
		return true
	}
	defer f.Close() //nolint:errcheck // nothing was written
	names, _ := f.Readdirnames(1)
	return len(names) == 0
}

// fetchedTrack is a track that this pipeline brought.
type fetchedTrack struct {
	path   string
	placed time.Time
}

// fetchedTracks are those in the decks, by category, without the inbox's.
func (c *Content) fetchedTracks(ctx context.Context) (map[station.Category][]fetchedTrack, error) {
	rows, err := c.db.Read().QueryContext(ctx, "SELECT path, made_ms FROM content_item WHERE state = 'placed' AND source <> ?", source.NameInbox)
	if err != nil {
		return nil, fmt.Errorf("look up what was fetched: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	placed := map[string]time.Time{}
	for rows.Next() {
		var path []byte
		var made int64
		if err := rows.Scan(&path, &made); err != nil {
			return nil, err
		}
		placed[string(path)] = time.UnixMilli(made)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	hidden := c.Hidden()
	out := map[station.Category][]fetchedTrack{}
	for _, t := range c.opt.Registry.Tracks() {
		if at, ok := placed[t.Path]; ok && !hidden[t.Path] {
			out[t.Category] = append(out[t.Category], fetchedTrack{t.Path, at})
		}
	}
	return out, nil
}

// surplus chooses what to archive: of the tracks that are a day old, those with the
// fewest plays per week, and of equals the oldest. Plays count per week because a new
// track has had little time.
func surplus(list []fetchedTrack, plays map[string]int, keep int, now time.Time) []string {
	excess := len(list) - keep
	if excess <= 0 {
		return nil
	}
	weekly := func(t fetchedTrack) int {
		weeks := max(1, now.Sub(t.placed).Hours()/(7*24))
		return int(float64(plays[t.path])/weeks + 0.5)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t fetchedTrack) bool { return now.Sub(t.placed) < settled })
	slices.SortFunc(list, func(a, b fetchedTrack) int {
		return cmp.Or(cmp.Compare(weekly(a), weekly(b)), a.placed.Compare(b.placed), cmp.Compare(a.path, b.path))
	})
	var out []string
	for _, t := range list[:min(excess, len(list))] {
		out = append(out, t.path)
	}
	return out
}
