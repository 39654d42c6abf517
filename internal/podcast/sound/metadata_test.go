package sound

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"encoding/json"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// read reads ffmetadata by its rules: the value of each title, and the positions of chapters.
func read(data string) (values []string, starts []string) {
	var line strings.Builder
	key, inKey := "", true
	end := func() {
		switch {
		case !inKey && key == "START":
			starts = append(starts, line.String())
		case !inKey && key != "TIMEBASE" && key != "END":
			values = append(values, line.String())
		}
		line.Reset()
		key, inKey = "", true
	}
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\' && i+1 < len(data):
			i++
			line.WriteByte(data[i])
		case c == '\n':
			end()
		case (c == ';' || c == '#') && inKey && line.Len() == 0:
			for i < len(data) && data[i] != '\n' {
				i++
			}
		case c == '=' && inKey:
			key, inKey = line.String(), false
			line.Reset()
		default:
			line.WriteByte(c)
		}
	}
	return values, starts
}

// Whatever texts say, no other tag and no other chapter comes of them.
func FuzzTextsStayTexts(f *testing.F) {
	for _, seed := range []string{"أغنية", "a=b;c#d\\", "\n[CHAPTER]\nSTART=0", "\\\nalbum=x", "\\\\", ";", "#", "x\\", "\u202eturned", "\x00\xff", strings.Repeat("é", 900), " ", "'\"`$(id)"} {
		f.Add(seed, seed, int64(1000))
	}
	f.Fuzz(func(t *testing.T, title, artist string, at int64) {
		tags := podcast.Tags{Title: title, Show: "show", Artist: artist, Number: 3, Chapters: []podcast.Chapter{{StartMS: at, Title: title, Artist: artist}, {StartMS: 7000, Title: "last"}}}
		out := string(metadata(tags, 10*time.Second))
		values, starts := read(out)
		want := []string{oneLine(title), "show", oneLine(artist), "Podcast", "3"}
		if want[2] == "" {
			want[2] = "show"
		}
		if want[0] == "" {
			want = want[1:]
		}
		for _, c := range chapters(tags.Chapters, 10*time.Second) {
			want = append(want, named(c))
		}
		for i := range values {
			values[i] = strings.TrimSuffix(values[i], " ")
		}
		if !slices.Equal(values, want) {
			t.Errorf("%q reads as %q, want %q", out, values, want)
		}
		if len(starts) > 2 || !utf8.ValidString(out) || strings.ContainsRune(out, 0) {
			t.Errorf("%d chapters, valid %v, in %q", len(starts), utf8.ValidString(out), out)
		}
	})
}

// ffmpeg itself reads each text as it was meant: 200 of them, made of what might be special.
func TestFFmpegReadsTextsAsTheyAreMeant(t *testing.T) {
	dir := t.TempDir()
	from, to, texts := filepath.Join(dir, "a.mp3"), filepath.Join(dir, "b.mp3"), filepath.Join(dir, "tags")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=30", from).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	pieces := []string{"\\", "=", ";", "#", "\n", "[CHAPTER]", "title=", "a", "ق", " ", "'", "\"", "%", "$", "\r", "\t", "😀", "/", ":", "-"}
	chance := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test
	var tags podcast.Tags
	for i := range 200 {
		var text strings.Builder
		for range 1 + chance.IntN(8) {
			text.WriteString(pieces[chance.IntN(len(pieces))])
		}
		tags.Chapters = append(tags.Chapters, podcast.Chapter{StartMS: int64(i) * 100, Title: "x" + text.String()})
	}
	tags.Title, tags.Show = tags.Chapters[0].Title, `ends so \`
	if err := os.WriteFile(texts, metadata(tags, 30*time.Second), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ffmpeg.Retag(t.Context(), from, to, ffmpeg.Retagging{Metadata: texts}); err != nil {
		t.Fatal(err)
	}
	told := probe(t.Context(), t, to)
	if len(told.Chapters) != len(tags.Chapters) {
		t.Fatalf("%d chapters, want %d", len(told.Chapters), len(tags.Chapters))
	}
	for i, c := range told.Chapters {
		if got, want := strings.TrimSpace(c.Tags.Title), oneLine(tags.Chapters[i].Title); got != want || c.Start != fmt.Sprintf("%.6f", float64(i)/10) {
			t.Errorf("chapter %d at %s is %q, want %q", i, c.Start, got, want)
		}
	}
	if got := strings.TrimSpace(told.Format.Tags["album"]); got != tags.Show {
		t.Errorf("album %q", got)
	}
}

type told struct {
	Format struct {
		Tags map[string]string `json:"tags"`
	} `json:"format"`
	Chapters []struct {
		Start string `json:"start_time"`
		Tags  struct {
			Title string `json:"title"`
		} `json:"tags"`
	} `json:"chapters"`
}

func probe(ctx context.Context, t *testing.T, path string) (out told) {
	t.Helper()
	data, err := exec.CommandContext(ctx, "ffprobe", "-v", "error", "-of", "json", "-show_chapters", "-show_format", path).Output() //nolint:gosec // test
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Chapters beyond what a table of contents counts are left out, and texts are cut between letters.
func TestTagsAreBounded(t *testing.T) {
	many := make([]podcast.Chapter, 1000)
	for i := range many {
		many[i] = podcast.Chapter{StartMS: int64(i), Title: "a"}
	}
	if got := chapters(many, time.Hour); len(got) != mostChapters {
		t.Errorf("%d chapters", len(got))
	}
	for _, text := range []string{strings.Repeat("é", 900), strings.Repeat("a", 999) + "😀"} {
		if got := oneLine(text); len(got) > longestText || !utf8.ValidString(got) {
			t.Errorf("%d bytes", len(got))
		}
	}
	for tag, want := range map[string]string{"ar": "ara", "en-GB": "eng", "fr": "fra", "": "", "zz zz": ""} {
		if got := threeLetters(tag); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
}
