package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Reserved knows the names that only the staff may use.
type Reserved struct {
	words    map[string]bool  // reserved anywhere in a name
	stations map[string]bool  // reserved as the whole name
	beside   map[string]bool  // words that may accompany a station's name
	latin    []*regexp.Regexp // Latin spellings of words
	station  *regexp.Regexp   // Latin spellings of the station; nil if its name is not Arabic
}

// NewReserved reserves titles such as admin, the station's name, and more words of the
// operator's. The station's name is reserved only as a whole name, with or without words
// such as radio: people are called أثير, too.
func NewReserved(station string, more []string) *Reserved {
	r := &Reserved{words: map[string]bool{}, stations: map[string]bool{}, beside: map[string]bool{}}
	for _, w := range append(strings.Fields(
		"admin administrator moderator mod staff studio owner operator system support admins mods moderators administration админ адмін modir mudir moudir modeer idara edara أدمن أدمين أدمنز مشرفين مشرفون مديرين إشراف إدارة مدير مديرة مشرف مشرفة استوديو استديو ستوديو المالك"), more...) {
		if key := squash(w); key != "" {
			r.words[withoutArticle(key)] = true
		}
	}
	for _, w := range more {
		if spelt := latinSpelling(w); spelt != nil {
			r.latin = append(r.latin, spelt)
		}
	}
	r.station = latinSpelling(station)
	for _, w := range strings.Fields("radio fm station official the live online راديو إذاعة محطة قناة إف إم رسمية الرسمية مباشر") {
		r.beside[withoutArticle(squash(w))] = true
	}
	if key := squash(station); key != "" {
		r.stations[withoutArticle(key)] = true
	}
	return r
}

// Taken reports whether a name is reserved, in any spelling.
func (r *Reserved) Taken(name string) bool {
	return strings.ContainsFunc(name, odd) || r.taken(name) || r.taken(strings.Map(func(c rune) rune {
		if strings.ContainsRune(instead, c) {
			return twin(latinTwins, c)
		}
		return c
	}, name))
}

func (r *Reserved) taken(name string) bool {
	var whole, core, spelt strings.Builder
	for _, t := range tokens(name) {
		for _, key := range readings(name[t.from:t.to], t.key) {
			if r.words[key] {
				return true
			}
		}
		if t.joined {
			continue
		}
		if r.isLatin(r.latin, t.key) {
			return true
		}
		key := withoutArticle(lookalike(t.key))
		if !r.beside[key] {
			spelt.WriteString(t.key)
		}
		whole.WriteString(key)
		if !r.beside[key] {
			core.WriteString(key)
		}
	}
	if r.isLatin(append([]*regexp.Regexp{r.station}, r.latin...), spelt.String()) {
		return true
	}
	for _, all := range []string{whole.String(), core.String(), squash(strings.TrimFunc(name, decoration))} {
		if r.holds(withoutArticle(lookalike(all))) {
			return true
		}
	}
	return false
}

func (r *Reserved) isLatin(spellings []*regexp.Regexp, key string) bool {
	key = single(key)
	return slices.ContainsFunc(spellings, func(s *regexp.Regexp) bool { return s != nil && s.MatchString(key) })
}

func (r *Reserved) holds(all string) bool {
	if r.words[all] || r.stations[all] {
		return true
	}
	for word := range r.words {
		for station := range r.stations {
			if all == word+station || all == station+word {
				return true
			}
		}
	}
	return false
}

// readings returns the ways to read a word: as it is, without its article or conjunction,
// without digits at its ends.
func readings(text, key string) []string {
	out := []string{lookalike(key), lookalike(fold(strings.TrimFunc(text, decoration)))}
	for _, k := range out {
		for _, front := range []string{"و", "يا"} {
			if rest, ok := strings.CutPrefix(k, front); ok {
				out = append(out, rest)
			}
		}
	}
	for i, k := range out {
		out[i] = withoutArticle(k)
	}
	return out
}

func decoration(r rune) bool { return !unicode.IsLetter(r) }

func withoutArticle(key string) string {
	if rest, ok := strings.CutPrefix(key, "ال"); ok && len([]rune(rest)) >= 3 {
		return rest
	}
	return key
}

// squash returns a whole name as one word.
func squash(s string) string {
	var b strings.Builder
	for _, t := range tokens(s) {
		if !t.joined {
			b.WriteString(t.key)
		}
	}
	return lookalike(letters(b.String()))
}

// lookalike goes further than fold: it also unifies letters that look alike in some
// typefaces, and doubled letters.
func lookalike(key string) string {
	key = strings.NewReplacer("rn", "m", "vv", "w", "i", "l", "j", "l").Replace(key)
	var b strings.Builder
	var last rune
	for _, r := range key {
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}
