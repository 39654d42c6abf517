package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// Guess is the category of a file that lay in a folder, as an upload's is guessed, and why. Of
// info the length counts.
func Guess(folder string, t *station.Track, info *audiofile.Info) (station.Category, Words) {
	return guess(folder, t, info)
}

// guess chooses a category for a file without one, and says why:
//
//	a folder that it was dropped with is called so, the innermost first
//	under a minute: a short
//	its names are in Arabic letters: Arabic hits; else English
//	longer than a song: a mix
//
// A category that the file does not fit is passed over.
func guess(folder string, t *station.Track, info *audiofile.Info) (station.Category, Words) {
	folders := strings.FieldsFunc(folder, func(r rune) bool { return r == '/' || r == '\\' })
	for _, name := range slices.Backward(folders) {
		if c := categoryOf(name); c != "" && media.Fits(c, info) == nil {
			name = clip(name, 60)
			return c, Words{fmt.Sprintf("Its folder is called “%s”.", name), fmt.Sprintf("اسم مجلده «%s».", name)}
		}
	}
	c := media.ByContent(t)
	switch {
	case media.Fits(c, info) != nil:
		return station.Mashups, Words{
			fmt.Sprintf("It lasts %s, longer than a song.", clock(info.Duration)),
			fmt.Sprintf("مدته %s، أي أطول من أغنية.", clock(info.Duration)),
		}
	case media.Brief(t):
		return c, Words{
			fmt.Sprintf("It lasts %s, less than a minute.", clock(info.Duration)),
			fmt.Sprintf("مدته %s، أي أقل من دقيقة.", clock(info.Duration)),
		}
	case c == station.ArabicHits:
		return c, Words{"Its names are written in Arabic.", "بياناته مكتوبة بحروف عربية."}
	}
	return c, Words{"Its names are not written in Arabic.", "بياناته ليست بحروف عربية."}
}

// categoryOf is the category that a folder's name speaks of: the whole name first, then each
// of its words. What listeners sent is no category to be guessed.
func categoryOf(folder string) station.Category {
	name := rotation.Fold(strings.NewReplacer("_", " ", "-", " ").Replace(folder))
	if c := categoryWord(name); c != "" || name == "" {
		return c
	}
	for word := range strings.FieldsSeq(name) {
		if c := categoryWord(word); c != "" {
			return c
		}
	}
	return ""
}

func categoryWord(name string) station.Category {
	for _, c := range station.Categories() {
		for _, word := range folderWords(c) {
			if rotation.Fold(word) == name {
				return c
			}
		}
	}
	return ""
}

// folderWords are what people call the folder of a category.
func folderWords(c station.Category) []string {
	switch c {
	case station.ArabicHits:
		return []string{"arabic hits", "arabic", "arab", "عربي", "عربية", "أغاني عربية", "أغان عربية", "طرب"}
	case station.English:
		return []string{"english", "western", "إنجليزي", "إنجليزية", "أجنبي", "أجنبية", "أغاني أجنبية"}
	case station.Mashups:
		return []string{"mashups", "mashup", "remixes", "remix", "mixes", "megamix", "ريمكس", "ميكس", "ميكسات", "ماشاب"}
	case station.Ads:
		return []string{"ads", "ad", "adverts", "advertising", "commercials", "commercial", "spots", "إعلان", "إعلانات", "الإعلانات"}
	case station.Jingles:
		return []string{"jingles", "jingle", "جينغل", "جنجل", "جينجل", "شارة", "شارات", "الشارات"}
	case station.Sweepers:
		return []string{"sweepers", "sweeper", "liners", "liner", "promos", "promo", "فاصل", "فواصل", "الفواصل", "سويبر", "برومو"}
	case station.SFX:
		return []string{"sfx", "fx", "effects", "sound effects", "مؤثر", "مؤثرات", "مؤثرات صوتية", "المؤثرات"}
	case station.Shorts:
		return []string{"shorts", "short", "clips", "قصير", "قصيرة", "مقاطع قصيرة"}
	case station.News:
		return []string{"news", "bulletin", "bulletins", "خبر", "أخبار", "الأخبار", "نشرة", "نشرات"}
	}
	return nil
}
