package azuracast

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// kind of a token of a dump.
type kind int

const (
	atEnd  kind = iota
	word        // a keyword or a bare name
	name        // in backticks
	text        // a string
	number      // as written; hexadecimal ones are text
	mark        // one character of punctuation
)

type token struct {
	kind kind
	text string // of a mark: the character
}

// is reports a keyword, in any case.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

func (t token) mark(c string) bool { return t.kind == mark && t.text == c }

const (
	mostText = 16 << 20 // bytes of one value: mariadb-dump's longest statement
	mostWord = 4096
)

var errTooLong = errors.New("a value has more than 16 MiB")

// lexer reads what mariadb-dump and mysqldump write: their strings with escapes, hexadecimal
// values, comments, and the character set that the dump says it is in.
type lexer struct {
	r    *bufio.Reader
	at   int64 // bytes read
	keep bool  // strings are wanted; else their text is thrown away
	// latin is set by SET NAMES latin1: strings are Windows-1252, as MariaDB means by it.
	latin   bool
	charset string // another one, that cannot be read
	buf     []byte
}

func newLexer(r io.Reader) *lexer { return &lexer{r: bufio.NewReaderSize(r, 256<<10), keep: true} }

func (l *lexer) byte() (byte, error) {
	b, err := l.r.ReadByte()
	if err == nil {
		l.at++
	}
	return b, err
}

func (l *lexer) back() {
	_ = l.r.UnreadByte()
	l.at--
}

// peek is the next byte; 0 at the end.
func (l *lexer) peek() byte {
	b, err := l.r.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

func plainWord(b byte) bool {
	return b == '_' || b == '$' || b == '@' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// next returns the next token; atEnd where the dump is over.
func (l *lexer) next() (token, error) {
	for {
		b, err := l.byte()
		if errors.Is(err, io.EOF) {
			return token{}, nil
		}
		if err != nil {
			return token{}, err
		}
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			continue
		case b == '#', b == '-' && l.peek() == '-':
			if err := l.line(); err != nil {
				return token{}, err
			}
			continue
		case b == '/' && l.peek() == '*':
			if err := l.comment(); err != nil {
				return token{}, err
			}
			continue
		case b == '\'' || b == '"':
			s, err := l.quoted(b)
			return token{text, s}, err
		case b == '`':
			s, err := l.backticked()
			return token{name, s}, err
		case b >= '0' && b <= '9', b == '.', (b == '-' || b == '+') && (l.peek() >= '0' && l.peek() <= '9' || l.peek() == '.'):
			return l.number(b)
		case plainWord(b):
			return l.word(b)
		}
		return token{mark, string(rune(b))}, nil
	}
}

func (l *lexer) line() error {
	for {
		b, err := l.byte()
		if errors.Is(err, io.EOF) || err == nil && b == '\n' {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// comment passes over one. Of those that servers execute only the character set matters.
func (l *lexer) comment() error {
	_, _ = l.byte()
	said := make([]byte, 0, 64)
	var last byte
	for {
		b, err := l.byte()
		switch {
		case errors.Is(err, io.EOF):
			return errCut
		case err != nil:
			return err
		case last == '*' && b == '/':
			l.names(string(said))
			return nil
		}
		if len(said) < mostWord {
			said = append(said, b)
		}
		last = b
	}
}

// names takes over a SET NAMES.
func (l *lexer) names(statement string) {
	fields := strings.Fields(strings.TrimRight(statement, "*; "))
	for i := 0; i+2 < len(fields); i++ {
		if strings.EqualFold(fields[i], "set") && strings.EqualFold(fields[i+1], "names") {
			l.setCharset(fields[i+2])
		}
	}
}

func (l *lexer) setCharset(called string) {
	called = strings.ToLower(strings.Trim(called, "'\"; "))
	l.latin, l.charset = false, ""
	switch {
	case strings.HasPrefix(called, "utf8"), called == "binary", called == "ascii", called == "default", strings.HasPrefix(called, "@"):
	case called == "latin1":
		l.latin = true
	default:
		l.charset = called
	}
}

func (l *lexer) word(first byte) (token, error) {
	out := []byte{first}
	for {
		b := l.peek()
		if b == 0 || !plainWord(b) {
			break
		}
		if len(out) > mostWord {
			return token{}, errors.New("a word has more than 4096 bytes")
		}
		_, _ = l.byte()
		out = append(out, b)
	}
	if (first == 'x' || first == 'X') && len(out) == 1 && l.peek() == '\'' {
		_, _ = l.byte()
		s, err := l.quoted('\'')
		if err != nil {
			return token{}, err
		}
		return unhex(s)
	}
	return token{word, string(out)}, nil
}

func (l *lexer) number(first byte) (token, error) {
	out := append(l.buf[:0], first)
	for {
		b := l.peek()
		sign := (b == '-' || b == '+') && (out[len(out)-1] == 'e' || out[len(out)-1] == 'E')
		if b == 0 || !sign && b != '.' && !plainWord(b) {
			break
		}
		if len(out) > 2*mostText {
			return token{}, errTooLong
		}
		_, _ = l.byte()
		out = append(out, b)
	}
	l.buf = out
	if s := string(out); len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") {
		return unhex(s[2:])
	}
	return token{number, string(out)}, nil
}

func unhex(digits string) (token, error) {
	out := make([]byte, 0, len(digits)/2)
	if len(digits)%2 != 0 {
		return token{}, errors.New("a hexadecimal value has an odd number of digits")
	}
	for i := 0; i < len(digits); i += 2 {
		var b byte
		if _, err := fmt.Sscanf(digits[i:i+2], "%02x", &b); err != nil {
			return token{}, errors.New("a hexadecimal value has other characters")
		}
		out = append(out, b)
	}
	return token{text, string(out)}, nil
}

func (l *lexer) backticked() (string, error) {
	var out []byte
	for {
		b, err := l.byte()
		switch {
		case errors.Is(err, io.EOF):
			return "", errCut
		case err != nil:
			return "", err
		case b == '`' && l.peek() == '`':
			_, _ = l.byte()
		case b == '`':
			return string(out), nil
		}
		if out = append(out, b); len(out) > mostWord {
			return "", errors.New("a name has more than 4096 bytes")
		}
	}
}

// quoted reads a string to its end; an embedded quote is doubled or escaped.
func (l *lexer) quoted(quote byte) (string, error) {
	out, size := l.buf[:0], 0
	for {
		b, err := l.byte()
		switch {
		case errors.Is(err, io.EOF):
			return "", errCut
		case err != nil:
			return "", err
		case b == quote && l.peek() == quote:
			_, _ = l.byte()
		case b == quote:
			l.buf = out
			return l.decoded(out)
		case b == '\\':
			if b, err = l.byte(); err != nil {
				return "", errCut
			}
			b = unescaped(b)
		}
		if size++; size > mostText {
			return "", errTooLong
		}
		if l.keep {
			out = append(out, b)
		}
	}
}

func unescaped(b byte) byte {
	switch b {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return b
}

func (l *lexer) decoded(raw []byte) (string, error) {
	switch {
	case l.charset != "" && bytes.ContainsFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf }):
		return "", fmt.Errorf("it is written in the character set %s: make it again with --default-character-set=utf8mb4", l.charset)
	case l.latin:
		out, err := charmap.Windows1252.NewDecoder().Bytes(raw)
		return string(out), err
	}
	return string(raw), nil
}
