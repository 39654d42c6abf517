package scheduler

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// stored is the one row of onair_state. The history of plays has a table.
type stored struct {
	State  rotation.State
	OnAir  OnAir
	Past   []OnAir
	Reason string
	Queued []string
	Failed map[int]string // why entries could not be aired, by index
	Ahead  []string       // held, and heard ahead of their places
}

const (
	committed = "committed"
	pending   = "pending"
)

// recall reads what was committed and, after a crash in the middle of a push,
// asks the playlist file which of the two rotations is on air.
func (s *Scheduler) recall(ctx context.Context) error {
	var kept stored
	if _, err := document(ctx, s, selectState, &kept); err != nil {
		return err
	}
	s.state, s.air, s.past, s.reason, s.queued, s.failed = kept.State, kept.OnAir, kept.Past, kept.Reason, kept.Queued, kept.Failed
	s.ahead = kept.Ahead
	if _, err := document(ctx, s, selectCommitted, &s.rot); err != nil {
		return err
	}
	var next rotation.Rotation
	found, err := document(ctx, s, selectPending, &next)
	if err != nil {
		return err
	}
	if err := s.recallPlays(ctx); err != nil {
		return err
	}
	if err := s.recallTurns(ctx); err != nil {
		return err
	}
	if !found {
		return nil
	}
	inPlace, err := s.opt.Delivery.InPlace(ctx)
	if err != nil {
		s.log.Warn("cannot read the playlist file", "err", err)
	}
	if !matches(inPlace, s.items(next)) {
		s.log.Info("unfinished push did not reach the node, the committed rotation stays on air")
		return nil
	}
	s.log.Info("unfinished push had reached the node, committing its rotation")
	next = cutTo(next, len(inPlace))
	s.queued = slices.DeleteFunc(slices.Clone(s.queued), func(path string) bool { return takenOff(next, path) })
	err = s.commit(ctx, next, "restart")
	if errors.Is(err, store.ErrDiskFull) { // as it may have been at the push: the next start finds the same
		s.log.Error("cannot save which rotation is on air", "err", err)
		s.adopt(next, "restart")
		err = nil
	}
	return err
}

// matches reports that the node has a prefix of want: a long list is cut to fit.
func matches(have, want []playlist.Item) bool {
	if len(have) == 0 || len(have) > len(want) {
		return false
	}
	for i := range have {
		if have[i].Path != want[i].Path {
			return false
		}
	}
	return true
}

// document reads one value; false when there is none or it cannot be read. The
// station then starts without it rather than not at all.
func document[T any](ctx context.Context, s *Scheduler, query string, into *T) (bool, error) {
	found, err := readDocument(ctx, s.opt.DB.Read(), query, into)
	if errors.Is(err, errForeign) {
		s.log.Error("cannot read the saved on-air state, starting without it", "query", query, "err", err)
		return false, nil
	}
	return found, err
}

func encode(v any) ([]byte, error) {
	var doc bytes.Buffer
	err := gob.NewEncoder(&doc).Encode(v)
	return doc.Bytes(), err
}

// recallPlays fills the anti-repeat history from what aired.
func (s *Scheduler) recallPlays(ctx context.Context) error {
	since := s.opt.Now().Add(-rotation.HistoryKept)
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT at, path, round FROM plays WHERE at >= ? ORDER BY at`, since.UnixMilli())
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var plays []rotation.Play
	for rows.Next() {
		var at int64
		var p rotation.Play
		if err := rows.Scan(&at, &p.Path, &p.Round); err != nil {
			return err
		}
		p.At = time.UnixMilli(at)
		plays = append(plays, p)
	}
	s.state = s.state.RememberAll(plays)
	return rows.Err()
}

// commit makes a rotation that is in place the one on air: rotation, cursor and
// anti-repeat state in one transaction.
func (s *Scheduler) commit(ctx context.Context, rot rotation.Rotation, reason string) error {
	doc, err := encode(rot)
	if err != nil {
		return err
	}
	next := s.storing()
	next.State, next.OnAir, next.Reason, next.Failed, next.Ahead = s.state.Fresh(), offList(s.air), reason, nil, nil
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := put(ctx, tx, committed, doc); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM onair_rotation WHERE slot = 'pending'`); err != nil {
			return err
		}
		return saveState(ctx, tx, next)
	})
	if err != nil {
		return fmt.Errorf("commit rotation: %w", err)
	}
	s.adopt(rot, reason)
	return nil
}

// adopt takes a rotation for the one on air.
func (s *Scheduler) adopt(rot rotation.Rotation, reason string) {
	s.before = s.letting()
	s.rot, s.state, s.air, s.reason, s.failed, s.ahead = rot, s.state.Fresh(), offList(s.air), reason, nil, nil
}

// offList is what plays while the rotation that it stood in is replaced.
func offList(air OnAir) OnAir {
	air.Index = -1
	return air
}

// announce records a rotation before it is pushed.
func (s *Scheduler) announce(ctx context.Context, rot rotation.Rotation) error {
	doc, err := encode(rot)
	if err != nil {
		return err
	}
	return s.opt.DB.Write(ctx, func(tx *sql.Tx) error { return put(ctx, tx, pending, doc) })
}

func put(ctx context.Context, tx *sql.Tx, slot string, doc []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO onair_rotation (slot, doc) VALUES (?, ?)
		ON CONFLICT (slot) DO UPDATE SET doc = excluded.doc`, slot, doc)
	return err
}

func saveState(ctx context.Context, tx *sql.Tx, st stored) error {
	st.State = st.State.WithoutHistory()
	doc, err := encode(st)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO onair_state (id, doc) VALUES (1, ?)
		ON CONFLICT (id) DO UPDATE SET doc = excluded.doc`, doc)
	return err
}

// recordPlay adds one row of plays, and keeps the track's turn.
func recordPlay(ctx context.Context, tx *sql.Tx, m Marker, t station.Track, turn rotation.Turn) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO plays (at, engine, seq, path, artist, title, category, round)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (engine, seq) DO NOTHING`,
		m.At.UnixMilli(), m.Engine, int64(m.Seq), t.Path, t.Artist, t.Title, string(t.Category), turn.Round) //nolint:gosec // a count of tracks
	if err != nil {
		return err
	}
	return saveTurn(ctx, tx, t.Path, turn)
}

// prunePlays forgets what is older than the anti-repeat history needs, but no play of a
// listener's post: nothing else counts those. An index has this condition, word for word.
func prunePlays(ctx context.Context, tx *sql.Tx, now time.Time) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM plays WHERE at < ? AND path NOT GLOB 'social/?*/SOC_[0-9]*'`, now.Add(-rotation.HistoryKept).UnixMilli())
	return err
}
