package relay

import "time"

// segmenter cuts one unbroken run of sets of AAC frames into segments. The window joins the
// runs with EXT-X-DISCONTINUITY.
type segmenter struct {
	sound  sound
	target time.Duration

	pts    int64 // of the next frame, in samples
	cutPTS int64 // where the open segment begins
	cutAt  time.Time
	open   []set // what the open segment holds
}

// cut is one finished segment.
type cut struct {
	data     [][]byte // by rendition, the main one first
	sound    sound
	at       time.Time
	duration time.Duration
}

// newSegmenter begins a run at presentation time pts.
func newSegmenter(of sound, target, pts time.Duration) *segmenter {
	rate := int64(of.Rate)
	return &segmenter{sound: of, target: target, pts: int64(pts/time.Second)*rate + int64(pts%time.Second)*rate/int64(time.Second)}
}

// write adds frames of which the first was on air at the given time.
func (s *segmenter) write(at time.Time, sets []set) (cuts []cut) {
	from := s.pts
	for _, one := range sets {
		if len(s.open) > 0 && s.elapsed() >= s.target {
			cuts = append(cuts, s.take())
		}
		if len(s.open) == 0 {
			s.cutPTS, s.cutAt = s.pts, at.Add(s.span(s.pts)-s.span(from))
		}
		s.open = append(s.open, one)
		s.pts += samplesPerFrame
	}
	return cuts
}

// close ends the run and returns its last, shorter segment, if there is one.
func (s *segmenter) close() []cut {
	if len(s.open) == 0 {
		return nil
	}
	return []cut{s.take()}
}

// take makes the open segment a whole one.
func (s *segmenter) take() cut {
	c := cut{sound: s.sound, at: s.cutAt, duration: s.elapsed()}
	frames := make([][]byte, len(s.open))
	for rendition := range s.open[0] {
		for i, one := range s.open {
			frames[i] = one[rendition]
		}
		c.data = append(c.data, fragment(s.cutPTS, frames))
	}
	s.open = nil
	return c
}

// end is the presentation time after the last frame.
func (s *segmenter) end() time.Duration { return s.span(s.pts) }

// elapsed is the length of the open segment.
func (s *segmenter) elapsed() time.Duration { return s.span(s.pts) - s.span(s.cutPTS) }

func (s *segmenter) span(samples int64) time.Duration { return samplesSpan(samples, s.sound.Rate) }
