package relay

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bluenviron/gohlslib/v2"
	"github.com/bluenviron/gohlslib/v2/pkg/codecs"
	"github.com/bluenviron/gohlslib/v2/pkg/playlist"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
)

// segmenter cuts one unbroken run of AAC frames into segments with gohlslib's
// muxer. There is one per run, because that muxer cannot say that its input
// was interrupted; the window joins the runs with EXT-X-DISCONTINUITY.
//
// What the muxer serves by itself is not used for listeners: it numbers
// segments from 0, forgets a segment the moment it leaves the playlist
// (RFC 8216, 6.2.2 wants it kept), answers 200 with nothing for what it does
// not know, and lets requests wait without limit for its first segment.
//
// Segments are MPEG-TS rather than fMP4: every native HLS player there is
// reads it (old Android, televisions, car radios, iOS, and hls.js light),
// it needs no EXT-X-MAP, so a run with another sample rate is one more
// discontinuity, and a run can be cut off at any frame. It costs 4 %.
type segmenter struct {
	muxer  *gohlslib.Muxer
	track  *gohlslib.Track
	rate   int
	target time.Duration

	pts     int64 // of the next frame, in samples
	cutPTS  int64 // where the open segment begins
	cutAt   time.Time
	open    bool
	batches []batch // what the open segment holds
	numbers continuity
	failure error
}

// batch is a few frames that went into the muxer together.
type batch struct {
	At     time.Time
	Frames [][]byte
}

// cut is one finished segment.
type cut struct {
	data     []byte
	at       time.Time
	duration time.Duration
}

// newSegmenter begins a run at presentation time pts.
func newSegmenter(config mpeg4audio.AudioSpecificConfig, target, pts time.Duration) (*segmenter, error) {
	track := &gohlslib.Track{Codec: &codecs.MPEG4Audio{Config: config}, ClockRate: config.SampleRate}
	s := &segmenter{track: track, rate: config.SampleRate, target: target, numbers: continuity{}}
	s.muxer = &gohlslib.Muxer{
		Tracks:             []*gohlslib.Track{track},
		Variant:            gohlslib.MuxerVariantMPEGTS,
		SegmentCount:       3, // its least; the window keeps the segments
		SegmentMinDuration: target,
		SegmentMaxSize:     8 << 20,
		OnEncodeError:      func(err error) { s.failure = err },
	}
	if err := s.muxer.Start(); err != nil {
		return nil, fmt.Errorf("start HLS muxer: %w", err)
	}
	rate := int64(s.rate)
	s.pts = int64(pts/time.Second)*rate + int64(pts%time.Second)*rate/int64(time.Second)
	return s, nil
}

// write adds frames of which the first was on air at the given time.
func (s *segmenter) write(at time.Time, frames [][]byte) ([]cut, error) {
	var cuts []cut
	// The muxer cuts only between writes, so small ones keep segments close
	// to the target; 200 ms of frames a write keep the TS overhead low.
	step := max(1, s.rate/5/samplesPerFrame)
	for len(frames) > 0 {
		n := min(step, len(frames))
		if !s.open {
			s.open, s.cutPTS, s.cutAt = true, s.pts, at
		}
		full := s.elapsed() >= s.target
		if err := s.muxer.WriteMPEG4Audio(s.track, at, s.pts, frames[:n]); err != nil {
			return cuts, fmt.Errorf("mux audio: %w", err)
		}
		if full {
			c, err := s.take()
			if err != nil {
				return cuts, err
			}
			cuts = append(cuts, c)
			s.cutPTS, s.cutAt, s.batches = s.pts, at, nil
		}
		s.batches = append(s.batches, batch{At: at, Frames: frames[:n]})
		samples := int64(n) * samplesPerFrame
		s.pts += samples
		at = at.Add(s.span(s.pts) - s.span(s.pts-samples))
		frames = frames[n:]
	}
	return cuts, nil
}

// close ends the run and returns its last, shorter segment, if there is one.
func (s *segmenter) close() ([]cut, error) {
	defer s.muxer.Close()
	length := s.elapsed()
	if !s.open || length == 0 {
		return nil, nil
	}
	// An empty frame one target later makes the muxer finish the open segment;
	// the frame itself goes into a segment nobody will see.
	later := s.cutPTS + int64(s.target/time.Second)*int64(s.rate)
	if err := s.muxer.WriteMPEG4Audio(s.track, s.cutAt, max(later, s.pts), [][]byte{{}}); err != nil {
		return nil, fmt.Errorf("finish segment: %w", err)
	}
	c, err := s.take()
	if err != nil {
		return nil, err
	}
	c.duration = length
	return []cut{c}, nil
}

// end is the presentation time after the last frame.
func (s *segmenter) end() time.Duration { return s.span(s.pts) }

// elapsed is the length of the open segment, computed exactly as the muxer
// does when it decides whether to cut.
func (s *segmenter) elapsed() time.Duration { return s.span(s.pts) - s.span(s.cutPTS) }

func (s *segmenter) span(samples int64) time.Duration { return samplesSpan(samples, s.rate) }

// take fetches the segment the muxer has just finished.
func (s *segmenter) take() (cut, error) {
	if s.failure != nil {
		return cut{}, fmt.Errorf("mux audio: %w", s.failure)
	}
	text, err := s.fetch("main_stream.m3u8")
	if err != nil {
		return cut{}, err
	}
	var list playlist.Media
	if err := list.Unmarshal(text); err != nil {
		return cut{}, fmt.Errorf("parse the muxer's playlist: %w", err)
	}
	last := list.Segments[len(list.Segments)-1]
	data, err := s.fetch(last.URI)
	if err != nil {
		return cut{}, err
	}
	s.numbers.number(data)
	return cut{data: data, at: s.cutAt, duration: s.elapsed()}, nil
}

func (s *segmenter) fetch(name string) ([]byte, error) {
	var answer answer
	s.muxer.Handle(&answer, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/" + name}})
	if answer.status != http.StatusOK {
		return nil, fmt.Errorf("read %s from the muxer: status %d", name, answer.status)
	}
	return answer.body.Bytes(), nil
}

// answer is a response kept in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
