package azuracast

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/athir-radio/athir/internal/kit/bounded"
	"github.com/athir-radio/athir/internal/kit/file"
)

const (
	mostEntries = 1_000_000
	mostName    = 4 << 10   // bytes of a file's name: no system has longer ones
	mostNames   = 64 << 20  // bytes of all
	mostDump    = 64 << 30  // bytes of a database dump, decompressed
	mostMedia   = 2 << 30   // bytes of one file: the library takes no larger one
	mostWindow  = 128 << 20 // bytes that a zstd stream may look back
	atOnce      = 16 << 20  // bytes that are written between looks at the disk
	// A compressed archive may grow by so much; sound hardly does.
	mostGrowth, growthFree = 50, 64 << 30
)

// bundle is a backup: where its files are, by their names without a leading slash, and what
// its database has.
type bundle struct {
	dump  *dump
	names []string // in the order of the archive, which one pass reads best
	sizes map[string]int64
	open  func(name string) (io.ReadCloser, error)
	close func() error
}

// openBundle reads a backup by what is in it, not by its name: a zip, a tar, plain or
// compressed with gzip or zstd, or the dump alone in any of these.
func openBundle(ctx context.Context, from Source) (*bundle, error) {
	f, err := os.Open(from.File)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file: choose the backup itself, and name a folder with --media")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	head := make([]byte, 4)
	n, _ := f.ReadAt(head, 0)
	if head = head[:n]; bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		return zipped(ctx, f, info.Size())
	}
	_ = f.Close()
	return streamed(ctx, &stream{file: from.File, size: info.Size(), temp: from.Temp, space: from.Space})
}

// entryName is the name of an entry, if it is one of a file that may be read: nothing leads
// out of the archive.
func entryName(called string) (string, bool) {
	called = strings.TrimPrefix(strings.TrimPrefix(called, "./"), "/")
	return called, called != "." && len(called) <= mostName && fs.ValidPath(called)
}

// isDump reports the dump among the files of a backup: at its top, one folder down, or in the
// folder that azuracast:backup makes for it (tmp/azuracast_backup_mariadb). A file that is called
// so among a station's media is none: whoever uploads there would write the database.
func isDump(called string) bool {
	folder, base := path.Split(called)
	parts := strings.Split(strings.TrimSuffix(folder, "/"), "/")
	switch {
	case folder == "":
		return strings.HasSuffix(base, ".sql")
	case base != "db.sql", slices.Contains(parts, "media"), slices.Contains(parts, "stations"):
		return false
	}
	return len(parts) == 1 || strings.HasPrefix(parts[len(parts)-1], "azuracast_backup")
}

var errNoDump = errors.New("there is no db.sql in it: choose the file that azuracast:backup makes")

// grown is why a dump or a file is not read to its end.
const grown = "it grows beyond all bounds when it is unpacked: is it the backup?"

func zipped(ctx context.Context, f *os.File, size int64) (_ *bundle, err error) {
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	z, err := bounded.Zip(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("the zip file cannot be read: is it whole? %w", err)
	}
	b := &bundle{sizes: map[string]int64{}, close: f.Close}
	files := map[string]*zip.File{}
	for _, e := range z.File {
		called, ok := entryName(e.Name)
		if !ok || !e.Mode().IsRegular() {
			continue
		}
		if b.dump == nil && isDump(called) {
			if b.dump, err = zippedDump(ctx, e, called); err != nil {
				return nil, err
			}
			continue
		}
		if _, twice := files[called]; !twice && e.UncompressedSize64 <= mostMedia {
			files[called], b.sizes[called] = e, int64(e.UncompressedSize64) //nolint:gosec // bounded above
			b.names = append(b.names, called)
		}
	}
	if b.dump == nil {
		return nil, errNoDump
	}
	b.open = func(name string) (io.ReadCloser, error) {
		e := files[name]
		if e == nil {
			return nil, fs.ErrNotExist
		}
		return e.Open() // no more comes out than the entry says, and its sum is checked
	}
	return b, nil
}

func zippedDump(ctx context.Context, e *zip.File, called string) (*dump, error) {
	r, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%s in the backup: %w", called, err)
	}
	defer r.Close() //nolint:errcheck // only read
	return readDump(bounded.Reader(ctx, r, mostDump, grown))
}

