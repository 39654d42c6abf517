package aircheck

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const ms = time.Millisecond

// tape is synthetic audio to lay tones on.
type tape struct{ samples []float64 }

func (t *tape) tone(id int, start, end, fadeIn, fadeOut time.Duration, level float64) {
	t.sine(Frequency(id), start, end, fadeIn, fadeOut, level)
}

func (t *tape) sine(hz float64, start, end, fadeIn, fadeOut time.Duration, level float64) {
	a := math.Pow(10, level/20)
	from, to := int(start.Seconds()*captureRate), int(end.Seconds()*captureRate)
	for len(t.samples) < to {
		t.samples = append(t.samples, 0)
	}
	for i := from; i < to; i++ {
		gain := 1.0
		if d := float64(i-from) / captureRate; d < fadeIn.Seconds() {
			gain *= math.Sin(math.Pi / 2 * d / fadeIn.Seconds())
		}
		if d := float64(to-i) / captureRate; d < fadeOut.Seconds() {
			gain *= math.Sin(math.Pi / 2 * d / fadeOut.Seconds())
		}
		t.samples[i] += gain * a * math.Sin(2*math.Pi*hz*float64(i-from)/captureRate)
	}
}

func (t *tape) pcm() PCM {
	p := PCM{Rate: captureRate}
	for _, v := range t.samples {
		p.Samples = append(p.Samples, int16(math.Round(v*32767)))
	}
	return p
}

func near(got, want, within time.Duration) bool { return (got - want).Abs() <= within }

func TestOrderAndCrossesAreReadFromTones(t *testing.T) {
	var tp tape
	tp.tone(3, 0, 6*time.Second, 0, 2*time.Second, -12)                 // music fading out
	tp.tone(4, 4*time.Second, 9*time.Second, 2*time.Second, 5*ms, -12)  // music fading in
	tp.tone(20, 8500*ms, 10*time.Second, 5*ms, 5*ms, -12)               // a jingle over its last half second
	tp.tone(5, 9800*ms, 11*time.Second, 5*ms, 5*ms, -12)                // 0.2 s over the jingle
	tp.tone(3, 11*time.Second, 12*time.Second, 5*ms, 5*ms, -12)         // the first again, back to back
	tp.tone(47, 12*time.Second+300*ms, 13*time.Second, 5*ms, 5*ms, -30) // after a hole, and quiet
	r := Analyse(tp.pcm())
	if want := []int{3, 4, 20, 5, 3, 47}; !slices.Equal(r.Order(), want) {
		t.Fatalf("order %v, want %v\n%s", r.Order(), want, r)
	}
	wants := []time.Duration{2000 * ms, 500 * ms, 200 * ms, 0, -300 * ms}
	for i, c := range r.Crosses() {
		// The first 1 % of a fade is below what is looked for.
		if !near(c.Overlap, wants[i], 80*ms) {
			t.Errorf("cross %d (%d to %d) overlaps %s, want %s", i, c.From, c.To, c.Overlap, wants[i])
		}
	}
	if got := r.Segments[5].Level; math.Abs(got+30) > 1 {
		t.Errorf("level of the quiet track is %.1f dBFS, want -30", got)
	}
	if !near(r.Gap.Length(), 300*ms, 10*ms) || !near(r.Gap.Start, 12*time.Second, 10*ms) {
		t.Errorf("longest gap %s at %s, want 300ms at 12s", r.Gap.Length(), r.Gap.Start)
	}
	if len(r.Clicks) > 0 {
		t.Errorf("clicks where there are none:\n%s", r)
	}
}

func TestSilenceAroundTheCaptureIsNoGap(t *testing.T) {
	var tp tape
	tp.tone(1, time.Second, 2*time.Second, 5*ms, 5*ms, -12)
	tp.samples = append(tp.samples, make([]float64, captureRate)...)
	if r := Analyse(tp.pcm()); r.Gap.Length() != 0 {
		t.Errorf("gap %v", r.Gap)
	}
}

func TestClicksAreFoundWhereTheWaveJumps(t *testing.T) {
	var tp tape
	tp.tone(7, 0, 4*time.Second, 5*ms, 5*ms, -12)
	p := tp.pcm()
	// A hole of three samples, a step of a fade that is too coarse, a splice.
	for i := range 3 {
		p.Samples[captureRate+i] = 0
	}
	for i := 2 * captureRate; i < len(p.Samples); i++ {
		p.Samples[i] = int16(float64(p.Samples[i]) * 0.8)
	}
	copy(p.Samples[3*captureRate:], p.Samples[3*captureRate+10:])
	var at []time.Duration
	for _, c := range Analyse(p).Clicks {
		at = append(at, c.At.Round(10*ms))
	}
	for _, want := range []time.Duration{time.Second, 3 * time.Second} {
		if !slices.Contains(at, want) {
			t.Errorf("no click at %s, only at %v", want, at)
		}
	}
	if len(at) > 3 {
		t.Errorf("clicks at %v, where only three were made", at)
	}
}

func TestTracksSurviveMP3(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.mp3")
	if err := WriteMP3(t.Context(), file, Track{ID: 31, Duration: 2 * time.Second, Title: "عنوان"}); err != nil {
		t.Fatal(err)
	}
	p, err := Capture(t.Context(), file, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := Analyse(p)
	if !slices.Equal(r.Order(), []int{31}) || !near(r.Segments[0].Length(), 2*time.Second, 40*ms) || len(r.Clicks) > 0 {
		t.Errorf("read back as\n%s", r)
	}
}

func TestAStreamThatCannotBeCapturedSaysWhy(t *testing.T) {
	if _, err := Capture(t.Context(), filepath.Join(t.TempDir(), "none.ogg"), time.Second); err == nil {
		t.Error("no error")
	}
}

func TestRecorderKnowsWhenEachMomentArrived(t *testing.T) {
	r := NewRecorder("")
	before := time.Now()
	_, _ = r.Write(make([]byte, captureRate)) // half a second
	between := time.Now()
	_, _ = r.Write(make([]byte, captureRate))
	if p := r.Position(between); p != time.Second/2 {
		t.Errorf("%s recorded after the first write", p)
	}
	early, ok := r.ArrivedAt(499 * ms)
	if !ok || early.Before(before) || early.After(between) {
		t.Errorf("the first half second arrived at %s, %v", early, ok)
	}
	if late, ok := r.ArrivedAt(500 * ms); !ok || late.Before(between) {
		t.Errorf("the second arrived at %s, %v", late, ok)
	}
	if _, ok := r.ArrivedAt(time.Second); ok {
		t.Error("what has not come has arrived")
	}
}
