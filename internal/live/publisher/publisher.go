// Package publisher keeps the publishers, the people who go live: a name, a show, a secret of
// their own, and when they may. Each can be revoked alone, and none is the station's key.
//
// Secrets are kept as SHA-256 of a random text of 130 bits, which needs no slow hash, and
// are shown once. The package admits or refuses; what then takes the air is the takeover's.
package publisher

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("publisher", migrations) }

const (
	most      = 500
	mostSlots = 50
	mostGrace = 240 // minutes
	// longest are characters of a name; longestShow of a show.
	longest     = 100
	longestShow = 200
	// Wrong secrets are limited by address: wrongAtOnce, and one more each wrongEvery.
	wrongAtOnce = 10
	wrongEvery  = 30 * time.Second
	// touchEvery is how much newer LastLiveAt must be than what is on disk.
	touchEvery = time.Minute
)

// Publisher is who may go live, as the API has them. Times are epoch milliseconds.
type Publisher struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Show       string `json:"show"`  // what its broadcasts are called unless it says otherwise
	From       int64  `json:"from"`  // 0: open
	Until      int64  `json:"until"` // 0: open
	Slots      []Slot `json:"slots"` // none: at any time
	Grace      int    `json:"grace"` // minutes that it may come before a slot and stay after it
	Auto       bool   `json:"auto"`  // it takes the air by itself; others wait for the studio
	Revoked    bool   `json:"revoked"`
	CreatedAt  int64  `json:"createdAt"`
	LastLiveAt int64  `json:"lastLiveAt"` // 0: never yet
	// Secret is shown by what makes it, Add and NewSecret, alone.
	Secret string `json:"secret,omitempty"` //nolint:gosec // it is what this is for
}

// Patch holds new values; nil keeps the old one.
type Patch struct {
	Name, Show  *string
	From, Until *int64
	Slots       *[]Slot
	Grace       *int
	Auto        *bool
}

// Options of Publishers. All but Now are required.
type Options struct {
	Log  *slog.Logger
	DB   *store.DB
	Zone *time.Location // of slots
	Now  func() time.Time
}

// Publishers are all of them. Methods may be called from any goroutine; a change is on
// disk when its method returns nil.
type Publishers struct {
	opt   Options
	wrong *client.Limits
	turn  sync.Mutex // one change after another
	all   atomic.Pointer[[]record]
}

// record is a Publisher with what is not shown.
type record struct {
	Publisher
	hash  [sha256.Size]byte
	times []times
}

// Open reads the publishers.
func Open(ctx context.Context, opt Options) (*Publishers, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of publishers: %w", err)
	}
	p := &Publishers{opt: opt, wrong: client.NewLimits(wrongAtOnce, wrongEvery, opt.Now)}
	if err := p.load(ctx); err != nil {
		return nil, fmt.Errorf("read publishers: %w", err)
	}
	return p, nil
}

// List returns all publishers, the oldest first, without secrets.
func (p *Publishers) List(context.Context) ([]Publisher, error) {
	all := *p.all.Load()
	out := make([]Publisher, len(all))
	for i, a := range all {
		out[i] = a.shown()
	}
	return out, nil
}

// Find returns one publisher. Errors: station.ErrNotFound.
func (p *Publishers) Find(id string) (Publisher, error) {
	a, err := p.find(id)
	if err != nil {
		return Publisher{}, err
	}
	return a.shown(), nil
}

// Add makes a publisher of name, show, times and Auto; the answer alone has its secret.
// Errors: station.ErrInvalid, naming the field; station.ErrConflict when there are too
// many.
func (p *Publishers) Add(ctx context.Context, o Publisher) (Publisher, error) {
	a := record{Publisher: Publisher{ID: newID(), CreatedAt: p.opt.Now().UnixMilli()}}
	a.set(o)
	if err := a.check(); err != nil {
		return Publisher{}, err
	}
	secret := rand.Text()
	a.hash = sha256.Sum256([]byte(secret))
	err := p.change(ctx, func(tx *sql.Tx) error {
		if len(*p.all.Load()) >= most {
			return fmt.Errorf("there are already %d publishers: remove one first: %w", most, station.ErrConflict)
		}
		return a.insert(ctx, tx)
	})
	if err != nil {
		return Publisher{}, err
	}
	p.opt.Log.Info("publisher added", "publisher", a.ID, "name", a.Name, "show", a.Show, "auto", a.Auto)
	out := a.shown()
	out.Secret = secret
	return out, nil
}

// newID is short, and fit for a URL and for what a person types.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

// Change replaces all that an operator sets: name, show, times and Auto. Errors:
// station.ErrNotFound; station.ErrInvalid, naming the field.
func (p *Publishers) Change(ctx context.Context, o Publisher) (Publisher, error) {
	return p.edit(ctx, o.ID, "publisher changed", func(a *record) error {
		a.set(o)
		return a.check()
	})
}

// Update changes what the patch names. Errors: as of Change.
func (p *Publishers) Update(ctx context.Context, id string, c Patch) (Publisher, error) {
	return p.edit(ctx, id, "publisher changed", func(a *record) error {
		to := a.Publisher
		put(&to.Name, c.Name)
		put(&to.Show, c.Show)
		put(&to.From, c.From)
		put(&to.Until, c.Until)
		put(&to.Slots, c.Slots)
		put(&to.Grace, c.Grace)
		put(&to.Auto, c.Auto)
		a.set(to)
		return a.check()
	})
}

