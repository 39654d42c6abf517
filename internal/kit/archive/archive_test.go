package archive_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/athir-radio/athir/internal/kit/archive"
)

// wrote makes an archive of texts by name.
func wrote(t testing.TB, names []string, text map[string]string) []byte {
	t.Helper()
	m := archive.Manifest{Program: "1", Station: "أثير", Made: time.Unix(1e9, 0).UTC(), Why: "test", Schema: map[string]int64{"a": 1}}
	for _, name := range names {
		m.Files = append(m.Files, archive.File{Name: name, Bytes: int64(len(text[name]))})
	}
	var out bytes.Buffer
	w, err := archive.NewWriter(&out, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if body, there := text[name]; !there {
			w.Gone(name)
		} else if err := w.AddText(name, 0o600, time.Unix(2e9, 0), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readAll(b []byte, most int64) (map[string]string, error) {
	r, err := archive.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	got := map[string]string{}
	return got, r.Each(most, func(f archive.File, contents io.Reader) error {
		text, err := io.ReadAll(contents)
		got[f.Name] = string(text)
		return err
	})
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	text := map[string]string{"athir.db": strings.Repeat("page", 1e5), "chat/media/ab/أ": "x", "empty": ""}
	b := wrote(t, []string{"athir.db", "gone", "chat/media/ab/أ", "empty"}, text)
	got, err := readAll(b, 1<<20)
	if err != nil || len(got) != 3 || got["athir.db"] != text["athir.db"] || got["chat/media/ab/أ"] != "x" {
		t.Fatalf("%d files, %v", len(got), err)
	}
	if _, err := readAll(b, 1e5); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("more than there is room for: %v", err)
	}
}

// An archive that was cut or changed anywhere is refused.
func TestEveryCutAndEveryChangedByteIsSeen(t *testing.T) {
	b := wrote(t, []string{"a", "b/c"}, map[string]string{"a": strings.Repeat("some text ", 50), "b/c": "more"})
	for n := range b {
		if _, err := readAll(b[:n], 1<<20); err == nil {
			t.Errorf("cut after %d of %d bytes, and taken", n, len(b))
		}
	}
	for n := range b {
		changed := bytes.Clone(b)
		changed[n] ^= 0x40
		got, err := readAll(changed, 1<<20)
		if err == nil && (got["a"] != strings.Repeat("some text ", 50) || got["b/c"] != "more") {
			t.Errorf("byte %d changed, and taken", n)
		}
	}
}

func TestAShortFileIsAnError(t *testing.T) {
	w, err := archive.NewWriter(io.Discard, archive.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(archive.File{Name: "a", Bytes: 5}, strings.NewReader("four")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// entry is one of an archive that another program wrote.
type entry struct {
	tar.Header
	body string
}

// forged makes an archive of any entries.
func forged(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range entries {
		e.Size = int64(len(e.body))
		e.Mode = 0o777
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func manifest(t testing.TB, format int, names ...string) entry {
	t.Helper()
	m := archive.Manifest{Format: format}
	for _, name := range names {
		m.Files = append(m.Files, archive.File{Name: name})
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return entry{tar.Header{Name: "manifest.json"}, string(text)}
}

func TestHostileArchivesAreRefused(t *testing.T) {
	file := func(name string) entry { return entry{tar.Header{Name: name}, "x"} }
	for name, c := range map[string]struct {
		entries []entry
		want    error
	}{
		"no manifest":     {[]entry{file("athir.db")}, archive.ErrNotArchive},
		"not JSON":        {[]entry{{tar.Header{Name: "manifest.json"}, "{"}}, archive.ErrDamaged},
		"no format":       {[]entry{manifest(t, 0)}, archive.ErrNotArchive},
		"a later format":  {[]entry{manifest(t, 2)}, archive.ErrNewer},
		"upwards":         {[]entry{manifest(t, 1, "../x"), file("../x")}, archive.ErrDamaged},
		"upwards within":  {[]entry{manifest(t, 1, "a/../../x"), file("a/../../x")}, archive.ErrDamaged},
		"absolute":        {[]entry{manifest(t, 1, "/etc/passwd"), file("/etc/passwd")}, archive.ErrDamaged},
		"a backslash":     {[]entry{manifest(t, 1, `..\x`), file(`..\x`)}, archive.ErrDamaged},
		"a link":          {[]entry{manifest(t, 1, "a"), {tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""}}, archive.ErrDamaged},
		"a hard link":     {[]entry{manifest(t, 1, "a"), {tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, ""}}, archive.ErrDamaged},
		"a device":        {[]entry{manifest(t, 1, "a"), {tar.Header{Name: "a", Typeflag: tar.TypeChar}, ""}}, archive.ErrDamaged},
		"a folder":        {[]entry{manifest(t, 1, "a"), {tar.Header{Name: "a/", Typeflag: tar.TypeDir}, ""}}, archive.ErrDamaged},
		"not in the list": {[]entry{manifest(t, 1, "a"), file("b")}, archive.ErrDamaged},
		"twice":           {[]entry{manifest(t, 1, "a"), file("a"), file("a")}, archive.ErrDamaged},
		"no sums":         {[]entry{manifest(t, 1, "a"), file("a")}, archive.ErrDamaged},
		"empty sums":      {[]entry{manifest(t, 1, "a"), file("a"), {tar.Header{Name: "sums.json"}, "{}"}}, archive.ErrDamaged},
		"less than said":  {[]entry{manifest(t, 1, "a"), {tar.Header{Name: "sums.json"}, "{}"}}, archive.ErrDamaged},
		"more behind it":  {[]entry{manifest(t, 1), {tar.Header{Name: "sums.json"}, "{}"}, file("b")}, archive.ErrDamaged},
	} {
		if _, err := readAll(forged(t, c.entries...), 1<<20); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("hello"), "gzip": {0x1f, 0x8b, 8, 0}} {
		if _, err := readAll(b, 1<<20); !errors.Is(err, archive.ErrNotArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that grows a thousandfold costs no more than what was said it may.
func TestABombIsRefusedBeforeItIsRead(t *testing.T) {
	b := forged(t, manifest(t, 1, "a"), entry{tar.Header{Name: "a"}, strings.Repeat("\x00", 64<<20)})
	if len(b) > 64<<10 {
		t.Fatalf("%d bytes", len(b))
	}
	r, err := archive.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Each(1<<20, func(archive.File, io.Reader) error {
		t.Error("it was given to be read")
		return nil
	})
	if !errors.Is(err, archive.ErrTooLarge) {
		t.Error(err)
	}
}

// Whatever comes, the reader ends without a panic, and gives no name that leads out.
func FuzzReader(f *testing.F) {
	f.Add(wrote(f, []string{"athir.db", "chat/a"}, map[string]string{"athir.db": "db", "chat/a": "x"}))
	f.Add(forged(f, manifest(f, 1, "../x"), entry{tar.Header{Name: "../x"}, "x"}))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := archive.NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		defer r.Close()
		_ = r.Each(1<<20, func(f archive.File, _ io.Reader) error {
			if rel, err := filepath.Rel("/in", filepath.Join("/in", f.Name)); err != nil || rel == "." || strings.HasPrefix(rel, "..") {
				t.Errorf("%q leads out", f.Name)
			}
			return nil
		})
	})
}
