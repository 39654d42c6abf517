package azuracast

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/kit/file"
)

// counting counts what is read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A row that is larger than memory is not read to its end before that is noticed.
func TestARowThatIsTooMuchEndsWhereItIs(t *testing.T) {
	wide := "CREATE TABLE `station` (`c0` int"
	for i := range 511 {
		wide += fmt.Sprintf(", `c%d` int", i+1)
	}
	value := ",'" + strings.Repeat("x", 1<<20) + "'"
	for _, c := range []struct {
		create, want  string
		values, most  int
		atMostIsBytes int64
	}{
		{wide, "more than 32 MiB", 200, mostKept, 40 << 20},
		{wide, "1 GiB", 200, 4 << 20, 8 << 20},
		{"CREATE TABLE `station` (`c0` int, `c1` text", "more than 2 values", 200, mostKept, 4 << 20},
	} {
		parts := []io.Reader{strings.NewReader(c.create + ");\nINSERT INTO `station` VALUES (1")}
		for range c.values {
			parts = append(parts, strings.NewReader(value))
		}
		from := &counting{r: io.MultiReader(append(parts, strings.NewReader(");\n"))...)}
		d := newDump()
		d.most = c.most
		if _, err := d.read(newLexer(from)); err == nil || !strings.Contains(err.Error(), c.want) || from.n > c.atMostIsBytes {
			t.Errorf("%q: %v after %d bytes", c.want, err, from.n)
		}
	}
}

const small = "CREATE TABLE `station` (`id` int, `name` text, `radio_base_dir` text);\nINSERT INTO `station` VALUES (1,'x','/var/azuracast/stations/x');\n" +
	"CREATE TABLE `station_media` (`id` int, `station_id` int, `path` text);\nINSERT INTO `station_media` VALUES (1,1,'a.mp3'),(2,1,'a.mp3'),(3,1,'b.mp3');\n" +
	"CREATE TABLE `station_playlists` (`id` int, `station_id` int, `name` text, `playback_order` text, `is_enabled` int);\nINSERT INTO `station_playlists` VALUES (1,1,'All','sequential',1);\n" +
	"CREATE TABLE `station_playlist_media` (`id` int, `playlist_id` int, `media_id` int, `weight` int);\nINSERT INTO `station_playlist_media` VALUES (1,1,2,1),(2,1,3,2),(3,1,1,3);\n"

const inMedia = "var/azuracast/stations/x/media/"

// Names of files may have a megabyte in a tar: such a one is no file of a station.
func TestNamesOfFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", mostName+1)
	for _, form := range []string{"b.tar", "b.zip"} {
		st := importtest.WriteBackup(t, filepath.Join(dir, form), []importtest.Entry{{Name: long, Data: []byte("x")}, {Name: inMedia + "a.mp3", Data: []byte("a")}, {Name: "db.sql", Data: []byte(small)}})
		b, err := openBundle(t.Context(), Source{File: st, Temp: dir})
		if err != nil || !slices.Equal(b.names, []string{inMedia + "a.mp3"}) || len(b.sizes) != 1 {
			t.Fatalf("%s: %v %d names", form, err, len(b.names))
		}
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}
	// And all together.
	name := filepath.Join(dir, "many.tar")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	for i := range mostNames/mostName + 2 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%05d", i) + long[:mostName-5], Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := openBundle(t.Context(), Source{File: name, Temp: dir}); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Error(err)
	}
}

// What an archive has that was exchanged after it was read is not remembered.
func TestAnArchiveThatHasChangedIsNotRemembered(t *testing.T) {
	dir := t.TempDir()
	name := importtest.WriteBackup(t, filepath.Join(dir, "b.tar"), []importtest.Entry{{Name: inMedia + "a.mp3", Data: []byte("a")}, {Name: "db.sql", Data: []byte(small)}})
	other := []importtest.Entry{}
	for i := range 50 {
		other = append(other, importtest.Entry{Name: fmt.Sprintf("other/%d.mp3", i)})
	}
	importtest.WriteBackup(t, name, append(other, importtest.Entry{Name: inMedia + "a.mp3", Data: []byte("a")}))
	s := &stream{file: name, size: 1 << 20, temp: dir}
	r, err := s.entry(t.Context(), inMedia+"a.mp3", map[string]int64{inMedia + "a.mp3": 1})
	if err != nil || len(s.passed) != 1 {
		t.Errorf("%v: %d names are kept", err, len(s.passed))
	}
	if err := errors.Join(r.Close(), s.end()); err != nil {
		t.Error(err)
	}
}

func TestADirectoryOfAZipFileIsBounded(t *testing.T) {
	name := importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.zip"), []importtest.Entry{{Name: "db.sql", Data: []byte(small)}})
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// It has another end, of zip64, as its comment: that says that there are 2³⁰ files.
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	record := append([]byte("PK\x06\x06"), make([]byte, 52)...)
	record[24+3], record[32+3] = 0x40, 0x40
	locator := append([]byte("PK\x06\x07"), make([]byte, 16)...)
	locator[8], locator[9], locator[10] = byte(end), byte(end>>8), byte(end>>16)
	last := bytes.Clone(b[end:])
	last[8], last[9], last[10], last[11] = 0xff, 0xff, 0xff, 0xff
	if err := os.WriteFile(name, slices.Concat(b[:end], record, locator, last), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), Source{File: name}); err == nil || !strings.Contains(err.Error(), "1,000,000") {
		t.Error(err)
	}
}

