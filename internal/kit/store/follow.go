package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// foldAt is the size of the log at which the follower has it folded into the database,
	// and mostLog that at which SQLite does it without the follower: where the target is
	// away or too slow, the log stays this size and the follower begins a generation anew.
	foldAt, mostLog = 4 << 20, 64 << 20
	// leastPieces is what the pieces of a generation may come to, or twice its whole copy.
	leastPieces = 64 << 20
	mostPieces  = 20_000
	longestWait = time.Minute // between two tries where the target fails
)

// Follower copies each commit of a database to a folder, which may be a network's: first
// the whole database, then every so often the pages that were committed since, as pieces
// with a sum and the sum of the piece before. Rebuild makes the database of them.
//
// Nothing is written to the folder while the writer is held, so that one that hangs keeps
// nobody from writing. What the log had that was not copied, after a start, after another
// program folded the log, or where the target was away for too long, the next generation
// has: a whole copy in a folder of its own. The one before stays until it is whole.
type Follower struct {
	DB    *DB
	To    string // must be there: a folder that is made where a disk is not mounted copies nothing
	Every time.Duration
	Log   *slog.Logger
	// Beside copies what else belongs to it, after the database; may be nil. A step of which
	// it fails has failed.
	Beside func() error
	// Room refuses a whole copy for which the database's own disk has no room: it is made
	// beside the database, so that no target is waited for with the log held. May be nil.
	Room func(bytes int64) error

	mu     sync.Mutex
	status Following
	gen    *generation // Run's own

	fold, most int64 // a test's, instead of foldAt and mostLog
}

// Following is how far a continuous copy is.
type Following struct {
	Until      time.Time // all that was committed before it is in the copy; zero: nothing is yet
	Generation string
	Pieces     uint64
	Bytes      int64  // of the generation
	Err        string // why the newest try failed; empty: it did not
}

type generation struct {
	dir         string
	head        pieceHead // of the newest piece
	sum         [32]byte  // and its sum
	end         logEnd    // what is in the copy
	folded      bool      // all of that is in the database file: the next commit begins the log anew
	base, bytes int64
}

// Status tells how far it is.
func (f *Follower) Status() Following {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run copies until ctx ends, and then what is left. A target that hangs is left to
// itself then.
func (f *Follower) Run(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	last := time.NewTimer(2 * time.Second)
	defer last.Stop()
	select {
	case <-done:
	case <-last.C:
		f.Log.Warn("the continuous copy is left as it is: its folder does not answer", "to", f.To)
	}
}

func (f *Follower) run(ctx context.Context) {
	wait, failing := f.Every, false
	for {
		err := f.Step(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if !failing {
				f.Log.Warn("the continuous copy fails, and is tried again", "to", f.To, "err", err)
			}
			if failing = true; f.gen == nil && !errors.Is(err, errAway) { // a whole copy is work
				wait = min(2*wait, longestWait)
			}
		default:
			if failing {
				f.Log.Info("the continuous copy works again", "to", f.To)
			}
			wait, failing = f.Every, false
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			if f.gen != nil {
				_ = f.Step(context.WithoutCancel(ctx))
			}
			return
		case <-timer.C:
		}
	}
}

// Step copies what was committed before it.
func (f *Follower) Step(ctx context.Context) error {
	now := time.Now()
	err := f.step(ctx, now)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.status.Err = err.Error()
		return err
	}
	f.status = Following{Until: now, Generation: filepath.Base(f.gen.dir), Pieces: f.gen.head.Number, Bytes: f.gen.bytes}
	return nil
}

func (f *Follower) step(ctx context.Context, now time.Time) error {
	if err := f.DB.Present(); err != nil {
		return err
	}
	if g := f.gen; g != nil && (g.bytes-g.base > max(leastPieces, 2*g.base) || g.head.Number >= mostPieces) {
		f.gen = nil
	}
	if f.gen != nil {
		err := f.catchUp(ctx, now)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err = os.Stat(f.To); err != nil {
				err = errAway
			} else {
				err = errLogAnew // its folder was removed
			}
		}
		if errors.Is(err, errLogAnew) {
			f.gen = nil
		} else if err != nil {
			return fmt.Errorf("copy to %s: %w", f.To, err)
		}
	}
	if f.gen == nil {
		if err := f.begin(ctx, now); err != nil {
			return fmt.Errorf("copy the database to %s: %w", f.To, err)
		}
	}
	if f.Beside != nil {
		if err := f.Beside(); err != nil {
			return fmt.Errorf("copy to %s: %w", f.To, err)
		}
	}
	return nil
}

