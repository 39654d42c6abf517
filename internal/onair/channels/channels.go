// Package channels keeps the channels beside the main one. Each carries the main
// channel's audio under its own name, and a queue of tracks that replace it.
//
// It sends nothing to listeners: Begin returns the next track's audio to the
// caller. The main channel belongs to the scheduler and is not among these.
package channels

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("channels", migrations) }

// Limits.
const (
	// Most is how many channels there may be: each keeps the audio of its last
	// seconds in memory.
	Most = 16
	// MostWaiting is how many tracks may wait on one.
	MostWaiting = 100
	// MostHeard is how many tracks a channel remembers.
	MostHeard = 10
	// LongestName of a channel, in letters.
	LongestName = 60
)

// Channel is one channel beside the main one.
type Channel struct {
	ID        string
	Name      string
	CreatedAt time.Time
	// Playing is the track on air; nil while the main channel's audio is heard.
	Playing *station.Track
	// Waiting are the paths in the queue, next first.
	Waiting []string
	// Heard are the queued tracks played since the process started, at most
	// MostHeard, newest first, including the one on air. Read only.
	Heard []Heard
}

// Heard is one track that a channel has played.
type Heard struct {
	Track station.Track
	At    time.Time // when it began
}

// Options of Open. All are required.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	Now func() time.Time
	// Find returns the track of a path of the library.
	Find func(path string) (station.Track, bool)
	// Airs returns the absolute path of the file that airs for a path of the library,
	// empty while there is none, and the gain (dB) it needs; there is a limiter after it.
	Airs func(path string) (file string, gain float64)
}

// Channels are all channels beside the main one. Make them with Open.
type Channels struct {
	opt     Options
	changes signal.Changes

	mu  sync.Mutex // not held while anything is read or written
	all []*channel // in the order of their creation
	// writing has capacity 1 and is held while database and memory are changed, so
	// that they agree.
	writing chan struct{}
}

type channel struct {
	Channel
	waiting []waiting
	wake    chan struct{} // of capacity 1: holds one while a track may be queued
}

type waiting struct {
	id   int64 // of its row
	path string
}

// Open reads the stored channels.
func Open(ctx context.Context, opt Options) (*Channels, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate channel tables: %w", err)
	}
	c := &Channels{opt: opt, writing: make(chan struct{}, 1)}
	if err := c.recall(ctx); err != nil {
		return nil, fmt.Errorf("read channels: %w", err)
	}
	return c, nil
}

