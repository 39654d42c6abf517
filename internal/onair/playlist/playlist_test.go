package playlist_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// The mission's table of Playlist entry annotation, to the letter.
func TestEntriesHaveTheMissionsForm(t *testing.T) {
	want := map[station.Category]string{
		station.SFX:        "annotate:type=sfx,liq_cross_duration=0.2:/m/x.mp3",
		station.Shorts:     "annotate:type=shorts,liq_cross_duration=0.2:/m/x.mp3",
		station.Jingles:    "annotate:type=jingles,liq_cross_duration=0.5:/m/x.mp3",
		station.Sweepers:   "annotate:type=sweepers,liq_cross_duration=0.5:/m/x.mp3",
		station.Ads:        "annotate:type=ads,liq_cross_duration=0.5:/m/x.mp3",
		station.News:       "annotate:type=news,liq_cross_duration=0.5:/m/x.mp3",
		station.ArabicHits: "/m/x.mp3",
		station.English:    "/m/x.mp3",
		station.Mashups:    "/m/x.mp3",
		station.Social:     "/m/x.mp3",
	}
	header := regexp.MustCompile(`\A#EXTM3U athir:1 entries:00001 sum:[0-9a-f]{32}\n`)
	for _, c := range station.Categories() {
		data := encode(t, playlist.ItemFor("/m/x.mp3", c))
		if !header.Match(data) {
			t.Fatalf("header is %q", data[:80])
		}
		lines := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
		if len(lines) != 2 || lines[1] != want[c] {
			t.Errorf("%s: lines %q, want the header and %q", c, lines, want[c])
		}
	}
}

// A song without a mastered copy carries its gain; one whose gain says nothing at a
// hundredth of a decibel is the plain path.
func TestAGainIsWrittenToTheHundredthAndReadBack(t *testing.T) {
	for _, c := range []struct {
		gain float64
		want string
		back float64
	}{
		{0, "/m/x.mp3", 0},
		{math.Copysign(0, -1), "/m/x.mp3", 0},
		{0.0049, "/m/x.mp3", 0},
		{-0.004, "/m/x.mp3", 0},
		{0.005, `annotate:athir_gain="0.01":/m/x.mp3`, 0.01},
		{3, `annotate:athir_gain="3":/m/x.mp3`, 3},
		{-3.254999, `annotate:athir_gain="-3.25":/m/x.mp3`, -3.25},
		{1.0 / 3, `annotate:athir_gain="0.33":/m/x.mp3`, 0.33},
		{playlist.MaxGain, `annotate:athir_gain="40":/m/x.mp3`, 40},
		{-playlist.MaxGain, `annotate:athir_gain="-40":/m/x.mp3`, -40},
	} {
		data := encode(t, playlist.Item{Path: "/m/x.mp3", Gain: c.gain})
		if lines := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }); len(lines) != 2 || lines[1] != c.want {
			t.Errorf("%v dB: lines %q, want %q", c.gain, lines[1:], c.want)
		}
		items, err := playlist.Decode(data)
		if err != nil || len(items) != 1 || items[0].Gain != c.back || items[0].Path != "/m/x.mp3" || items[0].Type != "" {
			t.Errorf("%v dB reads back as %+v, %v", c.gain, items, err)
		}
	}
	data := encode(t, playlist.Item{Path: "/m/\xe9\n.mp3", Gain: -6.5})
	if !bytes.Contains(data, []byte("\nannotate:athir_gain=\"-6.5\":File:x:///m/%E9%0A.mp3\n")) {
		t.Errorf("a name that needs escaping is %q", data[67:140])
	}
}

// A song with a cross of its own names it, also beside a gain.
func TestASongsOwnCrossIsWrittenAndReadBack(t *testing.T) {
	for want, item := range map[string]playlist.Item{
		"annotate:liq_cross_duration=4:/m/x.mp3":                      {Path: "/m/x.mp3", Cross: 4 * time.Second},
		"annotate:liq_cross_duration=0.05:/m/x.mp3":                   {Path: "/m/x.mp3", Cross: 50 * time.Millisecond},
		`annotate:liq_cross_duration=4.5,athir_gain="-3.25":/m/x.mp3`: {Path: "/m/x.mp3", Cross: 4500 * time.Millisecond, Gain: -3.25},
		"annotate:liq_cross_duration=4:File:x:///m/%0A.mp3":           {Path: "/m/\n.mp3", Cross: 4 * time.Second},
	} {
		data := encode(t, item)
		if lines := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }); len(lines) != 2 || lines[1] != want {
			t.Errorf("lines %q, want %q", lines[1:], want)
		}
		if items, err := playlist.Decode(data); err != nil || len(items) != 1 || items[0] != item {
			t.Errorf("%s reads back as %+v, %v", want, items, err)
		}
	}
}

