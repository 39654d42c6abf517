package bulletin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	encoding "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	mostHeadlines     = 3
	mostHeadlineRunes = 160 // some 13 s of speech; a longer line is cut at a word
	mostHeadlineFile  = 64 << 10
)

var (
	errNoFile  = errors.New("no headline file is set")
	errMissing = errors.New("missing")
)

// ReadHeadlines returns the first three headlines of a text file, one a line,
// cleaned of what is not said: byte order marks, bidi and other control
// characters, list marks. Lines without a letter do not count; one that is too
// long is cut at a word. UTF-8, UTF-16 with its mark, and Windows-1256 are
// read. A file that is missing or says nothing is an error.
func ReadHeadlines(path string) ([]string, error) {
	if path == "" {
		return nil, errNoFile
	}
	raw, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	return firstOf(raw, filepath.Base(path))
}

// firstOf returns the headlines that are read of a file's content; name is the file's, for
// the error.
func firstOf(raw []byte, name string) ([]string, error) {
	lines, _ := spoken(decodeText(raw), mostHeadlines)
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s holds no headline", name)
	}
	return lines, nil
}

// spoken returns the first headlines of a text, as they are said. cut reports that the
// text has more of them, or more in one of them.
func spoken(text string, most int) (lines []string, cut bool) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if line = cleaned(line); line == "" {
			continue
		}
		if len(lines) == most {
			return lines, true
		}
		short := shortened(line)
		lines, cut = append(lines, short), cut || short != line
	}
	return lines, cut
}

// readRegular reads the beginning of a regular file.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: a named pipe would hold us
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s is %w", filepath.Base(path), errMissing)
	case err != nil:
		return nil, fmt.Errorf("read headlines: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read headlines: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, mostHeadlineFile))
	if err != nil {
		return nil, fmt.Errorf("read headlines: %w", err)
	}
	return raw, nil
}

// decodeText reads what Arabic text files are written in.
func decodeText(raw []byte) string {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		if text, _, err := transform.Bytes(encoding.UTF16(encoding.LittleEndian, encoding.UseBOM).NewDecoder(), raw); err == nil {
			return string(text)
		}
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	// The limit may have cut a character in two.
	for cut := 1; cut < utf8.UTFMax && len(raw) >= mostHeadlineFile-3 && !utf8.Valid(raw); cut++ {
		raw = raw[:len(raw)-1]
	}
	if !utf8.Valid(raw) {
		if text, err := charmap.Windows1256.NewDecoder().Bytes(raw); err == nil {
			return string(text)
		}
	}
	return string(raw)
}

// shortened cuts a line that is too long at a word.
func shortened(line string) string {
	runes := []rune(line)
	if len(runes) <= mostHeadlineRunes {
		return line
	}
	line = string(runes[:mostHeadlineRunes])
	if at := strings.LastIndexByte(line, ' '); at > len(line)/2 {
		line = line[:at]
	}
	return line
}

// cleaned is a line without what is not said; empty when there is no letter in it.
func cleaned(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, line)
	line = strings.TrimLeft(strings.TrimSpace(line), "-–—*•▪●·# \t")
	line = strings.Join(strings.Fields(line), " ")
	if !strings.ContainsFunc(line, unicode.IsLetter) {
		return ""
	}
	return line
}
