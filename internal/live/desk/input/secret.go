package input

import (
	"regexp"
	"strings"
)

// Addresses may hold passwords and tokens. The arguments of a program are for every user
// of the machine to read, and what it complains of goes to logs and to the studio: neither
// may have them.

// listed is what ffmpeg reads from its standard input instead of an argument: a list of
// one address, and the options to open it with. The list itself may open more than the
// address may: what that is, the options say.
func listed(address string, options ...string) string {
	var b strings.Builder
	b.WriteString("ffconcat version 1.0\nfile " + token(address) + "\n")
	for i := 0; i+1 < len(options); i += 2 {
		b.WriteString("option " + options[i] + " " + token(options[i+1]) + "\n")
	}
	return b.String()
}

// token is text as one word of the list, which has one line for each.
func token(text string) string {
	text = strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(text)
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// listing are the arguments that read the list, of an address that may be opened by
// protocols.
func listing(protocols string, before ...string) []string {
	return append(append([]string{"-protocol_whitelist", "pipe," + protocols}, before...), "-safe", "0", "-f", "concat", "-i", "pipe:0")
}

var (
	login = regexp.MustCompile(`(\w://)[^/?#\s'"]*@`)
	query = regexp.MustCompile(`(\w+://[^?#\s'"]*)[?#][^\s'"]*`)
)

// private is text without the logins and queries of the addresses in it.
func private(text string) string {
	return query.ReplaceAllString(login.ReplaceAllString(text, "$1"), "$1?…")
}

// hushed is an error in words that hold nothing secret.
type hushed struct{ error }

func (h hushed) Error() string { return private(h.error.Error()) }
func (h hushed) Unwrap() error { return h.error }
