package apply

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/athir-radio/athir/internal/import/plan"
)

// arrived is a file on its way into the library.
type arrived struct {
	ID     string      `json:"id"`
	State  string      `json:"state"`
	Path   string      `json:"path"`
	Reason *plan.Words `json:"reason"`
}

// settle waits until the library has taken each file of a part, or refused it. Where it asks
// because a file looks like a track that is there, both are kept.
func (a *applier) settle(ctx context.Context, part []*plan.Track) error {
	waiting := map[string]*plan.Track{} // by arrival
	for _, t := range part {
		_, arrival := a.journal.upload(t)
		switch path := a.journal.path(t); {
		case path != "":
			a.paths[t.ID] = path
		case arrival != "":
			waiting[arrival] = t
		}
	}
	tag := ""
	for len(waiting) > 0 {
		all, next, err := a.arrivals(ctx, tag)
		if err != nil {
			return err
		}
		if all != nil {
			asks, err := a.look(ctx, all, waiting)
			if err != nil {
				return err
			}
			if len(asks) > 0 {
				err := a.again(ctx, func() error {
					return a.station.call(ctx, http.MethodPost, "/api/station/library/intake/take", map[string]any{"ids": asks}, nil)
				})
				if err != nil {
					return err
				}
			}
		}
		if tag = next; len(waiting) == 0 {
			break
		}
		if err := a.Wait(ctx, look); err != nil {
			return err
		}
	}
	return a.remember(ctx)
}

// remember notes what was taken, once the library lists it: it takes a file first, and lists it a
// moment later. Until then the journal has the arrival. A run that began between the two would
// find the track missing, and leave it out of the notes and the playlists for good.
func (a *applier) remember(ctx context.Context) error {
	taken := a.taken
	a.taken = nil
	if len(taken) == 0 {
		return nil
	}
	var paths []string
	for _, t := range taken {
		paths = append(paths, a.paths[t.ID])
	}
	held, err := a.held(ctx, slices.Values(paths))
	if err != nil {
		return err
	}
	for i, t := range taken {
		if _, listed := held[paths[i]]; !listed {
			continue
		}
		if err := a.journal.note(entry{Kind: kindTrack, ID: t.ID, From: t.Source(), Path: paths[i]}); err != nil {
			return err
		}
	}
	return nil
}

// arrivals is the list of files on their way; nil where it is as it was.
func (a *applier) arrivals(ctx context.Context, tag string) (all map[string]arrived, next string, err error) {
	err = a.again(ctx, func() error {
		h := http.Header{}
		if tag != "" {
			h.Set("If-None-Match", tag)
		}
		resp, err := a.station.send(ctx, http.MethodGet, "/api/station/library/intake", h, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if next = resp.Header.Get("ETag"); resp.StatusCode == http.StatusNotModified {
			next = tag
			return nil
		}
		var list struct {
			Files []arrived `json:"files"`
		}
		if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(&list); err != nil {
			return io.ErrUnexpectedEOF
		}
		all = map[string]arrived{}
		for _, f := range list.Files {
			all[f.ID] = f
		}
		return nil
	})
	return all, next, err
}

// look settles what is decided, and returns what the library asks about.
func (a *applier) look(ctx context.Context, all map[string]arrived, waiting map[string]*plan.Track) (asks []string, err error) {
	for id, t := range waiting {
		f, known := all[id]
		switch {
		case !known:
			err = a.lost(ctx, t)
		case f.State == "taken":
			a.took(t, f.Path)
		case f.State == "asks":
			asks = append(asks, id)
			continue
		case f.State == "refused":
			why := plan.Words{En: "The library refuses it.", Ar: "رفضته المكتبة."}
			if f.Reason != nil {
				why = *f.Reason
			}
			a.not(Files, t.From, why)
			err = a.journal.note(refusedLine(t, why))
		case f.State == "undoing", f.State == "undone":
			why := plan.Words{En: "Its upload was undone in the studio.", Ar: "تراجع أحدهم عن رفعه في الاستوديو."}
			a.not(Files, t.From, why)
			err = a.journal.note(refusedLine(t, why))
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		delete(waiting, id)
	}
	return asks, nil
}

func (a *applier) took(t *plan.Track, path string) {
	a.mu.Lock()
	a.report.Copied++
	a.mu.Unlock()
	a.paths[t.ID] = path
	a.taken = append(a.taken, t)
}

// lost finds a file whose line in the list is gone: an earlier run uploaded it, days ago. It is the
// file of the same size, or of the same names and length: names or a length alone are another's, too.
func (a *applier) lost(ctx context.Context, t *plan.Track) error {
	var page struct {
		Tracks []track `json:"tracks"`
	}
	err := a.again(ctx, func() error {
		return a.station.call(ctx, http.MethodGet, "/api/station/library?sort=added&order=desc&limit=200&"+query(t), nil, &page)
	})
	if err != nil {
		return err
	}
	for _, held := range page.Tracks {
		if held.Size == t.Size && t.Size > 0 || plan.SameNames(held.Artist, held.Title, t.Artist, t.Title) && near(held.Length, t.LengthMS) {
			a.took(t, held.Path)
			return nil
		}
	}
	why := plan.Words{En: "It was uploaded, and is not in the library any more.", Ar: "رُفع، ثم لم يعد في المكتبة."}
	a.not(Files, t.From, why)
	return a.journal.note(refusedLine(t, why))
}

func near(a, b int64) bool { return b > 0 && a-b < 1000 && b-a < 1000 }