func TestTailThatDoesNotFitIsLeftOut(t *testing.T) {
	items := long(120, 400)
	data, kept, err := playlist.Encode(items)
	if err != nil {
		t.Fatal(err)
	}
	got, err := playlist.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != playlist.Size || kept != len(got) {
		t.Fatalf("%d bytes, kept %d, decoded %d", len(data), kept, len(got))
	}
	if diff := cmp.Diff(items[:kept], got); diff != "" {
		t.Fatal(diff)
	}
	// One more entry would not have fitted: kept is the most there is room for.
	line := len("annotate:type=sweepers,liq_cross_duration=0.5:") + 400 + 1
	if room := playlist.Size - 67; kept != room/line {
		t.Fatalf("kept %d of %d-byte lines in %d bytes", kept, line, room)
	}
}

// A killed writer leaves whole pages of the new list before whole pages of the
// old one. Then every line must still be a whole entry of one of the two.
func TestTornPagesHoldOnlyWholeEntries(t *testing.T) {
	a, b := encode(t, long(120, 180)...), encode(t, long(120, 205)...)
	whole := map[string]bool{}
	for _, l := range strings.Split(string(a)+string(b), "\n") {
		whole[l] = true
	}
	for at := 4096; at < playlist.Size; at += 4096 {
		torn := append(bytes.Clone(b[:at]), a[at:]...)
		if _, err := playlist.Decode(torn); !errors.Is(err, playlist.ErrTorn) {
			t.Errorf("torn at %d: %v", at, err)
		}
		for _, l := range strings.Split(string(torn), "\n") {
			if !whole[l] {
				t.Errorf("torn at %d: line %q belongs to neither list", at, l)
			}
		}
	}
}

func TestItemsNoListCanCarryAreAllNamed(t *testing.T) {
	good := playlist.Item{Path: "/m/x.mp3"}
	cross := 200 * time.Millisecond
	for _, c := range []struct {
		item playlist.Item
		want error
	}{
		{playlist.Item{Path: ""}, playlist.ErrNotAbsolute},
		{playlist.Item{Path: "#x.mp3"}, playlist.ErrNotAbsolute},
		{playlist.Item{Path: "http://x/y.mp3"}, playlist.ErrNotAbsolute},
		{playlist.Item{Path: "/x\x00.mp3"}, playlist.ErrNUL},
		{playlist.Item{Path: "/" + strings.Repeat("x", 4095)}, playlist.ErrLongPath},
		{playlist.Item{Path: "/x", Type: "music", Cross: cross}, playlist.ErrType},
		{playlist.Item{Path: "/x", Type: "sfx,autoplay=1", Cross: cross}, playlist.ErrType},
		{playlist.Item{Path: "/x", Type: "sfx"}, playlist.ErrCross},
		{playlist.Item{Path: "/x", Type: "sfx", Cross: -cross}, playlist.ErrCross},
		{playlist.Item{Path: "/x", Type: "sfx", Cross: cross + 1}, playlist.ErrCross},
		{playlist.Item{Path: "/x", Type: "sfx", Cross: cross, Gain: 1}, playlist.ErrGain},
		{playlist.Item{Path: "/x", Cross: -cross}, playlist.ErrCross},
		{playlist.Item{Path: "/x", Cross: playlist.MaxCross + cross}, playlist.ErrCross},
		{playlist.Item{Path: "/x", Gain: playlist.MaxGain + 0.001}, playlist.ErrGain},
		{playlist.Item{Path: "/x", Gain: -playlist.MaxGain - 0.001}, playlist.ErrGain},
		{playlist.Item{Path: "/x", Gain: math.NaN()}, playlist.ErrGain},
		{playlist.Item{Path: "/x", Gain: math.Inf(-1)}, playlist.ErrGain},
	} {
		data, kept, err := playlist.Encode([]playlist.Item{good, c.item, good, c.item})
		var refused *playlist.RefusedError
		if !errors.As(err, &refused) || !errors.Is(err, c.want) || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%+v: got %v, want %v", c.item, err, c.want)
			continue
		}
		if data != nil || kept != 0 || len(refused.Items) != 2 || refused.Items[0].Index != 1 || refused.Items[1].Index != 3 {
			t.Errorf("%+v: %d bytes, kept %d, refused %+v", c.item, len(data), kept, refused.Items)
		}
	}
}

