package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// hostile are tags that somebody might put into a file.
func hostile() []string {
	return []string{
		"plain", "أنا أحبك", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</svg></title><b>`, "tab\tnew\nline\rreturn",
		`back\slash \t \n`, "nul\x00 bell\x07 esc\x1b[2J", "next\u0085line\u2028sep\u2029", "bidi \u202e\u2066 text", "bad \xff\xfe utf-8 \xd8",
		"{{.}} ${x} `y` 'z'", "=cmd()", strings.Repeat("long ", 2000),
	}
}

// unescape reads what escape writes, by its description alone.
func unescape(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '\\':
			b.WriteByte('\\')
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'x', 'u':
			n := map[byte]int{'x': 2, 'u': 4}[s[i]]
			code, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			b.WriteRune(rune(code))
			i += n
		default:
			t.Fatalf("%q: what is \\%c?", s, s[i])
		}
	}
	return b.String()
}

// Whatever the tags hold, each entry is one line of nine fields, and reads back.
func TestAirLogHoldsAnyTag(t *testing.T) {
	var log []Aired
	at := time.Date(2026, 5, 4, 12, 0, 0, 123_000_000, zone(t))
	for i, s := range hostile() {
		log = append(log, Aired{
			At: at.Add(time.Duration(i) * time.Minute), Relaxed: []rotation.Rule{"artist-gap", "album-gap"}[:i%3],
			Track: station.Track{
				Category: station.English, Path: "music/" + s, Artist: s, Title: "t" + s, Genre: s, Duration: 187654 * time.Millisecond,
			},
		})
	}
	var b bytes.Buffer
	if err := WriteAirLog(&b, rotation.DefaultConfig(), log); err != nil {
		t.Fatal(err)
	}
	lines := strings.FieldsFunc(b.String(), func(r rune) bool { return strings.ContainsRune("\n\v\f\r\x1c\x1d\x1e\u0085\u2028\u2029", r) })
	const header = "time_ms category path artist title duration_s genre daypart rule_relaxed"
	if lines[0] != strings.ReplaceAll(header, " ", "\t") {
		t.Errorf("header %q", lines[0])
	}
	if len(lines) != len(log)+1 {
		t.Fatalf("%d lines for %d entries", len(lines), len(log))
	}
	for i, a := range log {
		f := strings.Split(lines[i+1], "\t")
		want := []string{
			strconv.FormatInt(a.At.UnixMilli(), 10), "english", a.Track.Path, a.Track.Artist, a.Track.Title, "187.654", a.Track.Genre, "midday",
			[]string{"", "artist-gap", "artist-gap,album-gap"}[i%3],
		}
		for k := range f {
			f[k] = unescape(t, f[k])
		}
		if !slices.Equal(f, want) {
			t.Errorf("entry %d:\n%q\n%q", i, f, want)
		}
	}
}

// What scripts read must stay as it is.
func TestReportForScripts(t *testing.T) {
	r := Report{
		Options: Options{Days: 30, Seed: 7, Policy: Athir}, Entries: 18_000,
		Result:  Result{Started: make([]station.Track, 300)},
		Verdict: Verdict{Violations: map[Fault]int{JustPlayed: 1, NewsCadence: 2}, Relaxed: map[rotation.Rule]int{"artist-gap": 5}},
		Plays:   map[station.Category]Plays{station.English: {Tracks: 60, MaxMin: 1.25, Gini: 0.01}, station.ArabicHits: {Tracks: 128, MaxMin: 1, Gini: 0}},
		Rank:    -0.04, Ranked: true, Hour: 0.029, Error: 1.35, P50: 1500 * time.Microsecond, P99: 4 * time.Millisecond,
	}
	var violations, relaxed []string
	for _, f := range Faults() {
		violations = append(violations, fmt.Sprintf("%q:%d", f, r.Verdict.Violations[f]))
	}
	for _, rule := range rotation.Rules() {
		relaxed = append(relaxed, fmt.Sprintf("%q:%d", rule.Rule, r.Verdict.Relaxed[rule.Rule]))
	}
	want := `{"days":30,"seed":7,"policy":"athir","tracks":300,"entries":18000,` +
		`"violations":{"total":3,` + strings.Join(violations, ",") + `},"relaxed":{` + strings.Join(relaxed, ",") + `},` +
		`"plays":{"arabic_hits":{"max_min":1,"gini":0,"tracks":128,"min":0,"max":0,"least_max_min":0,"least_gini":0},` +
		`"english":{"max_min":1.25,"gini":0.01,"tracks":60,"min":0,"max":0,"least_max_min":0,"least_gini":0}},` +
		`"day_rank_correlation":-0.04,"same_hour_repeat_rate":0.029,"genre_share_error_points":1.35,"build_ms":{"p50":1.5,"p99":4},`
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("got  %s\nwant %s…", got, want)
	}
}

// A table and an explanation can be made of anything that airs.
func TestOutputsOfOddRuns(t *testing.T) {
	for _, n := range []int{1, 40} {
		r := air(t, n, Options{Days: 1, Seed: 1, Explain: true})
		for name, write := range map[string]func(io.Writer) error{
			"table":    func(w io.Writer) error { return WriteTable(w, r) },
			"lines":    func(w io.Writer) error { return WriteLines(w, []Report{r, r}) },
			"explain":  func(w io.Writer) error { return WriteExplained(w, r, 50) },
			"air log":  func(w io.Writer) error { return WriteAirLog(w, r.Options.Config, r.Result.Log) },
			"for json": func(w io.Writer) error { return json.NewEncoder(w).Encode(r) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil || b.Len() == 0 {
				t.Errorf("%d tracks, %s: %d bytes, %v", n, name, b.Len(), err)
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%d tracks, %s: holds a number that is none", n, name)
			}
		}
	}
}