func (c *Channels) recall(ctx context.Context) error {
	rows, err := c.opt.DB.Read().QueryContext(ctx, `SELECT id, name, created_at FROM channels ORDER BY created_at, id`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // its error is Err's
	for rows.Next() {
		one := channel{wake: make(chan struct{}, 1)}
		var at int64
		if err := rows.Scan(&one.ID, &one.Name, &at); err != nil {
			return err
		}
		one.CreatedAt = time.UnixMilli(at)
		c.all = append(c.all, &one)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	queued, err := c.opt.DB.Read().QueryContext(ctx, `SELECT id, channel, path FROM channel_queue ORDER BY id`)
	if err != nil {
		return err
	}
	defer queued.Close() //nolint:errcheck // its error is Err's
	for queued.Next() {
		var w waiting
		var id string
		var path []byte
		if err := queued.Scan(&w.id, &id, &path); err != nil {
			return err
		}
		w.path = string(path)
		if one := c.find(id); one != nil {
			one.waiting = append(one.waiting, w)
		}
	}
	return queued.Err()
}

// find needs mu, except during Open.
func (c *Channels) find(id string) *channel {
	for _, one := range c.all {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// List shows every channel, the oldest first.
func (c *Channels) List() []Channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Channel, len(c.all))
	for i, one := range c.all {
		out[i] = one.shown()
	}
	return out
}

func (one *channel) shown() Channel {
	out := one.Channel
	out.Waiting = make([]string, len(one.waiting))
	for i, w := range one.waiting {
		out.Waiting[i] = w.path
	}
	return out
}

// Find shows one channel; an error wraps station.ErrNotFound.
func (c *Channels) Find(id string) (Channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.find(id); one != nil {
		return one.shown(), nil
	}
	return Channel{}, unknown(id)
}

func unknown(id string) error { return fmt.Errorf("channel %q: %w", id, station.ErrNotFound) }

// Subscribe signals every change, many as one; cancel ends it.
func (c *Channels) Subscribe() (changed <-chan struct{}, cancel func()) { return c.changes.Subscribe() }

// Waiting returns a channel that receives when a track is queued; nil for an
// unknown id. It serves one reader.
func (c *Channels) Waiting(id string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.find(id); one != nil {
		return one.wake
	}
	return nil
}

// slug is the form of an id, which is part of addresses.
var slug = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)

// Create makes a channel. Errors wrap station.ErrInvalid, or station.ErrConflict
// if it already exists or there are too many.
func (c *Channels) Create(ctx context.Context, id, name string) (Channel, error) {
	name = strings.TrimSpace(name)
	switch {
	case !slug.MatchString(id):
		return Channel{}, fmt.Errorf("id: must be 1 to 40 characters of a-z, 0-9 and -, beginning and ending with a letter or digit: %w", station.ErrInvalid)
	case name == "" || utf8.RuneCountInString(name) > LongestName || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		return Channel{}, fmt.Errorf("name: must be one line of 1 to %d characters: %w", LongestName, station.ErrInvalid)
	case id == station.MainChannel:
		return Channel{}, fmt.Errorf("channel %q already exists: %w", id, station.ErrConflict)
	}
	if err := c.hold(ctx); err != nil {
		return Channel{}, err
	}
	defer c.release()
	c.mu.Lock()
	there, n := c.find(id) != nil, len(c.all)
	c.mu.Unlock()
	switch {
	case there:
		return Channel{}, fmt.Errorf("channel %q already exists: %w", id, station.ErrConflict)
	case n >= Most:
		return Channel{}, fmt.Errorf("there are already %d channels, the most allowed: remove one first: %w", n, station.ErrConflict)
	}
	one := &channel{Channel: Channel{ID: id, Name: name, CreatedAt: c.opt.Now().Truncate(time.Millisecond)}, wake: make(chan struct{}, 1)}
	err := c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO channels (id, name, created_at) VALUES (?, ?, ?)`, id, name, one.CreatedAt.UnixMilli())
		return err
	})
	if err != nil {
		return Channel{}, fmt.Errorf("create channel: %w", err)
	}
	c.mu.Lock()
	c.all = append(c.all, one)
	out := one.shown()
	c.mu.Unlock()
	c.changes.Tell()
	return out, nil
}

// unprintable reports the runes that a name may not hold: control characters, line
// ends and those that change the direction of text.
func unprintable(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Remove deletes a channel and its queue.
func (c *Channels) Remove(ctx context.Context, id string) error {
	if err := c.hold(ctx); err != nil {
		return err
	}
	defer c.release()
	if _, err := c.Find(id); err != nil {
		return err
	}
	err := c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{`DELETE FROM channel_queue WHERE channel = ?`, `DELETE FROM channels WHERE id = ?`} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove channel: %w", err)
	}
	c.mu.Lock()
	c.all = slices.DeleteFunc(c.all, func(one *channel) bool { return one.ID == id })
	c.mu.Unlock()
	c.changes.Tell()
	return nil
}

// Queue appends a track to a channel's queue, and returns how many are before it.
// Errors wrap station.ErrNotFound, or station.ErrConflict if the queue is full.
func (c *Channels) Queue(ctx context.Context, id, path string) (before int, err error) {
	if err := c.hold(ctx); err != nil {
		return 0, err
	}
	defer c.release()
	is, err := c.Find(id)
	if err != nil {
		return 0, err
	}
	if len(is.Waiting) >= MostWaiting {
		return 0, fmt.Errorf("the queue of channel %q is full with %d tracks: try again later: %w", id, len(is.Waiting), station.ErrConflict)
	}
	w := waiting{path: path}
	err = c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO channel_queue (channel, path) VALUES (?, ?) RETURNING id`, id, []byte(path)).Scan(&w.id)
	})
	if err != nil {
		return 0, fmt.Errorf("queue on channel: %w", err)
	}
	c.mu.Lock()
	if one := c.find(id); one != nil {
		one.waiting = append(one.waiting, w)
		select {
		case one.wake <- struct{}{}:
		default:
		}
	}
	c.mu.Unlock()
	c.changes.Tell()
	return len(is.Waiting), nil
}

// hold makes the caller the only writer until release.
func (c *Channels) hold(ctx context.Context) error {
	select {
	case c.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another change of the channels: %w", errors.Join(ctx.Err(), station.ErrUnavailable))
	}
}

func (c *Channels) release() { <-c.writing }
