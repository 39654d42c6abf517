package media

import (
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/station"
)

// shortest is the length under which audio outside a category's folder is a short.
const shortest = time.Minute

// folderCategory reads the category out of a path:
//
//	[music/]<category>/…       that category
//	[music/]social/<type>/…    the category the post type airs in, else social
//
// Case, spaces and hyphens in the folder's name do not matter. ok is false for
// files elsewhere, whose category their content decides.
func folderCategory(rel string) (_ station.Category, ok bool) {
	folders := strings.Split(path.Dir(rel), "/")
	if folderName(folders[0]) == "music" {
		folders = folders[1:]
	}
	if len(folders) == 0 {
		return "", false
	}
	category := station.Category(folderName(folders[0]))
	if !category.Valid() {
		return "", false
	}
	if category == station.Social && len(folders) > 1 {
		if aired, ok := station.PostCategory(folderName(folders[1])); ok {
			return aired, true
		}
	}
	return category, true
}

func folderName(s string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(s))
}

// contentCategory sorts a file outside the categories' folders: under a
// minute it is a short, else its script tells Arabic music from the rest.
func contentCategory(t *station.Track) station.Category {
	switch {
	case t.Duration < shortest:
		return station.Shorts
	case arabic(t.Artist), arabic(t.Title), arabic(t.Album), arabic(t.Path):
		return station.ArabicHits
	}
	return station.English
}

func arabic(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r) })
}

// audioFile reports whether a file name is one of the six formats'.
func audioFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".mp3", ".ogg", ".oga", ".flac", ".m4a", ".opus", ".wav":
		return true
	}
	return false
}

// ignored reports names that are not music: hidden files, unfinished files of
// other programs, and folders that operating systems leave on disks.
func ignored(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "~") {
		return true
	}
	lower := strings.ToLower(name)
	switch lower {
	case "lost+found", "@eadir", "__macosx", "$recycle.bin", "system volume information":
		return true
	}
	stem := strings.TrimSuffix(lower, path.Ext(lower))
	for _, unfinished := range []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".!qb", ".filepart"} {
		if strings.HasSuffix(lower, unfinished) || (audioFile(lower) && strings.HasSuffix(stem, unfinished)) {
			return true
		}
	}
	return false
}

// posted reports that a path is of a listener's post: its file belongs to audience/social,
// which says when it may air.
func posted(rel string) bool {
	_, post := station.PostOf(rel)
	return post
}

// nameParts makes an artist and a title of a file name: "07. Artist - Title.mp3".
func nameParts(name string) (artist, title string) {
	stem := strings.TrimSuffix(name, path.Ext(name))
	stem = strings.TrimSpace(trackNumber(stem))
	if left, right, ok := strings.Cut(stem, " - "); ok && strings.TrimSpace(left) != "" && strings.TrimSpace(right) != "" {
		return strings.TrimSpace(left), strings.TrimSpace(right)
	}
	return "", stem
}

// trackNumber drops a leading "07 - ", "07. " or "1-07 ", but not the number
// that is the title ("1999", "7 Rings").
func trackNumber(stem string) string {
	rest := strings.TrimLeft(stem, "0123456789-")
	digits := stem[:len(stem)-len(rest)]
	if digits == "" || strings.HasPrefix(digits, "-") || len(digits) > 5 || (len(digits) > 3 && !strings.Contains(digits, "-")) {
		return stem
	}
	for _, mark := range []string{". ", " - ", "_-_", ") "} {
		if after, ok := strings.CutPrefix(rest, mark); ok && strings.TrimSpace(after) != "" {
			return after
		}
	}
	if strings.HasPrefix(digits, "0") && strings.HasPrefix(rest, " ") && len(strings.TrimSpace(rest)) > 0 {
		return rest
	}
	return stem
}
