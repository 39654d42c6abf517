package social

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Draft is what a submitter says of a post.
type Draft struct {
	Type        Type
	Title       string
	Artist      string
	Description string
	Tags        []string
	CreatedBy   string
	// Rights says that the submitter has confirmed the operator's text.
	Rights bool
	// Name is the file's own name; may be empty.
	Name string
	// Once makes repeated submissions of one client one post; may be empty.
	Once string
}

const longestName = 200 // bytes of a file's own name that are kept

// clean returns the draft as it is kept. Errors wrap station.ErrInvalid and name the field.
func (d Draft) clean(words check.Words) (Draft, error) {
	if !d.Type.Valid() {
		return d, fmt.Errorf("type: must be one of %s: %w", typeList(), refusal.New(refusal.UnknownType).Kind(station.ErrInvalid))
	}
	if !d.Rights {
		return d, fmt.Errorf("rights: %w", refusal.New(refusal.Unconfirmed).Kind(station.ErrInvalid))
	}
	named, refused := check.Names{Title: d.Title, Artist: d.Artist, Description: d.Description, Tags: d.Tags, By: d.CreatedBy}.Clean(words)
	if refused != nil {
		return d, fmt.Errorf("%s: %w", refused.Field, refused.Kind(station.ErrInvalid))
	}
	d.Title, d.Artist, d.Description, d.Tags, d.CreatedBy = named.Title, named.Artist, named.Description, named.Tags, named.By
	d.Name = clipped(strings.Map(seen, strings.ToValidUTF8(d.Name, "")), longestName)
	return d, nil
}

// seen leaves out what cannot be seen: a file's own name ends as its sender pleases, and not
// with what an override of the direction makes of it.
func seen(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
		return -1
	}
	return r
}

func invalid(field, what string) error {
	return fmt.Errorf("%s: %s: %w", field, what, station.ErrInvalid)
}

func typeList() string {
	var all []string
	for _, t := range Types() {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}

func clipped(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

func (d Draft) tagsJSON() string {
	if d.Tags == nil {
		return "[]"
	}
	text, _ := json.Marshal(d.Tags) // a list of strings always can
	return string(text)
}

// folded is the text that a search looks through.
func (d Draft) folded() string {
	return strings.Join([]string{rotation.Fold(d.Title), rotation.Fold(d.Artist), rotation.Fold(d.CreatedBy)}, "\n")
}

const longestSlug = 40

// slug is the readable part of a file's name: a-z, 0-9 and hyphens, so that it takes little
// room in the playlist, which has 32768 bytes for 120 paths, and needs no escaping anywhere.
func slug(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(title) {
		letters := string(unicode.ToLower(r))
		if r > unicode.MaxASCII {
			letters = latin(r)
		}
		for _, l := range letters {
			switch {
			case l >= 'a' && l <= 'z', l >= '0' && l <= '9':
				if gap && b.Len() > 0 {
					b.WriteByte('-')
				}
				gap = false
				b.WriteRune(l)
			case !unicode.Is(unicode.Mn, l):
				gap = true
			}
		}
		if len(letters) == 0 && !unicode.Is(unicode.Mn, r) {
			gap = true
		}
	}
	out := strings.Trim(b.String(), "-")
	if len(out) > longestSlug {
		out = strings.Trim(out[:longestSlug], "-")
	}
	if out == "" {
		return "untitled"
	}
	return out
}

// latin writes an Arabic letter with Latin ones; empty for any other.
func latin(r rune) string {
	const letters = "اaأaإiآaبbتtثthجjحhخkhدdذdhرrزzسsشshصsضdطtظzعaغghفfقqكkلlمmنnهhةaوwؤwيyىaئyءaپpچchڤvگg"
	runes := []rune(letters)
	for i, l := range runes {
		if l != r || l < unicode.MaxASCII {
			continue
		}
		end := i + 1
		for end < len(runes) && runes[end] < unicode.MaxASCII {
			end++
		}
		return string(runes[i+1 : end])
	}
	if r >= '٠' && r <= '٩' {
		return string('0' + r - '٠')
	}
	return ""
}
