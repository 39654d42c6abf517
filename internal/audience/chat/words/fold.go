package words

import (
	"strings"
	"unicode"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// token is a word of a text with its place.
type token struct {
	from, to int    // bytes
	key      string // folded, for comparison
	single   bool   // one letter
	joined   bool   // made of spaced letters, each of which is a token as well
}

// tokens splits a text into words. Three or more spaced letters in a row, as in
// "w.o.r.d", also make one word.
func tokens(s string) []token {
	var out []token
	start := -1
	flush := func(end int) {
		if start >= 0 {
			if key := fold(s[start:end]); key != "" {
				out = append(out, token{from: start, to: end, key: key, single: len([]rune(key)) == 1})
			}
			start = -1
		}
	}
	runes := []rune(s)
	at := 0
	for i, r := range runes {
		size := len(string(r))
		inner := strings.ContainsRune(instead, r) && start >= 0 && i+1 < len(runes) && wordy(runes[i+1])
		switch {
		case wordy(r) && start < 0:
			start = at
		case !wordy(r) && !inner:
			flush(at)
		}
		at += size
	}
	flush(len(s))
	return append(out, spaced(s, out)...)
}

// instead are signs that people type in place of a letter within a word.
const instead = "@$!|"

func wordy(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf) || (r >= 0x249C && r <= 0x24E9) || (r >= 0x1F110 && r <= 0x1F189) || regional(r)
}

func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// spaced returns the words made of spaced letters.
func spaced(s string, all []token) []token {
	var out []token
	for i := 0; i < len(all); {
		j := i
		key := ""
		for j < len(all) && all[j].single && (j == i || near(s[all[j-1].to:all[j].from])) {
			key += all[j].key
			j++
		}
		if j-i >= 3 {
			out = append(out, token{from: all[i].from, to: all[j-1].to, key: letters(key), joined: true})
		}
		i = max(j, i+1)
	}
	return out
}

func near(between string) bool { return len(between) <= 8 && !strings.Contains(between, "\n") }

// fold returns the form in which words are compared: that of artists' names
// (rotation.Fold), with lookalikes replaced by the letters that they resemble.
func fold(s string) string {
	var plain strings.Builder
	for _, r := range s {
		plain.WriteRune(pictured(r))
	}
	return letters(strings.ReplaceAll(rotation.Fold(plain.String()), " ", ""))
}

// letters reads digits and lookalikes as the letters of the script around them.
func letters(s string) string {
	arabic := strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Arabic, r) })
	if !strings.ContainsFunc(s, unicode.IsLetter) {
		return s // a number
	}
	table := latinTwins
	if arabic {
		table = arabicTwins
	}
	return strings.Map(func(r rune) rune { return twin(table, r) }, s)
}

// Pairs of a character and the letter that it is read as.
const (
	latinTwins = "аaеeоoрpсcуyхxіiјjѕsԁdһhӏlԛqԝwвbкkмmнhтtиuпnгrьbёeїiүyαaβbεeιiκkνvοoρpτtυuχxηnωwγyσoμuζzϲcıiłløođdħhɑaɡgʀrɪiʜhɴnᴀaᴅdᴍmᴏoᴛtᴜu" +
		"ɓbɗdɖdƒfꜰfꜱsɢgʙbʟlᴇeᴊjᴋkᴘpᴠvᴡwᴢzᴄcʏyƙkɲnŋnɳnɾrɽrʂsƭtʈtʋvɩiƞnɱm" +
		"0o1i3e4a5s7t8b@a$s!i|i"
	arabicTwins = "ٮبڡفٯقںنھهٹتڈدڑرےيڭكۆوۇوېي1ا5هaا"
)

func twin(table string, r rune) rune {
	i := strings.IndexRune(table, r)
	if i < 0 || (r >= 'a' && r <= 'z') {
		return r
	}
	from := true // whether c is the first of a pair
	for at, c := range table {
		if at > i {
			return c
		}
		if at == i && !from {
			return r
		}
		from = !from
	}
	return r
}

// pictured reads letters in boxes, halves of flags and signs as letters.
func pictured(r rune) rune {
	switch {
	case strings.ContainsRune("ΜΝΗΖΥΧΡ", r): // their small letters resemble other ones
		return twin("ΜmΝnΗhΖzΥyΧxΡp", r)
	case strings.ContainsRune(instead, r):
		return twin(latinTwins, r)
	case regional(r):
		return 'a' + r - 0x1F1E6
	case r >= 0x1F150 && r <= 0x1F169:
		return 'a' + r - 0x1F150
	case r >= 0x1F170 && r <= 0x1F189:
		return 'a' + r - 0x1F170
	}
	return r
}
