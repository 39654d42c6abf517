package playout_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	duckDepth = -12. // dB
	duckDown  = 300 * time.Millisecond
	duckUp    = 600 * time.Millisecond
)

// level of a track's tone in a fiftieth of a second around a moment of the audio.
func level(pcm aircheck.PCM, id int, at time.Duration) float64 {
	return amplitude(pcm.Cut(at-second/100, at+second/100), id)
}

// at fails where a tone has not the level that is wanted, in dBFS.
func at(t testing.TB, pcm aircheck.PCM, id int, when time.Duration, want, within float64) {
	t.Helper()
	if got := level(pcm, id, when); math.Abs(got-want) > within {
		t.Errorf("track %d at %s: %.2f dBFS, want %.2f within %.1f", id, when, got, want, within)
	}
}

// silent fails where a tone is heard.
func silent(t testing.TB, pcm aircheck.PCM, id int, when time.Duration) {
	t.Helper()
	if got := level(pcm, id, when); got > -60 {
		t.Errorf("track %d at %s: %.2f dBFS, want silence", id, when, got)
	}
}

// Talk-over from its first word to its last: the song goes on under it, 12 dB lower, and
// nothing else changes. The encoder is killed in the middle of a wave.
func TestTalkOverIsAddedToTheRotation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(3 * second)
	conn := o.send(overMount, o.tone(aircheck.Track{ID: 20, Duration: 4 * second, Level: -14}))
	from := o.now()
	o.play(2 * second)
	if s := o.status(); s.OnAir != playout.KindRotation || !s.OverConnected || s.LiveConnected {
		t.Errorf("status during talk-over: %+v", s)
	}
	_ = conn.Close()
	o.gone()
	o.play(6 * second)
	pcm := o.end()
	report := o.analysed(pcm, 0, 1, 20)
	if got := report.Order(); !slices.Equal(got, []int{0, 20}) {
		t.Errorf("order %v, want the song and the talk", got)
	}
	unbroken(t, report)
	// The talk is heard whole, at its own level.
	talk := report.Segments[slices.IndexFunc(report.Segments, func(s aircheck.Segment) bool { return s.ID == 20 })]
	if (talk.Length() - 4*second).Abs() > 2*turn {
		t.Errorf("the talk is heard for %s of its 4 s", talk.Length())
	}
	at(t, pcm, 20, from+2*second, -14, 0.3)
	// The song: before, in the middle of the ramp, at its end, under the talk.
	at(t, pcm, 0, from-second, -12, 0.1)
	at(t, pcm, 0, from+limiterDelay+duckDown/2, -12+duckDepth/2, 0.7)
	at(t, pcm, 0, from+limiterDelay+duckDown+3*frame, -12+duckDepth, 0.5)
	for s := second; s < 4*second; s += second / 4 {
		at(t, pcm, 0, from+s, -12+duckDepth, 0.5)
	}
	// And after it: the ramp begins with the last word.
	at(t, pcm, 0, talk.End-5*frame, -12+duckDepth, 0.5)
	at(t, pcm, 0, talk.End+duckUp/2, -12+duckDepth/2, 1)
	at(t, pcm, 0, talk.End+duckUp+6*frame, -12, 0.1)
	if got := r.control.rotation(); len(r.control.markers()) != len(got) || !slices.Equal(got, []string{"00.wav"}) {
		t.Errorf("markers %v", r.control.files())
	}
}

