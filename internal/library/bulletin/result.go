package bulletin

import (
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

// Stage of the making, in order.
type Stage int

// The stages.
const (
	Gathering Stage = iota // weather and headlines
	Speaking
	Joining
	Mastering
	Done
)

func (s Stage) String() string {
	return [...]string{"gather", "speak", "join", "master", "done"}[s]
}

// Kind is a segment's place in the bulletin.
type Kind string

// The segments, in their order. Date and programme stand in where weather or headlines
// are missing or short.
const (
	Time      Kind = "time"
	Date      Kind = "date"
	Weather   Kind = "weather"
	Headlines Kind = "headlines"
	Programme Kind = "programme"
	Return    Kind = "return"
)

// Segment is one part of a bulletin.
type Segment struct {
	Kind      Kind
	Text      string        // what is said; empty when there was nothing to say
	Sentences []string      // that the text is made of, with a space between them
	Voice     string        // who said it; empty when it is not in the bulletin
	At        time.Duration // where it begins
	Length    time.Duration
	Problem   string // why it is not in the bulletin
}

// said is a segment of sentences.
func said(kind Kind, sentences ...string) Segment {
	return Segment{Kind: kind, Text: strings.Join(sentences, " "), Sentences: sentences}
}

// Result is a bulletin that was made.
type Result struct {
	Path     string
	At       time.Time // the time it tells
	Took     time.Duration
	Duration time.Duration
	Tempo    float64 // how much faster it is than it was spoken, to keep its length
	Mastered mastering.Outcome
	Segments []Segment
	// Retired are older bulletins that should leave the deck.
	Retired []string
}

// Problems are the segments that are missing and why.
func (r Result) Problems() []string {
	var out []string
	for _, s := range r.Segments {
		if s.Problem != "" {
			out = append(out, string(s.Kind)+": "+s.Problem)
		}
	}
	return out
}
