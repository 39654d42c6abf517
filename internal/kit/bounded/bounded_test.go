package bounded_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bounded"
)

func archive(t *testing.T, name string, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := range n {
		w, err := z.Create(fmt.Sprint(i, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(w, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAZipFileIsOpenedAsByArchiveZip(t *testing.T) {
	b := archive(t, "é.mp3", 70_000) // its end record is one of zip64
	z, err := bounded.Zip(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(z.File) != 70_000 {
		t.Fatal(err)
	}
	r, err := z.File[69_999].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "69999" {
		t.Errorf("%q %v", got, err)
	}
}

// grown is a zip file whose directory has an entry again and again, made while it is read. What
// its end says is another matter.
type grown struct {
	entry, end []byte
	times      int64
	read       int64
}

func (g *grown) size() int64 { return g.times*int64(len(g.entry)) + int64(len(g.end)) }

func (g *grown) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		switch whole := g.times * int64(len(g.entry)); {
		case at >= g.size():
			return n, io.EOF
		case at >= whole:
			n += copy(p[n:], g.end[at-whole:])
		default:
			n += copy(p[n:], g.entry[at%int64(len(g.entry)):])
		}
	}
	g.read += int64(n)
	return n, nil
}

func newGrown(name string, times int64, said int) *grown {
	g := &grown{times: times}
	g.entry = make([]byte, 46, 46+len(name))
	copy(g.entry, "PK\x01\x02")
	binary.LittleEndian.PutUint16(g.entry[28:], uint16(len(name)))
	g.entry = append(g.entry, name...)
	g.end = make([]byte, 22)
	copy(g.end, "PK\x05\x06")
	binary.LittleEndian.PutUint16(g.end[8:], uint16(said))
	binary.LittleEndian.PutUint16(g.end[10:], uint16(said))
	binary.LittleEndian.PutUint32(g.end[12:], uint32(times*int64(len(g.entry))))
	return g
}

// A directory of hundreds of megabytes is not read to its end, whatever the end record says.
func TestADirectoryThatIsTooLargeIsNotRead(t *testing.T) {
	for _, g := range []*grown{
		newGrown("a", 8<<20, 1),
		newGrown(strings.Repeat("a", 1<<15), 1<<14, 1<<14),
	} {
		if _, err := bounded.Zip(g, g.size()); !errors.Is(err, bounded.ErrEntries) || g.read > 65<<20 {
			t.Errorf("%v after %d bytes", err, g.read)
		}
	}
	// One of zip64 that says so many gets no room for them.
	b := archive(t, "", 70_000)
	at := bytes.LastIndex(b, []byte("PK\x06\x06"))
	binary.LittleEndian.PutUint64(b[at+24:], 1<<30)
	binary.LittleEndian.PutUint64(b[at+32:], 1<<30)
	if _, err := bounded.Zip(bytes.NewReader(b), 1<<40); err == nil {
		t.Error("it is opened")
	}
	if _, err := bounded.Zip(bytes.NewReader(b), int64(len(b))); !errors.Is(err, bounded.ErrEntries) {
		t.Error(err)
	}
}

func TestAListIsReadElementByElement(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "", `[1,{"a":2}]`: `1 {"a":2}`, `{"total":3,"rows":["x",null],"links":{"rows":[7]}}`: `"x" null`, `{"Rows":[4]}`: "4",
		`{"x":[1]}`: "error", `"x"`: "error", `{"rows":null}`: "error", `[1`: "error", `[1,]`: "error", ``: "error", `{"rows":[1],`: "error",
		`["` + strings.Repeat("x", 1<<20) + `"]`: "error",
	} {
		var all []string
		err := bounded.Elements([]byte(text), "rows", func(one json.RawMessage) error {
			all = append(all, string(one))
			return nil
		})
		got := strings.Join(all, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%.40q: %q %v", text, got, err)
		}
	}
	stop, n := errors.New("enough"), 0
	if err := bounded.Elements([]byte(`[1,2,3]`), "", func(json.RawMessage) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}
