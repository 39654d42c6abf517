package mastering

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the two kinds of cover
	_ "image/png"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// madeBy begins the mark of files that may be written over.
const madeBy = "athir master"

// mark is what a file made by plan bears. One that was held down says for which target,
// so that a second mastering does not take it for a quiet file and limits it again.
func mark(p Profile, plan Plan) string {
	if !plan.Held {
		return madeBy
	}
	return fmt.Sprintf("%s, held below %s LUFS", madeBy, p.Name)
}

// breakTag is what artist, title and genre of a break say.
const breakTag = "Break"

const (
	mostTags   = 48
	longestTag = 4 << 10 // bytes
	mostCover  = 1 << 20 // bytes; players load it with every track
	widest     = 3000    // pixels
)

var (
	tagName = regexp.MustCompile(`^[a-z0-9][a-z0-9 _./:-]{0,39}$`)
	// stale is what mastering makes untrue, and what describes the old container.
	stale = regexp.MustCompile(`^(replaygain_|r128_|itunnorm|itunsmpb|itunpgap|encode|encoding|tsse|tenc$|major_brand|minor_version|compatible_brands|` +
		`creation_time|handler_name|vendor_id|id3v2_priv|id3v1|duration|tlen$|software|iscn)`)
)

// tagsFor returns the tags of the mastered file, in a fixed order: those of the
// source, cleaned, under those of the job.
func tagsFor(s *source, override map[string]string, mark string) [][2]string {
	all := map[string]string{}
	for name, value := range s.probe.Tags {
		all[strings.ToLower(name)] = value
	}
	// audiofile knows old encodings, and that a field may come several times.
	for name, value := range map[string]string{
		"title": s.tags.Title, "artist": s.tags.Artist, "album": s.tags.Album, "genre": s.tags.Genre,
	} {
		if value != "" {
			all[name] = value
		}
	}
	for name, value := range override {
		all[strings.ToLower(name)] = value
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if d := important(b) - important(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var out [][2]string
	for _, name := range names {
		value := cleanTag(name, all[name])
		if value != "" && tagName.MatchString(name) && !stale.MatchString(name) && len(out) < mostTags {
			out = append(out, [2]string{name, value})
		}
	}
	return append(out, [2]string{"encoded_by", mark})
}

// important tags are kept first where a file has absurdly many.
func important(name string) int {
	order := []string{"license", "copyright", "date", "genre", "album", "artist", "title"}
	return slices.Index(order, name)
}

// cleanTag makes a text printable. Lines are kept where texts have lines.
func cleanTag(name, value string) string {
	if len(value) > longestTag {
		value = value[:longestTag] // a character that is cut falls to ToValidUTF8
	}
	lines := strings.HasPrefix(name, "lyrics") || name == "comment" || name == "description"
	value = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && lines:
			return r
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff':
			return -1 // what turns the text behind it round
		}
		return r
	}, strings.ToValidUTF8(value, ""))
	return strings.TrimSpace(value)
}

// cover takes the source's picture out into a file in dir; none, or one that
// is too large or no picture, gives nil.
func cover(ctx context.Context, s *source, dir string) (*temp, error) {
	if s.probe.Picture == "" {
		return nil, nil
	}
	data, err := ffmpeg.Picture(ctx, s.path, s.probe.Picture, mostCover)
	var refused *ffmpeg.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	picture, kind, err2 := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || err2 != nil || picture.Width > widest || picture.Height > widest {
		return nil, nil //nolint:nilerr // the sound does not suffer for the cover
	}
	t, err := newTemp(dir, map[string]string{"jpeg": ".jpg", "png": ".png"}[kind])
	if err != nil {
		return nil, err
	}
	if _, err := t.f.Write(data); err != nil {
		t.discard()
		return nil, plainer(err)
	}
	return t, nil
}
