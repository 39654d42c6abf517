package relay

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
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
	config mpeg4audio.AudioSpecificConfig
}

func newStation(now time.Time) *station {
	w := newWindow(2*time.Second, 8, 1, now)
	return &station{window: w, path: newPath(w, 2*time.Second, now, slog.New(slog.DiscardHandler)), now: now, config: stereo}
}

func (s *station) connect() {
	s.bridge, s.pts = &publisher{id: newID()}, 0
	s.path.take(s.bridge, s.config, s.now)
}

func (s *station) disconnect() {
	s.path.leave(s.bridge, s.now)
}

// play sends frames; each carries its number, so the test can find it again.
func (s *station) play(frames int) error {
	batch := make([][]byte, frames)
	for i := range batch {
		batch[i] = fmt.Appendf(nil, "frame %08d", s.sent)
		s.sent++
	}
	_, err := s.path.frames(s.bridge, s.now, s.pts, batch)
	s.pts += samplesSpan(int64(frames)*samplesPerFrame, s.config.SampleRate)
	return err
}

func (s *station) run(length time.Duration) error {
	for end := s.now.Add(length); s.now.Before(end); {
		s.now = s.now.Add(samplesSpan(4*samplesPerFrame, s.config.SampleRate))
		if err := s.play(4); err != nil {
			return err
		}
	}
	return nil
}

// frames parses a segment as any player does.
func segmentFrames(data []byte) (times []int64, frames []string, err error) {
	reader := &mpegts.Reader{R: bytes.NewReader(data)}
	if err := reader.Initialize(); err != nil {
		return nil, nil, err
	}
	reader.OnDecodeError(func(e error) { err = e })
	reader.OnDataMPEG4Audio(reader.Tracks()[0], func(pts int64, aus [][]byte) error {
		times = append(times, pts)
		for _, au := range aus {
			frames = append(frames, string(au))
		}
		return nil
	})
	for reader.Read() == nil {
	}
	return times, frames, err
}

func TestSegmentsHoldEveryFrameOnceAndInOrder(t *testing.T) {
	s := newStation(noon)
	for range 3 { // three bridges, each cut off in the middle of a segment
		s.connect()
		if err := s.run(7 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.disconnect()
		s.now = s.now.Add(3 * time.Second)
	}
	next, last := 0, int64(0)
	for _, segment := range append(s.window.retired, s.window.listed...) {
		times, frames, err := segmentFrames(segment.data)
		if err != nil {
			t.Fatal(err)
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

// The 33 bits of an MPEG-TS clock run out every 26.5 hours.
func TestPresentationTimeWrapsLikeMPEGTS(t *testing.T) {
	const wrap = time.Duration(1<<33) * time.Second / 90000
	s, err := newSegmenter(stereo, time.Second, wrap-time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for range 200 {
		cuts, err := s.write(noon, [][]byte{{1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cuts {
			times, _, err := segmentFrames(c.data)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, times...)
		}
	}
	var decoder mpegts.TimeDecoder
	first := decoder.Decode(all[0])
	for i, pts := range all {
		got := decoder.Decode(pts) - first
		if want := int64(i) * samplesPerFrame * 90000 / testRate; got-want > 2 || want-got > 2 {
			t.Fatalf("frame %d is at %d, want %d", i, got, want)
		}
	}
	if all[len(all)-1] > all[0] {
		t.Error("the clock did not wrap in this test")
	}
}

// Bridges that restart, stall, jump and burst at random: the playlist any
// listener sees stays valid.
func TestPlaylistHistoryFollowsRFC8216(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStation(noon)
		v := newHistoryValidator()
		check := func() {
			text, err := s.window.media("")
			if err != nil {
				t.Fatal(err)
			}
			if text == nil {
				return
			}
			if err := v.see(text, s.now, func(name string) bool { return s.window.segment(name) != nil }); err != nil {
				t.Fatal(err)
			}
		}
		s.connect()
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			var err error
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0: // the bridge restarts and brings a burst
				s.disconnect()
				check()
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "away ms")) * time.Millisecond)
				s.config.SampleRate = rapid.SampledFrom([]int{44100, 48000, 24000}).Draw(t, "rate")
				s.connect()
				err = s.play(rapid.IntRange(1, 200).Draw(t, "burst"))
			case 1: // a second bridge takes over
				s.connect()
			case 2: // its input was away
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(t, "stall ms")) * time.Millisecond)
			case 3:
				s.pts += time.Duration(rapid.IntRange(-3600000, 3600000).Draw(t, "jump ms")) * time.Millisecond
			default:
				err = s.run(time.Duration(rapid.IntRange(100, 4000).Draw(t, "play ms")) * time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
			check()
		}
	})
}

// To a player, a relay that restarts is a playlist that has moved on.
func TestPlaylistGoesForwardAcrossARelayRestart(t *testing.T) {
	before := newStation(noon)
	before.connect()
	if err := before.run(time.Minute); err != nil {
		t.Fatal(err)
	}
	v := newHistoryValidator()
	text, err := before.window.media("")
	if err != nil {
		t.Fatal(err)
	}
	always := func(string) bool { return true }
	if err := v.see(text, before.now, always); err != nil {
		t.Fatal(err)
	}
	after := newStation(before.now.Add(time.Second))
	after.connect()
	if err := after.run(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	text, err = after.window.media("")
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
