package aircheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	hop    = 10 * time.Millisecond
	window = 20 * time.Millisecond

	// audible is how far below the loudest window of its own a tone counts as
	// there: deep enough to see a fade nearly to its end, above what a lossy
	// codec smears of its neighbours.
	audible = 34.0

	// Silence is the level below which a stretch counts as a gap, in dBFS.
	Silence = -60.0
)

// Segment is one track's stay on the air.
type Segment struct {
	ID         int
	Start, End time.Duration
	Level      float64 // median amplitude in dBFS
}

// Length is how long the track was heard.
func (s Segment) Length() time.Duration { return s.End - s.Start }

// Span is a stretch of the capture.
type Span struct{ Start, End time.Duration }

// Length of the stretch.
func (s Span) Length() time.Duration { return s.End - s.Start }

// Cross is where two neighbours meet. Overlap is negative where there is a hole
// between them.
type Cross struct {
	From, To int
	At       time.Duration // where the later one begins
	Overlap  time.Duration
}

// Report is what a capture holds.
type Report struct {
	Length   time.Duration
	Segments []Segment // in the order they begin
	Gap      Span      // the longest stretch below Silence between first and last sound; zero when there is none
	Clicks   []Click
}

// Order lists the tracks as they begin.
func (r Report) Order() []int {
	ids := make([]int, len(r.Segments))
	for i, s := range r.Segments {
		ids[i] = s.ID
	}
	return ids
}

// Crosses lists the meetings of neighbours, in order.
func (r Report) Crosses() []Cross {
	var out []Cross
	for i := 1; i < len(r.Segments); i++ {
		a, b := r.Segments[i-1], r.Segments[i]
		out = append(out, Cross{From: a.ID, To: b.ID, At: b.Start, Overlap: min(a.End, b.End) - b.Start})
	}
	return out
}

// String is the report as a table, for a failing test's log.
func (r Report) String() string {
	var b strings.Builder
	for i, s := range r.Segments {
		fmt.Fprintf(&b, "track %2d  %7.2f s to %7.2f s  %6.1f dBFS", s.ID, s.Start.Seconds(), s.End.Seconds(), s.Level)
		if i > 0 {
			fmt.Fprintf(&b, "  overlap %5.2f s", r.Crosses()[i-1].Overlap.Seconds())
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "longest gap %s at %s, %d clicks", r.Gap.Length(), r.Gap.Start, len(r.Clicks))
	for _, c := range r.Clicks {
		fmt.Fprintf(&b, "\n  click at %.3f s, %.0f dBFS", c.At.Seconds(), c.Level)
	}
	return b.String()
}

// Analyse reads a capture. Only the tracks named are looked for, all when none is.
func Analyse(p PCM, ids ...int) Report {
	if len(ids) == 0 {
		for id := range MaxID + 1 {
			ids = append(ids, id)
		}
	}
	r := Report{Length: p.Duration(), Gap: longestGap(p), Clicks: clicks(p)}
	for _, id := range ids {
		r.Segments = append(r.Segments, segments(p, id)...)
	}
	r.sort()
	return r
}

func (r *Report) sort() {
	// A capture may begin in a cross: of two that were there already, the one that
	// ends first is the older.
	slices.SortFunc(r.Segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
}

// segments finds every stay of one tone of the coarse scale.
func segments(p PCM, id int) []Segment {
	g := grid{hop: hop, window: window, audible: audible, shortest: 5 * hop}
	return g.stays(tone(p, Frequency(id)), id)
}

// grid is how levels were read: one per hop, each over a window.
type grid struct {
	hop, window time.Duration
	audible     float64       // decibels below a tone's loudest
	shortest    time.Duration // what is shorter is no track
}

// stays finds where one tone is there.
func (g grid) stays(levels []float64, id int) []Segment {
	if len(levels) == 0 {
		return nil
	}
	// A floor keeps a codec's leakage from passing for a track.
	threshold := max(slices.Max(levels)-g.audible, -52)
	var out []Segment
	for i := 0; i < len(levels); i++ {
		if levels[i] < threshold {
			continue
		}
		j := i
		// One window below the threshold does not end a track.
		for j < len(levels) && (levels[j] >= threshold || j+1 < len(levels) && levels[j+1] >= threshold) {
			j++
		}
		stay := slices.Sorted(slices.Values(levels[i:j]))
		s := Segment{ID: id, Start: g.at(i), End: g.at(j - 1), Level: stay[len(stay)/2]}
		// Broadband moments (a hard cut) light up all tones for a few windows.
		if s.Length() >= g.shortest && s.Level > threshold+6 {
			out = append(out, s)
		}
		i = j
	}
	return out
}

// at is the middle of the i-th window.
func (g grid) at(i int) time.Duration { return time.Duration(i)*g.hop + g.window/2 }

// tone is the amplitude of one frequency in each window, in dBFS: Goertzel's
// algorithm on a Hann window. The race detector, which would make it ten times
// slower, has nothing to find in arithmetic on what is handed in.
//
//go:norace
func tone(p PCM, hz float64) []float64 {
	size, step := p.samples(window), p.samples(hop)
	hann := make([]float64, size)
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(size))
	}
	coefficient := 2 * math.Cos(2*math.Pi*hz/float64(p.Rate))
	var out []float64
	for start := 0; start+size <= len(p.Samples); start += step {
		var s1, s2 float64
		for i, w := range hann {
			s1, s2 = float64(p.Samples[start+i])*w+coefficient*s1-s2, s1
		}
		power := s1*s1 + s2*s2 - coefficient*s1*s2
		// The Hann window's mean is a half, and so is each half of a sine's spectrum.
		out = append(out, decibels(math.Sqrt(max(power, 0))*4/float64(size)/32768))
	}
	return out
}

func decibels(amplitude float64) float64 { return 20 * math.Log10(max(amplitude, 1e-9)) }

// longestGap looks between the first and the last sound, by the millisecond.
//
//go:norace
func longestGap(p PCM) Span {
	const block = time.Millisecond
	step := p.samples(block)
	var longest Span
	heard, quietFrom := false, -1
	for i := 0; i+step <= len(p.Samples); i += step {
		if rms(p.Samples[i:i+step]) >= Silence {
			if heard && quietFrom >= 0 {
				if s := (Span{p.time(quietFrom), p.time(i)}); s.Length() > longest.Length() {
					longest = s
				}
			}
			heard, quietFrom = true, -1
		} else if quietFrom < 0 {
			quietFrom = i
		}
	}
	return longest
}

// rms is the level of a block in dBFS.
//
//go:norace
func rms(block []int16) float64 {
	var sum float64
	for _, s := range block {
		sum += float64(s) * float64(s)
	}
	return decibels(math.Sqrt(sum/float64(len(block))) / 32768)
}
