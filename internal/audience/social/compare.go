package social

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

// heads are those of the sounds of posts that are too short for a fingerprint.
type heads struct {
	mu sync.Mutex
	of map[int64]fingerprint.Head
}

// put takes over what a post sounds like; nil: not that it is short.
func (h *heads) put(id int64, short *fingerprint.Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if short == nil {
		delete(h.of, id)
		return
	}
	h.of[id] = *short
}

// near returns the other posts whose sound may be the same.
func (h *heads) near(self int64, short fingerprint.Head) (out []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, other := range h.of {
		if id != self && short.MayEqual(other) {
			out = append(out, id)
		}
	}
	return out
}

// learn reads the fingerprints of every post that was ever compared, and the heads of short
// ones.
func (s *Social) learn(ctx context.Context) error {
	s.prints, s.shorts.of = fingerprint.NewIndex(), map[int64]fingerprint.Head{}
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT post, print, substr(short, 1, ?) FROM social_prints`, fingerprint.HeadBytes)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id int64
		var print, short []byte
		if err := rows.Scan(&id, &print, &short); err != nil {
			return err
		}
		if len(short) > 0 {
			head, err := fingerprint.HeadFromBytes(short)
			if err != nil {
				return err
			}
			s.shorts.put(id, &head)
		}
		if len(print) > 0 {
			s.prints.Add(strconv.FormatInt(id, 10), fingerprint.FromBytes(print))
		}
	}
	return rows.Err()
}

// compare looks for the recording in the library and among all posts. The same recording
// is refused (a mashup is not: what it is made of outweighs it in a fingerprint; a moderator
// hears both), except where the other one is a post that the same submitter has withdrawn, or
// that the machine refused: what a person rejected stays rejected.
func (s *Social) compare(ctx context.Context, t *task, m *made) error {
	var err error
	if m.prints, err = fingerprint.Versions(ctx, s.source(t)); errors.Is(err, fingerprint.ErrPlain) {
		m.short, err = heardShort(ctx, s.source(t))
	}
	if err != nil {
		return err
	}
	if s.opt.Library != nil {
		if m.alike, err = s.opt.Library.Alike(ctx, m.prints, t.artist, t.title); err != nil {
			return fmt.Errorf("compare with the library: %w", err)
		}
	}
	for _, l := range m.alike {
		if l.Same() && t.typ != Mashup {
			return &refusal.Refusal{Code: refusal.Duplicate, Of: named(l)}
		}
	}
	return s.comparePosts(ctx, t, m)
}

// heardShort is what a sound without a fingerprint is compared by; nil for a plain one.
func heardShort(ctx context.Context, path string) (*fingerprint.Short, error) {
	short, err := fingerprint.ShortOf(ctx, path)
	if errors.Is(err, fingerprint.ErrPlain) {
		return nil, nil
	}
	return &short, err
}

func (s *Social) comparePosts(ctx context.Context, t *task, m *made) error {
	found, err := s.alike(ctx, t, m)
	if err != nil {
		return fmt.Errorf("compare with other posts: %w", err)
	}
	var refused error
	for _, l := range found {
		other, err := s.read(ctx, l.Post)
		if err != nil {
			return err
		}
		l.Title, l.Artist, l.Status = other.Title, other.Artist, other.Status
		m.alike = append(m.alike, l)
		if code := taken(&other); code != "" && l.Same() && t.typ != Mashup && refused == nil {
			refused = &refusal.Refusal{Code: code, Of: named(l)}
		}
	}
	return refused
}

// alike returns the posts that sound the same, the likest first.
func (s *Social) alike(ctx context.Context, t *task, m *made) (out []Likeness, err error) {
	if m.short != nil {
		return s.alikeShort(ctx, t.id, m.short)
	}
	for _, found := range s.prints.Find(strconv.FormatInt(t.id, 10), m.prints...) {
		id, err := strconv.ParseInt(found.ID, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, Likeness{Post: id, Difference: found.Difference, Covered: found.Covered})
	}
	return out, nil
}

// alikeShort compares a sound that is too short for a fingerprint with the others that may be
// the same. They are read one by one: together they are large.
func (s *Social) alikeShort(ctx context.Context, self int64, short *fingerprint.Short) (out []Likeness, err error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT post, short FROM social_prints WHERE short <> x'' AND post IN (SELECT value FROM json_each(?))`, listed(s.shorts.near(self, short.Head())))
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id int64
		var kept sql.RawBytes
		if err := rows.Scan(&id, &kept); err != nil {
			return nil, err
		}
		other, err := fingerprint.ShortFromBytes(kept)
		if err != nil {
			return nil, err
		}
		if far := short.Difference(other); far <= fingerprint.SameShort {
			out = append(out, Likeness{Post: id, Difference: far / fingerprint.Far, Covered: 1})
		}
	}
	slices.SortFunc(out, func(a, b Likeness) int {
		return cmp.Or(cmp.Compare(a.Difference, b.Difference), cmp.Compare(a.Post, b.Post))
	})
	return out, rows.Err()
}

// taken returns why the same recording as another post's is refused; empty where it is not.
// A post that was refused as a copy does not count: what it is a copy of does.
func taken(other *Post) refusal.Code {
	switch {
	case other.Status == Pending, other.Status == Approved, other.Status == Processing:
		return refusal.Duplicate
	case other.Reason != nil && other.Reason.ByModerator():
		return refusal.DuplicateRejected
	}
	return ""
}

func named(l Likeness) string {
	if l.Artist == "" {
		return l.Title
	}
	return l.Title + " – " + l.Artist
}

// keepPrints keeps what a post sounds like.
func (s *Social) keepPrints(ctx context.Context, tx *sql.Tx, id int64, m *made) error {
	print, short := []byte{}, []byte{}
	switch {
	case len(m.prints) > 0:
		print = m.prints[0].Bytes()
	case m.short != nil:
		short = m.short.Bytes()
	default:
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO social_prints (post, print, short) VALUES (?, ?, ?)`, id, print, short)
	return err
}

// remember takes what keepPrints has kept into the indexes.
func (s *Social) remember(id int64, m *made) {
	switch {
	case m == nil:
	case len(m.prints) > 0:
		s.prints.Add(strconv.FormatInt(id, 10), m.prints[0])
		s.shorts.put(id, nil)
	case m.short != nil:
		s.prints.Remove(strconv.FormatInt(id, 10))
		head := m.short.Head()
		s.shorts.put(id, &head)
	}
}

// mostCover bounds a cover picture, in bytes.
const mostCover = 1 << 20

// keepCover keeps the picture of what was sent, and returns its media type; empty where
// there is none that pages can show. The sound does not suffer for it.
func (s *Social) keepCover(ctx context.Context, t *task) string {
	info, err := ffmpeg.Probe(ctx, s.source(t))
	if err != nil || info.Picture == "" {
		return ""
	}
	data, err := ffmpeg.Picture(ctx, s.source(t), info.Picture, mostCover)
	if err != nil {
		return ""
	}
	kind := pictureType(data)
	if kind == "" {
		return ""
	}
	if err := os.WriteFile(s.coverOf(t.id), data, 0o600); err != nil {
		s.log.Warn("cannot keep the cover of a post", "post", t.id, "err", err)
		return ""
	}
	return kind
}
