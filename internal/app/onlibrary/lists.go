package onlibrary

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// openLists opens the catalogue and the playlists, which the planner asks for before anything
// is on the air.
func (l *Library) openLists(ctx context.Context, o Options) error {
	networks, err := o.Config.Content.NetworkList()
	if err != nil {
		return err
	}
	l.source = &source{lib: l}
	l.Catalog = catalog.New(catalog.Options{Source: l.source})
	l.Lists, err = lists.Open(ctx, lists.Options{
		Log: o.Log, DB: o.DB, Registry: l.Notes, Whole: l.whole, Standing: l.source.Standing, Find: l.find,
		Config: func() rotation.Config {
			if v := l.source.seen(); v != nil {
				return v.Config
			}
			return rotation.DefaultConfig()
		},
		Zone: o.Config.Timezone.Location,
		Aired: func(id int64) (at time.Time) {
			if v := l.source.seen(); v != nil {
				at = v.ListAired(id)
			}
			return at
		},
		Fetch: fetch.New(fetch.Options{Version: o.Version, Allow: networks, Setting: "content.networks"}),
	})
	return err
}

// OnAir tells what is heard, from when that is known on.
func (l *Library) OnAir(view func() *scheduler.View) { l.source.view.Store(&view) }

// seen is what is on the air; nil before that is known.
func (s *source) seen() *scheduler.View {
	if of := s.view.Load(); of != nil {
		return (*of)()
	}
	return nil
}

// find calls with the path of every track that a search finds.
func (l *Library) find(q catalog.Query, with func(path string) bool) error {
	return l.Catalog.Each(q, func(r catalog.Row) bool { return with(r.Path) })
}

// RunLists tells the planner of each change of playlists until ctx ends.
func (l *Library) RunLists(ctx context.Context, changed func()) error {
	told, cancel := l.Lists.Subscribe()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-told:
			changed()
		}
	}
}
