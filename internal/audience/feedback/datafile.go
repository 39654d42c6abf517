package feedback

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/kit/emoji"
	"github.com/athir-radio/athir/internal/kit/file"
)

// fileEvery is how often the data file is written while reactions come in. Other
// programs read it; the counts of record are in the database.
const fileEvery = time.Minute

// mostInFile bounds what is read of a data file, in bytes.
const mostInFile = 1 << 20

// takeOver imports the reactions of a data file that existed before this station's
// first start.
func (r *Reactions) takeOver(ctx context.Context) error {
	var taken bool
	if err := r.opt.DB.Read().QueryRowContext(ctx, `SELECT taken FROM reactions_state`).Scan(&taken); err != nil {
		return fmt.Errorf("read reactions: %w", err)
	}
	if taken {
		return nil
	}
	before, err := readFile(r.opt.DataFile)
	if err != nil {
		aside := r.opt.DataFile + ".unread"
		r.opt.Log.Warn("reactions data file not imported", "file", r.opt.DataFile, "moved_to", aside, "err", errors.Join(err, os.Rename(r.opt.DataFile, aside)))
	}
	err = r.opt.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := keepReactions(ctx, tx, before); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE reactions_state SET taken = 1`)
		return err
	})
	if err != nil {
		return fmt.Errorf("import reactions data file: %w", err)
	}
	if len(before) > 0 {
		r.opt.Log.Info("reactions imported", "file", r.opt.DataFile, "emoji", len(before))
	}
	return nil
}

// readFile reads the emoji and counts of a data file and skips everything else.
func readFile(path string) (map[string]int64, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Size() > mostInFile:
		return nil, fmt.Errorf("file has %d bytes, more than %d", info.Size(), mostInFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raw map[string]float64
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for name, n := range raw {
		if full, ok := emoji.Full(name); ok && n >= 1 && n <= 1<<50 {
			out[full] += int64(n)
		}
	}
	return out, nil
}

// keepFile writes the data file when reactions came in, and once more at the end.
func (r *Reactions) keepFile(ctx context.Context) {
	if r.opt.DataFile == "" {
		return
	}
	var written map[string]int64
	write := func() {
		if counts := r.Counts(); !maps.Equal(counts, written) {
			if err := writeFile(r.opt.DataFile, counts); err != nil {
				r.opt.Log.Warn("reactions data file not written", "file", r.opt.DataFile, "err", err)
				return
			}
			written = counts
		}
	}
	tick := time.NewTicker(fileEvery)
	defer tick.Stop()
	defer write()
	for {
		write()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// writeFile replaces the file as a whole.
func writeFile(path string, counts map[string]int64) error {
	text, err := json.MarshalIndent(counts, "", " ")
	if err != nil {
		return err
	}
	return file.WriteAtomic(path, append(text, '\n'), 0o600)
}
