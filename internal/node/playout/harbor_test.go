package playout_test

import (
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// What a live encoder sends is heard from its first frame to its last word, and the next
// entry follows at once, whether it took its leave or was killed in the middle of a wave.
func TestALiveSourceIsHeardWhole(t *testing.T) {
	t.Parallel()
	for name, mime := range map[string]string{"by MAD": quickMIME, "by ffmpeg": slowMIME} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.push(r.list(music(0, 40*second), music(1, 40*second)))
			o := r.offline()
			o.play(2 * second)
			conn, answer := o.dial(liveMount, mime)
			if !strings.Contains(answer, " 200 ") {
				t.Fatalf("the harbor answers %q", answer)
			}
			// Twenty strokes, the first of them with the first sample that is encoded.
			const strokes, stroke, between = 16, rate / 100, rate / 10
			o.pour(conn, o.encode(o.sound("strokes.wav", 2*second, func(i int) (float64, float64) {
				if i%between >= stroke {
					return 0, 0
				}
				v := 0.25 * math.Sin(math.Pi*float64(i%between)/stroke) * math.Sin(2*math.Pi*aircheck.Frequency(strokes)*float64(i%between)/rate)
				return v, v
			}), "-b:a", "128k"))
			testkit.Eventually(t, "the encoder connected", func() bool { return o.status().LiveConnected })
			_ = conn.Close()
			o.gone()
			on := o.now()
			o.play(4 * second)
			pcm := o.end()
			var heard []time.Duration
			for when := on; when < on+3*second; when += time.Millisecond {
				// Whole waves of the rotation's tones, which leave nothing in it.
				if amplitude(pcm.Cut(when, when+20*time.Millisecond), strokes) > -30 {
					if len(heard) == 0 || when-on-heard[len(heard)-1] > 50*time.Millisecond {
						heard = append(heard, when-on)
					}
				}
			}
			t.Logf("strokes at %v", heard)
			if len(heard) != 20 {
				t.Fatalf("%d of 20 strokes are heard: %v", len(heard), heard)
			}
			for i := range heard {
				if want := heard[0] + time.Duration(i)*second/10; (heard[i] - want).Abs() > frame {
					t.Errorf("stroke %d is heard at %s, want %s", i, heard[i], want)
				}
			}
			// Some 25 ms of the encoder's own, and what the limiter waits.
			if heard[0] > limiterDelay+60*time.Millisecond {
				t.Errorf("the first stroke is heard %s after the start", heard[0])
			}
		})
	}
}

// A hole in what a connected encoder sends is silence for two seconds, and the rotation
// after that: an encoder on a starved machine does not take turns with it.
func TestAHoleOfALiveSourceIsBridged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second), music(2, 40*second)))
	o := r.offline()
	o.hungry.Store(true)
	o.play(2 * second)
	conn := o.connect(20, 2*second)
	o.playUntil("live", onAir(playout.KindLive))
	o.play(3700 * time.Millisecond)
	from := o.now()
	o.pour(conn, o.tone(aircheck.Track{ID: 20, Duration: 2 * second}))
	o.play(2 * second)
	o.playUntil("the rotation, in a hole that does not end", onAir(playout.KindRotation))
	o.play(2 * second)
	if s := o.status(); !s.LiveConnected {
		t.Errorf("status %+v", s)
	}
	o.pour(conn, o.tone(aircheck.Track{ID: 20, Duration: 2 * second}))
	o.playUntil("live again", onAir(playout.KindLive))
	o.play(second)
	_ = conn.Close()
	o.gone()
	o.play(3 * second)
	report := o.heard(0, 1, 2, 20)
	if got, want := report.Order(), []int{0, 20, 20, 1, 20, 2}; !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	clickless(t, report)
	if hole := report.Segments[2].Start - report.Segments[1].End; hole < 3*second/2 || report.Segments[2].Start-from > second/10 {
		t.Errorf("the bridged hole is %s long", hole)
	}
	if hole := report.Segments[3].Start - report.Segments[2].End; (hole - 2*second).Abs() > second/10 {
		t.Errorf("the rotation is back after a hole of %s, want 2 s", hole)
	}
	if hole := report.Segments[5].Start - report.Segments[4].End; hole > turn {
		t.Errorf("the rotation follows an encoder that left after %s", hole)
	}
	want := []string{"rotation 00.wav", "live .", "rotation 01.wav", "live .", "rotation 02.wav"}
	if got := r.control.files(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// An engine that was late catches up: it makes seconds of audio in a moment, in which no
// encoder can send any. That is no reason to leave it, but there is an end to the silence.
func TestAnEngineThatCatchesUpStaysLive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hurried = true
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.hungry.Store(true)
	o.play(2 * second)
	conn := o.connect(20, 2*second)
	o.playUntil("live", onAir(playout.KindLive))
	o.play(6 * second) // a hole of four
	if s := o.status(); s.OnAir != playout.KindLive {
		t.Errorf("status in a hole of four seconds that took less than one: %+v", s)
	}
	o.pour(conn, o.tone(aircheck.Track{ID: 20, Duration: 2 * second}))
	o.play(9 * second)
	report := o.heard(0, 1, 20)
	if got, want := report.Order(), []int{0, 20, 20, 1}; !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	if hole := report.Segments[3].Start - report.Segments[2].End; (hole - 5*second).Abs() > second/10 {
		t.Errorf("the rotation is back after a hole of %s, want 5 s", hole)
	}
}

