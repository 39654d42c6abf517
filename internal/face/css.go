package face

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// checkCSS refuses a style sheet that would load something from elsewhere. Pages are served under
// a policy that stops it too; here the operator hears of it. Names are read as a browser reads
// them, escapes and comments included (CSS Syntax Level 3).
func checkCSS(text string) error {
	if len(text) > LongestCSS {
		return station.Wrong("css", fmt.Sprintf("must be at most %d kB", LongestCSS>>10), fmt.Sprintf("ملف الأنماط %d كيلوبايت على الأكثر", LongestCSS>>10))
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return station.Wrong("css", "must be text in UTF-8", "الملف ليس نصًا بترميز UTF-8")
	}
	s := sheet{text: text}
	for s.at < len(s.text) {
		if what := s.step(); what != "" {
			line := 1 + strings.Count(s.text[:min(s.at, len(s.text))], "\n")
			return station.Wrong("css", fmt.Sprintf("line %d: %s", line, what), fmt.Sprintf("السطر %d: لا يُسمح بتحميل شيء من خارج المحطة", line))
		}
	}
	return nil
}

const (
	noImport  = "@import is not allowed: put the rules here"
	noElse    = "url() may name /face/… of this station, or data:image/… alone"
	noImages  = "is not allowed: use url()"
	unreadURL = "url() is not closed"
)

// sheet is a style sheet that is being read.
type sheet struct {
	text string
	at   int
}

// step reads one token, and says what is wrong with it.
func (s *sheet) step() (wrong string) {
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, "/*"):
		s.comment()
	case rest[0] == '"' || rest[0] == '\'':
		s.quoted()
	case rest[0] == '@':
		s.at++
		if name := s.name(); name == "import" {
			return noImport
		}
	case startsName(rest):
		name := s.name()
		if s.at >= len(s.text) || s.text[s.at] != '(' {
			return ""
		}
		s.at++
		switch name {
		case "url":
			return s.address()
		case "src", "image", "image-set", "-webkit-image-set", "cross-fade", "-webkit-cross-fade":
			return name + "() " + noImages // their strings are addresses
		}
	default:
		s.at++
	}
	return ""
}

// startsName reports whether text begins with a character of a name: a digit does not matter.
func startsName(text string) bool {
	c := text[0]
	return c == '-' || c == '_' || c == '\\' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (s *sheet) comment() {
	end := strings.Index(s.text[s.at+2:], "*/")
	if end < 0 {
		s.at = len(s.text)
		return
	}
	s.at += 2 + end + 2
}

// quoted reads a string; one that a line ends is over there, as browsers have it.
func (s *sheet) quoted() string {
	quote := s.text[s.at]
	s.at++
	var out strings.Builder
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return out.String()
		case c == '\n' || c == '\f' || c == '\r':
			return out.String()
		case c == '\\':
			s.at++
			if s.at < len(s.text) && strings.IndexByte("\n\r\f", s.text[s.at]) >= 0 {
				s.at++
				continue
			}
			out.WriteString(s.escape())
		default:
			out.WriteByte(c)
			s.at++
		}
	}
	return out.String()
}

// name reads a name in small letters.
func (s *sheet) name() string {
	var out strings.Builder
	for s.at < len(s.text) && startsName(s.text[s.at:]) {
		if s.text[s.at] != '\\' {
			out.WriteByte(s.text[s.at])
			s.at++
			continue
		}
		s.at++
		out.WriteString(s.escape())
	}
	return strings.ToLower(out.String())
}

// escape reads what follows a backslash.
func (s *sheet) escape() string {
	digits := 0
	for digits < 6 && s.at+digits < len(s.text) && strings.IndexByte("0123456789abcdefABCDEF", s.text[s.at+digits]) >= 0 {
		digits++
	}
	code, _ := strconv.ParseInt("0"+s.text[s.at:s.at+digits], 16, 32) // six digits fit
	s.at += digits
	if digits == 0 {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
		if n == 0 {
			return ""
		}
		return string(r)
	}
	if strings.HasPrefix(s.text[s.at:], "\r\n") {
		s.at += 2
	} else if s.at < len(s.text) && strings.IndexByte(" \t\n\r\f", s.text[s.at]) >= 0 {
		s.at++
	}
	return string(rune(code))
}

// address reads what is between the brackets of url().
func (s *sheet) address() (wrong string) {
	s.blank()
	if s.at >= len(s.text) {
		return unreadURL
	}
	if c := s.text[s.at]; c == '"' || c == '\'' {
		if !goodAddress(s.quoted()) {
			return noElse
		}
		return ""
	}
	var out strings.Builder
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ')':
			s.at++
			if !goodAddress(strings.TrimSpace(out.String())) {
				return noElse
			}
			return ""
		case '\\':
			s.at++
			out.WriteString(s.escape())
		default:
			out.WriteByte(c)
			s.at++
		}
	}
	return unreadURL
}

func (s *sheet) blank() {
	for s.at < len(s.text) && strings.IndexByte(" \t\n\r\f", s.text[s.at]) >= 0 {
		s.at++
	}
}

// goodAddress reports whether an address is one of the station's own files, or a picture that
// stands in it itself.
func goodAddress(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\\' }) {
		return false
	}
	small := strings.ToLower(text)
	return strings.HasPrefix(text, "#") && len(text) > 1 || strings.HasPrefix(small, "data:image/") || strings.HasPrefix(text, "/face/") && !strings.Contains(text, "..") && !strings.Contains(text[1:], "//") && !strings.Contains(small, "%2e")
}
