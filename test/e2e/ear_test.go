package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/test/aircheck"
)

// ear records the station's stream until it is told to stop.
type ear struct {
	*aircheck.Recorder
	t    *testing.T
	stop func()
}

func (s *station) listen() *ear {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e := &ear{Recorder: aircheck.NewRecorder(s.url("icecast", "/main")), t: s.t}
	done := make(chan error, 1)
	go func() {
		err := e.Run(ctx)
		for err != nil && ctx.Err() == nil && len(e.PCM().Samples) == 0 { // the mount is not there yet
			err = e.Run(ctx)
		}
		done <- err
	}()
	ended := false
	e.stop = func() {
		if cancel(); !ended {
			ended = true
			if err := <-done; err != nil {
				s.t.Error(err)
			}
		}
	}
	s.t.Cleanup(e.stop)
	s.eventually("audio from Icecast", func() bool { return e.PCM().Duration() > time.Second })
	return e
}

// hears waits until a tone is heard that was not on air as it was asked for.
func (e *ear) hears(s *station, tone int, since time.Time) time.Duration {
	s.t.Helper()
	seg := e.until(s, fmt.Sprintf("tone %d is heard", tone), e.Position(since), func(heard []aircheck.Segment) bool {
		return slices.ContainsFunc(heard, func(seg aircheck.Segment) bool { return seg.ID == tone })
	})
	at, _ := e.ArrivedAt(seg[slices.IndexFunc(seg, func(seg aircheck.Segment) bool { return seg.ID == tone })].Start)
	return at.Sub(since)
}

// until waits until what is heard from a position on is enough.
func (e *ear) until(s *station, what string, from time.Duration, enough func([]aircheck.Segment) bool) (heard []aircheck.Segment) {
	s.t.Helper()
	s.eventually(what, func() bool {
		all := e.PCM()
		heard = aircheck.Fine.Analyse(all.Cut(from, all.Duration())).Segments
		if enough(heard) {
			return true
		}
		time.Sleep(300 * time.Millisecond) // an analysis takes its time
		return false
	})
	for i := range heard {
		heard[i].Start += from
		heard[i].End += from
	}
	return heard
}

// patched takes a tone with a short hole in it for one. Where a skip in a cross
// meets a reload, up to a tenth of a second of the skipped may come up again.
func patched(r aircheck.Report) aircheck.Report {
	var out []aircheck.Segment
	for _, s := range r.Segments {
		if last := len(out) - 1; last >= 0 && out[last].ID == s.ID && s.Start-out[last].End < 150*time.Millisecond {
			out[last].End = s.End
			continue
		}
		out = append(out, s)
	}
	r.Segments = out
	return r
}

// last is the tone that began last in the last seconds at the live edge.
func (e *ear) last(scale aircheck.Scale) int {
	pcm := e.PCM()
	end := pcm.Duration()
	heard := scale.Analyse(pcm.Cut(max(0, end-4*time.Second), end)).Segments
	if len(heard) == 0 {
		return -1
	}
	return heard[len(heard)-1].ID
}

// agrees reports that what the station says is on air is what is heard; so does
// the entry of the rotation that is marked, if one is.
func (s *station) agrees(ear *ear, scale aircheck.Scale) bool {
	st, err := s.status()
	if err != nil || st.Track == nil || st.State != "music" {
		return false
	}
	tone := toneOf(st.Track.File)
	plan, _, err := s.rotation()
	if err != nil {
		return false
	}
	for _, e := range plan {
		if e.OnAir && toneOf(e.File) != tone {
			return false
		}
	}
	return ear.last(scale) == tone
}

// within returns the first of part that does not follow in whole, in order; -1
// when all do.
func within(part, whole []int) int {
	for i, p := range part {
		at := slices.Index(whole, p)
		if at < 0 {
			return i
		}
		whole = whole[at+1:]
	}
	return -1
}

// firstAudio returns how long after `from` the first second of decodable,
// audible audio had come from Icecast.
func firstAudio(parent context.Context, address string, from time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(parent, patience)
	defer cancel()
	at, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(at.Port())
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		if !port.Listening(number) { // Icecast does not survive every connection while it starts
			time.Sleep(20 * time.Millisecond)
			continue
		}
		cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-rw_timeout", "20000000", "-i", address,
			"-t", "1", "-f", "s16le", "-ac", "1", "-ar", "8000", "-")
		out, err := cmd.Output()
		if err == nil && len(out) >= 15_000 && audible(out) {
			return time.Since(from), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return 0, errors.New("no audio")
}

func audible(s16 []byte) bool {
	peak := 0
	for i := 0; i+1 < len(s16); i += 2 {
		v := int(int16(uint16(s16[i]) | uint16(s16[i+1])<<8))
		peak = max(peak, v, -v)
	}
	return peak > 300
}
