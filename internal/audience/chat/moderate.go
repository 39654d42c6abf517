package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostSanctions bounds the sanctions, which are checked with each message.
	mostSanctions = 10_000
	// longestSanction and longestPurge are in minutes: ten years, a week.
	longestSanction = 10 * 365 * 24 * 60
	longestPurge    = 7 * 24 * 60
	longestReason   = 200  // bytes
	longestSlow     = 3600 // seconds
	// mostPurged bounds one commit: the same request again purges the rest.
	mostPurged = 2000
	mostAudit  = 20_000 // entries of the audit log
)

// By identifies the operator who acts.
type By struct{ Address string } // empty for this machine

func (b By) String() string {
	if b.Address == "" {
		return "this machine"
	}
	return b.Address
}

// SanctionIn says whom to sanction, and for how long.
type SanctionIn struct {
	Of      string `json:"of" doc:"A message (m12) or a comment (c12): its author is meant"`
	Minutes int    `json:"minutes,omitempty" minimum:"0" maximum:"5256000" doc:"0: for good"`
	Reason  string `json:"reason,omitempty" maxLength:"200" doc:"The author is shown it"`
	Shadow  bool   `json:"shadow,omitempty" doc:"Of a mute: the author is not told, and sees its own messages"`
	Address bool   `json:"address,omitempty" doc:"Also by the author's address, which others may share; without a device it is by the address anyway"`
}

// Banned is the payload of the event banned, which only edges get: a client with one
// of the Keys in By leaves its rooms.
type Banned struct {
	ID string   `json:"id"`
	By []string `json:"by"`
}

// Mute keeps an author from writing. Errors: station.ErrInvalid, ErrNotFound,
// ErrConflict for staff and for authors who cannot be recognised again.
func (c *Chat) Mute(ctx context.Context, by By, in SanctionIn) (Sanction, error) {
	kind := mute
	if in.Shadow {
		kind = shadow
	}
	return c.sanction(ctx, by, kind, in)
}

// Ban keeps an author from writing and from joining rooms. Errors as Mute's.
func (c *Chat) Ban(ctx context.Context, by By, in SanctionIn) (Sanction, error) {
	return c.sanction(ctx, by, ban, in)
}

