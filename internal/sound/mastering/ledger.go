package mastering

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("mastering", migrations) }

// Ledger keeps the records of mastered files, so that the next run continues where a
// killed one stopped. A nil Ledger keeps and knows nothing.
type Ledger struct{ db *store.DB }

// OpenLedger brings the ledger's table up to date.
func OpenLedger(ctx context.Context, db *store.DB) (*Ledger, error) {
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, err
	}
	return &Ledger{db}, nil
}

// Record returns the record of the mastered file at path, whatever its source; false
// when there is none or the file has changed.
func (l *Ledger) Record(ctx context.Context, path string) (Record, bool, error) {
	row, err := l.row(ctx, path)
	if row == nil || err != nil {
		return Record{}, false, err
	}
	return row.rec, row.same(path), nil
}

// Forget drops the record of the mastered file at path, which was removed.
func (l *Ledger) Forget(ctx context.Context, path string) error {
	if l == nil {
		return nil
	}
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM mastering_record WHERE output = ?", []byte(path))
		return err
	})
	if err != nil {
		return fmt.Errorf("forget a mastering record: %w", err)
	}
	return nil
}

type row struct {
	source, stamp    string
	size, mtime      int64
	outSize, outTime int64
	rec              Record
}

// same reports that the file at path is the one that was made.
func (r *row) same(path string) bool {
	now, err := os.Stat(path)
	return err == nil && now.Size() == r.outSize && now.ModTime().UnixNano() == r.outTime
}

func (l *Ledger) row(ctx context.Context, out string) (*row, error) {
	if l == nil {
		return nil, nil
	}
	var r row
	var source, text []byte
	err := l.db.Read().QueryRowContext(ctx,
		"SELECT source, size, mtime_ns, stamp, output_size, output_mtime, record FROM mastering_record WHERE output = ?", []byte(out)).
		Scan(&source, &r.size, &r.mtime, &r.stamp, &r.outSize, &r.outTime, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up a mastering record: %w", err)
	}
	r.source = string(source)
	if err := json.Unmarshal(text, &r.rec); err != nil {
		return nil, fmt.Errorf("read a mastering record: %w", err)
	}
	return &r, nil
}

// owns reports that this program made the file at out, from whatever source. The file's
// own tag says so if a kill came between the file and its record.
func (l *Ledger) owns(ctx context.Context, out string) (bool, error) {
	row, err := l.row(ctx, out)
	if err != nil || row != nil && row.same(out) {
		return err == nil, err
	}
	info, err := ffmpeg.Probe(ctx, out)
	var refused *ffmpeg.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return false, err
	}
	return strings.HasPrefix(info.Tags["encoded_by"], madeBy), nil
}

// done returns the record of job if its result is already in place.
func (l *Ledger) done(ctx context.Context, job Job, stamp string) (Record, bool, error) {
	row, err := l.row(ctx, job.Out)
	if row == nil || err != nil {
		return Record{}, false, err
	}
	in, err := os.Stat(job.In)
	if err != nil || row.source != job.In || row.stamp != stamp || in.Size() != row.size || in.ModTime().UnixNano() != row.mtime || !row.same(job.Out) {
		return Record{}, false, nil //nolint:nilerr // opening it fails with the same error
	}
	row.rec.Resumed = true
	return row.rec, true, nil
}

func (l *Ledger) add(ctx context.Context, s *source, job Job, stamp string, rec Record) error {
	if l == nil {
		return nil
	}
	out, err := os.Stat(job.Out)
	if err != nil {
		return plainer(err)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("save a mastering record: %w", err)
	}
	// The file is there: a cancelled run should not have to make it again.
	ctx = context.WithoutCancel(ctx)
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO mastering_record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			[]byte(job.Out), []byte(job.In), s.stat.Size(), s.stat.ModTime().UnixNano(), stamp,
			out.Size(), out.ModTime().UnixNano(), s.sha256, text, time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("save a mastering record: %w", err)
	}
	return nil
}
