package upload

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// Meta is what a sender says of an upload: the values of Upload-Metadata.
type Meta struct {
	Type, Title, Artist, Description, CreatedBy string

	Filename string   // without folders, for people: no path is made of it
	Tags     []string // split at commas, Arabic ones too
	Rights   bool     // confirmed
	Size     int64    // Upload-Length
}

// longestMetadata bounds the header Upload-Metadata, in bytes: all values at their
// longest, in Arabic, fit, and proxies as they come take a header of 8 KiB.
const longestMetadata = 7 << 10

// mostTags bounds Tags.
const mostTags = 20

// longest is how many characters a value may have, by its key; a key that is not in it is
// refused. What is filled in by tus clients on their own and means nothing here is -1.
func longest(key string) (int, bool) {
	n, known := map[string]int{
		"type": 16, "title": 200, "artist": 200, "description": 1500, "tags": 400, "createdBy": 100, "rights": 8, "filename": 200,
		"filetype": -1, "relativePath": -1,
	}[key]
	return n, known
}

const knownKeys = "type, title, artist, description, tags, createdBy, rights, filename"

// parsePairs reads Upload-Metadata. Unlike the library's own parser it refuses what it
// does not understand: half a title would go on the air as it is.
func parsePairs(header string) (map[string]string, error) {
	if len(header) > longestMetadata {
		return nil, invalid("Upload-Metadata: has %d bytes, %d are allowed", len(header), longestMetadata)
	}
	pairs := map[string]string{}
	if strings.TrimSpace(header) == "" {
		return pairs, nil
	}
	for element := range strings.SplitSeq(header, ",") {
		key, encoded, _ := strings.Cut(strings.TrimSpace(element), " ")
		if _, twice := pairs[key]; twice {
			return nil, invalid("Upload-Metadata: %s stands there twice", key)
		}
		value, err := parseValue(key, encoded)
		if err != nil {
			return nil, err
		}
		pairs[key] = value
	}
	return pairs, nil
}

func parseValue(key, encoded string) (string, error) {
	bound, known := longest(key)
	if !known {
		return "", invalid("Upload-Metadata: unknown key %.40q: known are %s", key, knownKeys)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", invalid("Upload-Metadata: the value of %s must be base64", key)
	}
	value := string(raw)
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		return "", invalid("%s: must be UTF-8", key)
	case bound < 0:
		return "", nil
	case n > bound:
		return "", invalid("%s: has %d characters, %d are allowed", key, n, bound)
	}
	for _, c := range value {
		if unicode.IsControl(c) && (key != "description" || !strings.ContainsRune("\n\r\t", c)) {
			return "", invalid("%s: must have no control characters", key)
		}
	}
	return value, nil
}

// metaOf reads the pairs that parsePairs found.
func metaOf(pairs map[string]string, size int64) (Meta, error) {
	m := Meta{
		Type: pairs["type"], Title: pairs["title"], Artist: pairs["artist"], Description: pairs["description"],
		CreatedBy: pairs["createdBy"], Size: size,
	}
	m.Filename = pairs["filename"][strings.LastIndexAny(pairs["filename"], `/\`)+1:]
	for _, tag := range strings.FieldsFunc(pairs["tags"], func(c rune) bool { return c == ',' || c == '،' }) {
		if tag = strings.TrimSpace(tag); tag != "" {
			m.Tags = append(m.Tags, tag)
		}
	}
	if len(m.Tags) > mostTags {
		return Meta{}, invalid("tags: there are %d, %d are allowed", len(m.Tags), mostTags)
	}
	switch pairs["rights"] {
	case "", "false", "0":
	case "true", "1":
		m.Rights = true
	default:
		return Meta{}, invalid(`rights: must be "true" or "false"`)
	}
	return m, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), station.ErrInvalid)
}
