package apply

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/athir-radio/athir/internal/import/plan"
)

// query searches the library for a track's names.
func query(t *plan.Track) string {
	return url.Values{"q": {clip(t.Artist+" "+t.Title, 200)}}.Encode()
}

// noting is a note and the tracks that it is said of.
type noting struct {
	note  *plan.Note
	paths []string
}

const mostPaths = 500 // of one order

// notes says of the tracks what the source said and their files do not. What somebody has said
// of a track meanwhile stays.
func (a *applier) notes(ctx context.Context) error {
	held, err := a.held(ctx, maps.Values(a.paths))
	if err != nil {
		return err
	}
	var order []string
	all := map[string]*noting{}
	for i := range a.Plan.Tracks {
		t := &a.Plan.Tracks[i]
		path := a.paths[t.ID]
		h, ok := held[path]
		if t.Note != nil && path != "" && !ok {
			a.not(Notes, path, plan.Words{En: "The library does not list it: nothing was said of it.", Ar: "ليس في قائمة المكتبة، فلم تُكتب بياناته."})
		}
		if t.Note == nil || !ok || h.Edited {
			continue
		}
		note := t.Note.Less(h)
		if note == nil {
			continue
		}
		text, err := json.Marshal(note)
		if err != nil {
			return err
		}
		n := all[string(text)]
		if n == nil {
			n = &noting{note: note}
			all[string(text)] = n
			order = append(order, string(text))
		}
		if !slices.Contains(n.paths, h.Path) {
			n.paths = append(n.paths, h.Path)
		}
	}
	for i, text := range order {
		a.Show(Progress{Notes, i, len(order), ""})
		for part := range slices.Chunk(all[text].paths, mostPaths) {
			if err := a.sayOf(ctx, part, all[text].note); err != nil {
				return err
			}
		}
	}
	a.Show(Progress{Notes, len(order), len(order), ""})
	return nil
}

func (a *applier) sayOf(ctx context.Context, paths []string, note *plan.Note) error {
	err := a.again(ctx, func() error {
		return a.station.call(ctx, http.MethodPatch, "/api/station/library", map[string]any{"paths": paths, "set": note}, nil)
	})
	if err == nil {
		a.report.Noted += len(paths)
		return nil
	}
	why, err := refusal(err)
	if err != nil {
		return err
	}
	for _, p := range paths {
		a.not(Notes, p, why)
	}
	return nil
}

var errNotYet = errors.New("the library has not listed what it took")

// held is the library, once it lists what it took at the paths.
func (a *applier) held(ctx context.Context, paths iter.Seq[string]) (map[string]plan.Held, error) {
	for n := 0; ; n++ {
		out := map[string]plan.Held{}
		var all []plan.Held
		err := a.again(ctx, func() (err error) { all, err = a.station.tracks(ctx); return err })
		if err != nil {
			return nil, err
		}
		for _, h := range all {
			out[h.Path] = h
		}
		missing := false
		for p := range paths {
			_, there := out[p]
			missing = missing || !there
		}
		if !missing || n >= mostLook {
			return out, nil
		}
		if err := a.Wait(ctx, look); err != nil {
			return nil, errors.Join(errNotYet, err)
		}
	}
}
