// Package social is the platform of what listeners send: posts are submitted, checked,
// mastered, judged by a moderator, ranked by listeners' votes, and offered to the planner
// as an overlay. Every change of a post is one transaction with a line of history, and
// survives kill -9 at any instant.
//
// It does not decide what airs and when: the planner does, by the rules of the rotation.
// It counts no plays: the play history does. An address is not a person: see rank.Tally for
// what many made-up voters can do.
package social

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("social", migrations) }

// Library knows the recordings that the station has besides posts.
type Library interface {
	// Alike returns the tracks that sound the same as one of the versions
	// of a print, the closest first, then those
	// that only have the same artist and title.
	Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]Likeness, error)
}

// Fetcher brings a file from an address that came from outside: kit/fetch.
type Fetcher interface {
	File(ctx context.Context, r fetch.Request, path string, progress func(done, total int64)) (fetch.File, error)
}

// Airing is how often a post has aired.
type Airing struct {
	Plays int
	Last  time.Time // when it last began
}

// Air is the part of the station's state that posts need.
type Air interface {
	// Plays returns the airings of every post that has aired, by path.
	Plays(ctx context.Context) (map[string]Airing, error)
	// InUse reports that a file is on air or planned: it must not be removed now.
	InUse(path string) bool
	// Subscribe returns a channel that receives when something has begun to air.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Options of Open. All are required but those that say what their zero value means.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	Now func() time.Time
	// Zone is that of the times in words to submitters; nil: UTC.
	Zone *time.Location
	// Dir is the station's own folder for what was sent and is not aired.
	Dir string
	// Media is the folder under which social/<type>/ lies.
	Media   string
	Master  mastering.Desk
	Profile func(station.Category) (mastering.Profile, error)
	Library Library
	Fetch   Fetcher
	Air     Air
	// Words judges what submitters write, as the chat's words are judged.
	Words check.Words
	// Hold returns once work that nobody waits for may go on.
	Hold func(ctx context.Context) error
	// Tell sends an event to every listener, Told what has happened to other parts of the
	// station. Neither blocks. Told may be nil.
	Tell func(event string, payload any)
	Told func(Happened)
	// Rights is the text that a submitter confirms.
	Rights string
	// Trust approves posts by itself; nil: every post waits for a moderator.
	Trust func(Trusted) bool
	// ApproveVotes is how much of listeners' support (rank.Support) approves music that no
	// moderator has judged; 0: none is put to the vote.
	ApproveVotes int
	// Reports is how many listeners' reports pull a post back into review; 0: none do.
	Reports int
	// Keep is how long files of rejected posts, and sources of all, are kept after the
	// decision.
	Keep   time.Duration
	Limits Limits
	// Space is the room of the disk of a folder, in bytes; nil: file.Space.
	Space func(dir string) (free, size uint64, err error)
}

// Limits bound what is taken. Zero values are no limit.
type Limits struct {
	PerHour int   // posts of one submitter within an hour
	PerDay  int   // and within a day
	Address int   // posts of one address within an hour; a wider network has eight times as many
	Waiting int   // posts of one submitter that are not decided
	Queue   int   // posts that are not decided, in all
	Bytes   int64 // of one file
	Reserve int64 // bytes of the disk that are left free
}

// Trusted is what a rule of automatic approval judges by.
type Trusted struct {
	Type     Type
	Trusted  bool // a moderator trusts the submitter
	Approved int  // posts of the submitter that were approved
	Rejected int  // and rejected by a moderator
	Alike    bool // something has the same name, or sounds the same
}

// Social holds the posts. Make it with Open; its methods may be called from any goroutine.
type Social struct {
	opt  Options
	log  *slog.Logger
	salt []byte

	board   atomic.Pointer[board] // approved posts; never changed once published
	tracks  atomic.Pointer[[]station.Track]
	changes signal.Changes // of what Overlay and Tracks return
	wake    chan struct{}  // of capacity 1: there is work
	fetch   chan struct{}  // of capacity 1: there is something to fetch
	votes   turns.Turns[*ballot]
	prints  *fingerprint.Index // of every post that was ever compared
	shorts  heads              // and of those that are too short for a print

	receiving client.Places // bodies that come now
	voters    atomic.Int64  // listeners who are remembered, by countVoters and since

	publishing sync.Mutex // held while all posts are read for a board, and before mu

	mu        sync.Mutex      // guards what follows, and the publishing of board
	now       map[int64]*task // posts that are worked on
	meanwhile map[int64]bool  // posts that refresh took over while all are read; nil: none are read
	unread    bool            // the board lacks a change that refresh could not read
}

// Open opens the tables and folders, and puts away files that no post has.
func Open(ctx context.Context, opt Options) (*Social, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of posts: %w", err)
	}
	if opt.Space == nil {
		opt.Space = file.Space
	}
	s := &Social{opt: opt, log: opt.Log, wake: make(chan struct{}, 1), fetch: make(chan struct{}, 1), now: map[int64]*task{}}
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT salt FROM social_state`).Scan(&s.salt); err != nil {
		return nil, fmt.Errorf("read salt of posts: %w", err)
	}
	for _, dir := range []string{s.incoming(), s.covers()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of posts: %w", err)
		}
	}
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	if err := s.learn(ctx); err != nil {
		return nil, fmt.Errorf("read fingerprints of posts: %w", err)
	}
	if err := s.countVoters(ctx); err != nil {
		return nil, err
	}
	return s, s.publish(ctx)
}

// Run works on posts until ctx ends.
func (s *Social) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.work(ctx) })
	g.Go(func() error { return s.fetchAll(ctx) })
	g.Go(func() error { return s.tidy(ctx) })
	g.Go(func() error { return s.follow(ctx) })
	return g.Wait()
}

// Subscribe returns a channel that receives when Tracks or Overlay has changed. Call cancel
// when done.
func (s *Social) Subscribe() (changed <-chan struct{}, cancel func()) { return s.changes.Subscribe() }

func (s *Social) zone() *time.Location { return cmp.Or(s.opt.Zone, time.UTC) }

func (s *Social) millis() int64 { return s.opt.Now().UnixMilli() }

// incoming holds what was sent, under random names.
func (s *Social) incoming() string { return filepath.Join(s.opt.Dir, "incoming") }

// covers holds the pictures of mastered posts, named by id.
func (s *Social) covers() string { return filepath.Join(s.opt.Dir, "covers") }

// lost holds mastered files that no post has: see sweep.
func (s *Social) lost() string { return filepath.Join(s.opt.Dir, "lost") }

// abs is a mastered file's absolute path.
func (s *Social) abs(file string) string { return filepath.Join(s.opt.Media, filepath.FromSlash(file)) }
