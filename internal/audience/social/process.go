package social

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// made is what processing has found and made.
type made struct {
	finding check.Finding
	prints  []fingerprint.Print // the first is kept
	short   *fingerprint.Short  // where it is too short for one
	alike   []Likeness
	file    string
	bytes   int64
	record  mastering.Record
	cover   string
}

// process checks, compares and masters one post. A *refusal.Refusal is the post's own
// fault; any other error is the station's, and the post is tried again.
func (s *Social) process(ctx context.Context, t *task) (*made, error) {
	if s.opt.Hold != nil {
		if err := s.opt.Hold(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.bring(ctx, t); err != nil {
		return nil, err
	}
	m := &made{}
	t.at(Checking)
	var err error
	if m.finding, err = check.File(ctx, s.source(t), wanted(t.typ), t.progress); err != nil {
		return nil, err
	}
	t.at(Comparing)
	if err := s.compare(ctx, t, m); err != nil {
		return m, err
	}
	t.at(Mastering)
	return m, s.master(ctx, t, m)
}

func wanted(t Type) check.Want {
	shortest, longest := t.Window()
	return check.Want{Shortest: shortest, Longest: longest, Music: t == Song || t == Mashup}
}

// bring makes sure that what was sent is there. A post whose file is gone, and that was sent
// by its address, is fetched once more.
func (s *Social) bring(ctx context.Context, t *task) error {
	_, err := os.Stat(s.source(t))
	switch {
	case t.source != "" && err == nil:
		return nil
	case t.source != "" && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("find what was sent: %w", err)
	case t.url == "":
		return refusal.New(refusal.MissingFile)
	}
	if err := s.exec(ctx, `UPDATE social_posts SET source = '' WHERE id = ? AND run = ?`, t.id, t.run); err != nil {
		return err
	}
	s.rouse()
	return errStale
}

// unfetched tells the address's fault from the network's.
func unfetched(err error, limit int64) error {
	var refused *refusal.Refusal
	var blocked *fetch.BlockedError
	var large *fetch.TooLargeError
	var status *fetch.StatusError
	var slow *fetch.TimeoutError
	var content *fetch.ContentError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &blocked):
		return &refusal.Refusal{Code: refusal.SourcePrivate}
	case errors.As(err, &large):
		return &refusal.Refusal{Code: refusal.SourceTooLarge, Limit: limit}
	case errors.As(err, &content), errors.As(err, &status) && status.Lasting():
		return &refusal.Refusal{Code: refusal.SourceRefused}
	case errors.As(err, &slow):
		return &refusal.Refusal{Code: refusal.SourceSlow}
	}
	return err
}

// master makes the file that airs, in its place.
func (s *Social) master(ctx context.Context, t *task, m *made) error {
	m.file = station.PostFile(string(t.typ), t.id, t.slug)
	out := s.abs(m.file)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("make the folder of posts: %w", err)
	}
	profile, err := s.opt.Profile(t.typ.Category())
	if err != nil {
		return err
	}
	if !t.typ.Category().Music() {
		profile.Brief = true
	}
	job := mastering.Job{
		In: s.source(t), Out: out, Profile: profile, Replace: true, Again: true, Trim: true,
		Tags: map[string]string{"title": t.title, "artist": t.artist, "album": "", "comment": "", "description": "", "genre": ""},
		Room: func() error { return s.disk(0) },
	}
	if t.artist == "" {
		job.Tags["artist"] = t.by
	}
	if !t.typ.Category().Music() {
		job.Tags["genre"] = "Break"
	}
	if m.record, err = s.opt.Master.Do(ctx, job, t.progress); err != nil {
		return unmastered(err, t.typ)
	}
	info, err := os.Stat(out)
	if err != nil {
		return fmt.Errorf("look at the mastered file: %w", err)
	}
	m.bytes = info.Size()
	m.cover = s.keepCover(ctx, t)
	return nil
}

// unmastered tells what is the post's own fault.
func unmastered(err error, t Type) error {
	var refused *mastering.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	shortest, longest := t.Window()
	switch refused.Reason {
	case mastering.Silent:
		return refusal.New(refusal.Silent)
	case mastering.TooQuiet, mastering.Unreachable:
		return refusal.New(refusal.TooQuiet)
	case mastering.TooShort:
		return &refusal.Refusal{Code: refusal.TooShort, Shortest: shortest, Longest: longest}
	case mastering.TooLong:
		return &refusal.Refusal{Code: refusal.TooLong, Shortest: shortest, Longest: longest}
	case mastering.Truncated:
		return refusal.New(refusal.Truncated)
	case mastering.Damaged:
		return refusal.New(refusal.Damaged)
	case mastering.NotAudio:
		return refusal.New(refusal.NotAudio)
	case mastering.Changed, mastering.InTheWay:
		return err
	}
	return err
}

// keeps writes what was found, and made, into the row of its post.
func (s *Social) keeps(t *task, m *made) func(context.Context, *sql.Tx) error {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, tx *sql.Tx) error {
		finding, err := json.Marshal(m.finding)
		if err != nil {
			return err
		}
		alike, err := json.Marshal(m.alike)
		if err != nil {
			return err
		}
		if m.alike == nil {
			alike = []byte("[]")
		}
		levels, err := json.Marshal(Levels{Integrated: m.record.Integrated, TruePeak: m.record.TruePeak, Gain: m.record.Gain, Source: m.record.SourceIntegrated})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE social_posts SET finding = ?, alike = ?, plain = ? WHERE id = ?`, string(finding), string(alike), plainly(m), t.id); err != nil {
			return err
		}
		if m.bytes > 0 {
			if _, err := tx.ExecContext(ctx, `UPDATE social_posts SET file = ?, bytes = ?, duration = ?, levels = ?, cover = ? WHERE id = ?`,
				m.file, m.bytes, m.record.Duration.Milliseconds(), string(levels), m.cover, t.id); err != nil {
				return err
			}
		}
		return s.keepPrints(ctx, tx, t.id, m)
	}
}

func isConflict(err error) bool { return errors.Is(err, station.ErrConflict) }
