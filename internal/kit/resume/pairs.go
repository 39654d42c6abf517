package resume

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// LongestMetadata bounds the header Upload-Metadata, in bytes: proxies as they come take a
// header of 8 KiB.
const LongestMetadata = 7 << 10

// Key is what a sender may say of an upload: a key of Upload-Metadata.
type Key struct {
	Name    string
	Longest int  // characters of its value
	Lines   bool // it may have several
	// Idle is a key that tus clients fill in on their own and that means nothing here: it is
	// taken, and its value dropped.
	Idle bool
}

// keys are those of an Uploads, and their names for refusals.
type keys struct {
	all   map[string]Key
	named string
}

func newKeys(all []Key) keys {
	k := keys{all: map[string]Key{}}
	var names []string
	for _, key := range all {
		k.all[key.Name] = key
		if !key.Idle {
			names = append(names, key.Name)
		}
	}
	k.named = strings.Join(slices.Compact(names), ", ")
	return k
}

// parsePairs reads Upload-Metadata. Unlike the library's own parser it refuses what it
// does not understand: half a title would go on the air as it is.
func (k keys) parsePairs(header string) (map[string]string, error) {
	if len(header) > LongestMetadata {
		return nil, invalid("Upload-Metadata: has %d bytes, %d are allowed", len(header), LongestMetadata)
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
		value, err := k.parseValue(key, encoded)
		if err != nil {
			return nil, err
		}
		pairs[key] = value
	}
	return pairs, nil
}

// Said is what the headers Upload-Metadata of a request say under a key, for a log, without
// control characters; empty for what cannot be read.
func Said(headers []string, key string) string {
	all := strings.Join(headers, ",")
	if len(all) > LongestMetadata {
		return ""
	}
	for element := range strings.SplitSeq(all, ",") {
		name, encoded, _ := strings.Cut(strings.TrimSpace(element), " ")
		if raw, err := base64.StdEncoding.DecodeString(encoded); name == key && err == nil && utf8.Valid(raw) {
			return strings.Map(func(r rune) rune {
				if unicode.IsControl(r) {
					return -1
				}
				return r
			}, string(raw))
		}
	}
	return ""
}

func (k keys) parseValue(name, encoded string) (string, error) {
	key, known := k.all[name]
	if !known {
		return "", invalid("Upload-Metadata: unknown key %.40q: known are %s", name, k.named)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", invalid("Upload-Metadata: the value of %s must be base64", name)
	}
	value := string(raw)
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		return "", invalid("%s: must be UTF-8", name)
	case key.Idle:
		return "", nil
	case n > key.Longest:
		return "", invalid("%s: has %d characters, %d are allowed", name, n, key.Longest)
	}
	for _, c := range value {
		if unicode.IsControl(c) && (!key.Lines || !strings.ContainsRune("\n\r\t", c)) {
			return "", invalid("%s: must have no control characters", name)
		}
	}
	return value, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), station.ErrInvalid)
}
