package demo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// packets is the hash of a file's audio packets, as another program reads them, and
// fails where that complains of anything.
func packets(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	_, err := proc.Output(t.Context(), proc.Spec{Name: "sh", Path: "sh", Args: []string{
		"-c", `ffmpeg -nostdin -v warning -err_detect crccheck -i "$0" -map 0:a -c copy -f streamhash -hash sha256 "$1"/hash 2>"$1"/said && ! grep . "$1"/said >&2`, path, dir,
	}}, 1<<16)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	hash, err := os.ReadFile(filepath.Join(dir, "hash"))
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// wholePages checks numbers and checksums, the latter bit by bit as RFC 3533 has them.
func wholePages(t *testing.T, file []byte) (pages int) {
	t.Helper()
	for len(file) > 0 {
		p, err := firstOggPage(file)
		if err != nil {
			t.Fatalf("page %d: %v", pages, err)
		}
		file = file[len(p):]
		if n := binary.LittleEndian.Uint32(p[18:]); int(n) != pages {
			t.Fatalf("page %d has the number %d", pages, n)
		}
		want := binary.LittleEndian.Uint32(p[22:])
		crc := uint32(0)
		for i, v := range p {
			if i >= 22 && i < 26 {
				v = 0
			}
			crc ^= uint32(v) << 24
			for range 8 {
				if crc>>31 == 1 {
					crc = crc<<1 ^ 0x04c11db7
				} else {
					crc <<= 1
				}
			}
		}
		if crc != want {
			t.Fatalf("page %d has a wrong checksum", pages)
		}
		pages++
	}
	return pages
}

// Copying must change nothing but the tags, whether or not the tags take more pages
// than those that they replace.
func TestARetaggedSongHasTheSameAudioAndOurTags(t *testing.T) {
	tracks, _, err := packageTracks("/usr/share")
	if err != nil || len(tracks) == 0 {
		t.Fatalf("%d tracks (%v): run 'make deps'", len(tracks), err)
	}
	dir := t.TempDir()
	for i, file := range []string{
		"/usr/share/games/wesnoth/1.16/data/core/music/revelation.ogg", "/usr/share/games/wesnoth/1.16/data/core/music/transience.ogg",
		"/usr/share/games/singularity/music/win/Apex Aleph.ogg",
		"/usr/share/games/wesnoth/1.16/data/core/music/battle-epic.ogg", // a packet behind the headers
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v: run 'make deps'", err)
		}
		for _, long := range []int{0, 70_000} {
			tags := [][2]string{{"artist", "فنان"}, {"title", "أغنية"}, {"LICENSE", "CC0-1.0"}, {"comment", strings.Repeat("ط", long/2)}}
			made, err := retagVorbis(source, tags)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			wholePages(t, made)
			if bytes.Contains(made, []byte("ENCODER=")) && bytes.Contains(source, []byte("ENCODER=")) {
				t.Errorf("%s: a tag of the source is still there", file)
			}
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.ogg", i, long))
			if err := os.WriteFile(path, made, 0o600); err != nil {
				t.Fatal(err)
			}
			if was, is := packets(t, file), packets(t, path); was != is {
				t.Errorf("%s, %d bytes of tags: the audio is another:\n%s%s", file, long, was, is)
			}
			if got := readTags(t, path); got.Artist != "فنان" || got.Title != "أغنية" || got.License != "CC0-1.0" {
				t.Errorf("%s: tags %+v", path, got)
			}
		}
	}
}

// Every Ogg file of the packages is copied without a program: a start waits for them.
func TestThePackagesSongsAreCopiedWithoutAProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tracks, _, err := packageTracks("/usr/share")
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for _, a := range tracks {
		if filepath.Ext(a.path) != ".ogg" {
			continue
		}
		copied++
		if err := a.make(t.Context(), filepath.Join(t.TempDir(), "made.ogg"), 0); err != nil {
			t.Errorf("%s: %v", a.path, err)
		}
	}
	if copied < 30 {
		t.Errorf("only %d songs: run 'make deps'", copied)
	}
}

func TestWhatIsNoPlainVorbisIsNotTouched(t *testing.T) {
	file, err := os.ReadFile("/usr/share/games/wesnoth/1.16/data/core/music/revelation.ogg")
	if err != nil {
		t.Fatalf("%v: run 'make deps'", err)
	}
	second := bytes.Clone(file)
	for name, bad := range map[string][]byte{
		"nothing": nil, "no Ogg": []byte("ID3 and more than twenty-seven bytes"), "cut short": file[:len(file)-1],
		"two streams": append(second, file...), "only its first page": file[:58], "half a header": file[:len(file)/100],
	} {
		if _, err := retagVorbis(bad, nil); !errors.Is(err, errNotPlain) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