// One encoder per mount: a second one is refused, and the first does not notice.
func TestASecondEncoderIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(second)
	first, over := o.connect(20, 8*second), o.send(overMount, o.tone(aircheck.Track{ID: 24, Duration: 8 * second}))
	o.play(second)
	for range 5 {
		for _, mount := range []string{liveMount, overMount} {
			conn, answer := o.dial(mount, quickMIME)
			if !strings.Contains(answer, " 401 ") {
				t.Errorf("a second encoder on %s is answered %q", mount, answer)
			}
			_ = conn.Close()
		}
		o.play(second)
	}
	if s := o.status(); !s.LiveConnected || !s.OverConnected || s.OnAir != playout.KindLive {
		t.Errorf("status %+v", s)
	}
	_, _ = first.Close(), over.Close()
	o.gone()
	o.play(4 * second)
	// Now there is room.
	if conn, answer := o.dial(liveMount, quickMIME); !strings.Contains(answer, " 200 ") {
		t.Errorf("after the first has left, the next is answered %q", answer)
	} else {
		_ = conn.Close()
	}
	o.gone()
	report := o.heard(0, 1, 20, 24)
	for _, id := range []int{20, 24} {
		for _, s := range report.Segments {
			if s.ID == id && (s.Length()-8*second).Abs() > 2*turn {
				t.Errorf("track %d is heard for %s of its 8 s", id, s.Length())
			}
		}
	}
	gapless(t, report, turn)
}

// Cut off by command, the encoders of both mounts count for nothing. They are hung up on
// with the next that they send, and make room for others.
func TestDisconnectCutsBothMounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second), music(2, 40*second)))
	o := r.offline()
	o.play(second)
	live := o.connect(20, 3*second)
	o.play(2 * frame)
	over := o.send(overMount, o.tone(aircheck.Track{ID: 24, Duration: 3 * second, Level: -14}))
	o.play(19 * second / 10) // all has been read by then, and nothing more comes
	o.hungry.Store(true)
	o.play(second / 5)
	if err := r.client.DisconnectLive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := o.status(); s.LiveConnected || s.OverConnected {
		t.Errorf("status %+v", s)
	}
	o.playUntil("rotation", onAir(playout.KindRotation))
	o.play(2 * second)
	more := o.tone(aircheck.Track{ID: 28, Duration: second})
	for _, conn := range []net.Conn{live, over} {
		mount := liveMount
		if conn == over {
			mount = overMount
		}
		if conn, answer := o.dial(mount, quickMIME); !strings.Contains(answer, " 401 ") {
			t.Errorf("while the harbor waits for the old one a new encoder is answered %q", answer)
		} else {
			_ = conn.Close()
		}
		o.rig.pour(conn, more)
		if n, err := io.Copy(io.Discard, conn); n > 0 {
			t.Errorf("%d bytes and %v from a connection that was cut off", n, err)
		}
	}
	o.play(2 * second) // none of it is heard
	testkit.Eventually(t, "another encoder let in", func() bool {
		o.play(second / 10)
		conn, answer := o.dial(liveMount, quickMIME)
		if !strings.Contains(answer, " 200 ") {
			_ = conn.Close()
			return false
		}
		o.rig.pour(conn, o.tone(aircheck.Track{ID: 32, Duration: 3 * second}))
		_ = conn.Close()
		return true
	})
	o.gone()
	o.play(8 * second)
	pcm := o.end()
	report := o.analysed(pcm, 0, 1, 2, 20, 24, 28, 32)
	if got, want := report.Order(), []int{0, 20, 24, 1, 32, 2}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	for _, s := range report.Segments {
		// At a cut some of it may not have been read.
		if s.ID == 32 && (s.Length()-3*second).Abs() > 2*turn || s.ID == 20 && (s.Length()-3*second).Abs() > 2*turn {
			t.Errorf("track %d is heard for %s", s.ID, s.Length())
		}
	}
	// Nobody has read from the song's file meanwhile.
	clickless(t, aircheck.Analyse(pcm.Cut(begins(t, report, 1, 0)+second/10, begins(t, report, 32, 0)), 1))
}

