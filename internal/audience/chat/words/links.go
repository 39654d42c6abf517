package words

import (
	"regexp"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/unicode/norm"
)

var (
	scheme  = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.\S|mailto:|magnet:|tg:)`)
	number  = regexp.MustCompile(`(?:^|[^0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:$|[^0-9.])`)
	domain  = regexp.MustCompile(`(?:[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?\.)+[\p{L}\p{M}][\p{L}\p{N}\p{M}-]*`)
	spelled = regexp.MustCompile(`(?i)([\p{L}\p{N}])(?:\s*[\[({<]\s*(?:dot|\.|نقطة|نقطه|دوت)\s*[\])}>]\s*|\s+(?:dot|نقطة|نقطه|دوت)\s+|\s+\.\s*|\s*\.\s+)(com|net|org|me|tv|ly|info|io|co|eg|sa|ae|live|online|xyz|كوم|نت)(?:[^\p{L}\p{N}]|$)`)
)

// HasLink reports whether a text contains a network address: one with a scheme, a bare
// domain of an existing top level (also Arabic ones, and with Arabic full stops), a
// domain whose dot is spelt out, or a numeric address.
func HasLink(text string) bool {
	s := norm.NFKC.String(text)
	s = strings.NewReplacer("۔", ".", "。", ".", "｡", ".", "․", ".", "\u200c", "", "\u200d", "", "\u200e", "", "\u200f", "", "ـ", "").Replace(s)
	if scheme.MatchString(s) || number.MatchString(s) || spelled.MatchString(s) {
		return true
	}
	for _, name := range domain.FindAllString(s, -1) {
		if known(name) {
			return true
		}
	}
	return false
}

// known reports whether a label of the name is an existing top level. It ignores Arabic
// around a Latin label: "site.comتابعوني" is written so that the last label is none.
func known(name string) bool {
	labels := strings.Split(name, ".")
	for i := 1; i < len(labels); i++ {
		if topLevel(labels[i]) {
			return true
		}
		if latin := strings.TrimFunc(labels[i], func(r rune) bool { return r > 'z' }); latin != labels[i] && topLevel(latin) {
			return true
		}
	}
	return false
}

func topLevel(label string) bool {
	ascii, err := idna.Lookup.ToASCII(strings.ToLower(label))
	if err != nil || len(ascii) < 2 {
		return false
	}
	_, icann := publicsuffix.PublicSuffix("a." + ascii)
	return icann
}
