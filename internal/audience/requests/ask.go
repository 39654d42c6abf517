package requests

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// The longest name, note and word of the studio, in characters.
const (
	LongestName = 40
	LongestNote = 200
	LongestWord = 200
)

// Ask is what a listener sends.
type Ask struct {
	Path, Name, Note string
	ID               string // of the write; may be empty
}

// counter counts refusals by rule.
type counter struct {
	mu     sync.Mutex
	counts map[Code]uint64
}

func (c *counter) add(code Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[code]++
}

// Ask grants a request, or returns the *Refusal against it. When it returns nil the
// request is on disk; the same id again returns the same request. Errors besides:
// station.ErrNotFound, ErrInvalid, ErrConflict (the id was used for another track).
func (r *Requests) Ask(ctx context.Context, from Client, in Ask) (Request, error) {
	if in.ID != "" && !client.PlainID(in.ID) {
		return Request{}, fmt.Errorf("id: %s: %w", client.IDRule, station.ErrInvalid)
	}
	var err error
	if in.Name, err = r.text("name", in.Name, LongestName); err != nil {
		return Request{}, err
	}
	if in.Note, err = r.text("note", in.Note, LongestNote); err != nil {
		return Request{}, err
	}
	t, known := r.opt.Library.Find(in.Path)
	if !known || !r.opt.may(t) || t.Duration < r.opt.Air().Shortest {
		return Request{}, fmt.Errorf("this song, among those that may be asked for: %w", station.ErrNotFound)
	}
	who := r.sender(from)
	q, fresh, err := Request{}, false, r.foresee(ctx, who, t, in)
	if err == nil {
		r.mu.Lock()
		q, fresh, err = r.grant(ctx, who, t, in)
		r.mu.Unlock()
	}
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		r.refused.add(refused.Code)
	case err == nil && fresh:
		r.granted.Add(1)
		r.wake()
		r.opt.Happened(New, q)
	}
	return q, err
}

// foresee refuses what grant would, without holding up the one writer of the database:
// refusals are what a flood of requests gets.
func (r *Requests) foresee(ctx context.Context, who sender, t station.Track, in Ask) error {
	if key := keyOf(who, in.ID); key != nil {
		if _, found, err := one(ctx, r.opt.DB.Read(), `WHERE key = ?`, key); err != nil || found {
			return err
		}
	}
	m, err := r.moment(ctx, r.opt.DB.Read(), who)
	if err != nil {
		return err
	}
	if no := m.of(t).refusal(r.opt.Zone); no != nil {
		return no
	}
	return nil
}

// grant decides and saves in one transaction; fresh is false for a repeated id. The
// caller holds mu.
func (r *Requests) grant(ctx context.Context, who sender, t station.Track, in Ask) (q Request, fresh bool, err error) {
	key := keyOf(who, in.ID)
	var id int64
	err = r.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if old, found, err := byKey(ctx, tx, key); err != nil || found {
			if q = old; err == nil && q.Track.Path != t.Path {
				err = fmt.Errorf("id: already used for another song: %w", station.ErrConflict)
			}
			return err
		}
		m, err := r.moment(ctx, tx, who)
		if err != nil {
			return err
		}
		if no := m.of(t).refusal(r.opt.Zone); no != nil {
			return no
		}
		fresh = true
		id, err = insert(ctx, tx, key, Request{Track: t, Name: in.Name, Note: in.Note, Status: Waiting, At: m.base.now, Device: who.device, asker: who.asker, address: who.address, wider: who.wider})
		return err
	})
	if err != nil || !fresh {
		return q, false, err
	}
	r.renew.ask(r.opt.Now())
	for _, q := range r.kept.Load().open {
		if q.ID == id {
			return q, true, nil
		}
	}
	return Request{ID: id, Track: t, Name: in.Name, Note: in.Note, Status: Waiting, At: r.opt.Now(), Device: who.device}, true, nil
}

// keyOf hashes the client's id for a write, which counts per listener; nil without one.
func keyOf(who sender, id string) []byte {
	if id == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(string(who.asker) + "\x00" + id))
	return sum[:16]
}