// An encoder that leaves before it has sent enough to be heard is not heard at the
// beginning of the next broadcast.
func TestWhatWasTooShortToBeHeardIsNotHeardLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(second)
	for mount, ids := range map[string][2]int{liveMount: {20, 24}, overMount: {28, 32}} {
		conn := o.send(mount, o.tone(aircheck.Track{ID: ids[0], Duration: second / 5}))
		_ = conn.Close()
		o.gone()
		o.play(second)
		conn = o.send(mount, o.tone(aircheck.Track{ID: ids[1], Duration: 2 * second}))
		_ = conn.Close()
		o.gone()
		o.play(3 * second)
	}
	report := o.heard(0, 1, 20, 24, 28, 32)
	length := map[int]time.Duration{}
	for _, s := range report.Segments {
		length[s.ID] += s.Length()
	}
	if length[20] > 0 || length[28] > 0 {
		t.Errorf("what was too short is heard: %v", length)
	}
	for _, id := range []int{24, 32} {
		if (length[id] - 2*second).Abs() > 2*turn {
			t.Errorf("track %d is heard for %s of its 2 s", id, length[id])
		}
	}
}

// Titles beside the stream, as the desk and as encoders send them: each marks live again
// when it holds, and none of them outlives its broadcast.
func TestTitlesOfALiveSource(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second), music(2, 40*second)))
	o := r.offline()
	title := func(mount string, kv ...string) url.Values {
		args := url.Values{"mode": {"updinfo"}, "mount": {mount}}
		for i := 0; i < len(kv); i += 2 {
			args.Set(kv[i], kv[i+1])
		}
		return args
	}
	tells := func(want int, args url.Values) {
		t.Helper()
		if got := r.entitle(r.o.Password, args); got != want {
			t.Errorf("%v is answered %d, want %d", args, got, want)
		}
	}
	o.play(second)
	tells(http.StatusNotFound, title("/channel_live", "title", "nobody is connected"))

	conn := o.connect(20, 4*second)
	// Before a sample is heard: the first marker has it.
	tells(http.StatusOK, title("/channel_live", "title", `حفلة & "سهرة" #{1}`, "artist", "فرقة+الفن 100%"))
	o.playUntil("live", onAir(playout.KindLive))
	o.hungry.Store(true)
	o.play(second)
	tells(http.StatusOK, title("channel_live", "song", "Artist - Song"))
	tells(http.StatusOK, title("/channel_live", "song", "Artist - Song")) // once is enough
	o.play(4 * second)                                                    // it holds when what is buffered has been heard
	o.pour(conn, o.tone(aircheck.Track{ID: 20, Duration: 2 * second}))
	o.play(second)
	tells(http.StatusOK, title("/channel_live", "title", "caf\xe9", "charset", "latin1"))
	tells(http.StatusOK, title("/channel_live", "title", "", "artist", ""))
	o.pour(conn, o.tone(aircheck.Track{ID: 20, Duration: second}))
	o.play(3 * second / 2)
	// Refused: no login, no order, no escape, no such mount.
	if got := r.entitle("wrong", title("/channel_live", "title", "forged")); got != http.StatusUnauthorized {
		t.Errorf("a wrong password is answered %d", got)
	}
	tells(http.StatusBadRequest, url.Values{"mount": {"/channel_live"}, "title": {"no mode"}})
	tells(http.StatusNotFound, title("/channel_over", "title", "nobody talks"))
	tells(http.StatusNotFound, title("/elsewhere", "title", "no mount"))
	// The last word of all, after the last of the audio: it waits for nobody.
	o.play(second)
	if s := o.status(); s.OnAir != playout.KindLive {
		t.Fatalf("the hole is not bridged: %+v", s)
	}
	tells(http.StatusOK, title("/channel_live", "title", "too late"))
	_ = conn.Close()
	o.gone()
	o.playUntil("rotation", onAir(playout.KindRotation))
	o.play(second)

	// The next broadcast has no title, and one of a talk is nobody's.
	over := o.send(overMount, o.tone(aircheck.Track{ID: 24, Duration: 2 * second}))
	tells(http.StatusOK, title("/channel_over", "title", "talk"))
	o.hungry.Store(false)
	conn = o.connect(21, 2*second)
	o.playUntil("live", onAir(playout.KindLive))
	o.play(second / 2)
	_, _ = conn.Close(), over.Close()
	o.gone()
	o.playUntil("rotation", onAir(playout.KindRotation))
	o.play(second)
	o.end()
	var got []string
	for _, m := range r.control.live() {
		got = append(got, m.Title+" | "+m.Artist)
	}
	want := []string{`حفلة & "سهرة" #{1} | فرقة+الفن 100%`, "Artist - Song | ", "café | ", " | "}
	if !slices.Equal(got, want) {
		t.Errorf("live markers %q, want %q", got, want)
	}
	if len(r.control.broken) > 0 {
		t.Errorf("markers that are no JSON: %q", r.control.broken)
	}
}

