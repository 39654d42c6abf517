package aircheck

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Every track of the fine scale, each crossed into its neighbour in pitch and
// then some that are far apart, through the codec that airs them.
func TestFineScaleTellsNeighboursApartThroughVorbis(t *testing.T) {
	var tp tape
	var want []int
	at := time.Duration(0)
	add := func(id int, long, cross time.Duration) {
		tp.sine(Fine.Frequency(id), at, at+long, cross, cross, -12)
		want = append(want, id)
		at += long - cross
	}
	for id := range Fine.MaxID() + 1 {
		add(id, time.Second, 400*ms)
	}
	for _, id := range []int{3, 90, 4, 91, 3} {
		add(id, 400*ms, 4*ms)
	}
	dir := t.TempDir()
	wav, ogg := filepath.Join(dir, "a.wav"), filepath.Join(dir, "a.ogg")
	if err := tp.pcm().WriteFile(wav); err != nil {
		t.Fatal(err)
	}
	if _, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-i", wav, "-ac", "2", "-c:a", "libvorbis", "-b:a", "192k", "-minrate", "128k", "-maxrate", "256k", ogg,
	}}, 64<<10); err != nil {
		t.Fatal(err)
	}
	p, err := Capture(t.Context(), ogg, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := Fine.Analyse(p)
	if !slices.Equal(r.Order(), want) {
		t.Errorf("order %v\nwant  %v", r.Order(), want)
	}
	for i, s := range r.Segments[:min(140, len(r.Segments))] {
		if start := time.Duration(i) * 600 * ms; !near(s.Start, start, 60*ms) {
			t.Errorf("track %d begins at %s, want %s", s.ID, s.Start, start)
		}
	}
	if r.Gap.Length() > 0 {
		t.Errorf("gap %v", r.Gap)
	}
}

// Where a player joins two pieces of one tone its phase jumps, and for a moment
// the neighbours in pitch ring with it. They were not on the air.
func TestFineScaleIsNotMisledByATonesOwnSplatter(t *testing.T) {
	for _, every := range []time.Duration{20 * ms, 30 * ms, 45 * ms} {
		var tp tape
		tp.sine(Fine.Frequency(64), 0, time.Second, 4*ms, 4*ms, -12)
		for at := 1100 * ms; at < 1400*ms; at += every {
			tp.sine(Fine.Frequency(36), at, at+every, ms, ms, -12)
		}
		tp.sine(Fine.Frequency(36), 1400*ms, 2*time.Second, 0, 4*ms, -12)
		// A real neighbour that fades in under it is heard all the same.
		tp.sine(Fine.Frequency(37), 1600*ms, 3*time.Second, 400*ms, 4*ms, -12)
		if got := Fine.Analyse(tp.pcm()).Order(); !slices.Equal(got, []int{64, 36, 37}) {
			t.Errorf("phase jumps every %s: heard %v", every, got)
		}
	}
}

// What the live desk reads half a percent faster or slower, as it does to keep step with a
// source, is still the tone that was sent, and no other is heard beside it.
func TestFineScaleKnowsAToneThatIsReadFasterOrSlower(t *testing.T) {
	const last = 85 // at 93, half a percent is half way to the next
	for _, bend := range []float64{0.995, 0.9975, 1, 1.0025, 1.005} {
		var tp tape
		var want []int
		at := time.Duration(0)
		for id := 40; id <= last; id++ {
			tp.sine(Fine.Frequency(id)*bend, at, at+400*ms, 4*ms, 4*ms, -12)
			want = append(want, id)
			at += 400 * ms
		}
		r := Fine.Analyse(tp.pcm())
		if !slices.Equal(r.Order(), want) {
			t.Errorf("read at %g: order %v\nwant  %v", bend, r.Order(), want)
		}
		for _, s := range r.Segments {
			if !near(s.Length(), 400*ms, 50*ms) || s.Level < -14 {
				t.Errorf("read at %g: %+v", bend, s)
			}
		}
	}
}

// Where only the order of programmes counts, a library of coarse tones is listened to on the
// fine scale: each of its tones is one there, and never silence.
func TestFineScaleHearsEveryCoarseToneAsOne(t *testing.T) {
	for id := range Coarse.MaxID() + 1 {
		var tp tape
		tp.sine(Coarse.Frequency(id), 0, time.Second, 4*ms, 4*ms, -12)
		r := Fine.Analyse(tp.pcm())
		if len(r.Segments) != 1 || !near(r.Segments[0].Length(), time.Second, 50*ms) || r.Segments[0].Level < -14 {
			t.Errorf("coarse tone %d is heard as %v", id, r.Segments)
		}
	}
}
