package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// What is done about a word.
const (
	Block = "block" // texts that contain it are refused
	Star  = "star"  // it is replaced by asterisks
)

// Word is an entry of the operator's word list.
type Word struct {
	Word   string `json:"word" minLength:"1" maxLength:"200" doc:"A word, or several in a row; spelling, tashkeel and lookalike letters do not matter"`
	Action string `json:"action" enum:"block,star" doc:"block refuses the message; star shows asterisks"`
	Stem   bool   `json:"stem,omitempty" doc:"Also inside longer words"`
}

// mostWords bounds a list: every message is searched for each word.
const mostWords = 2000

// List is a word list prepared for searching. A nil List has no words.
type List struct{ entries []entry }

type entry struct {
	words []runs
	bare  string // bare of the first word, for a quick search
	star  bool
	stem  bool
}

// NewList makes a list; its error names the invalid entry.
func NewList(all []Word) (*List, error) {
	if len(all) > mostWords {
		return nil, fmt.Errorf("words: the list has %d: at most %d are allowed", len(all), mostWords)
	}
	l := &List{}
	for i, w := range all {
		e := entry{star: w.Action == Star, stem: w.Stem}
		for _, t := range tokens(w.Word) {
			if !t.joined {
				e.words = append(e.words, runsOf(t.key))
			}
		}
		switch {
		case w.Action != Block && w.Action != Star:
			return nil, fmt.Errorf("words[%d].action: must be block or star, not %q", i, w.Action)
		case len(w.Word) > 200:
			return nil, fmt.Errorf("words[%d].word: must be at most 200 bytes", i)
		case len(e.words) == 0:
			return nil, fmt.Errorf("words[%d].word: contains no letter", i)
		case e.stem && len(e.words) == 1 && e.words[0].length() < 2:
			return nil, fmt.Errorf("words[%d].word: a stem needs at least two letters", i)
		}
		e.bare = e.words[0].bare
		l.entries = append(l.entries, e)
	}
	return l, nil
}

// Apply replaces the list's Star words in a text by asterisks, and reports whether the
// text contains a Block word.
func (l *List) Apply(text string) (shown string, blocked bool) {
	if l == nil || len(l.entries) == 0 || text == "" {
		return text, false
	}
	all := tokens(text)
	keys := make([]runs, len(all))
	for i, t := range all {
		keys[i] = runsOf(t.key)
	}
	var hits [][2]int
	for _, e := range l.entries {
		for i := range all {
			if !strings.Contains(keys[i].bare, e.bare) || !e.at(keys[i:]) {
				continue
			}
			if !e.star {
				return text, true
			}
			hits = append(hits, [2]int{all[i].from, all[i+len(e.words)-1].to})
		}
	}
	return starred(text, hits), false
}

func (e *entry) at(keys []runs) bool {
	if len(keys) < len(e.words) {
		return false
	}
	for i, w := range e.words {
		if !w.matches(keys[i], e.stem) {
			return false
		}
	}
	return true
}

func starred(text string, hits [][2]int) string {
	if len(hits) == 0 {
		return text
	}
	slices.SortFunc(hits, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	at := 0
	for _, h := range hits {
		if h[1] <= at {
			continue
		}
		from := max(at, h[0])
		b.WriteString(text[at:from])
		for _, part := range strings.SplitAfter(text[from:h[1]], " ") {
			word, gap := strings.CutSuffix(part, " ")
			b.WriteString(strings.Repeat("*", uniseg.GraphemeClusterCount(word)))
			if gap {
				b.WriteByte(' ')
			}
		}
		at = h[1]
	}
	return b.String() + text[at:]
}

// runs is a folded word as letters, each with its number of repeats, because niiiiice
// means nice.
type runs struct {
	bare string // the letters, each run once
	r    []rune
	n    []int
}

func runsOf(key string) runs {
	var out runs
	for _, r := range key {
		if k := len(out.r); k > 0 && out.r[k-1] == r {
			out.n[k-1]++
			continue
		}
		out.r, out.n = append(out.r, r), append(out.n, 1)
	}
	out.bare = string(out.r)
	return out
}

func (w runs) length() (n int) {
	for _, k := range w.n {
		n += k
	}
	return n
}

// matches reports whether w is the word or, with inside, part of it.
func (w runs) matches(word runs, inside bool) bool {
	if !inside {
		return len(w.r) == len(word.r) && w.matchesAt(word, 0, false)
	}
	for i := 0; i+len(w.r) <= len(word.r); i++ {
		if w.matchesAt(word, i, true) {
			return true
		}
	}
	return false
}

// matchesAt compares w with the word from a run on. A letter may be drawn out, to three
// or more; with inside, more of w's first and last letters may belong to the rest.
func (w runs) matchesAt(word runs, at int, inside bool) bool {
	for i, r := range w.r {
		have, want := word.n[at+i], w.n[i]
		end := inside && (i == 0 || i == len(w.r)-1)
		if word.r[at+i] != r || have < want || (have > want && have < 3 && !end) {
			return false
		}
	}
	return true
}
