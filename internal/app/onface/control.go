// Package onface wires the station's own face: where it is kept, and on every process that serves
// pages.
package onface

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // as covers are kept
	"image/png"
	"maps"
	"net/http"
	"strconv"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/card"
	"github.com/athir-radio/athir/internal/web/cards"
	"github.com/athir-radio/athir/internal/web/feed"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Face is the face in the control plane.
type Face struct {
	*face.Owner
	worn  *pages.Wardrobe
	cards *card.Drawer
}

// Open opens the face.
func Open(ctx context.Context, cfg *config.Config, db *store.DB) (*Face, error) {
	owner, err := face.Open(ctx, db, defaults(cfg))
	if err != nil {
		return nil, err
	}
	drawer, err := card.New()
	if err != nil {
		return nil, fmt.Errorf("read the fonts of cards: %w", err)
	}
	return &Face{owner, pages.NewWardrobe(owner.Now), drawer}, nil
}

func defaults(cfg *config.Config) face.Defaults {
	return face.Defaults{Name: cfg.Name, Language: cfg.Language}
}

// Name is the station's, in its first language.
func (f *Face) Name() string { return f.worn.Now().Name() }

// Logo is the station's; nil: it has none.
func (f *Face) Logo(context.Context) image.Image { return logoOf(f.Now()) }

// LogoStamp changes whenever Logo may.
func (f *Face) LogoStamp() string { return strconv.FormatInt(f.Owner.Now().Version, 10) }

// Sources are what pages show of the station beside its face.
type Sources struct {
	OnAir   func() *scheduler.View
	Library func() *media.Snapshot
	Covers  *covers.Covers
	// Cover is the id of a track's picture; empty: none.
	Cover func(t station.Track) string
	// Named names the tracks whose pages are asked for.
	Named Named
	// Shows are what the station offers on demand; nil: nothing.
	Shows Shows
	// LiveItem returns the broadcast that the feed of a show tells of; may be nil.
	LiveItem func(slug string) (feed.Live, bool)
	Describe map[pages.Page]func(*http.Request) *pages.Description
}

// Pages serves pages, with the face and the cards of shared links.
func (f *Face) Pages(o Sources, list ...pages.Page) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(cards.Prefix, cards.New(cards.Options{
		Draw: draw(f.cards), Instead: func() string { return f.worn.Now().Icon() },
		Now: func() cards.Scene { return f.scene(o, o.OnAir().OnAir.Track, true) },
		Track: func(ctx context.Context, id string) (cards.Scene, bool) {
			t, known := o.Library().ByID(id)
			if !known { // its page outlives its file, and names the card
				title, artist, err := o.Named(ctx, id)
				t.Title, t.Artist, known = title, artist, err == nil
			}
			return f.scene(o, t, false), known
		},
	}))
	describe := map[pages.Page]func(*http.Request) *pages.Description{}
	maps.Copy(describe, o.Describe)
	describe[pages.History] = ofTrack(o.Named, f.Name)
	opt := pages.Options{Dress: f.worn.Now, Describe: describe}
	if o.Shows != nil {
		feed.New(feed.Options{Shows: o.Shows, Station: f.Name, Live: o.LiveItem}).Mount(mux)
		describe[pages.Podcasts] = ofShow(o.Shows, f.Name)
		opt.Feeds = func() []pages.Feed { return feedsOf(o.Shows.Shows()) }
	}
	mux.Handle("/", pages.New(opt, list...))
	return mux
}

// scene is the card of a track, on the air or not.
func (f *Face) scene(o Sources, t station.Track, onAir bool) cards.Scene {
	now := f.Now()
	shown := now.Face()
	s := cards.Scene{Station: shown.Title(), Title: t.Title, Artist: t.Artist, RTL: shown.Language() == face.Arabic}
	s.Accent, _ = face.Accent(now.Own.Accent)
	switch {
	case t.Title == "":
		s.Title, s.Line = shown.Title(), shown.Tagline.In(shown.Language())
	case onAir && s.RTL:
		s.Line = "على الهواء"
	case onAir:
		s.Line = "On the air"
	}
	cover := o.Cover(t)
	s.Mark = fmt.Sprintf("%d %s", now.Version, cover)
	s.Pictures = func() (image.Image, image.Image) { return logoOf(now), coverOf(o.Covers, cover) }
	return s
}

func draw(by *card.Drawer) func(s cards.Scene, logo, cover image.Image) ([]byte, error) {
	return func(s cards.Scene, logo, cover image.Image) ([]byte, error) {
		return by.Draw(card.Card{Station: s.Station, Title: s.Title, Artist: s.Artist, Line: s.Line, Accent: s.Accent, Logo: logo, Cover: cover, RTL: s.RTL})
	}
}

func logoOf(s *face.State) image.Image {
	if s.Logo == nil {
		return nil
	}
	picture, err := png.Decode(bytes.NewReader(s.Logo))
	if err != nil {
		return nil // was read before it was kept
	}
	return picture
}

// coverSide is at least the side of a cover on a card, in pixels.
const coverSide = 500

func coverOf(all *covers.Covers, id string) image.Image {
	if all == nil || id == "" {
		return nil
	}
	file, err := all.Open(id, coverSide)
	if err != nil {
		return nil // taken away meanwhile
	}
	defer file.Close() //nolint:errcheck // only read
	picture, _, err := image.Decode(file)
	if err != nil {
		return nil
	}
	return picture
}
