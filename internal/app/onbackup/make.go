package onbackup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/store"
)

// Options of Make. Config and Version are required.
type Options struct {
	Config  *config.Config
	Version string
	Why     Why
	Choice  Choice
	To      string    // folder; empty: the one of the settings
	Out     io.Writer // in place of a folder
	// Hold may wait before each piece of work; Show is told how far it is. Both may be nil.
	Hold func(ctx context.Context) error
	Show func(Progress)
}

// Progress is how far a backup is, in bytes.
type Progress struct {
	Step        string // database, files, verify
	Done, Total int64
}

// Report is what a backup came to be.
type Report struct {
	File     string    `json:"file,omitempty"` // empty where it went to Out
	Bytes    int64     `json:"bytes"`
	Files    int       `json:"files"`
	Contents int64     `json:"contents"` // bytes of the files
	Made     time.Time `json:"made"`
	Seconds  float64   `json:"seconds"`
	// Gone counts files that were removed while the backup was made, Left names what could
	// not be taken in: its name is no text.
	Gone int      `json:"gone,omitempty"`
	Left []string `json:"left,omitempty"`
}

// maker makes one backup.
type maker struct {
	Options
	scratch string // folder on the data's own disk
	files   []found
	m       archive.Manifest
	report  Report
	left    atomic.Int64 // bytes of the step under way that are still to come
}

// Make writes a backup of the station, running or not, and opens it again before it gets
// its name: every sum, every page of the database and the settings are right then. What
// does not verify is removed. Where a disk has no room, or others fill it meanwhile, it ends
// with ErrNoRoom before it takes what stays free for the air. No older backup is touched.
func Make(ctx context.Context, o Options) (Report, error) {
	if o.Hold == nil {
		o.Hold = func(ctx context.Context) error { return ctx.Err() }
	}
	if o.Show == nil {
		o.Show = func(Progress) {}
	}
	if o.To == "" {
		o.To = o.Config.BackupDir()
	}
	begin := time.Now()
	m := &maker{Options: o, scratch: filepath.Join(o.Config.DataDir, ".backup")}
	m.Show = func(p Progress) { m.left.Store(p.Total - p.Done); o.Show(p) }
	m.Hold = func(ctx context.Context) error {
		if err := o.Hold(ctx); err != nil {
			return err
		}
		return m.watch()
	}
	err := m.filled(m.locked(ctx))
	m.report.Seconds = time.Since(begin).Seconds()
	if err != nil {
		err = fmt.Errorf("make a backup: %w", err)
	}
	return m.report, err
}

// locked works while it is the only one: what another left behind is swept.
func (m *maker) locked(ctx context.Context) error {
	held, err := lock.Acquire(m.Config.NodeDir(), "backup")
	var other *lock.HeldError
	if errors.As(err, &other) {
		return fmt.Errorf("process %s is making one: wait for it", other.Process)
	}
	if err != nil {
		return err
	}
	defer held.Release()
	if err := os.RemoveAll(m.scratch); err != nil {
		return err
	}
	if err := os.Mkdir(m.scratch, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(m.scratch) //nolint:errcheck // the next one sweeps it
	if err := m.database(ctx); err != nil {
		return err
	}
	if err := m.collect(); err != nil {
		return err
	}
	if m.Out != nil {
		return m.stream(ctx)
	}
	return m.write(ctx)
}

// database copies the database into the scratch folder and looks it through.
func (m *maker) database(ctx context.Context) error {
	m.m = archive.Manifest{
		Program: m.Version, Station: m.Config.Name, Made: time.Now().UTC().Truncate(time.Second), Why: string(m.Why), Schema: map[string]int64{},
	}
	m.report.Made = m.m.Made
	size := sizeOf(m.Config.Database()) + sizeOf(m.Config.Database()+"-wal")
	if size == 0 {
		return nil // a station that has not been on the air
	}
	need := size
	if m.Out != nil {
		need += size // what passes is verified beside the copy
	}
	if err := m.room(m.scratch, need); err != nil {
		return err
	}
	copied := filepath.Join(m.scratch, databaseName)
	if err := store.Snapshot(ctx, m.Config.Database(), copied, m.Hold, func(done, total int64) {
		m.Show(Progress{"database", done, total})
	}); err != nil {
		return err
	}
	versions, err := store.Check(ctx, copied)
	if errors.Is(err, store.ErrNotDatabase) {
		return fmt.Errorf("%w: the database of the station is damaged: the backups before are whole, see 'athir restore --help'", err)
	} else if err != nil {
		return err
	}
	m.m.Schema = versions
	return nil
}

// collect lists the files; the database's is the copy.
func (m *maker) collect() error {
	for _, p := range m.Choice.of(m.Config) {
		if p.name == databaseName {
			p.path = filepath.Join(m.scratch, databaseName)
		}
		files, left, err := p.walk()
		if err != nil {
			return err
		}
		m.files, m.report.Left = append(m.files, files...), append(m.report.Left, left...)
	}
	for _, f := range m.files {
		m.m.Files = append(m.m.Files, f.File)
	}
	m.report.Contents = m.m.Bytes()
	return nil
}

// ownFolder makes a folder for backups, and nothing above it: what is missing there is mostly
// a disk that is not mounted, or a slip of the keyboard.
func ownFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch info, statErr := os.Stat(dir); {
	case statErr == nil && info.IsDir():
		return nil
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is no folder: choose another with backup.to or --to", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is missing: mount its disk or make the folder, or choose another with backup.to or --to", filepath.Dir(dir))
	}
	return fmt.Errorf("%w: choose another folder with backup.to or --to", err)
}

