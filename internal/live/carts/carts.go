// Package carts is the cart wall: jingles and effects by page and place, which a presenter or
// a producer fires over the live mix. It keeps the wall, tells the desk which files to have in
// hand, and passes presses on.
//
// The wall is a table of its own and not a part of the station configuration: that is watched
// by the planner and goes back to its defaults by one order, and a wall that is dragged about
// must neither replan the air nor be lost with a mood.
package carts

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("carts", migrations) }

// Desk is the live desk on the node that has the air.
type Desk interface {
	// Carts gives it the wall. Error: station.ErrUnavailable.
	Carts(ctx context.Context, w live.Wall) (live.Report, error)
	// Fire lets a cart be heard. Errors: station.ErrConflict while nothing is live,
	// station.ErrUnavailable.
	Fire(ctx context.Context, p live.CartPress) (live.CartPlaying, error)
	// StopCarts ends one, or all where id is empty, and tells how many it were.
	StopCarts(ctx context.Context, id string) (int, error)
}

// File is what airs for a file of the library.
type File struct {
	Path       string // as live.Cart.File
	Stamp      string // another when its content is
	Title      string
	DurationMS int64 // 0: not known
}

// Options of Carts. All are required.
type Options struct {
	Log  *slog.Logger
	DB   *store.DB
	Desk Desk
	// Report is the desk's last, and whether it is heard of.
	Report func() (r live.Report, known bool)
	// Find finds a file of the library as it is shown; false: there is none now.
	Find func(file string) (File, bool)
}

// Carts is the wall. Its methods may be called from any goroutine.
type Carts struct {
	opt  Options
	turn sync.Mutex // one change after another
	wall atomic.Pointer[Wall]
	wake chan struct{} // of capacity 1: the wall was changed
}

// Open reads the wall.
func Open(ctx context.Context, opt Options) (*Carts, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate the table of the cart wall: %w", err)
	}
	c := &Carts{opt: opt, wake: make(chan struct{}, 1)}
	wall, text := &Wall{Pages: []Page{}}, ""
	err := opt.DB.Read().QueryRowContext(ctx, `SELECT version, pages FROM cart_wall`).Scan(&wall.Version, &text)
	if err == nil {
		err = json.Unmarshal([]byte(text), &wall.Pages)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the cart wall: %w", err)
	}
	c.wall.Store(wall)
	return c, nil
}

// Wall is what is kept. Nobody writes to it.
func (c *Carts) Wall() *Wall { return c.wall.Load() }

