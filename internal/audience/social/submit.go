package social

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// Receipt is the answer to a submission.
type Receipt struct {
	ID    int64
	Token string // the secret by which the submitter follows and withdraws the post
	Again bool   // the same submission was received before
}

// Admit refuses what Submit would refuse whatever is in the file: see Draft, Limits. size is
// -1 while it is unknown. Errors: station.ErrInvalid, ErrForbidden, ErrFull, ErrConflict,
// ErrTooLarge, *client.LimitError, each with the *refusal.Refusal that says why.
func (s *Social) Admit(ctx context.Context, from Client, d Draft, size int64) error {
	if _, err := d.clean(s.opt.Words); err != nil {
		return err
	}
	return s.admit(ctx, s.person(from), size)
}

// admit is Admit for a draft that was found in order.
func (s *Social) admit(ctx context.Context, p person, size int64) error {
	if most := s.opt.Limits.Bytes; most > 0 && size > most {
		return tooLarge(most)
	}
	if err := s.admits(ctx, s.opt.DB.Read(), p); err != nil {
		return err
	}
	return s.disk(max(0, size))
}

// disk refuses what the disk has no room for.
func (s *Social) disk(more int64) error {
	if l := s.opt.Limits; l.Reserve > 0 {
		if free, _, err := s.opt.Space(s.opt.Dir); err == nil && int64(free)-more < l.Reserve { //nolint:gosec // a disk has fewer than 2^63 bytes
			return refusal.New(refusal.NoRoom).Kind(station.ErrFull)
		}
	}
	return nil
}

func tooLarge(most int64) error {
	return (&refusal.Refusal{Code: refusal.TooLarge, Limit: most}).Kind(station.ErrTooLarge)
}

// begin returns the draft as it is kept, or the receipt of a submission that was received
// before.
func (s *Social) begin(ctx context.Context, from Client, d Draft) (Draft, Receipt, error) {
	d, err := d.clean(s.opt.Words)
	if err != nil {
		return d, Receipt{}, err
	}
	again, err := s.known(ctx, s.opt.DB.Read(), from, d)
	return d, again, err
}

// Submit takes a post whose audio is in r, which it streams to disk. kind says how it came:
// upload or base64; size is -1 while it is unknown. It reads nothing of what it refuses for
// other reasons than the audio. Errors as Admit's.
func (s *Social) Submit(ctx context.Context, from Client, d Draft, kind string, size int64, r io.Reader) (Receipt, error) {
	d, again, err := s.begin(ctx, from, d)
	if err != nil || again.ID != 0 {
		return again, err
	}
	p := s.person(from)
	if err := s.admit(ctx, p, size); err != nil {
		return Receipt{}, err
	}
	leave, err := s.arrives(p)
	if err != nil {
		return Receipt{}, err
	}
	defer leave()
	name := newName()
	size, err = s.receive(name, r)
	if err != nil {
		return Receipt{}, err
	}
	return s.enter(ctx, from, d, arrival{kind: kind, name: name, size: size})
}

// Take takes a post whose audio is in a finished file at path, on the disk of Options.Dir.
// The file stays where it is: the post has a link of its own to the audio. With the same
// Draft.Once it answers with the same post.
func (s *Social) Take(ctx context.Context, from Client, d Draft, path string, size int64) (Receipt, error) {
	d, again, err := s.begin(ctx, from, d)
	if err != nil || again.ID != 0 {
		return again, err
	}
	name := newName()
	if err := os.Link(path, filepath.Join(s.incoming(), name)); err != nil {
		return Receipt{}, fmt.Errorf("take an upload: %w", err)
	}
	if err := file.SyncDir(s.incoming()); err != nil {
		return Receipt{}, fmt.Errorf("take an upload: %w", err)
	}
	return s.enter(ctx, from, d, arrival{kind: "upload", name: name, size: size})
}

// SubmitURL takes a post whose audio is fetched from an address: whether it can be is found
// as the post is processed. Errors as Admit's.
func (s *Social) SubmitURL(ctx context.Context, from Client, d Draft, address string) (Receipt, error) {
	d, again, err := s.begin(ctx, from, d)
	if err != nil || again.ID != 0 {
		return again, err
	}
	if err := s.admit(ctx, s.person(from), -1); err != nil {
		return Receipt{}, err
	}
	d.Name = clipped(fetch.Redact(address), longestName)
	return s.enter(ctx, from, d, arrival{kind: "url", url: address})
}

