package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

const (
	mostNames   = 500 // in one category
	longestName = 200 // characters
)

// Action says what an edit does to the names of a category.
type Action string

// The actions (mission: POST /api/station/singers).
const (
	Add     Action = "add"
	Remove  Action = "remove"
	Replace Action = "replace"
)

// Edit changes the singers, or the trend queries, of one category.
type Edit struct {
	Category station.Category
	Action   Action
	Names    []string
}

// edited returns lists with an edit applied. Names are compared folded: the
// same singer in two spellings is one, and the first spelling stays.
func (e Edit) edited(field string, lists map[station.Category][]string) (map[station.Category][]string, error) {
	var bad wrong
	if !e.Category.Valid() {
		bad.add("category", "must be one of the ten categories")
	}
	if e.Action != Add && e.Action != Remove && e.Action != Replace {
		bad.add("action", "must be add, remove or replace")
	}
	names := tidy(field, e.Names, &bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	out := maps.Clone(lists)
	if out == nil {
		out = map[station.Category][]string{}
	}
	switch e.Action {
	case Add:
		names = slices.Concat(out[e.Category], names)
	case Remove:
		gone := map[string]bool{}
		for _, n := range names {
			gone[key(n)] = true
		}
		names = slices.DeleteFunc(slices.Clone(out[e.Category]), func(n string) bool { return gone[key(n)] })
	}
	out[e.Category] = tidy(field, names, &bad)
	if len(out[e.Category]) == 0 {
		delete(out, e.Category)
	}
	return out, bad.err()
}

// tidied checks the lists of all categories and drops duplicates.
func tidied(field string, lists map[station.Category][]string, bad *wrong) map[station.Category][]string {
	out := map[station.Category][]string{}
	for _, c := range slices.Sorted(maps.Keys(lists)) {
		at := join(field, string(c))
		if !c.Valid() {
			bad.add(at, "must be one of the ten categories")
			continue
		}
		if names := tidy(at, lists[c], bad); len(names) > 0 {
			out[c] = names
		}
	}
	return out
}

// tidy trims names, drops those that fold to one before them, and checks them.
func tidy(at string, names []string, bad *wrong) []string {
	seen := map[string]bool{}
	var out []string
	for i, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		switch {
		case n == "":
			bad.add(index(at, i), "must not be empty")
		case utf8.RuneCountInString(n) > longestName:
			bad.add(index(at, i), "must be at most %d characters", longestName)
		case !utf8.ValidString(n) || strings.ContainsFunc(n, hidden):
			bad.add(index(at, i), "must hold no control characters")
		case !seen[key(n)]:
			seen[key(n)] = true
			out = append(out, n)
		}
	}
	if len(out) > mostNames {
		bad.add(at, "must have at most %d entries", mostNames)
	}
	return out
}

// hidden reports characters that would make a name look like another.
// Joiners are not among them: Persian and Urdu names need those.
func hidden(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0xFEFF
}

// key is equal for names that count as the same; a name without letters is its own.
func key(name string) string {
	if f := rotation.Fold(name); f != "" {
		return f
	}
	return fmt.Sprintf("\x00%s", name)
}
