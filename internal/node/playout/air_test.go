package playout_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// One list with every type in it, heard from its first to its last track, through
// the encoder of the stream. The music after the stingers also guards the trap of a
// cross that sticks: all crosses after a 0.2 s one would be 0.2 s.
func TestEveryTypeAirsInOrderWithItsCross(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.encoded = true
	stinger := 260 * time.Millisecond
	entries := []entry{
		music(0, 4*second), music(2, 5*second),
		{4, "jingles", "0.5", 3 * second / 2, 0, ""}, music(6, 3*second),
		{8, "sfx", "0.2", stinger, 0, ""}, music(10, 4*second), music(12, 5*second),
		{14, "sfx", "0.2", stinger, 0, ""}, {16, "sfx", "0.2", 800 * time.Millisecond, 0, ""}, {18, "shorts", "0.2", 3 * second / 2, 0, ""},
		{20, "news", "0.5", 3 * second / 2, -5, ""}, {22, "ads", "0.5", 3 * second / 2, -5, ""}, {24, "sweepers", "0.5", 3 * second / 2, 0, ""},
		music(26, 3*second), {28, "shorts", "0.2", 3 * second / 2, 0, ""}, music(30, 4*second), music(32, 8*second),
	}
	want := []float64{2, .5, .5, .2, 0, 2, .2, 0, .2, .2, .5, .5, .5, .2, .2, 2}
	// Tags must not begin a new Ogg stream in the middle of a cross: that is heard.
	for i := range entries {
		if entries[i].kind == "" {
			entries[i].title = fmt.Sprintf("أغنية %d", entries[i].id)
		}
	}
	r.push(r.list(entries...))
	o := r.offline()
	o.playUntil("the last entry", entered(len(entries)))
	o.play(4 * second)

	// The encoder sounds a little before the first sample, in what the limiter waits.
	pcm := o.end()
	pcm = pcm.Cut(limiterDelay, pcm.Duration())
	var ids []int
	for _, e := range entries {
		ids = append(ids, e.id)
	}
	report := aircheck.Analyse(pcm, ids...)
	t.Logf("heard:\n%s", report)
	if got := report.Order(); !slices.Equal(got, ids) {
		t.Fatalf("order %v, want %v", got, ids)
	}
	for i, c := range report.Crosses() {
		// A fade is found when it is above 2 %. A stinger of 0.26 s is used up
		// by the cross into it: what is left of it joins the next track with
		// what overlap remains.
		within := 0.05
		if want[i] == 2 || want[i] == 0 {
			within = 0.1
		}
		if got := c.Overlap.Seconds(); math.Abs(got-want[i]) > within {
			t.Errorf("cross from %d to %d is %.2f s, want %.1f s", c.From, c.To, got, want[i])
		}
	}
	for i, s := range report.Segments[:len(entries)-1] {
		if i > 0 && (s.Length()-entries[i].long).Abs() > 60*time.Millisecond {
			t.Errorf("track %d is heard for %s of its %s", s.ID, s.Length(), entries[i].long)
		}
	}
	unbroken(t, report)
	// Two tracks of -5 dBFS make +1 dBFS where they cross.
	clipped := 0
	for _, v := range pcm.Samples {
		if v == math.MaxInt16 || v == math.MinInt16 {
			clipped++
		}
	}
	if clipped > 0 {
		t.Errorf("%d samples are clipped", clipped)
	}
	checkMarkers(t, r, entries, report)
}

// checkMarkers: one marker per track, in order, with the time it begins to be heard.
func checkMarkers(t *testing.T, r *rig, entries []entry, report aircheck.Report) {
	t.Helper()
	var got, want []string
	for _, e := range entries {
		want = append(want, e.file(r.dir))
	}
	markers := r.control.markers()
	if len(markers) > 0 && markers[0].Kind == playout.KindEmergency {
		markers = markers[1:] // the blip with which an engine may begin
	}
	for i, m := range markers {
		got = append(got, m.File)
		if m.Seq != markers[0].Seq+int64(i) || m.Kind != playout.KindRotation || m.Channel != "main" || m.Engine != markers[0].Engine || m.Engine == "" {
			t.Errorf("marker %d: %+v", i, m)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("markers %v, want %v", got, want)
	}
	for i, e := range entries {
		if markers[i].Type != e.kind {
			t.Errorf("marker of track %d has type %q, want %q", e.id, markers[i].Type, e.kind)
		}
		// An MP3 begins with its encoder's padding, a fade too low to be heard.
		heard, said := begins(t, report, e.id, 0), time.Duration(markers[i].StartedAt-offlineStart*1000)*time.Millisecond
		if late := heard - said; i > 0 && late.Abs() > second/5 {
			t.Errorf("track %d is heard at %s and its marker says %s", e.id, heard, said)
		}
	}
	if r.control.token != r.o.Token {
		t.Errorf("token %q, want %q", r.control.token, r.o.Token)
	}
}

// A playlist pushed while a track plays: what was prepared of the old list does
// not air, the new head does. Then skip, and a file that is missing.
func TestAPushPlaysTheNewHeadNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	pushed := r.list(music(5, 6*second), entry{id: 9, kind: ""}, music(6, 30*second), music(7, 30*second), music(8, 9*second))
	r.push(r.list(music(0, 9*second), music(1, 6*second), music(2, 6*second)))
	o := r.offline()
	o.play(2 * second)
	o.pushed(pushed)
	o.playUntil("the entry after the missing one", func(s playout.Status) bool { return s.Last != nil && filepath.Base(s.Last.File) == "06.wav" })
	o.play(3 * second)

	first := o.skip()
	o.play(300 * time.Millisecond)
	// Within the cross that skip began: the second must not be lost in it.
	second := o.skip()
	o.play(3 * time.Second)
	s := o.status()
	report := o.heard(0, 1, 2, 5, 6, 7, 8, 9)
	if got, want := report.Order(), []int{0, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	gapless(t, report, turn) // the second skip dips both entries before it drops them
	clickless(t, report)
	heardWithinASecond(t, "a skip", begins(t, report, 7, 0)-first)
	heardWithinASecond(t, "a second skip within the cross", begins(t, report, 8, 0)-second)
	if got, want := r.control.rotation(), []string{"00.wav", "05.wav", "06.wav", "07.wav", "08.wav"}; !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
	if s.Edition != 2 || s.Entries != 5 || s.OnAir != playout.KindRotation || s.Last == nil || filepath.Base(s.Last.File) != "08.wav" || s.Remaining <= 0 {
		t.Errorf("status %+v", s)
	}
}

// skip presses, and says where in the audio.
func (o *offline) skip() time.Duration {
	o.t.Helper()
	if err := o.client.Skip(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	return o.now()
}

// heardWithinASecond judges a skip by the audio between press and entry.
func heardWithinASecond(t testing.TB, what string, after time.Duration) {
	t.Helper()
	t.Logf("%s is heard after %s of audio", what, after)
	if after < 0 || after > second {
		t.Errorf("%s is heard after %s of audio, want at most %s", what, after, second)
	}
}

// ready waits, at a standstill, until the head of the list is opened, as the
// control plane does before it skips.
func (o *offline) ready(head entry) {
	o.t.Helper()
	testkit.Eventually(o.t, "the head opened", func() bool {
		s := o.status()
		return len(s.Prepared) > 0 && s.Prepared[0] == head.file(o.dir)
	})
}
