package upload

import (
	"fmt"
	"strings"

	"github.com/athir-radio/athir/internal/kit/resume"
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

// mostTags bounds Tags.
const mostTags = 20

// keys are what a sender may say. All values at their longest, in Arabic, fit into
// resume.LongestMetadata.
func keys() []resume.Key {
	return []resume.Key{
		{Name: "type", Longest: 16}, {Name: "title", Longest: 200}, {Name: "artist", Longest: 200},
		{Name: "description", Longest: 1500, Lines: true}, {Name: "tags", Longest: 400}, {Name: "createdBy", Longest: 100},
		{Name: "rights", Longest: 8}, {Name: "filename", Longest: 200},
		{Name: "filetype", Idle: true}, {Name: "relativePath", Idle: true},
	}
}

// metaOf reads the pairs of an upload.
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
