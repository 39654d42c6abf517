package relay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// encoded is what the bridge makes of a rendition in some seconds: frames of AAC.
func encoded(t *testing.T, kbps string) (frames [][]byte) {
	t.Helper()
	out, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-nostdin", "-f", "lavfi", "-i", "anoisesrc=color=pink:seed=7:r=44100:d=12,tremolo=f=3", "-ac", "2",
		"-c:a", "aac", "-b:a", kbps + "k", "-f", "adts", "pipe:1",
	}}, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	var packets mpeg4audio.ADTSPackets
	if err := packets.Unmarshal(out); err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		frames = append(frames, p.AU)
	}
	return frames
}

// What a listener loads is sound: packing and playlists take 6 % of it at most. In MPEG-TS, with
// each frame a packet of its own as ffmpeg sends it, packing takes as much as three quarters of
// the main rendition, and three times the lowest.
func TestWhatAListenerLoadsIsSound(t *testing.T) {
	for i, kbps := range []string{"256", "128", "64"} {
		frames := encoded(t, kbps)
		sound, loaded, length := 0, 0, time.Duration(0)
		w := newWindow(three(), 2*time.Second, 8, 1, noon)
		var before bytes.Buffer
		ts, track := muxer(t, &before)
		s := newSegmenter(soundOf(stereo), 2*time.Second, 0)
		for n, f := range frames {
			one := set{f, f, f}
			for _, c := range s.write(noon.Add(samplesSpan(int64(n)*samplesPerFrame, testRate)), []set{one}) {
				w.add(c, false, noon)
				length += c.duration
				loaded += len(c.data[i]) + len(w.media(i).packed())
			}
			if err := ts.WriteMPEG4Audio(track, clock90k(samplesSpan(int64(n)*samplesPerFrame, testRate)), [][]byte{f}); err != nil {
				t.Fatal(err)
			}
		}
		whole := int(length/samplesSpan(samplesPerFrame, testRate)) + 1
		for _, f := range frames[:min(whole, len(frames))] {
			sound += len(f)
		}
		overhead := float64(loaded)/float64(sound) - 1
		wasted := float64(before.Len())/float64(sound)*float64(whole)/float64(len(frames)) - 1
		perMinute := func(n int) int { return int(float64(n) / length.Minutes() / 1000) }
		t.Logf("%s kbit/s: %d kB a minute of listening, of which %d are sound: %.1f %% beside it; before %.1f %%", kbps, perMinute(loaded), perMinute(sound), 100*overhead, 100*wasted)
		if overhead > 0.06 {
			t.Errorf("%s kbit/s: %.1f %% of what a listener loads are packing, want 6 at most", kbps, 100*overhead)
		}
	}
}

