package policy

import (
	"encoding/json"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Moods lists the presets, in the mission's order.
func Moods() []string { return []string{"chill", "romantic", "tarab", "party", "energy", "focus"} }

func isMood(name string) bool { return preset(name) != nil }

// preset is a mood as a merge patch over the document. The mission names the
// moods and shows no values; these are ours:
//
//	chill     half English, hardly an effect, artists well apart
//	romantic  mostly Arabic, long songs left whole: no effects to speak of
//	tarab     nearly all Arabic; few great singers, so artists may come sooner
//	party     mashups every fifth song, many effects
//	energy    English and mashups ahead of the default, more effects
//	focus     English before Arabic, no mashups, no listeners' songs, quiet
//
// All three weights of GENRE_SPLIT are set, because an operator's need not sum
// to one. A hard daypart keeps its gate, and a custom one its weights.
func preset(name string) object {
	mix := func(arabic, english, social, mashup, sfx float64, artistGapMinutes int) object {
		return object{
			"GENRE_SPLIT": object{
				string(station.ArabicHits): number(arabic), string(station.English): number(english), string(station.Social): number(social),
			},
			"MASHUP_CHANCE": number(mashup), "STOCHASTIC_SFX_CHANCE": number(sfx),
			"ROTATION": object{"ARTIST_GAP_MS": number(artistGapMinutes * 60_000)},
		}
	}
	switch name {
	case "chill":
		return mix(0.45, 0.50, 0.05, 0.02, 0.15, 45)
	case "romantic":
		return mix(0.75, 0.20, 0.05, 0.02, 0.10, 45)
	case "tarab":
		return mix(0.92, 0.03, 0.05, 0, 0.05, 20)
	case "party":
		return mix(0.50, 0.42, 0.08, 0.22, 0.70, 30)
	case "energy":
		return mix(0.45, 0.50, 0.05, 0.12, 0.60, 30)
	case "focus":
		return mix(0.40, 0.60, 0, 0, 0.05, 60)
	}
	return nil
}

// number is a number as parse would have read it.
func number[N int | float64](n N) json.Number {
	b, _ := json.Marshal(n) // finite
	return json.Number(b)
}

// inMood puts a preset over the operator's own settings; an empty name ends the
// mood.
func (s settings) inMood(name string) (settings, error) {
	if name != "" && !isMood(name) {
		var bad wrong
		bad.add("MOOD", "must be one of %s, or empty", strings.Join(Moods(), ", "))
		return s, bad.err()
	}
	own, err := s.undone()
	if err != nil || name == "" {
		return own, err
	}
	return own.under(name, leaves(preset(name)))
}

// undone returns s without its mood.
func (s settings) undone() (settings, error) {
	if s.Mood == "" {
		return s, nil
	}
	base, err := parse(s.Base)
	if err != nil {
		return s, err
	}
	from, err := s.generic()
	if err != nil {
		return s, err
	}
	var bad wrong
	for name := range base {
		if name == "MOOD" || name == "BASE" {
			bad.add(name, "cannot be set by a mood")
		}
	}
	if err := bad.err(); err != nil {
		return s, err
	}
	own, err := made(merge(from, base))
	own.Mood, own.Base = "", nil
	return own, err
}

// released takes what changed between two forms of the document out of the mood's
// hold. GENRE_SPLIT counts as one setting: single weights mean nothing.
func (s settings) released(before, after object) (settings, error) {
	if s.Mood == "" {
		return s, nil
	}
	base, err := parse(s.Base)
	if err != nil {
		return s, err
	}
	const knobs = "ROTATION"
	for name := range base {
		if name != knobs && !equal(before[name], after[name]) {
			delete(base, name)
		}
	}
	if held, ok := base[knobs].(object); ok {
		was, _ := before[knobs].(object)
		is, _ := after[knobs].(object)
		for name := range held {
			if !equal(was[name], is[name]) {
				delete(held, name)
			}
		}
	}
	s.Base, err = json.Marshal(base)
	return s, err
}
