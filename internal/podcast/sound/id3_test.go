package sound_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
)

// id3 is an ID3v2.3 tag as a player reads it (id3.org, ID3v2.3.0 and its addendum of chapters).
type id3 struct {
	texts    map[string]string
	picture  []byte
	chapters []chapter
	contents int // chapters that the table of contents names
}

type chapter struct {
	title      string
	start, end uint32 // ms
}

func readID3(b []byte) (out id3, err error) {
	if len(b) < 10 || string(b[:4]) != "ID3\x03" {
		return out, errors.New("no ID3v2.3")
	}
	size := int(b[6])<<21 | int(b[7])<<14 | int(b[8])<<7 | int(b[9])
	if size+12 > len(b) {
		return out, errors.New("a tag that ends behind the file")
	}
	if b[10+size] != 0xff || b[11+size]&0xe0 != 0xe0 {
		return out, errors.New("no frame of sound follows the tag")
	}
	out.texts = map[string]string{}
	err = frames(b[10:10+size], func(id string, body []byte) error {
		switch {
		case id == "APIC":
			kind, rest, _ := strings.Cut(string(body[1:]), "\x00")
			if kind != "image/jpeg" || rest[0] != 3 { // front cover
				return errors.New("APIC of another kind")
			}
			_, picture, _ := strings.Cut(rest[1:], "\x00")
			if body[0] == 1 {
				return errors.New("APIC described in UTF-16")
			}
			out.picture = []byte(picture)
		case id == "CHAP":
			name, rest, _ := strings.Cut(string(body), "\x00")
			if name == "" || len(rest) < 16 {
				return errors.New("CHAP without its times")
			}
			c := chapter{start: binary.BigEndian.Uint32([]byte(rest)), end: binary.BigEndian.Uint32([]byte(rest[4:]))}
			if rest[8:16] != strings.Repeat("\xff", 8) {
				return errors.New("CHAP with byte offsets")
			}
			if err := frames([]byte(rest[16:]), func(id string, body []byte) error {
				if id == "TIT2" {
					c.title = text(body)
				}
				return nil
			}); err != nil {
				return err
			}
			out.chapters = append(out.chapters, c)
		case id == "CTOC":
			_, rest, _ := strings.Cut(string(body), "\x00")
			if len(rest) < 2 || rest[0]&3 != 3 { // ordered, and the top one
				return errors.New("CTOC that orders nothing")
			}
			out.contents = int(rest[1])
		case id[0] == 'T' && id != "TXXX":
			out.texts[id] = text(body)
		default:
			out.texts[id] = string(body)
		}
		return nil
	})
	return out, err
}

func frames(b []byte, take func(id string, body []byte) error) error {
	for len(b) >= 10 && b[0] != 0 {
		n := int(binary.BigEndian.Uint32(b[4:]))
		if n < 1 || n > len(b)-10 {
			return errors.New("a frame that ends behind its tag")
		}
		if err := take(string(b[:4]), b[10:10+n]); err != nil {
			return err
		}
		b = b[10+n:]
	}
	return nil
}

// text is a text frame's: Latin-1 or UTF-16.
func text(b []byte) string {
	if b[0] == 0 {
		out := make([]rune, 0, len(b))
		for _, c := range b[1:] {
			if c != 0 {
				out = append(out, rune(c))
			}
		}
		return string(out)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if len(b) > 2 && b[1] == 0xfe {
		order = binary.BigEndian
	}
	var units []uint16
	for at := 3; at+2 <= len(b); at += 2 {
		if u := order.Uint16(b[at:]); u != 0 {
			units = append(units, u)
		}
	}
	return string(utf16.Decode(units))
}