func TestAnEmptyListIsNeverEncodedAndABlankFileIsWhole(t *testing.T) {
	if data, _, err := playlist.Encode(nil); !errors.Is(err, playlist.ErrEmpty) || data != nil {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	items, err := playlist.Decode(playlist.Blank())
	if err != nil || len(items) != 0 {
		t.Fatalf("%v, %v", items, err)
	}
}

func TestDecodeRefusesWhatIsNotAWholeList(t *testing.T) {
	data := encode(t, long(9, 100)...)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":       {nil, playlist.ErrSize},
		"short":         {data[:playlist.Size-1], playlist.ErrSize},
		"long":          {append(bytes.Clone(data), '\n'), playlist.ErrSize},
		"foreign":       {bytes.Repeat([]byte("/a/b.mp3\n"), playlist.Size)[:playlist.Size], playlist.ErrForeign},
		"zeroes":        {make([]byte, playlist.Size), playlist.ErrForeign},
		"changed entry": {flip(data, 200), playlist.ErrTorn},
		"changed pad":   {flip(data, playlist.Size-1), playlist.ErrTorn},
		"other count":   {bytes.Replace(data, []byte("entries:00009"), []byte("entries:00008"), 1), playlist.ErrForeign},
	} {
		if _, err := playlist.Decode(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// FuzzRoundTrip: whatever the name, the list is Size bytes, its neighbours
// survive, and the name comes back byte for byte.
func FuzzRoundTrip(f *testing.F) {
	for i, path := range nasty() {
		f.Add(path, uint8(i))
	}
	f.Fuzz(func(t *testing.T, path string, kind uint8) {
		path = "/" + path
		c := station.Categories()[int(kind)%len(station.Categories())]
		items := []playlist.Item{
			playlist.ItemFor("/first.mp3", station.News), playlist.ItemFor(path, c), playlist.ItemFor("/last.mp3", station.English),
			{Path: path, Gain: (float64(kind)*31 - 3953) / 100}, {Path: path, Cross: time.Duration(kind)*13*time.Millisecond + time.Millisecond},
			{Path: path, Cross: time.Duration(kind+1) * 200 * time.Millisecond, Gain: 0.5}, {Path: "/last.mp3"},
		}
		data, kept, err := playlist.Encode(items)
		if errors.Is(err, playlist.ErrNUL) || errors.Is(err, playlist.ErrLongPath) {
			return
		}
		if err != nil || len(data) != playlist.Size || kept != len(items) {
			t.Fatalf("%d bytes, kept %d, %v", len(data), kept, err)
		}
		got, err := playlist.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(items, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDecode: no input makes Decode panic, and what it accepts can be encoded.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("/a.mp3\nannotate:type=sfx,liq_cross_duration=0.2:File:x:///b%0A.mp3\n"))
	f.Add([]byte("annotate:type=sfx,liq_cross_duration=1e9:/x\n"))
	f.Add([]byte("File:x:///%zz\n"))
	f.Add([]byte("annotate:athir_gain=\"-3.25\":/x\nannotate:athir_gain=\"0x1p-2\":/x\nannotate:athir_gain=\"NaN\":/x\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		const room = playlist.Size - 67
		body = append(body, bytes.Repeat([]byte{'\n'}, room)...)[:room]
		data := playlist.Sealed(body, len(bytes.FieldsFunc(body, func(r rune) bool { return r == '\n' })))
		items, err := playlist.Decode(data)
		if err != nil || len(items) == 0 {
			return
		}
		if _, _, err := playlist.Encode(items); err != nil {
			t.Fatalf("decoded %+v cannot be encoded: %v", items, err)
		}
	})
}

// nasty is a table of file names that broke something, somewhere. Relative:
// tests put a directory before them.
func nasty() []string {
	return []string{
		"plain.mp3", `a"b'c.mp3`, "#{1+1}.mp3", "#lead", " lead", "trail ", "tab\tx", "col:on,comma=x", "\\back\\n\\",
		"annotate:type=ads,liq_cross_duration=9:/etc/passwd", "http://x/y.mp3", "file:///x", "FILE:x:///y%41", "File:x:///y%41", "~root/x",
		"%41%zz%", "100%", "أنا عايش‏‎.mp3", "\u202eevil", "\ufeffbom", "e\u0301 nfd é nfc", "\U0001f3b5", "\u0085\u2028\u2029",
		"latin-\xe9", "windows-1256 \xc3\xcb\xed\xd1.mp3", "\xff\xfe", "cut short\xe2\x82", "\xed\xa0\x80 surrogate", "\xc0\xaf overlong",
		"\x01\x1b[31m\x7f", "$(id)`id`;|&><*?", "EXTM3U", "#EXTINF:1,artist - title", "[playlist]", `FILE "x" WAVE`,
		"line\nbreak.mp3", "line\r\nbreak\r", "\n", "\n/etc/passwd", "\n#EXTM3U", "+ plus%2B", "vt\vff\f", "{}[]()<>", "a=1,b=2:c",
		strings.Repeat("ط", 120) + ".mp3", strings.Repeat("\xe9", 250),
	}
}

// corpus returns the names in the table and every name the fuzzer has kept.
func corpus(t *testing.T) []string {
	t.Helper()
	names := nasty()
	const dir = "testdata/fuzz/FuzzRoundTrip"
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if _, err := fmt.Sscanf(string(text), "go test fuzz v1\nstring(%q)\n", &name); err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		names = append(names, name)
	}
	return names
}

func encode(t *testing.T, items ...playlist.Item) []byte {
	t.Helper()
	data, kept, err := playlist.Encode(items)
	if err != nil || kept != len(items) || len(data) != playlist.Size {
		t.Fatalf("encode: %d bytes, kept %d of %d, %v", len(data), kept, len(items), err)
	}
	return data
}

// long makes n sweepers whose paths are size bytes.
func long(n, size int) []playlist.Item {
	items := make([]playlist.Item, n)
	for i := range items {
		items[i] = playlist.ItemFor(fmt.Sprintf("/%0*d", size-1, i), station.Sweepers)
	}
	return items
}

func flip(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 1
	return data
}
