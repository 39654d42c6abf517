package playlistfile

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decoded is a file as UTF-8, without a byte order mark and NULs. A mark says how it is
// written. What is valid UTF-8 is taken for that, whatever the file says: Arabic in a code
// page of one byte never is. Then what the file says counts, and then how its letters lie.
func decoded(raw []byte) string {
	var e encoding.Encoding
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}), len(raw) >= 4 && raw[0] != 0 && raw[1] == 0 && raw[3] == 0:
		e = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}), len(raw) >= 4 && raw[0] == 0 && raw[1] != 0 && raw[2] == 0:
		e = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case utf8.Valid(raw):
	case stated(raw) != nil:
		e = stated(raw)
	default:
		e = guessed(raw)
	}
	if e != nil {
		if text, err := e.NewDecoder().Bytes(raw); err == nil {
			raw = text
		}
	}
	text := strings.ToValidUTF8(string(raw), "\ufffd")
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\x00", "")
}

// stated is the code page that a file names, with #EXTENC or in its XML declaration; nil
// where it names none, or one that is not of one byte.
func stated(raw []byte) encoding.Encoding {
	named := regexp.MustCompile(`(?i)#EXTENC:[ \t]*([\w-]+)|^\s*<\?xml[^>]*encoding\s*=\s*["']([\w-]+)`).FindSubmatch(raw[:min(len(raw), MostText)])
	if named == nil {
		return nil
	}
	label := plain(string(named[1]) + string(named[2]))
	if number, ok := strings.CutPrefix(label, "cp"); ok {
		label = "windows" + number
	}
	if label == "latin1" {
		label = "iso88591"
	}
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok && plain(c.String()) == label {
			return e
		}
	}
	return nil
}

func plain(label string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(label))
}

// guessed is the code page of Arabic where letters outside of ASCII stand beside each
// other, as those of Arabic words do, and that of Western Europe where they stand alone.
func guessed(raw []byte) encoding.Encoding {
	beside, alone := 0, 0
	for i, b := range raw {
		if b < utf8.RuneSelf {
			continue
		}
		if i > 0 && raw[i-1] >= utf8.RuneSelf || i+1 < len(raw) && raw[i+1] >= utf8.RuneSelf {
			beside++
		} else {
			alone++
		}
	}
	if beside > alone {
		return charmap.Windows1256
	}
	return charmap.Windows1252
}