// Set replaces the wall of a version. It is on disk when Set returns. Errors:
// station.ErrInvalid, naming the field; station.ErrConflict where the version is no longer the
// newest.
func (c *Carts) Set(ctx context.Context, version int64, pages []Page) error {
	pages, err := clean(pages)
	if err != nil {
		return err
	}
	for i, p := range pages {
		for j, cart := range p.Carts {
			if f, there := c.opt.Find(cart.File); there && f.DurationMS > LongestMS {
				return station.Wrong(fmt.Sprintf("pages[%d].carts[%d].file", i, j),
					fmt.Sprintf("is %d s long, and a cart has at most %d s: cut it, or queue it as a song", f.DurationMS/1000, live.LongestCartMS/1000),
					fmt.Sprintf("طول الملف %d ثانية، والحد الأقصى للزر %d ثانية: قصّه أو أضفه إلى قائمة البث", f.DurationMS/1000, live.LongestCartMS/1000))
			}
		}
	}
	text, err := json.Marshal(pages)
	if err != nil {
		return fmt.Errorf("write the cart wall: %w", err)
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if now := c.wall.Load().Version; version != now {
		return fmt.Errorf("the cart wall was changed meanwhile: load version %d and make the change again: %w", now, station.ErrConflict)
	}
	next := &Wall{Version: version + 1, Pages: pages}
	err = c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO cart_wall (id, version, pages) VALUES (1, ?, ?)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, pages = excluded.pages`, next.Version, string(text))
		return err
	})
	if err != nil {
		return fmt.Errorf("write the cart wall: %w", err)
	}
	c.wall.Store(next)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// Fire lets a cart be heard over the live mix. Errors: station.ErrNotFound where the place is
// empty; station.ErrConflict while nothing is live, or where the file is gone;
// station.ErrUnavailable.
func (c *Carts) Fire(ctx context.Context, page, slot int, request string) (live.CartPlaying, error) {
	cart := c.Wall().At(page, slot)
	if cart == nil {
		return live.CartPlaying{}, fmt.Errorf("a cart on page %d at place %d: %w", page, slot, station.ErrNotFound)
	}
	file, there := c.opt.Find(cart.File)
	if !there {
		return live.CartPlaying{}, fmt.Errorf("the file of this cart is not in the library any more: bring it back, or choose another: %w", station.ErrConflict)
	}
	out, err := c.opt.Desk.Fire(ctx, live.CartPress{Cart: cart.forDesk(page, file), Request: request})
	if errors.Is(err, station.ErrConflict) {
		err = fmt.Errorf("nothing live is on the air: put a source on the air first: %w", station.ErrConflict)
	}
	return out, err
}

// Stop ends a cart that is heard, or all where id is empty, and tells how many it were.
func (c *Carts) Stop(ctx context.Context, id string) (int, error) {
	return c.opt.Desk.StopCarts(ctx, id)
}

func (c *Cart) forDesk(page int, f File) live.Cart {
	return live.Cart{Page: page, Slot: c.Slot, File: live.Path(f.Path), Stamp: f.Stamp, GainDB: c.GainDB, Loop: c.Loop, DurationMS: f.DurationMS}
}

const (
	// lookEvery is how often the wall is compared with what the desk has. A desk that was
	// restarted, another node, a file that was replaced: all are seen by that alone.
	lookEvery = 2 * time.Second
	// againAfter is how long a wall that could not be told is kept back.
	againAfter = 5 * time.Second
)

// Run keeps the desk told of the wall until ctx ends.
func (c *Carts) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var failed time.Time
	for {
		if time.Since(failed) >= againAfter {
			if err := c.tell(ctx); err != nil && ctx.Err() == nil {
				if failed.IsZero() {
					c.opt.Log.Warn("cannot tell the live desk of the cart wall, trying again", "err", err)
				}
				failed = time.Now()
			} else {
				failed = time.Time{}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-c.wake:
			failed = time.Time{}
		}
	}
}

// tell gives the desk the wall where it has another.
func (c *Carts) tell(ctx context.Context) error {
	r, known := c.opt.Report()
	if !known {
		return nil
	}
	w := c.forDesk()
	if w.Mark == r.Carts.Mark || len(w.Carts) == 0 && r.Carts.Mark == "" {
		return nil
	}
	_, err := c.opt.Desk.Carts(ctx, w)
	return err
}

// forDesk is the wall as the desk should have it, the first page first.
func (c *Carts) forDesk() live.Wall {
	w := live.Wall{Carts: []live.Cart{}}
	for i, p := range c.Wall().Pages {
		for _, cart := range p.Carts {
			if f, there := c.opt.Find(cart.File); there {
				w.Carts = append(w.Carts, cart.forDesk(i, f))
			}
		}
	}
	text, _ := json.Marshal(w.Carts) //nolint:errchkjson // strings, numbers
	sum := sha256.Sum256(text)
	w.Mark = base64.RawURLEncoding.EncodeToString(sum[:12])
	return w
}

// ShownCart is a cart as the studio sees it.
type ShownCart struct {
	Cart
	Title      string `json:"title" doc:"Of the file, as the library has it"`
	DurationMS int64  `json:"durationMs" doc:"Of the file; 0: not known"`
	Missing    bool   `json:"missing,omitempty" doc:"The library has no such file now"`
	Problem    string `json:"problem,omitempty" doc:"Why the desk cannot play it"`
}

// ShownPage is a page of them.
type ShownPage struct {
	Name  string      `json:"name"`
	Carts []ShownCart `json:"carts" nullable:"false"`
}

// Shown is the wall, with what the library says of its files and the desk's report of them.
func (c *Carts) Shown(r live.CartReport) (version int64, pages []ShownPage) {
	wall := c.Wall()
	why := map[[2]int]string{}
	for _, b := range r.Broken {
		why[[2]int{b.Page, b.Slot}] = b.Why
	}
	pages = make([]ShownPage, len(wall.Pages))
	for i, p := range wall.Pages {
		pages[i] = ShownPage{Name: p.Name, Carts: make([]ShownCart, len(p.Carts))}
		for j, cart := range p.Carts {
			f, there := c.opt.Find(cart.File)
			pages[i].Carts[j] = ShownCart{Cart: cart, Title: f.Title, DurationMS: f.DurationMS, Missing: !there, Problem: why[[2]int{i, cart.Slot}]}
		}
	}
	return wall.Version, pages
}
