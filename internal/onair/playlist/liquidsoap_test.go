package playlist_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// The engine prints what it makes of each entry; base64 because a name may
// hold line breaks and bytes that are no text.
const printEntries = `
settings.init.allow_root.set(true)
settings.log.stdout.set(false)
settings.log.file.set(false)
source = playlist.list([])
b = string.base64.encode
def entry(uri) =
  r = request.create(uri)
  ok = request.resolve(content_type=source, r)
  m = request.metadata(r)
  print("entry #{ok} #{b(request.filename(r))}. #{b(m['type'])}. #{b(m['liq_cross_duration'])}. #{b(m['athir_gain'])}.")
  request.destroy(r)
end
def file(name) =
  guessed = playlist.files(name)
  stated = playlist.files(mime_type="audio/x-mpegurl", name)
  print("file #{guessed == stated}")
  list.iter(entry, stated)
end
def all() =
  list.iter(file, [%s])
  shutdown()
end
thread.run(delay=0., all)
output.dummy(mksafe(source))
`

// Every nasty name and the whole fuzz corpus, as music, with a gain, a cross or
// both, and as imaging, through the real engine: file name, type, cross and gain come out byte for
// byte.
func TestLiquidsoapResolvesEveryNameByteForByte(t *testing.T) {
	dir := t.TempDir()
	items := realFiles(t, dir)
	var files []string
	for rest := items; len(rest) > 0; {
		data, kept, err := playlist.Encode(rest)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.m3u", len(files)))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprintf("%q", name))
		rest = rest[kept:]
	}
	got := liquidsoap(t, dir, fmt.Sprintf(printEntries, strings.Join(files, ",")))
	want := make([]string, 0, len(items))
	for _, item := range items {
		cross, gain := "", ""
		if item.Cross != 0 {
			cross = fmt.Sprint(item.Cross.Seconds())
		}
		if item.Gain != 0 {
			gain = fmt.Sprint(item.Gain)
		}
		want = append(want, fmt.Sprintf("true %q %q %q %q", item.Path, item.Type, cross, gain))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	t.Logf("%d entries in %d playlist files came back byte for byte", len(items), len(files))
}

// realFiles makes an audio file under each name that a file system can hold,
// and returns each as music, as one of the annotated categories and as music with
// a gain, a cross of its own, and both.
func realFiles(t *testing.T, dir string) []playlist.Item {
	t.Helper()
	imaging := []station.Category{
		station.SFX, station.Shorts, station.Jingles, station.Sweepers, station.Ads, station.News,
	}
	var items []playlist.Item
	impossible := 0
	for i, name := range corpus(t) {
		path := fmt.Sprintf("%s/%d/%s", dir, i, name)
		if !possible(name) {
			impossible++
			continue
		}
		if err := os.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, wav(), 0o600); err != nil {
			t.Fatal(err)
		}
		items = append(items, playlist.ItemFor(path, station.English), playlist.ItemFor(path, imaging[i%len(imaging)]),
			playlist.Item{Path: path, Gain: float64(i*1733%8001-4000) / 100}, playlist.Item{Path: path, Cross: time.Duration(i%60+1) * 50 * time.Millisecond},
			playlist.Item{Path: path, Cross: time.Duration(i%9+1) * time.Second, Gain: -1.5})
	}
	if len(items) < 5*40 {
		t.Fatalf("only %d entries, %d names impossible", len(items), impossible)
	}
	t.Logf("%d names of the corpus cannot name a file", impossible)
	return items
}

// possible reports whether a file below a directory can have this name.
func possible(name string) bool {
	if name == "" || strings.HasSuffix(name, "/") || strings.ContainsRune(name, 0) || len(name) > 2000 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// liquidsoap runs a script to its end and returns the entries it printed.
func liquidsoap(t *testing.T, dir, script string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	file := filepath.Join(dir, "test.liq")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := proc.Output(ctx, proc.Spec{Name: "liquidsoap", Path: "liquidsoap", Args: []string{file}, Dir: dir}, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for l := range strings.SplitSeq(string(out), "\n") {
		if l == "file false" {
			t.Error("the engine's guess of the format differs from audio/x-mpegurl")
		}
		var ok, path, typ, cross, gain string
		if n, _ := fmt.Sscanf(l, "entry %s %s %s %s %s", &ok, &path, &typ, &cross, &gain); n == 5 {
			entries = append(entries, fmt.Sprintf("%s %q %q %q %q", ok, text(t, path), text(t, typ), text(t, cross), text(t, gain)))
		}
	}
	return entries
}

func text(t *testing.T, encoded string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "."))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wav is a tenth of a second of silence.
func wav() []byte {
	const samples = 4410
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+2*samples)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // mono
	b = binary.LittleEndian.AppendUint32(b, 44100)
	b = binary.LittleEndian.AppendUint32(b, 88200)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, 2*samples)
	return append(b, make([]byte, 2*samples)...)
}