// Each rendition has a playlist and segments of its own, under the same numbers; one alone is
// named to a player that asks for it, and what is no bitrate of ours is as if none was asked for.
func TestRenditionsAreChosenByThePlayerAndByHand(t *testing.T) {
	s, _ := start(t, shortDir(t), func(o *Options) { o.Renditions = three() })
	var batches [][][]byte
	for i, size := range []int{700, 350, 180} { // each frame says whose it is
		batches = append(batches, slices.Repeat([][]byte{bytes.Repeat([]byte{byte('a' + i)}, size)}, usual))
	}
	publishMany(t, s, 4*time.Second, batches...)
	onAir(t, s)
	session := begin(t, s)
	variants := func(query string) (out []string) {
		r, text := get(t, hls(s, masterName+query), "Cookie", session)
		status(t, r, http.StatusOK)
		var list playlist.Multivariant
		if err := list.Unmarshal([]byte(text)); err != nil {
			t.Fatal(err)
		}
		last := 1 << 30
		for _, v := range list.Variants {
			if out = append(out, v.URI); v.Bandwidth >= last {
				t.Errorf("%s has %d bit/s, the one before it %d", v.URI, v.Bandwidth, last)
			}
			last = v.Bandwidth
		}
		return out
	}
	for query, want := range map[string]string{
		"": "main_stream.m3u8 main_128.m3u8 main_64.m3u8", "?quality=64": "main_64.m3u8", "?quality=256": mediaName,
		"?quality=1": "main_stream.m3u8 main_128.m3u8 main_64.m3u8", "?quality=%00": "main_stream.m3u8 main_128.m3u8 main_64.m3u8",
	} {
		if got := strings.Join(variants(query), " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for i, name := range []string{mediaName, "main_128.m3u8", "main_64.m3u8"} {
		r, text := get(t, hls(s, name), "Cookie", session)
		status(t, r, http.StatusOK)
		if err := newLiveValidator().see([]byte(text), time.Now(), func(uri string) bool { return s.window.file(uri) != nil }); err != nil {
			t.Error(err)
		}
		r, segment := get(t, hls(s, lastSegment(t, text)), "Cookie", session)
		status(t, r, http.StatusOK)
		_, frames, err := segmentFrames([]byte(segment))
		if err != nil || strings.Trim(frames[0], string(rune('a'+i))) != "" {
			t.Errorf("%s: %.10q, %v", name, frames, err)
		}
	}
	for _, gone := range []string{"main_63.m3u8", "main_.m3u8", "init_1x2.mp4", "init_44100x2.m4s", "seg1_1.m4s", "init_48000x2.mp4"} {
		r, _ := get(t, hls(s, gone), "Cookie", session)
		status(t, r, http.StatusNotFound)
	}
	r, head := get(t, hls(s, "init_44100x2.mp4"), "Cookie", session)
	if status(t, r, http.StatusOK); head[4:8] != "ftyp" {
		t.Errorf("the header begins with %.12q", head)
	}
	r, _ = get(t, hls(s, "index.m3u8?quality=64"))
	if status(t, r, http.StatusFound); r.Header.Get("Location") != "index.m3u8?cookieCheck=1&quality=64" {
		t.Errorf("the choice is lost on the way: %s", r.Header.Get("Location"))
	}
	r, packed := get(t, hls(s, mediaName), "Cookie", session, "Accept-Encoding", "gzip")
	unpacked, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	_, plain := get(t, hls(s, mediaName), "Cookie", session)
	if text, err := io.ReadAll(unpacked); err != nil || string(text) != plain || r.Header.Get("Content-Encoding") != "gzip" || 2*len(packed) > len(plain) {
		t.Errorf("%d bytes of %d, %q: %v", len(packed), len(plain), r.Header.Get("Content-Encoding"), err)
	}
}

// In silence each rendition takes as little. One who comes then is told what they take else: with
// equal rates hls.js drops all but one, and later chooses what the network cannot carry.
func TestSilenceDoesNotMakeRenditionsEqual(t *testing.T) {
	w := newWindow(three(), 2*time.Second, 8, 1, noon)
	s := newSegmenter(soundOf(stereo), 2*time.Second, 0)
	quiet := make([]byte, 9)
	for _, c := range s.write(noon, slices.Repeat([]set{{quiet, quiet, quiet}}, 1000)) {
		w.add(c, false, noon)
	}
	text, err := w.masterText("")
	var list playlist.Multivariant
	if err = errors.Join(err, list.Unmarshal(text)); err != nil {
		t.Fatal(err)
	}
	for i, v := range list.Variants {
		if v.Bandwidth != 1000*three()[i] {
			t.Errorf("%s has %d bit/s", v.URI, v.Bandwidth)
		}
	}
}

// A bridge is connected for weeks.
func TestTimeGoesOnForYears(t *testing.T) {
	const years = 10 * 365 * 24 * 3600
	for _, seconds := range []int64{0, 102_481, 204_963, years} {
		if got := ticks(seconds*clockRate + 45); got != time.Duration(seconds)*time.Second+500*time.Microsecond {
			t.Errorf("after %d s it is %s", seconds, got)
		}
	}
}

// An edge replaces a segment where the relay has it in more renditions by now. The new one is
// there for as long as any.
func TestAReplacedSegmentDoesNotTakeTheNewOneAway(t *testing.T) {
	w := newWindow(three(), 2*time.Second, 8, 1, noon)
	one := func(renditions int) *segment {
		return &segment{cut: cut{data: make([][]byte, renditions), sound: soundOf(stereo), at: noon, duration: 2 * time.Second}, sequence: 7}
	}
	w.show(three()[:1], 2*time.Second, []*segment{one(1)}, noon)
	now := one(3)
	w.show(three(), 2*time.Second, []*segment{now}, noon)
	w.show(three(), 2*time.Second, []*segment{now}, noon.Add(time.Hour))
	if w.segment(7) != now {
		t.Error("a segment that is listed is gone")
	}
}
