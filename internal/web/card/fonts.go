package card

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/go-text/typesetting/font"
)

// fontFiles are cuts of the pages' two fonts at one weight, each under the SIL Open Font
// License beside it: Reem Kufi speaks titles, Readex Pro the rest.
//
//go:embed fonts/*.woff
var fontFiles embed.FS

// family is a font in its parts, the first that has a letter draws it.
type family []*font.Font

func readFamily(names ...string) (family, error) {
	var out family
	for _, name := range names {
		for _, part := range []string{"arabic", "latin", "latin-ext"} {
			data, err := fontFiles.ReadFile("fonts/" + name + "-" + part + "-500-normal.woff")
			if err != nil {
				return nil, fmt.Errorf("read a font: %w", err)
			}
			face, err := font.ParseTTF(bytes.NewReader(data))
			if err != nil {
				return nil, fmt.Errorf("read the font %s %s: %w", name, part, err)
			}
			out = append(out, face.Font)
		}
	}
	return out, nil
}

// faces are a family for one goroutine at a time.
type faces []*font.Face

func (f family) faces() faces {
	out := make(faces, len(f))
	for i, one := range f {
		out[i] = font.NewFace(one)
	}
	return out
}

// of is the face that draws a letter: the one in use where it can, which keeps words whole.
func (f faces) of(r rune, inUse *font.Face) *font.Face {
	if inUse != nil {
		if _, ok := inUse.NominalGlyph(r); ok {
			return inUse
		}
	}
	for _, face := range f {
		if _, ok := face.NominalGlyph(r); ok {
			return face
		}
	}
	return nil
}
