package imaging

import (
	"strings"
	"testing"
	"unicode"
)

// What only Cairo says, and what only a newsreader says: words without tashkeel.
var (
	cairene = strings.Fields("خليكم خليك معانا معاكم لسه ولسه جاي العربية الشغل دايما زمان النهارده مزيكا المزيكا دي هي بتحبوا إنتو إنت علي يالا وبس ماخلصتش")
	written = strings.Fields("أنتم أنت هذه التي تسمعون تسمعونها تستمعون القادمة المفضلة نعود معنا معكم أكثر أقل كلام وكلام ابقوا اسمعوا ارفعوا دائما ودائما غير")
)

// caseEnding reports a word with the vowel of a case that the Arabic of Cairo has not:
// of a noun in a ta marbuta, or nunation.
func caseEnding(word string) bool {
	return strings.ContainsAny(word, "ٌٍ") || strings.HasSuffix(word, "ةُ") || strings.HasSuffix(word, "ةَ") || strings.HasSuffix(word, "ةِ")
}

func TestEachPhraseIsInOneRegister(t *testing.T) {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, s)
	}
	seen := map[string]bool{}
	for kind, phrases := range defaultPhrases() {
		for _, phrase := range phrases {
			if bare := bare(phrase); seen[bare] || strings.Contains(bare, "اسمعوا القلب") {
				t.Errorf("%s: %s", kind, phrase)
			}
			seen[bare(phrase)] = true
			var spoken, read []string
			for _, word := range strings.FieldsFunc(phrase, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
				for _, w := range cairene {
					if bare(word) == w {
						spoken = append(spoken, word)
					}
				}
				for _, w := range written {
					if bare(word) == w {
						read = append(read, word)
					}
				}
				if caseEnding(word) {
					read = append(read, word)
				}
			}
			if len(spoken) > 0 && len(read) > 0 {
				t.Errorf("%s: %s: %v beside %v", kind, phrase, spoken, read)
			}
		}
	}
	if !seen["علي الصوت. إنت على {station}."] {
		t.Error("the phrase for turning it up is not there")
	}
}