// text cleans what people write: one line, without what is not seen.
func (r *Requests) text(field, s string, most int) (string, error) {
	if len(s) > 16*most {
		return "", fmt.Errorf("%s: must be at most %d characters: %w", field, most, station.ErrInvalid)
	}
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case c == '\u200c' || c == '\u200d':
			return c
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp):
			return -1
		}
		return c
	}, norm.NFC.String(strings.ToValidUTF8(s, "")))
	s = strings.Join(strings.Fields(s), " ")
	switch {
	case utf8.RuneCountInString(s) > most:
		return "", fmt.Errorf("%s: must be at most %d characters: %w", field, most, station.ErrInvalid)
	case strings.Contains(s, "://") || strings.Contains(strings.ToLower(s), "www.") || r.opt.Linked(s):
		return "", fmt.Errorf("%s: contains a link: %w", field, station.ErrInvalid)
	case s != "" && r.opt.Blocked(s):
		return "", fmt.Errorf("%s: contains a word that is not allowed: %w", field, station.ErrInvalid)
	}
	return s, nil
}

// Cancel takes back a listener's own request. Errors: station.ErrNotFound for another's,
// ErrConflict for one that is closed.
func (r *Requests) Cancel(ctx context.Context, from Client, id int64) error {
	who := r.sender(from)
	return r.close(ctx, id, Cancelled, "asker", "cancel", "", func(q Request) bool {
		return who.asker != nil && string(q.asker) == string(who.asker)
	})
}

// Remove takes a request away, without a word to the asker. Errors as Cancel.
func (r *Requests) Remove(ctx context.Context, id int64) error {
	return r.close(ctx, id, Cancelled, "studio", "remove", "", func(Request) bool { return true })
}

// Refuse takes a request away and tells the asker why. Errors as Cancel, and
// station.ErrInvalid.
func (r *Requests) Refuse(ctx context.Context, id int64, word string) error {
	word, err := r.text("word", word, LongestWord)
	if err != nil {
		return err
	}
	return r.close(ctx, id, Denied, "studio", "refuse", word, func(Request) bool { return true })
}

// close ends a request by hand.
func (r *Requests) close(ctx context.Context, id int64, to Status, who, action, word string, may func(Request) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var q Request
	again := false
	err := r.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var found bool
		var err error
		if q, found, err = byID(ctx, tx, id); err != nil {
			return err
		}
		switch {
		case !found || !may(q):
			return fmt.Errorf("request %d: %w", id, station.ErrNotFound)
		case q.Status == to && q.Word == word:
			again = true
			return nil
		case !q.ClosedAt.IsZero():
			return fmt.Errorf("request %d is %s: %w", id, q.Status, station.ErrConflict)
		}
		q.Status, q.Word, q.ClosedAt = to, word, r.opt.Now()
		if err := update(ctx, tx, q); err != nil {
			return err
		}
		return r.audit(ctx, tx, who, action, id, word)
	})
	if err != nil || again {
		return err
	}
	r.renew.ask(r.opt.Now())
	r.wake()
	if to == Denied {
		r.opt.Happened(Refused, q)
	}
	return nil
}

// SetOpen opens or closes the desk. What waits stays.
func (r *Requests) SetOpen(ctx context.Context, open bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.wake()
	return r.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		closed, action := 0, "open"
		if !open {
			closed, action = 1, "close"
		}
		if _, err := tx.ExecContext(ctx, `UPDATE requests_state SET closed = ?`, closed); err != nil {
			return err
		}
		return r.audit(ctx, tx, "studio", action, 0, "")
	})
}

func (r *Requests) audit(ctx context.Context, tx *sql.Tx, who, action string, id int64, word string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO requests_audit (at, who, action, request, word) VALUES (?, ?, ?, ?, ?)`,
		r.opt.Now().UnixMilli(), who, action, id, word)
	return err
}

// Stats counts since the start, except Waiting and Oldest.
type Stats struct {
	Granted uint64
	Refused map[Code]uint64
	Waiting int
	Oldest  time.Duration // age of the one that waits longest
}

// Stats returns the figures of the queue.
func (r *Requests) Stats() Stats {
	s := Stats{Granted: r.granted.Load(), Refused: map[Code]uint64{}}
	r.refused.mu.Lock()
	for code, n := range r.refused.counts {
		s.Refused[code] = n
	}
	r.refused.mu.Unlock()
	if open := r.kept.Load().open; len(open) > 0 {
		s.Waiting, s.Oldest = len(open), max(0, r.opt.Now().Sub(open[0].At))
	}
	return s
}