func (c *Chat) sanction(ctx context.Context, by By, kind string, in SanctionIn) (Sanction, error) {
	reason, ok := words.Text(in.Reason)
	if !ok || len(reason) > longestReason || strings.Contains(reason, "\n") {
		return Sanction{}, invalid("reason", "must be one line of at most 200 bytes")
	}
	if in.Minutes < 0 || in.Minutes > longestSanction {
		return Sanction{}, invalid("minutes", "must be 0 (for good) to 5256000")
	}
	var out Sanction
	err := c.write(ctx, func(w *writer) error {
		l, err := find(w.ctx, w.tx, in.Of)
		if err != nil {
			return err
		}
		s := Sanction{Kind: kind, Name: l.user, Reason: reason, At: w.now, author: l.author}
		if s.author.device != nil && !in.Address {
			s.author.address = nil
		}
		switch {
		case l.staff:
			return fmt.Errorf("%s was written by staff: %w", in.Of, station.ErrConflict)
		case s.author.device == nil && s.author.address == nil:
			return fmt.Errorf("%s was sent from the station's own machine, so its author cannot be recognised: %w", in.Of, station.ErrConflict)
		case len(w.rules.sanctions) >= mostSanctions:
			return fmt.Errorf("%d sanctions are in force: lift some first: %w", mostSanctions, station.ErrConflict)
		}
		if in.Minutes > 0 {
			s.Until = w.now + (time.Duration(in.Minutes) * time.Minute).Milliseconds()
		}
		s.ID, _ = w.exec(`INSERT INTO chat_sanctions (kind, name, reason, at, until, device, address) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			s.Kind, s.Name, s.Reason, s.At, s.Until, s.author.device, s.author.address).LastInsertId()
		if kind == ban {
			w.later(banned, s.banned())
		}
		w.audit(by, kind, in.Of, map[string]any{"id": s.ID, "name": s.Name, "minutes": in.Minutes, "reason": reason})
		w.reload()
		out, err = w.rules.sanctioned(s.ID)
		if w.err != nil {
			return w.err
		}
		return err
	})
	return out, err
}

func (r *rules) sanctioned(id int64) (Sanction, error) {
	i := slices.IndexFunc(r.sanctions, func(s Sanction) bool { return s.ID == id })
	if i < 0 {
		return Sanction{}, fmt.Errorf("sanction %d: %w", id, station.ErrNotFound)
	}
	return r.sanctions[i], nil
}

// Lift ends a sanction. Errors: station.ErrNotFound.
func (c *Chat) Lift(ctx context.Context, by By, id int64) (Sanction, error) {
	var out Sanction
	err := c.write(ctx, func(w *writer) (err error) {
		if out, err = w.rules.sanctioned(id); err != nil {
			return err
		}
		w.exec(`DELETE FROM chat_sanctions WHERE id = ?`, id)
		w.audit(by, "lift", out.Name, map[string]any{"id": id, "kind": out.Kind})
		w.reload()
		return w.failed()
	})
	return out, err
}

// Sanctions returns the sanctions in force, newest first.
func (c *Chat) Sanctions() []Sanction {
	out := []Sanction{}
	for _, s := range slices.Backward(c.rules.Load().sanctions) {
		if s.holds(c.opt.Now().UnixMilli()) {
			out = append(out, s)
		}
	}
	return out
}

// Words returns the word list.
func (c *Chat) Words() []words.Word { return append([]words.Word{}, c.rules.Load().words...) }

// Blocked reports whether a text holds a word of the list that nobody may write.
func (c *Chat) Blocked(text string) bool {
	_, blocked := c.rules.Load().list.Apply(text)
	return blocked
}

// PutWords replaces the word list; earlier messages stay as they are. Errors:
// station.ErrInvalid.
func (c *Chat) PutWords(ctx context.Context, by By, all []words.Word) error {
	if _, err := words.NewList(all); err != nil {
		return fmt.Errorf("%w: %w", err, station.ErrInvalid)
	}
	return c.write(ctx, func(w *writer) error {
		w.exec(`DELETE FROM chat_words`)
		for i, word := range all {
			w.exec(`INSERT INTO chat_words (place, word, action, stem) VALUES (?, ?, ?, ?)`, i, word.Word, word.Action, word.Stem)
		}
		w.audit(by, "words", "", map[string]any{"words": len(all)})
		w.reload()
		return w.failed()
	})
}

// RoomIn changes a room's rules; nil fields stay as they are.
type RoomIn struct {
	Slow   *int  `json:"slow,omitempty" minimum:"0" maximum:"3600" doc:"Seconds between two messages of one client; 0: as they like"`
	Closed *bool `json:"closed,omitempty" doc:"Only the staff writes"`
	Links  *bool `json:"links,omitempty" doc:"Links may be written"`
}

// PutRoom changes the rules of a room, or of the comments. Errors:
// station.ErrInvalid, ErrNotFound.
func (c *Chat) PutRoom(ctx context.Context, by By, room string, in RoomIn) (State, error) {
	if room != Comments {
		r, err := c.room(room)
		if err != nil || room == "" {
			return State{}, fmt.Errorf("room %q: %w", clip(room), station.ErrNotFound)
		}
		room = r.ID
	}
	if in.Slow != nil && (*in.Slow < 0 || *in.Slow > longestSlow) {
		return State{}, invalid("slow", "must be 0 to 3600 seconds")
	}
	var s State
	err := c.write(ctx, func(w *writer) error {
		s = w.rules.state(room)
		if in.Slow != nil {
			s.Slow = *in.Slow
		}
		if in.Closed != nil {
			s.Closed = *in.Closed
		}
		if in.Links != nil {
			s.Links = *in.Links
		}
		w.exec(`INSERT INTO chat_rooms (room, slow, closed, links) VALUES (?, ?, ?, ?)
			ON CONFLICT (room) DO UPDATE SET slow = excluded.slow, closed = excluded.closed, links = excluded.links`, s.Room, s.Slow, s.Closed, s.Links)
		w.audit(by, "room", room, s)
		w.reload()
		w.later("chat_state", s)
		return w.failed()
	})
	return s, err
}

// Delete removes a message or a comment. Its text stays only in the audit log.
// Deleting twice is no error. Errors: station.ErrInvalid, ErrNotFound.
func (c *Chat) Delete(ctx context.Context, by By, name string) error {
	return c.write(ctx, func(w *writer) error {
		l, err := find(w.ctx, w.tx, name)
		if err != nil || l.state == deleted {
			return err
		}
		w.bury(l)
		w.audit(by, "delete", name, map[string]any{"name": l.user, "text": cut(l.text), "room": l.room, "type": l.kind})
		return w.failed()
	})
}

func cut(s string) string {
	if len(s) <= 300 {
		return s
	}
	return strings.ToValidUTF8(s[:300], "") + "…"
}

// PurgeIn says whose messages to remove, and from how far back.
type PurgeIn struct {
	Of      string `json:"of" doc:"A message (m12) or a comment (c12): its author is meant"`
	Minutes int    `json:"minutes" minimum:"1" maximum:"10080" doc:"Back from now"`
	Address bool   `json:"address,omitempty" doc:"Also what came from the author's address, which others may share"`
	DryRun  bool   `json:"dryRun,omitempty" doc:"Only count what would go"`
}

// Purge removes what an author has written recently, in every room, the newest 2000
// at a time. It returns how many were removed, or with DryRun how many would be.
// Errors: station.ErrInvalid, ErrNotFound, ErrConflict.
func (c *Chat) Purge(ctx context.Context, by By, in PurgeIn) (int, error) {
	if in.Minutes < 1 || in.Minutes > longestPurge {
		return 0, invalid("minutes", "must be 1 to 10080")
	}
	n := 0
	err := c.write(ctx, func(w *writer) error {
		l, err := find(w.ctx, w.tx, in.Of)
		if err != nil {
			return err
		}
		if l.author.device == nil && l.author.address == nil {
			return fmt.Errorf("%s was sent from the station's own machine, so its author cannot be recognised: %w", in.Of, station.ErrConflict)
		}
		if l.author.device != nil && !in.Address {
			l.author.address = nil
		}
		since := w.now - (time.Duration(in.Minutes) * time.Minute).Milliseconds()
		all, err := lines(w.ctx, w.tx, `state <> 2 AND staff = 0 AND at >= ? AND id IN (
			SELECT id FROM chat_lines WHERE device = ? UNION SELECT id FROM chat_lines WHERE address = ?) ORDER BY id DESC LIMIT ?`, since, l.author.device, l.author.address, mostPurged)
		if err != nil {
			w.err = err
			return err
		}
		if n = len(all); in.DryRun {
			return nil
		}
		for _, one := range all {
			w.bury(one)
		}
		w.audit(by, "purge", in.Of, map[string]any{"name": l.user, "minutes": in.Minutes, "deleted": n})
		return w.failed()
	})
	return n, err
}

// bury deletes a line but keeps its author, who can still be sanctioned for it.
func (w *writer) bury(l line) {
	w.exec(`UPDATE chat_lines SET state = 2, text = '', media = NULL WHERE id = ?`, l.id)
	w.exec(`DELETE FROM chat_reactions WHERE line = ?`, l.id)
	w.release(l.media)
	if l.state == shown {
		w.later("message_deleted", l.deletion())
	}
}

// audit adds an entry to the audit log.
func (w *writer) audit(by By, action, target string, detail any) {
	text, err := json.Marshal(detail)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.exec(`INSERT INTO chat_audit (at, who, action, target, detail) VALUES (?, ?, ?, ?, ?)`, w.now, by.String(), action, target, string(text))
}
