package alarm

import (
	"strings"
	"testing"
	"unicode"
)

// Every kind has sentences of its own in both languages, and none is in the other's letters.
func TestEveryKindIsSaidInBothLanguages(t *testing.T) {
	seen := map[string]Kind{}
	for _, k := range Kinds() {
		for _, lang := range []string{"ar", "en"} {
			w := WordsFor(k, lang)
			for _, text := range []string{w.On, w.Off, w.Do} {
				if arabic := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }); text == "" || arabic != (lang == "ar") {
					t.Errorf("%s in %s: %q", k, lang, text)
				}
			}
			if other, twice := seen[w.On]; twice {
				t.Errorf("%s and %s are both %q", k, other, w.On)
			}
			seen[w.On] = k
		}
	}
	if len(Kinds()) != len(english()) || len(Kinds()) != len(arabic()) {
		t.Errorf("%d kinds, %d in English, %d in Arabic", len(Kinds()), len(english()), len(arabic()))
	}
	for _, lang := range []string{"ar", "en"} {
		if WordsFor("of a later version", lang).On == "" {
			t.Errorf("an unknown kind has no words in %s", lang)
		}
	}
}
