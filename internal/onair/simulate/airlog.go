package simulate

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// AirLogHeader is the first line of an air log.
const AirLogHeader = "time_ms\tcategory\tpath\tartist\ttitle\tduration_s\tgenre\tdaypart\trule_relaxed"

// WriteAirLog writes the log as tab-separated lines under AirLogHeader, one for each
// entry. Tags and paths are written byte for byte, except for what could end a field or
// a line: a backslash is \\, a tab \t, a newline \n, a carriage return \r, other control
// characters \xHH and the line separators of Unicode \uHHHH. Relaxed rules are joined by
// commas.
func WriteAirLog(w io.Writer, cfg rotation.Config, log []Aired) error {
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintln(out, AirLogHeader) // Flush returns the error
	for _, a := range log {
		rules := make([]string, len(a.Relaxed))
		for i, r := range a.Relaxed {
			rules[i] = string(r)
		}
		fields := []string{
			strconv.FormatInt(a.At.UnixMilli(), 10), string(a.Track.Category), escape(a.Track.Path), escape(a.Track.Artist),
			escape(a.Track.Title), strconv.FormatFloat(float64(a.Track.Duration)/float64(time.Second), 'f', 3, 64),
			escape(a.Track.Genre), escape(rotation.DaypartKey(cfg, a.At)), strings.Join(rules, ","),
		}
		_, _ = fmt.Fprintln(out, strings.Join(fields, "\t"))
	}
	return out.Flush()
}

func escape(s string) string {
	if !strings.ContainsFunc(s, special) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && size == 1: // bytes that are no UTF-8 stay
			b.WriteByte(s[i])
		case special(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case special(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func special(r rune) bool {
	return r == '\\' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}