// The dump is where azuracast:backup puts it, or where people put it: not among the media.
func TestADumpAmongTheMediaIsNone(t *testing.T) {
	evil := strings.ReplaceAll(small, "'x'", "'evil'")
	for _, form := range []string{"b.zip", "b.tar"} {
		for _, at := range []string{"db.sql", "backup.sql", "backup/db.sql", "tmp/azuracast_backup_mariadb/db.sql", "x/y/azuracast_backup_mariadb/db.sql"} {
			file := importtest.WriteBackup(t, filepath.Join(t.TempDir(), form), []importtest.Entry{
				{Name: inMedia + "db.sql", Data: []byte(evil)}, {Name: inMedia + "azuracast_backup_mariadb/db.sql", Data: []byte(evil)}, {Name: "media/db.sql", Data: []byte(evil)}, {Name: "a/b/db.sql", Data: []byte(evil)},
				{Name: at, Data: []byte(small)}, {Name: "later/db.sql", Data: []byte(evil)},
			})
			if st := read(t, Source{File: file}); st.Name != "x" {
				t.Errorf("%s in %s: %q is read", at, form, st.Name)
			}
		}
	}
}

// Several rows with one path are one file: else each would have the archive read anew.
func TestRowsWithOnePathAreOneTrack(t *testing.T) {
	st := read(t, Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.tar"), []importtest.Entry{
		{Name: inMedia + "a.mp3", Data: []byte("a")}, {Name: inMedia + "b.mp3", Data: []byte("b")}, {Name: "db.sql", Data: []byte(small)},
	})})
	if len(st.Tracks) != 2 || !slices.Equal(st.Playlists[0].Items, []string{"1", "3", "1"}) {
		t.Errorf("%d tracks, in a playlist %v", len(st.Tracks), st.Playlists[0].Items)
	}
}

func TestReadingAnArchiveEndsWithTheWork(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	st, err := Read(ctx, Source{Temp: t.TempDir(), File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.tgz"), []importtest.Entry{
		{Name: inMedia + "a.mp3", Data: []byte("a")}, {Name: "db.sql", Data: []byte(small)},
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	stop()
	if _, err := st.Tracks[0].Open(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The disk keeps its reserve, whether files come out of an archive or over the network.
func TestADiskKeepsItsReserve(t *testing.T) {
	a := importtest.NewAzura(30, 1)
	served := a.Serve(t)
	for name, from := range map[string]Source{
		"tar": {File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.tar"), a.Entries(true))},
		"api": {Address: served.URL, Key: importtest.Key, Fetch: reaching(time.Millisecond)},
	} {
		free := uint64(1 << 40)
		from.Station, from.Space = "athir", func(string) (uint64, uint64, error) { return free, 1 << 40, nil }
		st := read(t, from) // which sees that nothing is left behind
		checkFile(t, a.Stations[0], st.Tracks[0])
		free = 1<<30 - 1
		var full *file.NoRoomError
		if _, err := st.Tracks[1].Open(); !errors.As(err, &full) || !file.Full(err) {
			t.Errorf("%s: %v", name, err)
		}
		free = 1 << 40
		checkFile(t, a.Stations[0], st.Tracks[1])
	}
}

// many answers as a list or page of so many entries.
func many(t *testing.T, entry string, n int) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/stations"):
			_, _ = io.WriteString(w, `[{"id":1,"name":"x"}]`)
		case strings.HasSuffix(r.URL.Path, "/files"):
			_, _ = io.WriteString(w, `{"total_pages":400,"rows":[`+strings.Repeat(entry+",", n-1)+entry+`]}`)
		default:
			_, _ = io.WriteString(w, "[]")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// What an answer becomes is bounded, over all its pages, and what is no track is not kept.
func TestAnswersAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		entry string
		n     int
	}{
		"nothing":     {`{}`, 1_500_000},
		"little":      {`{"id":1,"path":"x"}`, 250_000},
		"many places": {`{"id":1,"path":"x","playlists":[` + strings.Repeat("{},", 99_999) + `{}]}`, 5},
	} {
		s := many(t, c.entry, c.n)
		r := &remote{base: s.URL, from: Source{Fetch: reaching(time.Millisecond)}}
		kept := 0
		err := pages(t.Context(), r, "/station/1/files", func(f remoteFile) error {
			kept++
			return r.keep(len(f.Playlists), entryBytes+placeBytes*len(f.Playlists))
		})
		if !errors.Is(err, errAnsweredTooMuch) || kept > 1_600_000 {
			t.Errorf("%s: %v after %d", name, err, kept)
		}
	}
	st := read(t, Source{Address: many(t, `{}`, 1).URL, Fetch: reaching(time.Millisecond)})
	if len(st.Tracks) != 0 {
		t.Errorf("%d tracks", len(st.Tracks))
	}
	if _, err := Read(t.Context(), Source{Address: many(t, `{"id":1,"path":"`+strings.Repeat("x", 1<<20)+`"}`, 1).URL, Fetch: reaching(time.Millisecond)}); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Error(err)
	}
}
