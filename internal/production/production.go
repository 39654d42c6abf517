// Package production makes new material and puts it into the decks: bulletins,
// imaging, and what the content pipeline brings in. It waits until the library
// has registered the new files, archives those they replace, and has the rotation
// rebuilt. It does not choose what plays: the scheduler does.
package production

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/station"
)

// Options of Open.
type Options struct {
	Log     *slog.Logger
	DB      *store.DB
	Library *media.Library
	// Noted returns the library's tracks with what an operator says of them, by which the
	// content pipeline counts categories. Nil: what the files say alone.
	Noted  func() []station.Track
	Copies *aircopy.Rack
	Deck   *deck.Deck
	OnAir  *scheduler.Scheduler
	Rules  *policy.Owner // names and queries to look for
	// Prepared lists the files that the engine has opened, by path.
	Prepared func(ctx context.Context) ([]string, error)

	Voices  speech.Order
	Station string // as it is spoken
	// Bulletin has the zone, the headlines and the weather; the rest is filled in.
	Bulletin   bulletin.Options
	Every      time.Duration      // from one bulletin to the next; 0: none by itself
	OnBulletin func(BulletinMade) // called for each bulletin that was made; may be nil
	// Content has folders, sources, profiles and limits; the rest is filled in.
	Content content.Options
	Imaging bool   // a refresh makes new imaging, too
	Inbox   string // folder that operators put files into
	// Hold returns once what nobody waits for may be worked on, fingerprints and what
	// content.Options.Hold names: not while what is on the air needs the machine. Nil: always.
	Hold func(ctx context.Context) error
}

// Production makes material and has it planned. Make one with Open.
type Production struct {
	log        *slog.Logger
	root       string // media
	deck       *deck.Deck
	lib        *media.Library
	noted      func() []station.Track
	rack       *aircopy.Rack
	onair      *scheduler.Scheduler
	content    *content.Content
	news       *bulletin.Maker
	imaging    *imaging.Maker
	prints     *recordings
	rehearsals *rehearsals
	every      time.Duration
	onBulletin func(BulletinMade)
	board      *jobs.Board
}

// Open opens everything that makes files. It starts nothing; Run does.
func Open(ctx context.Context, o Options) (*Production, error) {
	p := &Production{
		log: o.Log, root: o.Content.Media, deck: o.Deck, lib: o.Library, noted: o.Noted, rack: o.Copies, onair: o.OnAir, every: o.Every, onBulletin: o.OnBulletin,
	}
	booth, err := o.Voices.Booth(o.Log)
	if err != nil {
		return nil, fmt.Errorf("open voices: %w", err)
	}
	// No ledger: each file is new, and is measured as an on-air copy.
	m := mastering.New(mastering.Options{Log: o.Log})
	if p.board, err = jobs.Open(ctx, jobs.Options{DB: o.DB, Log: o.Log}); err != nil {
		return nil, err
	}
	o.Bulletin.Dir, o.Bulletin.Station, o.Bulletin.Log = filepath.Join(p.root, string(station.News)), o.Station, o.Log
	o.Bulletin.Voice, o.Bulletin.Master, o.Bulletin.ComingUp = booth, m, func(from time.Time) bulletin.ComingUp { return comingUp(p.onair.View(), from) }
	o.Bulletin.Keep = bulletin.Keep{Newest: 1} // an old bulletin tells a wrong time
	if p.news, err = bulletin.New(o.Bulletin); err != nil {
		return nil, err
	}
	p.imaging, err = imaging.New(imaging.Options{
		Dir: p.root, Voice: booth, Master: m, Station: o.Station, Songs: p.songs, Log: o.Log,
		Workers: 1, // the air comes first
	})
	if err != nil {
		return nil, err
	}
	if p.prints, err = openRecordings(ctx, o.DB, o.Deck, o.Library, p.root, o.Hold, o.Log); err != nil {
		return nil, err
	}
	c := o.Content
	c.Registry, c.OnAir, c.Master, c.Prints = inventory{p}, airing{p.rack, p.onair, o.Prepared}, m, p.prints
	c.Catalog, c.Changed, c.Queue, c.Hold = catalog{o.Rules}, p.deck.Hide, p.refreshDue, p.unlessOrdered(o.Hold)
	if o.Imaging {
		c.Imaging = imagery{p}
	}
	if p.content, err = content.Open(ctx, o.DB, c); err != nil {
		return nil, err
	}
	p.rehearsals, err = openRehearsals(&rehearsals{
		board: p.board, news: p.news, dir: filepath.Join(c.Work, "rehearsals"), log: o.Log, now: time.Now,
		at: func() time.Time { return nextTime(p.onair.View(), time.Now()) },
	})
	if err != nil {
		return nil, err
	}
	p.prepare(o.Inbox)
	return p, nil
}

// Alike returns the tracks of the library that sound the same as a post, or share its names.
func (p *Production) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]duplicates.Match, error) {
	return p.prints.Alike(ctx, versions, artist, title)
}

// KeepPrint takes the fingerprint of a file that was placed at a path of the library.
func (p *Production) KeepPrint(ctx context.Context, path, file, artist, title string) error {
	return p.prints.Add(ctx, path, file, artist, title)
}

// prepare makes the folders of the inbox and logs which programs are missing. The
// station goes on air without either.
func (p *Production) prepare(inbox string) {
	for _, c := range []station.Category{
		station.ArabicHits, station.English, station.Mashups, station.Ads, station.Jingles, station.SFX, station.Shorts,
	} {
		if err := os.MkdirAll(filepath.Join(inbox, string(c)), 0o755); err != nil {
			p.log.Warn("cannot create the inbox folders: set content.inbox to a writable folder", "err", err)
			break
		}
	}
	for _, program := range []string{"espeak-ng", "fpcalc", "aubiotrack"} {
		if _, err := proc.Look(program); err != nil {
			p.log.Warn("program for making content is missing", "err", err)
		}
	}
}

// Board lists the jobs that are under way or done.
func (p *Production) Board() *jobs.Board { return p.board }

// Content is the content pipeline.
func (p *Production) Content() *content.Content { return p.content }

// songs lists what sweepers may cut.
func (p *Production) songs(context.Context) ([]imaging.Song, error) {
	var out []imaging.Song
	for _, t := range p.deck.Snapshot().Tracks {
		if t.Category.Music() && t.Duration >= time.Minute {
			out = append(out, imaging.Song{Path: p.rack.Path(t.Path), Title: t.Title, Artist: t.Artist, Duration: t.Duration})
		}
	}
	return out, nil
}

// rel returns a path relative to the media folder; false outside it.
func (p *Production) rel(abs string) (string, bool) { return strings.CutPrefix(abs, p.root+"/") }
