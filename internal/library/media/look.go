package media

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Look brings the registry up to date with some paths at once. It waits for no file to
// settle, so it is for files that are whole, and reads again what is quarantined or was not
// read in time though it has not changed. A path at which there is nothing leaves the
// registry, and a folder is refused. It waits for no other scan: the one under way looks at them
// in between, some at a time.
func (l *Library) Look(ctx context.Context, rels ...string) (Report, error) {
	t := task{again: true, waited: map[string]fileStamp{}, entering: func(string) {}}
	for _, rel := range rels {
		if !filepath.IsLocal(rel) || filepath.Clean(rel) != rel || rel == "." || strings.ContainsRune(rel, 0) {
			return Report{}, fmt.Errorf("look at %q: it is no path in the media folder: %w", rel, station.ErrInvalid)
		}
		switch info, err := os.Stat(filepath.Join(l.opt.Root, rel)); {
		case err == nil && info.IsDir():
			return Report{}, fmt.Errorf("look at %q: it is a folder: name the files in it: %w", rel, station.ErrInvalid)
		case err == nil && info.Mode().IsRegular():
			t.waited[rel] = stampFile(info) // as it is now: it counts as settled
		}
		if !slices.Contains(t.scopes, rel) {
			t.scopes = append(t.scopes, rel)
		}
	}
	if len(t.scopes) == 0 {
		return Report{}, nil
	}
	defer l.hurry.begin()()
	var all Report
	for scopes := range slices.Chunk(t.scopes, mostAside) {
		some := t
		some.scopes = scopes
		report, unsettled, err := l.look(ctx, some)
		all.add(report)
		all.Unsettled += len(unsettled)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// mostAside bounds the paths that are looked at in one go: the scan under way stands still
// meanwhile.
const mostAside = 16

// add counts another report to this one.
func (r *Report) add(other Report) {
	r.Seen, r.Done, r.Total = r.Seen+other.Seen, r.Done+other.Done, r.Total+other.Total
	r.Added, r.Updated, r.Removed, r.Quarantined = r.Added+other.Added, r.Updated+other.Updated, r.Removed+other.Removed, r.Quarantined+other.Quarantined
	r.Opened, r.Probed, r.Late, r.Took = r.Opened+other.Opened, r.Probed+other.Probed, r.Late+other.Late, r.Took+other.Took
	r.Problems = append(r.Problems, other.Problems...)
}
