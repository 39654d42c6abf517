package importtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Entry is a file of a backup.
type Entry struct {
	Name string
	Data []byte
}

// Entries are what a backup has, in the order in which azuracast:backup puts them: uploads, the
// stations' media unless they are left out, and the dump.
func (a *Azura) Entries(media bool) []Entry {
	out := []Entry{{"var/azuracast/storage/uploads/background.jpg", []byte("jpeg")}}
	if media {
		for _, s := range a.Stations {
			for _, m := range s.Media {
				if m.File != nil {
					out = append(out, Entry{"var/azuracast/stations/" + s.Short + "/media/" + m.Path, m.File})
				}
			}
			out = append(out, Entry{"var/azuracast/stations/" + s.Short + "/recordings/x.mp3", []byte("x")})
		}
	}
	return append(out, Entry{"tmp/azuracast_backup_mariadb/db.sql", a.Dump()})
}

// WriteBackup writes a backup in the form that a name's ending says: .zip, .tar, .tar.gz, .tgz,
// .tzst, .tar.zst, .sql, .sql.gz or .sql.zst.
func WriteBackup(t testing.TB, file string, entries []Entry) string {
	t.Helper()
	var out bytes.Buffer
	name := filepath.Base(file)
	plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch {
	case strings.HasSuffix(name, ".zip"):
		z := zip.NewWriter(&out)
		for _, e := range entries {
			w, err := z.Create(e.Name)
			must(t, err)
			_, err = w.Write(e.Data)
			must(t, err)
		}
		must(t, z.Close())
	case strings.HasSuffix(plain, ".sql"):
		w := squeezed(t, &out, name)
		_, err := w.Write(entries[len(entries)-1].Data)
		must(t, err)
		must(t, w.Close())
	default:
		w := squeezed(t, &out, name)
		r := tar.NewWriter(w)
		for _, e := range entries {
			must(t, r.WriteHeader(&tar.Header{Name: e.Name, Mode: 0o644, Size: int64(len(e.Data)), ModTime: time.Unix(1.7e9, 0), Typeflag: tar.TypeReg}))
			_, err := r.Write(e.Data)
			must(t, err)
		}
		must(t, r.Close())
		must(t, w.Close())
	}
	must(t, os.WriteFile(file, out.Bytes(), 0o600))
	return file
}

func squeezed(t testing.TB, out io.Writer, name string) io.WriteCloser {
	switch {
	case strings.HasSuffix(name, "gz"):
		return gzip.NewWriter(out)
	case strings.HasSuffix(name, "zst"):
		w, err := zstd.NewWriter(out)
		must(t, err)
		return w
	}
	return kept{out}
}

type kept struct{ io.Writer }

// Close implements io.Closer.
func (kept) Close() error { return nil }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
