package face

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("face", migrations) }

// Owner keeps the face. Its methods may be called from any goroutine.
type Owner struct {
	db    *store.DB
	paint painter
	turn  sync.Mutex // one change after another
	state atomic.Pointer[State]
}

// Open reads the face.
func Open(ctx context.Context, db *store.DB, d Defaults) (*Owner, error) {
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate the table of the station's face: %w", err)
	}
	o, s, text := &Owner{db: db}, Plain(d), ""
	err := db.Read().QueryRowContext(ctx, `SELECT version, face, logo, icon FROM face`).Scan(&s.Version, &text, &s.Logo, &s.Icon)
	if err == nil {
		s.Own.Languages, s.Own.Links = nil, nil
		err = json.Unmarshal([]byte(text), &s.Own)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the station's face: %w", err)
	}
	s.Own.complete(d)
	o.state.Store(s)
	return o, nil
}

// Now is the face as it is.
func (o *Owner) Now() *State { return o.state.Load() }

// Set replaces what the operator says, which was made of a version. It is on disk when Set
// returns. Errors: station.ErrInvalid, naming the field; station.ErrConflict where the version is
// no longer the newest.
func (o *Owner) Set(ctx context.Context, version int64, own Own) error {
	own.Languages = slices.Clone(own.Languages)
	if err := own.clean(); err != nil {
		return err
	}
	return o.change(ctx, func(s *State) error {
		if version != s.Version {
			return fmt.Errorf("the station's face was changed meanwhile: load version %d and make the change again: %w", s.Version, station.ErrConflict)
		}
		s.Own = own
		return nil
	})
}

// SetPicture replaces a picture by what was sent. Errors: station.ErrInvalid and
// station.ErrTooLarge, naming the picture.
func (o *Owner) SetPicture(ctx context.Context, kind Kind, data []byte) error {
	picture, err := o.paint.png(kind, data)
	if err != nil {
		return err
	}
	return o.change(ctx, func(s *State) error { return s.put(kind, picture) })
}

// RemovePicture takes a picture away; one that is not there is no error.
func (o *Owner) RemovePicture(ctx context.Context, kind Kind) error {
	return o.change(ctx, func(s *State) error { return s.put(kind, nil) })
}

func (s *State) put(kind Kind, picture []byte) error {
	if kind == Icon {
		s.Icon = picture
	} else {
		s.Logo = picture
	}
	return nil
}

// change makes the next state of that now.
func (o *Owner) change(ctx context.Context, by func(s *State) error) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	next := *o.Now()
	if err := by(&next); err != nil {
		return err
	}
	next.Version++
	text, err := json.Marshal(next.Own)
	if err != nil {
		return fmt.Errorf("write the station's face: %w", err)
	}
	err = o.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO face (id, version, face, logo, icon) VALUES (1, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, face = excluded.face, logo = excluded.logo, icon = excluded.icon`,
			next.Version, string(text), next.Logo, next.Icon)
		return err
	})
	if err != nil {
		return fmt.Errorf("write the station's face: %w", err)
	}
	o.state.Store(&next)
	return nil
}