func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Revoke refuses a publisher from now on; its sessions end at the next look at Allowed.
// Twice is once. Errors: station.ErrNotFound.
func (p *Publishers) Revoke(ctx context.Context, id string) (Publisher, error) {
	return p.edit(ctx, id, "publisher revoked", func(a *record) error { a.Revoked = true; return nil })
}

// NewSecret makes another secret, which the answer alone has. The old one ends, and with
// it a revocation. Errors: station.ErrNotFound.
func (p *Publishers) NewSecret(ctx context.Context, id string) (Publisher, error) {
	secret := rand.Text()
	out, err := p.edit(ctx, id, "publisher has a new secret", func(a *record) error {
		a.hash, a.Revoked = sha256.Sum256([]byte(secret)), false
		return nil
	})
	if err == nil {
		out.Secret = secret
	}
	return out, err
}

// Remove deletes a publisher. Errors: station.ErrNotFound.
func (p *Publishers) Remove(ctx context.Context, id string) error {
	err := p.change(ctx, func(tx *sql.Tx) error {
		if _, err := p.find(id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM live_publishers WHERE id = ?`, id)
		return err
	})
	if err == nil {
		p.opt.Log.Info("publisher removed", "publisher", id)
	}
	return err
}

// Touch notes that a publisher was live at a time. Errors: station.ErrNotFound.
func (p *Publishers) Touch(ctx context.Context, id string, at time.Time) error {
	a, err := p.find(id)
	if err != nil || at.UnixMilli() < a.LastLiveAt+touchEvery.Milliseconds() {
		return err
	}
	_, err = p.edit(ctx, id, "", func(a *record) error { a.LastLiveAt = at.UnixMilli(); return nil })
	return err
}

// edit changes one publisher and logs it, except for an empty line.
func (p *Publishers) edit(ctx context.Context, id, line string, to func(*record) error) (Publisher, error) {
	var out record
	err := p.change(ctx, func(tx *sql.Tx) error {
		a, err := p.find(id)
		if err != nil {
			return err
		}
		if err := to(&a); err != nil {
			return err
		}
		out = a
		return a.update(ctx, tx)
	})
	if err != nil {
		return Publisher{}, err
	}
	if line != "" {
		p.opt.Log.Info(line, "publisher", out.ID, "name", out.Name, "revoked", out.Revoked)
	}
	return out.shown(), nil
}

func (p *Publishers) find(id string) (record, error) {
	for _, a := range *p.all.Load() {
		if a.ID == id {
			return a, nil
		}
	}
	return record{}, fmt.Errorf("publisher %.40q: %w", id, station.ErrNotFound)
}

func (a record) shown() Publisher {
	out := a.Publisher
	out.Slots = append([]Slot{}, out.Slots...)
	return out
}

// set takes what an operator sets.
func (a *record) set(o Publisher) {
	a.Name, a.Show = strings.Join(strings.Fields(o.Name), " "), strings.Join(strings.Fields(o.Show), " ")
	a.From, a.Until, a.Slots, a.Grace, a.Auto = o.From, o.Until, append([]Slot{}, o.Slots...), o.Grace, o.Auto
}

// check refuses wrong fields, naming each, and reads the slots.
func (a *record) check() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	text := func(field, s string, least, most int) {
		if n := utf8.RuneCountInString(s); n < least || n > most || least > 0 && live.Line(s) == "" {
			wrong("%s: must have %d to %d characters", field, least, most)
		} else if !utf8.ValidString(s) || strings.ContainsFunc(s, live.Hidden) {
			wrong("%s: must hold no control characters", field)
		}
	}
	text("name", a.Name, 1, longest)
	text("show", a.Show, 0, longestShow)
	const farthest = 1 << 53 // of what JSON's numbers hold exactly
	if a.From < 0 || a.From > farthest {
		wrong("from: must be epoch milliseconds, or 0")
	}
	if a.Until < 0 || a.Until > farthest || a.Until != 0 && a.Until <= a.From {
		wrong("until: must be epoch milliseconds after from, or 0")
	}
	if a.Grace < 0 || a.Grace > mostGrace {
		wrong("grace: must be 0 to %d minutes", mostGrace)
	}
	if len(a.Slots) > mostSlots {
		wrong("slots: must have at most %d entries", mostSlots)
		a.Slots = nil
	}
	a.times = nil
	for i, s := range a.Slots {
		t, err := s.times()
		if err != nil {
			wrong("slots[%d].%s", i, station.Reason(err))
			continue
		}
		a.Slots[i].Day = days()[t.day]
		a.times = append(a.times, t)
	}
	if len(all) > 0 {
		return fmt.Errorf("%w: %w", errors.Join(all...), station.ErrInvalid)
	}
	return nil
}

func (a record) slotsText() string {
	text, _ := json.Marshal(append([]Slot{}, a.Slots...)) // of texts alone: it cannot fail
	return string(text)
}
