package bulletin

import (
	"slices"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
)

// ComingUp is what the rotation has for the hour after the bulletin.
type ComingUp struct {
	Arabic, English int             // songs
	Next            []arabic.Coming // songs, next first
}

const (
	// breath is the pause between two sentences of the programme.
	breath = 300 * time.Millisecond
	// fewLetters are headlines that leave room: three usual ones have more.
	fewLetters = 110
	mostComing = 6 // songs by name
)

// spares are sentences that need no weather and no headlines, in the order in which
// they are used: the date in both calendars, what comes up, a courtesy.
func (m *Maker) spares(at time.Time) []Segment {
	out := []Segment{said(Date, arabic.DateSentence(at.In(m.o.Zone)))}
	var sentences []string
	if m.o.ComingUp != nil {
		up := m.o.ComingUp(at)
		sentences = arabic.ProgrammeSentences(up.Arabic, up.English, up.Next)
		sentences = sentences[:min(len(sentences), 1+mostComing)]
	}
	for _, text := range append(sentences, courtesies(m.o.Station)...) {
		out = append(out, said(Programme, text))
	}
	return out
}

// short reports segments that may not reach a bulletin's length.
func short(segments []Segment) bool {
	for _, s := range segments {
		letters := 0
		for _, r := range s.Text {
			if unicode.IsLetter(r) {
				letters++
			}
		}
		if letters == 0 || s.Kind == Headlines && letters < fewLetters {
			return true
		}
	}
	return false
}

// fill adds spares to segments until the bulletin reaches its length: the date after
// the time, the programme before the way back to the music. Both lists come with what
// was spoken; a spare that failed or would make the bulletin too long is left out.
func fill(segments []Segment, voices []sound, spares []Segment, spoken []sound) ([]Segment, []sound) {
	date, programme := Segment{Kind: Date}, Segment{Kind: Programme}
	var dateVoice, programmeVoice sound
	for i, s := range spares {
		total, silence := spokenLength(append([]sound{dateVoice, programmeVoice}, voices...))
		if total+silence >= shortest+margin {
			break
		}
		v := spoken[i]
		if len(v.samples) == 0 || float64(total+v.length()) > mostFast*float64(longest-margin-silence-gap) {
			continue
		}
		if s.Kind == Date {
			date, dateVoice = s, v
			continue
		}
		programme = programme.and(s)
		programmeVoice = programmeVoice.and(v)
	}
	var all []Segment
	var sounds []sound
	add := func(s Segment, v sound) {
		if len(v.samples) > 0 || s.Problem != "" {
			all, sounds = append(all, s), append(sounds, v)
		}
	}
	for i, s := range segments {
		if s.Kind == Return {
			add(programme, programmeVoice)
		}
		add(s, voices[i])
		if s.Kind == Time {
			add(date, dateVoice)
		}
	}
	return all, sounds
}

// and appends a sentence.
func (s Segment) and(next Segment) Segment {
	if s.Text == "" {
		return next
	}
	s.Text += " " + next.Text
	s.Sentences = slices.Concat(s.Sentences, next.Sentences)
	return s
}

// and appends a sound after a breath.
func (s sound) and(next sound) sound {
	if len(s.samples) == 0 {
		return next
	}
	pause := make([]float32, int(breath.Seconds()*float64(s.rate)))
	all := append(append(append([]float32{}, s.samples...), pause...), next.resampled(s.rate).samples...)
	return sound{rate: s.rate, samples: all}
}

// resampled is the sound at another rate, where a second voice had to help out.
func (s sound) resampled(rate int) sound {
	if s.rate == rate || len(s.samples) == 0 {
		return s
	}
	out := sound{rate: rate, samples: make([]float32, int(int64(len(s.samples))*int64(rate)/int64(s.rate)))}
	for i := range out.samples { // linear: speech has little above a few kHz
		at := float64(i) * float64(s.rate) / float64(rate)
		j, f := int(at), float32(at-float64(int(at)))
		out.samples[i] = s.samples[j]*(1-f) + s.samples[min(j+1, len(s.samples)-1)]*f
	}
	return out
}
