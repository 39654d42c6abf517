package libretime

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
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
	const wide = "INSERT INTO cc_pref (id" // a table has so many columns as one says
	for _, c := range []struct{ columns, want string }{
		{strings.Repeat(", valstr", 400), "more than 32 MiB"},
		{", valstr", "more than 2 values"},
	} {
		parts := []io.Reader{strings.NewReader(wide + c.columns + ") VALUES (1")}
		for range 300 {
			parts = append(parts, strings.NewReader(",'"+strings.Repeat("x", 1<<20)+"'"))
		}
		from := &counting{r: io.MultiReader(append(parts, strings.NewReader(");\n"))...)}
		if _, err := readDump(from); err == nil || !strings.Contains(err.Error(), c.want) || from.n > 40<<20 {
			t.Errorf("%q: %v after %d bytes", c.want, err, from.n)
		}
	}
}

// A station with more than 200,000 rows of a table is one; what counts is what is kept.
func TestHowMuchIsKeptIsBoundedByBytes(t *testing.T) {
	dump := "COPY public.cc_files (id, filepath) FROM stdin;\n\\.\nCOPY public.cc_playlistcontents (id) FROM stdin;\n" + strings.Repeat("1\n", 250_000) + "\\.\n"
	d, err := readDump(strings.NewReader(dump))
	if err != nil || len(d.tables["cc_playlistcontents"].rows) != 250_000 {
		t.Fatal(err)
	}
	d = newDatabase()
	d.most = 1 << 20
	_, err = d.read(newScanner(strings.NewReader(dump)))
	if rows := len(d.tables["cc_playlistcontents"].rows); err == nil || !strings.Contains(err.Error(), "512 MiB") || rows == 0 || rows*(24+9*16) > 1<<20 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

// A zip file whose end says that there are 2³⁰ files is not given room for them.
func TestADirectoryOfAZipFileIsBounded(t *testing.T) {
	record := "PK\x06\x06" + strings.Repeat("\x00", 20) + "\x00\x00\x00\x40\x00\x00\x00\x00" + "\x00\x00\x00\x40\x00\x00\x00\x00" + strings.Repeat("\x00", 16)
	locator := "PK\x06\x07" + strings.Repeat("\x00", 4) + "\x04" + strings.Repeat("\x00", 11)
	end := "PK\x05\x06" + strings.Repeat("\x00", 4) + strings.Repeat("\xff", 12) + "\x00\x00"
	if _, err := Read(t.Context(), Source{File: write(t, "x.zip", []byte("PK\x03\x04"+record+locator+end))}); err == nil || !strings.Contains(err.Error(), "1,000,000") {
		t.Error(err)
	}
}

// What an answer becomes is bounded, over all its pages.
func TestAnswersAreBounded(t *testing.T) {
	page := `{"next":"http://x/?page=2","results":[` + strings.Repeat("{},", 9_999) + `{}]}`
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; _, _ = io.WriteString(w, page) }))
	t.Cleanup(s.Close)
	d := newDatabase()
	d.most = 8 << 20
	err := newRemote(Source{Address: s.URL, Fetch: client(1)}).list(t.Context(), d, resource{path: "files", table: "cc_files"})
	if rows := len(d.tables["cc_files"].rows); err == nil || !strings.Contains(err.Error(), "512 MiB") || asked != 3 || rows*21*16 > 8<<20 {
		t.Errorf("%v after %d rows of %d pages", err, rows, asked)
	}
	for _, body := range []string{`{"results":null}`, `{}`, `"x"`, `[1]`, `[{"name":"` + strings.Repeat("x", 1<<20) + `"}]`} {
		page = body
		if err := newRemote(Source{Address: s.URL, Fetch: client(1)}).list(t.Context(), newDatabase(), resource{path: "files", table: "cc_files"}); err == nil || !strings.Contains(err.Error(), "check the address") {
			t.Errorf("%.30s: %v", body, err)
		}
	}
}

// The disk keeps its reserve while files are downloaded.
func TestADiskKeepsItsReserve(t *testing.T) {
	free := uint64(1<<30 - 1)
	from := Source{Address: importtest.NewLibre(12).Serve(t, false).URL, Key: importtest.LibreKey, Fetch: client(1), Temp: t.TempDir(), Now: time.Now()}
	from.Space = func(string) (uint64, uint64, error) { return free, 1 << 40, nil }
	st := read(t, from)
	var full *file.NoRoomError
	if _, err := st.Tracks[0].Open(); !errors.As(err, &full) || !file.Full(err) {
		t.Error(err)
	}
	free = 1 << 40
	r, err := st.Tracks[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
