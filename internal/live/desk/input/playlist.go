package input

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

const (
	// mostList bounds a playlist, in bytes, mostEntries the addresses in one: half a day in
	// segments of two seconds.
	mostList    = 2 << 20
	mostEntries = 20_000
	// mostAddress bounds an address, in bytes, as fetch does.
	mostAddress = 8 << 10
	// mostValue bounds what a tag says, in bytes: a decoder cuts lines at 4096.
	mostValue = 256
)

// isPlaylist tells an HLS playlist by its content type or by how it begins.
func isPlaylist(contentType string, begin []byte) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch strings.TrimSpace(kind) {
	case "application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl", "audio/mpegurl", "audio/x-mpegurl":
		return true
	}
	return bytes.HasPrefix(bytes.TrimLeft(begin, "\ufeff \t\r\n"), []byte("#EXTM3U"))
}

// tags are what is kept of a playlist: what a decoder of audio acts on. A tag with
// attributes lists those that are kept; nil: its value is one word.
var tags = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"#EXT-X-VERSION":                nil,
	"#EXT-X-TARGETDURATION":         nil,
	"#EXT-X-MEDIA-SEQUENCE":         nil,
	"#EXT-X-DISCONTINUITY-SEQUENCE": nil,
	"#EXT-X-PLAYLIST-TYPE":          nil,
	"#EXT-X-DISCONTINUITY":          nil,
	"#EXT-X-ENDLIST":                nil,
	"#EXT-X-BYTERANGE":              nil,
	"#EXTINF":                       nil,
	"#EXT-X-START":                  {"TIME-OFFSET", "PRECISE"},
	"#EXT-X-KEY":                    {"METHOD", "URI", "IV"},
	"#EXT-X-MAP":                    {"URI", "BYTERANGE"},
	"#EXT-X-MEDIA":                  {"TYPE", "URI", "GROUP-ID", "LANGUAGE", "DEFAULT", "AUTOSELECT"},
	"#EXT-X-STREAM-INF":             {"BANDWIDTH", "AVERAGE-BANDWIDTH", "CODECS", "AUDIO"},
}

// rewritten is an HLS playlist in which each address is the one that issue has given for
// it. It is written anew from what was understood of the old one, so that a decoder that
// reads a line in another way (a lone CR, a NUL, a backslash before a quote) finds no other
// address in it. from is where it came from. Errors: *fetch.BlockedError, for addresses
// that are neither http nor https among others.
func rewritten(text []byte, from *url.URL, issue func(address string) string) ([]byte, error) {
	blocked := func(why string) error { return &fetch.BlockedError{URL: fetch.Redact(from.String()), Why: why} }
	text = bytes.TrimLeft(text, "\ufeff \t\r\n")
	if !bytes.HasPrefix(text, []byte("#EXTM3U")) {
		return nil, blocked("it is no HLS playlist")
	}
	var out bytes.Buffer
	out.WriteString("#EXTM3U\n")
	entries := 0
	lead := func(address string) (string, error) {
		if entries++; entries > mostEntries {
			return "", blocked(fmt.Sprintf("it is a playlist of more than %d addresses", mostEntries))
		}
		to, err := from.Parse(address)
		if err != nil {
			return "", blocked("an address in this playlist is not valid")
		}
		if to.Scheme != "http" && to.Scheme != "https" {
			return "", blocked(fmt.Sprintf("this playlist leads to an address with %.20q; only http and https are fetched", to.Scheme+":"))
		}
		to.Fragment, to.RawFragment = "", ""
		if address = to.String(); len(address) > mostAddress {
			return "", blocked("an address in this playlist is longer than 8 KB")
		}
		return issue(address), nil
	}
	wanted := false // the next address, by the tag before it
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
		line := string(bytes.TrimSpace(line))
		switch {
		case line == "":
		case line[0] != '#':
			if !wanted {
				continue
			}
			wanted = false
			to, err := lead(line)
			if err != nil {
				return nil, err
			}
			out.WriteString(to + "\n")
		default:
			name, value, _ := strings.Cut(line, ":")
			kept, known := tags[name]
			if !known {
				continue
			}
			wanted = wanted || name == "#EXTINF" || name == "#EXT-X-STREAM-INF"
			if kept == nil {
				word(&out, name, value)
			} else if err := attributes(&out, name, kept, value, lead); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// word writes a tag whose value is a number or a word.
func word(out *bytes.Buffer, name, value string) {
	value, _, _ = strings.Cut(value, ",") // of EXTINF: a title follows
	out.WriteString(name)
	if value = harmless(strings.TrimSpace(value), ""); value != "" {
		out.WriteString(":" + value)
	}
	if name == "#EXTINF" {
		out.WriteByte(',')
	}
	out.WriteByte('\n')
}

// attributes writes a tag with those of its attributes that are kept.
func attributes(out *bytes.Buffer, name string, kept []string, list string, lead func(string) (string, error)) error {
	var line []string
	seen := map[string]bool{} // each may be there once
	for list != "" {
		var key, value string
		var quoted bool
		key, value, quoted, list = attribute(list)
		switch {
		case seen[key] || !slices.Contains(kept, key):
			continue
		case key == "URI":
			to, err := lead(value)
			if err != nil {
				return err
			}
			line = append(line, key+`="`+to+`"`)
		case key == "TYPE" && value != "AUDIO":
			return nil // pictures and subtitles are not asked for
		case quoted:
			line = append(line, key+`="`+harmless(value, " ,")+`"`)
		default:
			line = append(line, key+"="+harmless(value, ""))
		}
		seen[key] = true
	}
	out.WriteString(name + ":" + strings.Join(line, ",") + "\n")
	return nil
}

// attribute is the first of an attribute list (RFC 8216, 4.2), and what follows it.
func attribute(list string) (key, value string, quoted bool, rest string) {
	key, rest, _ = strings.Cut(list, "=")
	key = strings.Trim(key, ", \t")
	if after, ok := strings.CutPrefix(rest, `"`); ok {
		value, rest, _ = strings.Cut(after, `"`)
		return key, value, true, rest
	}
	value, rest, _ = strings.Cut(rest, ",")
	return key, strings.TrimSpace(value), false, rest
}

// harmless is a value without what could be taken for anything but a value: letters,
// digits, a few signs, and what else is named.
func harmless(value, also string) string {
	value = value[:min(len(value), mostValue)]
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(".@+-_", r), strings.ContainsRune(also, r):
			return r
		}
		return '_'
	}, value)
}
