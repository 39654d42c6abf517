package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/athir-radio/athir/internal/import/plan"
)

const mostItems = 500 // of one order

// list is a playlist of the station's, as far as it matters here.
type list struct {
	ID      int64 `json:"id"`
	Version int64 `json:"version"`
}

type listed struct {
	Playlist list `json:"playlist"`
	Refused  []struct {
		Path string `json:"path"`
		En   string `json:"en"`
		Ar   string `json:"ar"`
	} `json:"refused"`
}

// versioned are settings with the version that they replace.
type versioned struct {
	plan.Settings
	Version int64 `json:"version"`
}

func (a *applier) playlists(ctx context.Context) error {
	for i := range a.Plan.Playlists {
		p := &a.Plan.Playlists[i]
		a.Show(Progress{Playlists, i, len(a.Plan.Playlists), p.Settings.Name})
		switch p.Do {
		case plan.Not:
			a.not(Playlists, p.Settings.Name, *cmp.Or(p.Why, &plan.Words{}))
		case plan.Bring:
			err := a.playlist(ctx, p)
			if err == nil {
				continue
			}
			why, err := refusal(err)
			if err != nil {
				return err
			}
			a.not(Playlists, p.Settings.Name, why)
		}
	}
	a.Show(Progress{Playlists, len(a.Plan.Playlists), len(a.Plan.Playlists), ""})
	return nil
}

// playlist makes one, adds its tracks, and only then switches it on: half a playlist is not for
// the air.
func (a *applier) playlist(ctx context.Context, p *plan.Playlist) error {
	var id int64
	err := a.again(ctx, func() (err error) { id, err = a.made(ctx, p); return err })
	if err != nil {
		return err
	}
	var paths []string
	lacks := slices.Clone(p.Lacks)
	for _, item := range p.Items {
		if path := a.paths[item]; path != "" {
			paths = append(paths, path)
		} else {
			lacks = append(lacks, item)
		}
	}
	for done := false; !done; {
		err := a.again(ctx, func() (err error) { done, err = a.add(ctx, p, id, paths); return err })
		if err != nil {
			return err
		}
	}
	if p.Settings.On && p.Settings.Kind == "hand" && !p.Rest {
		err := a.again(ctx, func() error {
			l, err := a.list(ctx, id)
			if err != nil {
				return err
			}
			return a.changed(a.station.call(ctx, http.MethodPut, at(id), versioned{p.Settings, l.Version}, nil))
		})
		if err != nil {
			return err
		}
	}
	if !p.Rest {
		a.report.Playlists++
	}
	e := listLine(p, id)
	e.Done, e.Lacks = true, lacks
	return a.journal.note(e)
}

func listLine(p *plan.Playlist, id int64) entry {
	return entry{Kind: kindPlaylist, ID: p.ID, From: &plan.Source{Title: p.From}, Name: p.Settings.Name, List: id}
}

func at(id int64) string { return "/api/station/playlists/" + strconv.FormatInt(id, 10) }

// changed has an order tried again that named a version which somebody has changed since.
func (a *applier) changed(err error) error {
	var refused *Refused
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return errAgain
	}
	return err
}

func (a *applier) list(ctx context.Context, id int64) (list, error) {
	var out listed
	err := a.station.call(ctx, http.MethodGet, at(id), nil, &out)
	return out.Playlist, err
}

// made makes a playlist, unless an earlier try has: its name was its own when it was planned. One
// that somebody else has made under it since is left to them.
func (a *applier) made(ctx context.Context, p *plan.Playlist) (int64, error) {
	settings := p.Settings
	settings.On = settings.On && settings.Kind != "hand"
	made, _ := a.journal.playlist(p)
	switch {
	case made.ID != 0:
		return made.ID, nil
	case made.Name != "":
		all, err := a.station.playlists(ctx)
		if err != nil {
			return 0, err
		}
		i := slices.IndexFunc(all, func(l plan.List) bool { return l.Name == made.Name })
		if i >= 0 && all[i].PlaysAs(settings) && all[i].On == settings.On && (settings.Kind != "hand" || all[i].Tracks == 0) {
			return all[i].ID, a.journal.note(listLine(p, all[i].ID))
		}
		if i >= 0 {
			var taken []string
			for _, l := range all {
				taken = append(taken, l.Name)
			}
			for _, other := range a.Plan.Playlists {
				taken = append(taken, other.Settings.Name)
			}
			p.Settings.Name = plan.AnotherName(p.Settings.Name, taken)
			settings.Name = p.Settings.Name
			err = a.journal.note(listLine(p, 0))
		}
		if err != nil {
			return 0, err
		}
	default:
		if err := a.journal.note(listLine(p, 0)); err != nil {
			return 0, err
		}
	}
	var out listed
	if err := a.station.call(ctx, http.MethodPost, "/api/station/playlists", settings, &out); err != nil {
		var refused *Refused
		if errors.As(err, &refused) && refused.Status == http.StatusConflict && made.Name != "" {
			return 0, errAgain // an earlier try came after the look
		}
		if errors.As(err, &refused) && !refused.later() { // one of that name is another's
			err = errors.Join(err, a.journal.note(entry{Kind: kindPlaylist, ID: p.ID, Free: true}))
		}
		return 0, err
	}
	if out.Playlist.ID == 0 {
		return 0, errors.New("the station names no playlist that it made: is it an Athir of this version?")
	}
	return out.Playlist.ID, a.journal.note(listLine(p, out.Playlist.ID))
}

// add puts the next tracks into a playlist, and reports that all are in it. Whether those that
// were under way at a kill are is seen by how many the playlist has.
func (a *applier) add(ctx context.Context, p *plan.Playlist, id int64, paths []string) (done bool, err error) {
	_, was := a.journal.playlist(p)
	sent := was.sent
	var now struct {
		Version int64 `json:"version"`
		Total   int   `json:"total"`
	}
	if sent >= len(paths) && !was.open {
		return true, nil
	}
	if err := a.station.call(ctx, http.MethodGet, at(id)+"/items?limit=1", nil, &now); err != nil {
		return false, err
	}
	if was.open {
		if now.Total == was.had { // it did not happen
			sent = was.before
		}
		if err := a.journal.note(entry{Kind: kindItems, ID: p.ID, Sent: sent}); err != nil {
			return false, err
		}
	}
	if sent >= len(paths) {
		return true, nil
	}
	part := paths[sent:min(sent+mostItems, len(paths))]
	if err := a.journal.note(entry{Kind: kindItems, ID: p.ID, Had: now.Total, Sent: sent + len(part), Open: true}); err != nil {
		return false, err
	}
	var out listed
	body := map[string]any{"version": now.Version, "add": map[string]any{"paths": part}}
	if err := a.changed(a.station.call(ctx, http.MethodPatch, at(id)+"/items", body, &out)); err != nil {
		return false, err
	}
	for _, r := range out.Refused {
		a.not(Playlists, fmt.Sprintf("%s: %s", p.Settings.Name, r.Path), plan.Words{En: r.En, Ar: r.Ar})
	}
	a.report.Items += len(part) - len(out.Refused)
	return sent+len(part) >= len(paths), a.journal.note(entry{Kind: kindItems, ID: p.ID, Sent: sent + len(part)})
}