// The desk sends the title as soon as the harbor has answered, which may be before the engine
// is done with the encoder's arrival: it is taken, or refused and sent again, and never lost.
func TestATitleSentAtOnceIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.slow = true
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(second)
	o.begin(liveMount, o.tone(aircheck.Track{ID: 20, Duration: 4 * second}))
	args := url.Values{"mode": {"updinfo"}, "mount": {"/channel_live"}, "title": {"at once"}}
	testkit.Eventually(t, "the title taken", func() bool { return r.entitle(r.o.Password, args) == http.StatusOK })
	o.connected(liveMount)
	o.playUntil("live", onAir(playout.KindLive))
	o.play(second)
	o.end()
	if live := r.control.live(); len(live) != 1 || live[0].Title != "at once" {
		t.Errorf("live markers %+v", live)
	}
}

// An encoder that is back while the end of what it sent is still heard begins another
// broadcast, and the title of the one before ends with its audio.
func TestATitleEndsWithItsBroadcast(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(second)
	conn := o.connect(20, 3*second)
	args := url.Values{"mode": {"updinfo"}, "mount": {"/channel_live"}, "title": {"first"}}
	if got := r.entitle(r.o.Password, args); got != http.StatusOK {
		t.Fatal(got)
	}
	o.playUntil("live", onAir(playout.KindLive))
	_ = conn.Close()
	o.gone()
	o.play(second)
	conn = o.connect(21, 3*second)
	_ = conn.Close()
	o.play(6 * second)
	report := o.heard(0, 1, 20, 21)
	if got, want := report.Order(), []int{0, 20, 21, 1}; !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	if gap := report.Segments[2].Start - report.Segments[1].End; gap > 2*turn {
		t.Errorf("%s between two broadcasts", gap)
	}
	live := r.control.live()
	if len(live) != 2 || live[0].Title != "first" || live[1].Title != "" {
		t.Fatalf("live markers %+v", live)
	}
	said := time.Duration(live[1].StartedAt-offlineStart*1000) * time.Millisecond
	if late := report.Segments[2].Start - said; late.Abs() > second/10 {
		t.Errorf("the second broadcast is heard at %s and its marker says %s", report.Segments[2].Start, said)
	}
}
