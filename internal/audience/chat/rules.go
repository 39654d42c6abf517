package chat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/station"
)

// State is the payload of chat_state: a room's rules.
type State struct {
	Room   string `json:"room"`
	Slow   int    `json:"slow" doc:"Seconds between two messages of one client; 0: as they like"`
	Closed bool   `json:"closed" doc:"Only the staff writes"`
	Links  bool   `json:"links" doc:"Links may be written"`
}

// Kinds of sanctions.
const (
	mute   = "mute"
	shadow = "shadow"
	ban    = "ban"
)

// Sanction keeps an author from writing, or from being read.
type Sanction struct {
	ID     int64    `json:"id"`
	Kind   string   `json:"kind" enum:"mute,shadow,ban" doc:"mute: may read; shadow: writes for itself alone; ban: may not join either"`
	Name   string   `json:"name" doc:"Under which it was written what led to this"`
	Reason string   `json:"reason"`
	At     int64    `json:"at" doc:"Epoch milliseconds"`
	Until  int64    `json:"until" doc:"Epoch milliseconds; 0: for good"`
	By     []string `json:"by" nullable:"false" doc:"device, address or both: by what it is recognised"`

	author author
}

func (s Sanction) holds(now int64) bool { return s.Until == 0 || now < s.Until }

// refusal is the error that the author gets.
func (s Sanction) refusal() error {
	what := "you may not write here"
	if s.Kind == ban {
		what = "you may not take part here"
	}
	if s.Until != 0 {
		what += " until " + time.UnixMilli(s.Until).UTC().Format(time.RFC3339)
	}
	if s.Reason != "" {
		what += " (" + s.Reason + ")"
	}
	return fmt.Errorf("%s: %w", what, station.ErrForbidden)
}

// rules are the rules in force. A value is never changed, only replaced.
type rules struct {
	rooms     map[string]State
	sanctions []Sanction            // oldest first
	by        map[string][]Sanction // by device and by address
	words     []words.Word
	list      *words.List
}

// state returns a room's rules; by default links are allowed.
func (r *rules) state(room string) State {
	if s, ok := r.rooms[room]; ok {
		return s
	}
	return State{Room: room, Links: true}
}

// against returns the strongest sanction in force against an author.
func (r *rules) against(a author, now int64) (strongest Sanction, found bool) {
	rank := map[string]int{shadow: 1, mute: 2, ban: 3}
	for _, key := range [][]byte{a.device, a.address} {
		for _, s := range r.by[string(key)] {
			if key != nil && s.holds(now) && rank[s.Kind] > rank[strongest.Kind] {
				strongest, found = s, true
			}
		}
	}
	return strongest, found
}

func readRules(ctx context.Context, q querier) (*rules, error) {
	r := &rules{rooms: map[string]State{}, by: map[string][]Sanction{}}
	err := each(ctx, q, `SELECT room, slow, closed, links FROM chat_rooms`, func(rows *sql.Rows) error {
		var s State
		err := rows.Scan(&s.Room, &s.Slow, &s.Closed, &s.Links)
		r.rooms[s.Room] = s
		return err
	})
	err = errors.Join(err, each(ctx, q, `SELECT id, kind, name, reason, at, until, device, address FROM chat_sanctions ORDER BY id`, func(rows *sql.Rows) error {
		var s Sanction
		if err := rows.Scan(&s.ID, &s.Kind, &s.Name, &s.Reason, &s.At, &s.Until, &s.author.device, &s.author.address); err != nil {
			return err
		}
		for _, by := range []struct {
			what string
			key  []byte
		}{{"device", s.author.device}, {"address", s.author.address}} {
			if by.key != nil {
				s.By = append(s.By, by.what)
			}
		}
		r.sanctions = append(r.sanctions, s)
		for _, key := range [][]byte{s.author.device, s.author.address} {
			if key != nil {
				r.by[string(key)] = append(r.by[string(key)], s)
			}
		}
		return nil
	}))
	err = errors.Join(err, each(ctx, q, `SELECT word, action, stem FROM chat_words ORDER BY place`, func(rows *sql.Rows) error {
		var w words.Word
		err := rows.Scan(&w.Word, &w.Action, &w.Stem)
		r.words = append(r.words, w)
		return err
	}))
	if err != nil {
		return nil, err
	}
	r.list, err = words.NewList(r.words)
	return r, err
}

func each(ctx context.Context, q querier, query string, row func(*sql.Rows) error, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }
