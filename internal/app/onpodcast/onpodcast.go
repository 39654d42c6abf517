// Package onpodcast wires what the station offers on demand: where episodes come from, how their
// sound is finished, and which show is on the air.
package onpodcast

import (
	"context"
	"image"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/podcast/sound"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/feed"
)

// Options are the parts around the podcasts. All are required but Posts.
type Options struct {
	Config     *config.Config
	Log        *slog.Logger
	DB         *store.DB
	Recordings wire.Recordings
	OnAir      func() takeover.Status
	Posts      *social.Social // nil: listeners send nothing
	Library    func() *media.Snapshot
	Cover      func(station.Track) string // id of a track's picture
	Name       func() string              // the station's
	Logo       func(context.Context) image.Image
	LogoStamp  func() string // changes with Logo
	Hold       func(context.Context) error
}

// Podcasts are the podcasts with what they are made of. The other methods may be called once Open
// has returned.
type Podcasts struct {
	*podcast.Podcasts
	bulletins *bulletins
	live      *onAir
}

// reserve is what making episodes leaves free of the disk, beside what every program does.
const reserve = 512 << 20

// Open opens them. The content pipeline is open by then: it empties the folder of what is in the
// making.
func (p *Podcasts) Open(ctx context.Context, o Options) (err error) {
	cfg := o.Config
	finish, err := sound.Open(sound.Options{Dir: filepath.Join(cfg.WorkDir(), "podcasts"), Profile: mastering.Station, Log: o.Log})
	if err != nil {
		return err
	}
	p.bulletins = &bulletins{media: cfg.MediaDir(), noted: cfg.BulletinsDir(), arabic: cfg.Language == "ar", zone: cfg.Timezone.Location, log: o.Log}
	origins := map[podcast.Kind]podcast.Origin{
		podcast.Live:      &broadcasts{node: o.Recordings, now: time.Now},
		podcast.Bulletins: p.bulletins,
		podcast.Library:   shelf{library: o.Library, root: cfg.MediaDir(), cover: o.Cover},
	}
	if o.Posts != nil {
		origins[podcast.Posts] = posts{o.Posts}
	}
	p.Podcasts, err = podcast.Open(ctx, podcast.Options{
		Log: o.Log, DB: o.DB, Dir: cfg.PodcastsDir(), Origins: origins, Finish: finish, Station: o.Name, StationCover: o.Logo, CoverStamp: o.LogoStamp,
		MostBytes: cfg.Podcasts.Bytes(), ReserveBytes: reserve, Now: time.Now,
		// For each episode anew, and not for ever: a machine that is always short would make none.
		Hold: func(ctx context.Context) error { return shed.AtMost(o.Hold, shed.Most)(ctx) },
	})
	p.live = &onAir{show: p.Show, now: o.OnAir, clock: time.Now}
	return err
}

// Bulletin takes one that was made.
func (p *Podcasts) Bulletin(made production.BulletinMade) {
	p.bulletins.note(made)
	p.Wake()
}

// Post takes what has happened to a post.
func (p *Podcasts) Post(h social.Happened) {
	if h.What != social.Aired {
		p.Wake()
	}
}

// Told takes a change of what is live.
func (p *Podcasts) Told(e takeover.Event) {
	p.live.told(e)
	p.Wake()
}

// LiveItem is the broadcast that the feed of a show tells of.
func (p *Podcasts) LiveItem(slug string) (feed.Live, bool) { return p.live.item(slug) }

// Live reports whether a show is on the air.
func (p *Podcasts) Live(slug string) bool {
	b, ok := p.live.item(slug)
	return ok && b.Ended.IsZero()
}

// Surface is what the API calls.
func (p *Podcasts) Surface() *api.Podcasts {
	return &api.Podcasts{Shows: p, Live: p.Live}
}

// Both hands on what is told to two parts.
func Both[T any](one, two func(T)) func(T) {
	return func(v T) {
		one(v)
		two(v)
	}
}
