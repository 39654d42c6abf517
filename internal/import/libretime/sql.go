package libretime

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// kind is that of a token.
type kind int

const (
	atEnd  kind = iota
	word        // a name or keyword without quotes, in lower case
	name        // "a name"
	text        // 'a string', in any of its forms
	number      //
	mark        // one character
)

type token struct {
	kind kind
	text string
}

func (t token) is(keyword string) bool { return t.kind == word && t.text == keyword }
func (t token) mark(c string) bool     { return t.kind == mark && t.text == c }
func (t token) named() bool            { return t.kind == word || t.kind == name }

const (
	mostValue = 16 << 20 // bytes of one value
	mostWord  = 4096
)

var (
	errLong = errors.New("a value has more than 16 MiB")
	errCut  = errors.New("it ends in the middle of a statement: the dump is not whole, make it again")
)

// scanner splits a dump of PostgreSQL into tokens (its manual, chapter Lexical Structure).
type scanner struct {
	r    *bufio.Reader
	at   int64
	keep bool // strings are wanted; else their text is thrown away
	// backslash says that plain strings have escapes: standard_conforming_strings is off.
	backslash bool
	buf       []byte
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 256<<10), keep: true}
}

func (s *scanner) byte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.at++
	}
	return b, err
}

// peek is the next byte; 0 at the end.
func (s *scanner) peek() byte {
	b, err := s.r.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

// cut is errCut for an end where there must be none.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

func letter(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// next returns the next token; atEnd where the dump is over.
func (s *scanner) next() (token, error) {
	for {
		b, err := s.byte()
		if errors.Is(err, io.EOF) {
			return token{}, nil
		}
		if err != nil {
			return token{}, err
		}
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f':
			continue
		case b == '-' && s.peek() == '-':
			if err := s.line(); err != nil {
				return token{}, err
			}
			continue
		case b == '/' && s.peek() == '*':
			if err := s.comment(); err != nil {
				return token{}, err
			}
			continue
		case b == '\'':
			return s.quoted(text, '\'', s.backslash)
		case b == '"':
			return s.quoted(name, '"', false)
		case b == '$' && (letter(s.peek()) || s.peek() == '$'):
			return s.dollars()
		case digit(b), (b == '-' || b == '+' || b == '.') && digit(s.peek()):
			return s.run(number, b, func(b byte) bool { return digit(b) || b == '.' || b == 'e' || b == 'E' })
		case letter(b):
			if s.peek() == '\'' && strings.IndexByte("eEbBxXnN", b) >= 0 {
				_, _ = s.byte()
				return s.quoted(text, '\'', b == 'e' || b == 'E')
			}
			return s.run(word, b, func(b byte) bool { return letter(b) || digit(b) || b == '$' })
		}
		return token{mark, string(rune(b))}, nil
	}
}

// line passes over the rest of one.
func (s *scanner) line() error {
	for {
		b, err := s.byte()
		if errors.Is(err, io.EOF) || err == nil && b == '\n' {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// comment passes over one, and over those in it.
func (s *scanner) comment() error {
	_, _ = s.byte()
	for depth := 1; depth > 0; {
		b, err := s.byte()
		switch {
		case err != nil:
			return cut(err)
		case b == '/' && s.peek() == '*':
			_, _ = s.byte()
			depth++
		case b == '*' && s.peek() == '/':
			_, _ = s.byte()
			depth--
		}
	}
	return nil
}

func (s *scanner) run(k kind, first byte, in func(byte) bool) (token, error) {
	out := append(s.buf[:0], first)
	for b := s.peek(); b != 0 && in(b); b = s.peek() {
		if len(out) == mostWord {
			return token{}, errors.New("a word has more than 4096 bytes")
		}
		_, _ = s.byte()
		out = append(out, b)
	}
	s.buf = out
	return token{k, strings.ToLower(string(out))}, nil
}

// quoted reads to a quote that is not doubled, nor escaped where there are escapes.
func (s *scanner) quoted(k kind, quote byte, escapes bool) (token, error) {
	out, size := s.buf[:0], 0
	for {
		b, err := s.byte()
		switch {
		case err != nil:
			return token{}, cut(err)
		case b == quote && s.peek() == quote:
			_, _ = s.byte()
		case b == quote:
			s.buf = out
			return token{k, string(out)}, nil
		case b == '\\' && escapes:
			if b, err = s.escape(); err != nil {
				return token{}, cut(err)
			}
		}
		if size++; size > mostValue || k == name && size > mostWord {
			return token{}, errLong
		}
		if s.keep {
			out = append(out, b)
		}
	}
}

// escape reads what follows a backslash in a string.
func (s *scanner) escape() (byte, error) {
	b, err := s.byte()
	if err != nil {
		return 0, err
	}
	most, base := 0, 8
	value := 0
	switch {
	case b >= '0' && b <= '7':
		most, value = 2, int(b-'0')
	case b == 'x':
		most, base = 2, 16
	default:
		return simple(b), nil
	}
	for ; most > 0; most-- {
		n := place(s.peek(), base)
		if n < 0 {
			break
		}
		_, _ = s.byte()
		value = value*base + n
	}
	return byte(value), nil //nolint:gosec // as PostgreSQL does: the lowest eight bits
}

// simple is what a letter means after a backslash; others are themselves.
func simple(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	}
	return b
}

// place is the value of a digit; -1 for what is none.
func place(b byte, base int) int {
	n := -1
	switch {
	case digit(b):
		n = int(b - '0')
	case b >= 'a' && b <= 'f':
		n = int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		n = int(b-'A') + 10
	}
	if n >= base {
		return -1
	}
	return n
}

// dollars reads a string between $tag$ and $tag$, as the bodies of functions are.
func (s *scanner) dollars() (token, error) {
	end := []byte{'$'}
	for {
		b, err := s.byte()
		if err != nil {
			return token{}, cut(err)
		}
		end = append(end, b)
		if b == '$' {
			break
		}
		if len(end) > mostWord || !letter(b) && !digit(b) {
			return token{mark, "$"}, nil
		}
	}
	var last []byte // as many bytes as the end has
	for size := 0; ; size++ {
		b, err := s.byte()
		switch {
		case err != nil:
			return token{}, cut(err)
		case size > mostValue:
			return token{}, errLong
		}
		if last = append(last, b); len(last) > len(end) {
			last = last[1:]
		}
		if string(last) == string(end) {
			return token{kind: text}, nil // nothing that is wanted is written so
		}
	}
}

// copied reads a line of COPY's text format; end is its last, of a backslash and a point. A line
// that is not wanted is passed over, however long it is.
func (s *scanner) copied() (line []byte, end bool, err error) {
	out, size := s.buf[:0], 0
	for {
		part, err := s.r.ReadSlice('\n')
		s.at += int64(len(part))
		size += len(part)
		if s.keep || size < 8 {
			out = append(out, part...)
		}
		if s.keep && size > mostValue {
			return nil, false, errLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || size == 0) {
			return nil, false, cut(err)
		}
		break
	}
	s.buf = out
	out = bytes.TrimRight(out, "\r\n")
	return out, string(out) == `\.`, nil
}

// field is a value of a line of COPY; null is empty.
func field(raw []byte) (string, error) {
	if string(raw) == `\N` {
		return "", nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), nil
	}
	s := &scanner{r: bufio.NewReaderSize(bytes.NewReader(raw), 16)}
	out := make([]byte, 0, len(raw))
	for {
		b, err := s.byte()
		if errors.Is(err, io.EOF) {
			return string(out), nil
		}
		if err == nil && b == '\\' {
			b, err = s.escape()
		}
		if err != nil {
			return "", fmt.Errorf("%.40q ends with a backslash", raw)
		}
		out = append(out, b)
	}
}
