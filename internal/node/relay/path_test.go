package relay

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/fmp4"
	"pgregory.net/rapid"
)

var stereo = mpeg4audio.AudioSpecificConfig{Type: mpeg4audio.ObjectTypeAACLC, SampleRate: testRate, ChannelConfig: 2}

// station drives a path with a made-up clock: bridges that come and go.
type station struct {
	window *window
	path   *path
	now    time.Time
	bridge *publisher
	pts    time.Duration
	sent   uint32
	form   form
}

// three are renditions as a station has them.
func three() renditions { return renditions{256, 128, 64} }

func newStation(now time.Time) *station {
	w := newWindow(three(), 2*time.Second, 8, 1, now)
	return &station{window: w, path: newPath(w, 2*time.Second, now, slog.New(slog.DiscardHandler)), now: now, form: form{Sound: soundOf(stereo), Renditions: 3}}
}

func (s *station) connect() {
	s.bridge, s.pts = &publisher{id: newID()}, 0
	s.path.take(s.bridge, s.form, s.now)
}

func (s *station) disconnect() {
	s.path.leave(s.bridge, s.now)
}

// play sends frames; each carries its number, so the test can find it again.
func (s *station) play(frames int) {
	batch := make([]set, frames)
	for i := range batch {
		for r := range s.form.Renditions {
			batch[i] = append(batch[i], fmt.Appendf(nil, "frame %08d%s", s.sent, strings.Repeat("-", r)))
		}
		s.sent++
	}
	s.path.frames(s.bridge, s.now, s.pts, batch)
	s.pts += samplesSpan(int64(frames)*samplesPerFrame, s.form.Sound.Rate)
}

func (s *station) run(length time.Duration) {
	for end := s.now.Add(length); s.now.Before(end); {
		s.now = s.now.Add(samplesSpan(4*samplesPerFrame, s.form.Sound.Rate))
		s.play(4)
	}
}

// segmentFrames parses a segment with another program's parser: the time of each frame, in
// samples, and the frame.
func segmentFrames(data []byte) (times []int64, frames []string, err error) {
	var parts fmp4.Parts
	if err := parts.Unmarshal(data); err != nil {
		return nil, nil, err
	}
	for _, part := range parts {
		at := int64(part.Tracks[0].BaseTime)
		for _, s := range part.Tracks[0].Samples {
			times, frames = append(times, at), append(frames, string(s.Payload))
			at += int64(s.Duration)
		}
	}
	return times, frames, nil
}

func TestSegmentsHoldEveryFrameOnceAndInOrder(t *testing.T) {
	s := newStation(noon)
	for range 3 { // three bridges, each cut off in the middle of a segment
		s.connect()
		s.run(7 * time.Second)
		s.disconnect()
		s.now = s.now.Add(3 * time.Second)
	}
	next, last := 0, int64(0)
	for _, segment := range append(s.window.retired, s.window.listed...) {
		times, frames, err := segmentFrames(segment.data[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, data := range segment.data[1:] {
			sideTimes, side, err := segmentFrames(data)
			for j := range side {
				side[j] = strings.TrimSuffix(side[j], strings.Repeat("-", 1+i))
			}
			if err != nil || !slices.Equal(side, frames) || !slices.Equal(sideTimes, times) {
				t.Fatalf("rendition %d: %d frames at %v, want %d at %v: %v", 1+i, len(side), sideTimes, len(frames), times, err)
			}
		}
		for _, pts := range times {
			if pts <= last {
				t.Errorf("presentation time went back: %d after %d", pts, last)
			}
			last = pts
		}
		for _, frame := range frames {
			if want := fmt.Sprintf("frame %08d", next); frame != want {
				t.Fatalf("got %q, want %q", frame, want)
			}
			next++
		}
		if want := samplesSpan(int64(len(frames))*samplesPerFrame, testRate); (segment.duration - want).Abs() > time.Millisecond {
			t.Errorf("segment of %s says %s", want, segment.duration)
		}
	}
	if next != int(s.sent) {
		t.Errorf("%d frames sent, %d in segments", s.sent, next)
	}
}

// Bridges that restart, stall, jump and burst at random: the playlist any
// listener sees stays valid.
func TestPlaylistHistoryFollowsRFC8216(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStation(noon)
		v := newHistoryValidator()
		check := func() {
			text, err := s.window.text("")
			if err != nil {
				t.Fatal(err)
			}
			if text == nil {
				return
			}
			if err := v.see(text, s.now, func(name string) bool { return s.window.file(name) != nil }); err != nil {
				t.Fatal(err)
			}
		}
		s.connect()
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0: // the bridge restarts and brings a burst
				s.disconnect()
				check()
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "away ms")) * time.Millisecond)
				s.form.Sound.Rate = rapid.SampledFrom([]int{44100, 48000, 24000}).Draw(t, "rate")
				s.form.Renditions = rapid.IntRange(1, 3).Draw(t, "renditions")
				s.connect()
				s.play(rapid.IntRange(1, 200).Draw(t, "burst"))
			case 1: // a second bridge takes over
				s.connect()
			case 2: // its input was away
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(t, "stall ms")) * time.Millisecond)
			case 3:
				s.pts += time.Duration(rapid.IntRange(-3600000, 3600000).Draw(t, "jump ms")) * time.Millisecond
			default:
				s.run(time.Duration(rapid.IntRange(100, 4000).Draw(t, "play ms")) * time.Millisecond)
			}
			check()
		}
	})
}

// To a player, a relay that restarts is a playlist that has moved on.
func TestPlaylistGoesForwardAcrossARelayRestart(t *testing.T) {
	before := newStation(noon)
	before.connect()
	before.run(time.Minute)
	v := newHistoryValidator()
	text, err := before.window.text("")
	if err != nil {
		t.Fatal(err)
	}
	always := func(string) bool { return true }
	if err := v.see(text, before.now, always); err != nil {
		t.Fatal(err)
	}
	after := newStation(before.now.Add(time.Second))
	after.connect()
	after.run(20 * time.Second)
	text, err = after.window.text("")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.see(text, after.now, always); err != nil {
		t.Fatal(err)
	}
	if after.window.listed[0].sequence <= before.window.listed[len(before.window.listed)-1].sequence {
		t.Error("a segment number is used twice")
	}
}

// The discontinuity sequence grows over restarts, whatever the file holds, and
// stays small: players keep a list of that length.
func TestDiscontinuitySequenceGrowsOverRestartsAndStaysSmall(t *testing.T) {
	dir := t.TempDir()
	last := 0
	for range 5 {
		era, err := nextEra(dir)
		if err != nil || era <= last || era > 10_000 {
			t.Fatalf("%d after %d: %v", era, last, err)
		}
		last = era
	}
	for _, text := range []string{"", "nonsense", "-7", "99999999999999999999"} {
		if err := os.WriteFile(filepath.Join(dir, eraFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if era, err := nextEra(dir); err != nil || era < 1 || era > 10_000 {
			t.Errorf("%q: %d, %v", text, era, err)
		}
	}
	if _, err := nextEra(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