// catchUp writes what is in the log as a piece, and has a long log folded.
func (f *Follower) catchUp(ctx context.Context, now time.Time) error {
	// The folder may be away, which is to be known before a log of up to mostLog is read for
	// it, and where there is nothing to write.
	if _, err := os.Stat(filepath.Join(f.gen.dir, baseName)); err != nil {
		return err
	}
	log := f.DB.path + "-wal"
	from := f.gen.end
	news, err := readLog(log, from, true)
	if errors.Is(err, errLogAnew) && f.gen.folded {
		// All of the old one is copied. This one is its successor, unless it was begun anew
		// more than once.
		if news, err = readLog(log, logEnd{}, true); err == nil && news.end != (logEnd{}) && news.end.salt[0] != from.salt[0]+1 {
			err = errLogAnew
		}
	}
	if err == nil && from == (logEnd{}) && news.end != from && (news.round > 0 || !f.gen.folded) {
		err = errLogAnew
	}
	if err != nil {
		return err
	}
	if err := f.write(news, now); err != nil {
		return err
	}
	if f.gen.end.frames*int64(f.gen.head.PageSize) < cmp.Or(f.fold, foldAt) || f.gen.folded {
		return nil
	}
	return f.foldLog(ctx, log)
}

// write makes a piece of commits.
func (f *Follower) write(c commits, now time.Time) error {
	g := f.gen
	if len(c.changed) == 0 {
		if c.end != (logEnd{}) { // else it is empty as yet
			g.end = c.end
		}
		return nil
	}
	h := g.head
	h.Number, h.Before, h.At, h.Pages, h.Changed = h.Number+1, g.sum, now.UnixMilli(), c.pages, uint32(len(c.changed)) //nolint:gosec // no more than there are pages
	sum, size, err := writePiece(filepath.Join(g.dir, pieceName(h.Number)), h, func(w io.Writer) error {
		for _, n := range slices.Sorted(maps.Keys(c.changed)) {
			if err := binary.Write(w, binary.BigEndian, n); err != nil {
				return err
			}
			if _, err := w.Write(c.changed[n]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.head, g.sum, g.end, g.folded = h, sum, c.end, false
	g.bytes += size
	return nil
}

// foldLog has the log folded into the database if all of it is in the copy, so that the next
// commit begins it anew. It never waits for readers.
func (f *Follower) foldLog(ctx context.Context, log string) error {
	conn, err := f.DB.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to its pool
	more, err := readLog(log, f.gen.end, false)
	if err != nil || more.end != f.gen.end {
		return err // committed meanwhile: the next step copies it, and folds then
	}
	f.gen.folded, err = restart(ctx, conn, f.gen.end)
	return err
}

// restart folds a log that ends at end and reports whether the next commit begins it anew,
// whoever commits. Where a reader is in the way it does not wait.
func restart(ctx context.Context, conn *sql.Conn, end logEnd) (bool, error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return false, err
	}
	var busy, frames, done int64
	err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &frames, &done)
	_, again := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", busyMillis))
	return busy == 0 && frames == done && frames == end.frames, errors.Join(err, again)
}

var (
	// errAway means that the target is not there.
	errAway = errors.New("the folder is not there: mount its disk, or make it")
	// errOther keeps a new or another database from taking the place of the one copied there.
	errOther = errors.New("the folder has the copy of another database: restore that, or choose an empty folder")
)

// begin writes a whole copy as a new generation.
func (f *Follower) begin(ctx context.Context, now time.Time) (err error) {
	if info, err := os.Stat(f.To); err != nil || !info.IsDir() {
		return errAway
	}
	all, err := generations(f.To)
	if err != nil {
		return err
	}
	line, err := f.lineage(ctx)
	if err != nil {
		return err
	}
	number := 1
	if len(all) > 0 {
		if lineageOf(all[len(all)-1]) != line {
			return errOther
		}
		if _, err := fmt.Sscanf(filepath.Base(all[len(all)-1]), "%010d", &number); err != nil {
			return err
		}
		number++
	}
	prune(all)
	g := &generation{head: pieceHead{Magic: pieceMagic, At: now.UnixMilli()}}
	_, _ = rand.Read(g.head.Generation[:]) // never fails
	copy(g.head.Generation[:], line[:])
	g.dir = filepath.Join(f.To, fmt.Sprintf("%010d-%s", number, hex.EncodeToString(g.head.Generation[:])))
	scratch := f.DB.path + ".copy"
	if err := os.Remove(scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.Room != nil {
		if err := f.Room(sizeOf(f.DB.path) + sizeOf(f.DB.path+"-wal")); err != nil {
			return err
		}
	}
	defer os.Remove(scratch) //nolint:errcheck // the next removes it
	if err := f.snapshot(ctx, g, scratch); err != nil {
		return err
	}
	if _, err := Check(ctx, scratch); err != nil { // what is damaged takes no good copy's place
		return err
	}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(g.dir)
		}
	}()
	from, err := os.Open(scratch)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read
	if g.head.Pages, g.head.PageSize, err = extent(from); err != nil {
		return err
	}
	g.sum, g.base, err = writePiece(filepath.Join(g.dir, baseName), g.head, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
	if err = errors.Join(err, syncFolder(f.To)); err != nil {
		return err
	}
	g.bytes, f.gen = g.base, g
	return nil
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// lineage is drawn once for a database, and goes with it through backups and restores: the
// number that SQLite keeps in its header for the application. A generation's begins with it.
func (f *Follower) lineage(ctx context.Context) (line [4]byte, err error) {
	var n int32
	if err := f.DB.writer.QueryRowContext(ctx, "PRAGMA application_id").Scan(&n); err != nil {
		return line, err
	}
	if binary.BigEndian.PutUint32(line[:], uint32(n)); n != 0 { //nolint:gosec // the same bits
		return line, nil
	}
	_, _ = rand.Read(line[:]) // never fails
	line[3] |= 1
	_, err = f.DB.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", int32(binary.BigEndian.Uint32(line[:])))) //nolint:gosec // the same bits
	return line, err
}

// lineageOf is the lineage of the database that a generation's folder has.
func lineageOf(folder string) (line [4]byte) {
	_, name, _ := strings.Cut(filepath.Base(folder), "-")
	_, _ = hex.Decode(line[:], []byte(name[:2*len(line)])) // generationName has looked at it
	return line
}

// snapshot copies the database beside itself, and notes where in the log it ends.
func (f *Follower) snapshot(ctx context.Context, g *generation, to string) error {
	conn, err := f.DB.writer.Conn(ctx) // nobody here commits until the copy's transaction has begun
	if err != nil {
		return err
	}
	free := sync.OnceFunc(func() { _ = conn.Close() })
	defer free()
	var size int64
	if err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", cmp.Or(f.most, mostLog)/size)); err != nil {
		return err
	}
	log := f.DB.path + "-wal"
	before, err := readLog(log, logEnd{}, false)
	if err != nil {
		return err
	}
	if g.folded, err = restart(ctx, conn, before.end); err != nil {
		return err
	}
	g.end = before.end
	return snapshot(ctx, f.DB.path, to, nil, nil, func() error {
		defer free()
		begun, err := readLog(log, logEnd{}, false)
		if err == nil && begun.end != before.end {
			err = errors.New("another process writes to the database: it is tried again")
		}
		return err
	})
}

// extent is the size of a database file in pages, and that of a page.
func extent(f *os.File) (pages, size uint32, err error) {
	var b [2]byte
	if _, err := f.ReadAt(b[:], 16); err != nil {
		return 0, 0, err
	}
	if size = uint32(binary.BigEndian.Uint16(b[:])); size == 1 {
		size = 65536
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	return uint32(info.Size() / int64(size)), size, nil //nolint:gosec // SQLite has no more pages than that
}

// prune removes generations but the newest that has its whole copy: a new one comes.
func prune(all []string) {
	kept := false
	for _, dir := range slices.Backward(all) {
		if _, err := os.Stat(filepath.Join(dir, baseName)); err == nil && !kept {
			kept = true
			continue
		}
		_ = os.RemoveAll(dir)
	}
}