// What the operator and the guard can do to the programme they can do during talk-over,
// and all of it stays down.
func TestTheProgrammeGoesOnUnderTalkOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 6*second), music(1, 40*second), music(2, 40*second), music(3, 40*second)))
	o := r.offline()
	o.play(2 * second)
	talk := o.tone(aircheck.Track{ID: 20, Duration: 4 * second, Level: -14})
	conn := o.send(overMount, talk)
	o.pour(conn, talk) // ten seconds fit into the buffer
	o.play(5 * second) // into a cross
	o.pour(conn, talk)
	pressed := o.skip()
	o.play(3 * second)
	middle := o.now() - second
	o.pour(conn, talk)
	if err := r.client.Emergency(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	o.playUntil("emergency audio", onAir(playout.KindEmergency))
	o.play(2 * second)
	emergency := o.now() - second
	o.pour(conn, talk)
	if err := r.client.Emergency(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	o.playUntil("rotation", onAir(playout.KindRotation))
	o.play(3 * second)
	pcm := o.end()
	report := o.analysed(pcm, 0, 1, 2, 3, 20)
	order := slices.DeleteFunc(report.Order(), func(id int) bool { return id == 20 })
	if want := []int{0, 1, 2, emergencyID, 3}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	gapless(t, report, 0)
	clickless(t, aircheck.Analyse(pcm.Cut(0, middle), 0, 1, 2)) // the emergency audio cuts in
	heardWithinASecond(t, "a skip", begins(t, report, 2, 0)-pressed)
	at(t, pcm, 2, middle, -12+duckDepth, 0.5)
	at(t, pcm, emergencyID, emergency, -12+duckDepth, 0.5)
	at(t, pcm, 20, emergency, -14, 0.5)
	at(t, pcm, 3, o.now()-second, -12+duckDepth, 0.5)
	want := []string{"rotation 00.wav", "rotation 01.wav", "rotation 02.wav", "emergency .", "rotation 03.wav"}
	if got := r.control.files(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// A live source that takes the air during talk-over is heard as it is, and so is the
// talk. The rotation that follows stays down for as long as the talk goes on.
func TestALiveSourceDuringTalkOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second), music(2, 40*second)))
	o := r.offline()
	o.play(2 * second)
	over := o.send(overMount, o.tone(aircheck.Track{ID: 20, Duration: 9 * second, Level: -14}))
	talk := o.now()
	o.play(2 * second)
	live := o.connect(24, 4*second)
	on := o.now()
	o.play(second)
	if s := o.status(); s.OnAir != playout.KindLive || !s.OverConnected || !s.LiveConnected {
		t.Errorf("status: %+v", s)
	}
	_ = live.Close()
	_ = over.Close()
	o.gone()
	o.play(12 * second)
	pcm := o.end()
	report := o.analysed(pcm, 0, 1, 2, 20, 24)
	if got, want := report.Order(), []int{0, 20, 24, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	gapless(t, report, turn)
	for _, when := range []time.Duration{second / 10, second / 2, 2 * second, 3 * second} {
		at(t, pcm, 24, on+limiterDelay+when, -12, 0.3)
		at(t, pcm, 20, on+when, -14, 0.3)
	}
	silent(t, pcm, 0, on+second)
	back := begins(t, report, 1, 0)
	if after := back - on; (after - 4*second).Abs() > 2*turn {
		t.Errorf("the rotation is back %s after a live source of 4 s", after)
	}
	at(t, pcm, 1, back+second/2, -12+duckDepth, 0.5)
	at(t, pcm, 1, talk+9*second+2*second, -12, 0.1)
}

// Two loud voices over a loud song keep the ceiling, and a song after a talk passes as
// it did before.
func TestTalkOverKeepsTheCeiling(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(lines(r.hot("a.wav", 20*second, 1)))
	o := r.offline()
	o.play(2 * second)
	o.send(overMount, o.encode(r.hot("voice.wav", 6*second, 3), "-b:a", "320k"))
	o.play(5 * second)
	o.ended()
	if got := measure(closed(o.decoded())); got.TruePeak > ceiling+0.005 {
		t.Errorf("%.2f dBTP, want at most %.2f", got.TruePeak, ceiling)
	}
}

// While the talk's encoder is connected and sends nothing the song stays down, and where
// its audio ends and begins again there is no click.
func TestTheRotationStaysDownInAHoleOfTheTalk(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second)))
	o := r.offline()
	o.hungry.Store(true)
	o.play(second)
	first := o.send(overMount, o.tone(aircheck.Track{ID: 20, Duration: second}))
	o.play(3 * second)
	dry := o.now()
	o.pour(first, o.tone(aircheck.Track{ID: 20, Duration: 2 * second}))
	o.play(3 * second)
	_ = first.Close()
	o.gone()
	o.play(2 * second)
	pcm := o.end()
	report := o.analysed(pcm, 0, 20)
	if got, want := report.Order(), []int{0, 20, 20}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	unbroken(t, report)
	at(t, pcm, 0, dry-second/10, -12+duckDepth, 0.5)
	at(t, pcm, 0, o.now()-second/10, -12, 0.1)
}