// write makes the archive in its folder, under a name of its own until it is verified.
func (m *maker) write(ctx context.Context) (err error) {
	if err := ownFolder(m.To); err != nil {
		return err
	}
	m.sweep()
	if err := m.room(m.To, m.report.Contents); err != nil {
		return err
	}
	name := fileName(m.Config, m.m.Made, m.Why, 1)
	part := filepath.Join(m.To, "."+name+partSuffix)
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator's own folder
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	if err := m.pack(ctx, f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if m.report.Bytes, err = f.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	// The one that is verified takes its place.
	if err := os.Remove(filepath.Join(m.scratch, databaseName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := m.verify(ctx, f); err != nil {
		return fmt.Errorf("verify the backup that was just written: %w", err)
	}
	for n := 1; ; n++ { // several may be made in a second
		m.report.File = filepath.Join(m.To, fileName(m.Config, m.m.Made, m.Why, n))
		if _, err := os.Lstat(m.report.File); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := os.Rename(part, m.report.File); err != nil {
		return err
	}
	return file.SyncDir(m.To)
}

// stream writes the archive to where nothing can be read back, and verifies what passes.
func (m *maker) stream(ctx context.Context) error {
	r, w := io.Pipe()
	verified := make(chan error, 1)
	go func() {
		err := m.verify(ctx, r)
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // pack must not wait for nobody
		verified <- err
	}()
	counted := &counter{to: io.MultiWriter(m.Out, w)}
	err := m.pack(ctx, counted)
	_ = w.CloseWithError(err) // nil is the end of the file
	m.report.Bytes = counted.n
	if verr := <-verified; err == nil {
		err = verr
	}
	return err
}

type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// pack writes the archive.
func (m *maker) pack(ctx context.Context, to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 1<<20)
	w, err := archive.NewWriter(buffered, m.m)
	if err != nil {
		return err
	}
	var done int64
	for _, f := range m.files {
		if err := m.Hold(ctx); err != nil {
			return errors.Join(err, w.Close())
		}
		if err := m.add(ctx, w, f, func(n int64) { m.Show(Progress{"files", done + n, m.report.Contents}) }); err != nil {
			_ = w.Close()
			return err
		}
		done += f.Bytes
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

func (m *maker) add(ctx context.Context, w *archive.Writer, f found, show func(int64)) error {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		w.Gone(f.Name)
		m.report.Gone++
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	f.Bytes = info.Size() // what is being recorded has grown
	m.report.Files++
	return w.Add(f.File, &paced{ctx: ctx, from: in, hold: m.Hold, show: show})
}

// paced reads a file in pieces, with a look at hold before each.
type paced struct {
	ctx  context.Context //nolint:containedctx // as long as one file is read
	from io.Reader
	hold func(context.Context) error
	show func(int64)
	n    int64
}

func (p *paced) Read(b []byte) (int, error) {
	if err := p.hold(p.ctx); err != nil {
		return 0, err
	}
	n, err := p.from.Read(b)
	p.n += int64(n)
	p.show(p.n)
	return n, err
}

func (m *maker) verify(ctx context.Context, from io.Reader) error {
	var done int64
	_, err := examine(ctx, from, examination{
		scratch: m.scratch, env: m.Config.Env, most: 1 << 62, hold: m.Hold,
		show: func(n int64) { done += n; m.Show(Progress{"verify", done, m.report.Contents}) },
	})
	return err
}

// sweep removes what a backup that was killed left.
func (m *maker) sweep() {
	left, _ := filepath.Glob(filepath.Join(m.To, ".athir-*"+suffix+partSuffix))
	for _, path := range left {
		if strings.HasPrefix(filepath.Base(path), "."+prefix(m.Config)) {
			_ = os.Remove(path)
		}
	}
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
