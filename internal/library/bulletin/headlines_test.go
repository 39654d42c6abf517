package bulletin

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	encoding "golang.org/x/text/encoding/unicode"

	"github.com/athir-radio/athir/internal/station"
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

// The example is a file of headlines as it stands.
func TestTheExampleHeadlinesAreRead(t *testing.T) {
	const example = "../../../headlines.example.txt"
	lines, err := ReadHeadlines(example)
	if err != nil || len(lines) != mostHeadlines {
		t.Fatalf("%q, %v", lines, err)
	}
	text, err := readRegular(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("%q is not read as it is written", line)
		}
		if n := len(strings.Fields(line)); n < 6 || n > 12 {
			t.Errorf("%q has %d words", line, n)
		}
	}
}

func TestHeadlinesAreWrittenAsTheyAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.txt")
	m := maker(t, func(o *Options) { o.Headlines = path })
	if got, err := m.Headlines(); err != nil || got.Lines != nil || got.Version == "" {
		t.Errorf("before: %+v, %v", got, err)
	}
	want := []string{"افتتاح خط جديد", "انطلاق المعرض", "خبر ثالث", "خبر رابع ينتظر"}
	if err := m.SetHeadlines([]string{"• " + want[0], " " + want[1] + "\u202e", want[2], want[3]}, noVersion); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Headlines(); err != nil || !slices.Equal(got.Lines, want) || got.Cut {
		t.Errorf("after: %+v, %v", got, err)
	}
	if lines := m.Status().Headlines; !slices.Equal(lines, want[:3]) {
		t.Errorf("the next bulletin reads %q", lines)
	}
	for _, c := range []struct {
		lines []string
		says  string
	}{
		{[]string{want[0], "..."}, "headlines[1]: has no letter"},
		{[]string{strings.Repeat("خبر ", 50)}, "headlines[0]: 199 characters, at most 160"},
		{slices.Repeat([]string{"خبر"}, 51), "51 lines, at most 50"},
	} {
		if err := m.SetHeadlines(c.lines, AnyVersion); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v", c.lines, err)
		}
	}
	if got, _ := m.Headlines(); !slices.Equal(got.Lines, want) {
		t.Errorf("a refused list changed the file: %q", got.Lines)
	}
	if err := m.SetHeadlines(nil, AnyVersion); err != nil || m.Status().HeadlinesProblem != "headlines.txt holds no headline" {
		t.Errorf("none: %v, %q", err, m.Status().HeadlinesProblem)
	}
	for name, c := range map[string]string{"no file set": "", "a folder": t.TempDir()} {
		m := maker(t, func(o *Options) { o.Headlines = c })
		if err := m.SetHeadlines(want, AnyVersion); !errors.Is(err, station.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A link stays a link, to the file that another program writes.
	link := filepath.Join(t.TempDir(), "link.txt")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	m = maker(t, func(o *Options) { o.Headlines = link })
	if err := m.SetHeadlines(want[:1], AnyVersion); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link: %q, %v", to, err)
	}
	if lines, err := ReadHeadlines(path); err != nil || !slices.Equal(lines, want[:1]) {
		t.Errorf("%q, %v", lines, err)
	}
}

// Who replaces the file has seen all of it, as it is now: no line is lost that nobody
// has taken out.
func TestHeadlinesThatWereNotSeenAreNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headlines.txt")
	m := maker(t, func(o *Options) { o.Headlines = path })
	write := func(text string) Kept {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := m.Headlines()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	kept := func(what, text string, err error, says string) {
		t.Helper()
		if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s: the file was changed, to %.40q", what, now)
		}
	}
	mine := []string{"خبري"}
	for what, text := range map[string]string{
		"sixty lines":         strings.Repeat("خبر\n", 60),
		"a line that is long": "خبر\n" + strings.Repeat("خبر ", 50) + "\n",
		"a file that is long": "خبر\n" + strings.Repeat("\n", mostHeadlineFile),
	} {
		seen := write(text)
		if !seen.Cut || len(seen.Lines) > mostKept {
			t.Errorf("%s: %d lines, and nothing says that there are more", what, len(seen.Lines))
		}
		kept(what, text, m.SetHeadlines(mine, seen.Version), "headlines.txt holds more than was shown")
	}
	for what, text := range map[string]string{
		"as many lines as there may be": strings.Repeat("خبر\n", mostKept) + "\n---\n",
		"as long as a line may be":      strings.Repeat("ط", mostHeadlineRunes),
	} {
		if seen := write(text); seen.Cut {
			t.Errorf("%s: %d lines are called cut", what, len(seen.Lines))
		} else if err := m.SetHeadlines(mine, seen.Version); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	seen := write("خبر أول\n")
	other := "خبر أول\nخبر ثان\n"
	write(other)
	kept("a file that has changed", other, m.SetHeadlines(mine, seen.Version), "headlines.txt has changed")
	kept("a file that came meanwhile", other, m.SetHeadlines(mine, noVersion), "read them again")
	kept("no version", other, m.SetHeadlines(mine, ""), "read them again")
	if err := m.SetHeadlines(mine, AnyVersion); err != nil {
		t.Errorf("whatever is there: %v", err)
	}
}