// arrival is audio that came, or is to be fetched.
type arrival struct {
	kind, name, url string
	size            int64
}

// newName is a name that nobody guesses and no file has.
func newName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// receive streams audio into the folder of incoming files, where it appears whole or not at
// all.
func (s *Social) receive(name string, r io.Reader) (size int64, err error) {
	path := filepath.Join(s.incoming(), name)
	f, err := os.OpenFile(path+".part", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // a name of ours
	if err != nil {
		return 0, fmt.Errorf("receive a post: %w", err)
	}
	defer func() {
		_ = f.Close()
		if err != nil {
			_ = os.Remove(path + ".part")
		}
	}()
	most := s.opt.Limits.Bytes
	if most > 0 {
		r = io.LimitReader(r, most+1)
	}
	switch size, err = s.pour(f, r); {
	case err != nil:
		return 0, fmt.Errorf("receive a post: %w", err)
	case most > 0 && size > most:
		return 0, tooLarge(most)
	case size == 0:
		return 0, refusal.New(refusal.Empty).Kind(station.ErrInvalid)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return 0, fmt.Errorf("receive a post: %w", err)
	}
	if err := file.SyncDir(s.incoming()); err != nil {
		return 0, fmt.Errorf("receive a post: %w", err)
	}
	return size, nil
}

// once is the key under which a submission counts once: one client's keys are not another's,
// whose receipt is a secret. It is nil for a submission without one.
func (s *Social) once(from Client, d Draft) any {
	if d.Once == "" {
		return nil
	}
	return hex.EncodeToString(s.hashed("once", cmp.Or(from.Device, "@"+from.Address)+"/"+d.Once))
}

// known returns the receipt of a submission that was received before.
func (s *Social) known(ctx context.Context, q querier, from Client, d Draft) (Receipt, error) {
	once := s.once(from, d)
	if once == nil {
		return Receipt{}, nil
	}
	var id int64
	err := q.QueryRowContext(ctx, `SELECT id FROM social_posts WHERE once = ?`, once).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return Receipt{}, nil
	}
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{ID: id, Token: s.token(id), Again: true}, nil
}

// enter makes a row of a submission. Without one its file is removed, at the latest by the
// next start.
func (s *Social) enter(ctx context.Context, from Client, d Draft, a arrival) (out Receipt, err error) {
	p := s.person(from)
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if out, err = s.known(ctx, tx, from, d); err != nil || out.ID != 0 {
			return err
		}
		if err := s.admits(ctx, tx, p); err != nil {
			return err
		}
		now := s.millis()
		res, err := tx.ExecContext(ctx, `INSERT INTO social_posts (once, type, title, artist, description, tags, created_by, folded,
				submitter, address, wider, device, rights, status, created, decided, source_kind, source_name, source_url, source, source_size, slug)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processing', ?, ?, ?, ?, ?, ?, ?, ?)`,
			s.once(from, d), d.Type, d.Title, d.Artist, d.Description, d.tagsJSON(), d.CreatedBy, d.folded(),
			p.device, p.address, p.wider, client.DeviceKey(from.Device), s.opt.Rights, now, now, a.kind, d.Name, a.url, a.name, a.size, slug(d.Title))
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		out = Receipt{ID: id, Token: s.token(id)}
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO social_submitters (id) VALUES (?)`, p.device); err != nil {
			return err
		}
		return s.record(ctx, tx, id, "submitter", "submit", a.kind)
	})
	if a.name != "" && (err != nil || out.Again) {
		_ = os.Remove(filepath.Join(s.incoming(), a.name))
	}
	var no *refusal.Refusal
	switch {
	case errors.As(err, &no):
		return Receipt{}, err
	case err != nil:
		return Receipt{}, fmt.Errorf("enter a post: %w", err)
	}
	if !out.Again {
		s.happened(ctx, Submitted, out.ID, false)
		s.rouse()
	}
	return out, nil
}

// record adds a line to a post's history.
func (s *Social) record(ctx context.Context, tx *sql.Tx, id int64, who, action, detail string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO social_history (post, at, who, action, detail) VALUES (?, ?, ?, ?, ?)`, id, s.millis(), who, action, detail)
	return err
}

// rouse wakes the worker, and what fetches.
func (s *Social) rouse() {
	for _, one := range []chan struct{}{s.wake, s.fetch} {
		select {
		case one <- struct{}{}:
		default:
		}
	}
}
