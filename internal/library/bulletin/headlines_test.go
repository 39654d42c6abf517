package bulletin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	encoding "golang.org/x/text/encoding/unicode"
)

func headlineFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "headlines.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHeadlinesAreTheFirstThreeLines(t *testing.T) {
	utf16, err := encoding.UTF16(encoding.LittleEndian, encoding.UseBOM).NewEncoder().String("خبر أول\r\nخبر ثان\r\n")
	if err != nil {
		t.Fatal(err)
	}
	windows, err := charmap.Windows1256.NewEncoder().String("خبر أول\r\nخبر ثان")
	if err != nil {
		t.Fatal(err)
	}
	two, three := []string{"خبر أول", "خبر ثان"}, []string{"خبر أول", "خبر ثان", "خبر ثالث"}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":                   {"خبر أول\nخبر ثان\nخبر ثالث\nخبر رابع\n", three},
		"no end of line":          {"خبر أول\nخبر ثان", two},
		"a byte order mark, CRLF": {"\ufeffخبر أول\r\nخبر ثان\r\nخبر ثالث\r\n", three},
		"old Mac ends":            {"خبر أول\rخبر ثان", two},
		"blank lines":             {"\n\n  \t\nخبر أول\n\u200f\n---\n؟\nخبر ثان\n\n", two},
		"list marks and spaces":   {"- خبر   أول\n\t• خبر\u00a0ثان ", two},
		"bidi and controls":       {"\u202bخبر \u200eأول\u202c\x07\n\u2067خ\u200dبر\x00 ثان\u2069\x1b", two},
		"UTF-16":                  {utf16, two},
		"Windows-1256":            {windows, two},
	} {
		got, err := ReadHeadlines(headlineFile(t, c.text))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestLongHeadlinesAreCutAtAWord(t *testing.T) {
	long := strings.Repeat("كلمات طويلة ", 500)
	got, err := ReadHeadlines(headlineFile(t, long+"\n"+strings.Repeat("ط", 5000)+"\nقصير"))
	if err != nil || len(got) != 3 {
		t.Fatalf("%d headlines, %v", len(got), err)
	}
	if n := utf8.RuneCountInString(got[0]); n > mostHeadlineRunes || n < mostHeadlineRunes-12 || !strings.HasSuffix(got[0], "طويلة") && !strings.HasSuffix(got[0], "كلمات") {
		t.Errorf("cut to %d: …%s", n, got[0][len(got[0])-30:])
	}
	if n := utf8.RuneCountInString(got[1]); n != mostHeadlineRunes || got[2] != "قصير" {
		t.Errorf("%d of one word, then %q", n, got[2])
	}
	// A file of any size is read as far as it matters, and no character of
	// it is cut in two.
	if got, err := ReadHeadlines(headlineFile(t, "خبر أول\n"+strings.Repeat("ط", 1<<20))); err != nil || got[0] != "خبر أول" || strings.ContainsRune(got[1], utf8.RuneError) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNoHeadlinesIsAnErrorThatSaysWhy(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"": "no headline file", filepath.Join(dir, "none.txt"): "none.txt is missing", dir: "is not a file", pipe: "pipe is not a file",
		headlineFile(t, ""): "holds no headline", headlineFile(t, "\ufeff\r\n \n…\n"): "holds no headline",
	} {
		if got, err := ReadHeadlines(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestHeadlinesEndLikeSentences(t *testing.T) {
	got := strings.Join(sentences([]string{"خبر", "خبر.", "خبر …", "هل هو خبر؟", "خبر!"}), " ")
	if want := "خبر. خبر. خبر. هل هو خبر؟ خبر!"; got != want {
		t.Errorf("%s", got)
	}
}

func FuzzHeadlines(f *testing.F) {
	f.Add([]byte("\xff\xfe\x2e\x06\n\x00"))
	f.Add([]byte("خبر\r\n\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ReadHeadlines(headlineFile(t, string(text)))
		if (err == nil) != (len(got) > 0) || len(got) > mostHeadlines {
			t.Fatalf("%d headlines, %v", len(got), err)
		}
		for _, line := range got {
			if !utf8.ValidString(line) || utf8.RuneCountInString(line) > mostHeadlineRunes || strings.ContainsAny(line, "\n\r\x00\x1b\u202e") {
				t.Fatalf("%q", line)
			}
		}
	})
}