// stream is a backup that is read from its beginning to its end.
type stream struct {
	file string
	size int64
	temp string
	// space is how much a disk takes; nil: as the system says.
	space func(dir string) (free, size uint64, err error)

	mu     sync.Mutex
	from   *os.File
	unzip  io.Closer
	tar    *tar.Reader
	passed map[string]bool // what the reading that is under way has passed
}

// raw opens the file and decompresses it.
func (s *stream) raw(ctx context.Context) (io.Reader, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return nil, err
	}
	s.from = f
	r := bufio.NewReaderSize(f, 1<<20)
	head, _ := r.Peek(4)
	var out io.Reader = r
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		out, s.unzip = z, z
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		closer := z.IOReadCloser()
		out, s.unzip = closer, closer
	}
	return bounded.Reader(ctx, out, growthFree+mostGrowth*s.size, grown), nil
}

func (s *stream) end() error {
	if s.unzip != nil {
		_ = s.unzip.Close()
	}
	if s.from != nil {
		_ = s.from.Close()
	}
	s.from, s.unzip, s.tar, s.passed = nil, nil, nil, nil
	return nil
}

// streamed reads a tar once: it notes where the files are, and reads the dump on the way.
func streamed(ctx context.Context, s *stream) (_ *bundle, err error) {
	defer func() { _ = s.end() }()
	r, err := s.raw(ctx)
	if err != nil {
		return nil, err
	}
	b := &bundle{sizes: map[string]int64{}}
	buffered := bufio.NewReaderSize(r, 1<<20)
	if head, err := buffered.Peek(512); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if !isTar(head) {
		b.open = func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
		b.close = func() error { return nil }
		b.dump, err = readDump(buffered)
		return b, err
	}
	t, names := tar.NewReader(buffered), 0
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return nil, fmt.Errorf("the archive cannot be read to its end: is it whole? %w", err)
		}
		called, ok := entryName(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if b.dump == nil && isDump(called) {
			if b.dump, err = readDump(t); err != nil {
				return nil, err
			}
			continue
		}
		if _, twice := b.sizes[called]; twice || h.Size > mostMedia {
			continue
		}
		b.names = append(b.names, called)
		if names += len(called); len(b.names) > mostEntries || names > mostNames {
			return nil, errors.New("it has more than 1,000,000 files, or their names take more than 64 MiB")
		}
		b.sizes[called] = h.Size
	}
	if b.dump == nil {
		return nil, errNoDump
	}
	b.open = func(name string) (io.ReadCloser, error) {
		if _, there := b.sizes[name]; !there {
			return nil, fs.ErrNotExist
		}
		return s.entry(ctx, name, b.sizes)
	}
	b.close = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.end()
	}
	return b, nil
}

// isTar reports the mark of a tar of POSIX or GNU.
func isTar(head []byte) bool { return len(head) >= 262 && bytes.Equal(head[257:262], []byte("ustar")) }

// entry brings one file out of the archive, into a file that is removed when it is closed. Who
// opens them in the order of the archive reads it once; who goes back has it read anew.
func (s *stream) entry(ctx context.Context, name string, sizes map[string]int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tar == nil || s.passed[name] {
		_ = s.end()
		r, err := s.raw(ctx)
		if err != nil {
			return nil, err
		}
		s.tar, s.passed = tar.NewReader(r), map[string]bool{}
	}
	for {
		h, err := s.tar.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			_ = s.end()
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("%s is not in the backup any more: has it changed? %w", name, err)
		}
		called, ok := entryName(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if _, known := sizes[called]; known { // of an archive that has changed there may be no end
			s.passed[called] = true
		}
		if called != name || h.Size != sizes[name] {
			continue
		}
		return spool(s.tar, s.temp, h.Size, s.space)
	}
}

// spool copies to a file that is removed when it is closed, while the disk keeps its reserve.
func spool(r io.Reader, dir string, size int64, space func(dir string) (free, size uint64, err error)) (io.ReadCloser, error) {
	f, err := os.CreateTemp(dir, "athir-import-*")
	if err != nil {
		return nil, err
	}
	t, room := temporary{f}, file.Room{Dir: filepath.Dir(f.Name()), Space: space}
	for have := int64(0); err == nil && have < size; {
		if err = room.After(have, size); err == nil {
			var n int64
			n, err = io.CopyN(f, r, min(size-have, atOnce))
			have += n
		}
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

// Close implements io.Closer.
func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }
