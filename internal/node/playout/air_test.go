package playout_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	second = time.Second
	// heardBound fails a single press, on a machine that may be busy: an order
	// that is not carried out. How soon it is, the median of a row of them shows.
	heardBound = 5 * second
)

// One list with every type in it, heard from its first to its last track. The
// music after the stingers also guards the trap of a cross that sticks: all
// crosses after a 0.2 s one would be 0.2 s.
func TestEveryTypeAirsInOrderWithItsCross(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stinger := 260 * time.Millisecond
	entries := []entry{
		music(0, 4*second), music(2, 5*second),
		{4, "jingles", "0.5", 3 * second / 2, 0, ""}, music(6, 3*second),
		{8, "sfx", "0.2", stinger, 0, ""}, music(10, 4*second), music(12, 5*second),
		{14, "sfx", "0.2", stinger, 0, ""}, {16, "sfx", "0.2", 800 * time.Millisecond, 0, ""}, {18, "shorts", "0.2", 3 * second / 2, 0, ""},
		{20, "news", "0.5", 3 * second / 2, -5, ""}, {22, "ads", "0.5", 3 * second / 2, -5, ""}, {24, "sweepers", "0.5", 3 * second / 2, 0, ""},
		music(26, 3*second), {28, "shorts", "0.2", 3 * second / 2, 0, ""}, music(30, 4*second), music(32, 60*second),
	}
	want := []float64{2, .5, .5, .2, 0, 2, .2, 0, .2, .2, .5, .5, .5, .2, .2, 2}
	// Tags must not begin a new Ogg stream in the middle of a cross: that is heard.
	for i := range entries {
		if entries[i].kind == "" {
			entries[i].title = fmt.Sprintf("أغنية %d", entries[i].id)
		}
	}
	r.push(r.list(entries...))
	r.boot()
	r.heard(32, 0)
	r.recorded(r.heard(32, 0).Start + 4*second)

	var ids []int
	for _, e := range entries {
		ids = append(ids, e.id)
	}
	report := aircheck.Analyse(r.rec.PCM(), ids...)
	t.Logf("heard:\n%s", report)
	if got := report.Order(); !slices.Equal(got, ids) {
		t.Fatalf("order %v, want %v", got, ids)
	}
	for i, c := range report.Crosses() {
		// A fade is found when it is above 2 %. A stinger of 0.26 s is used up
		// by the cross into it: what is left of it joins the next track with
		// what overlap remains.
		within := 0.05
		switch want[i] {
		case 2:
			within = 0.12
		case 0:
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
	if gap := report.Gap.Length(); gap > 100*time.Millisecond {
		t.Errorf("longest gap %s", gap)
	}
	if len(report.Clicks) > 0 {
		t.Errorf("%d clicks", len(report.Clicks))
	}
	// Two tracks of -5 dBFS make +1 dBFS where they cross.
	clipped := 0
	for _, v := range r.rec.PCM().Samples {
		if v == math.MaxInt16 || v == math.MinInt16 {
			clipped++
		}
	}
	if clipped > 0 {
		t.Errorf("%d samples are clipped", clipped)
	}
	checkMarkers(t, r, entries)
}

// checkMarkers: one marker per track, in order, at the time it begins to be heard.
func checkMarkers(t *testing.T, r *rig, entries []entry) {
	t.Helper()
	markers := r.control.markers()
	var got, want []string
	for i, m := range markers {
		got = append(got, m.File)
		if m.Seq != int64(i+1) || m.Kind != playout.KindRotation || m.Channel != "main" || m.Engine != markers[0].Engine || m.Engine == "" {
			t.Errorf("marker %d: %+v", i, m)
		}
	}
	for _, e := range entries {
		want = append(want, e.file(r.dir))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("markers %v, want %v", got, want)
	}
	for i, e := range entries {
		if markers[i].Type != e.kind {
			t.Errorf("marker of track %d has type %q, want %q", e.id, markers[i].Type, e.kind)
		}
		s := r.heard(e.id, 0)
		if at := r.rec.Position(time.UnixMilli(markers[i].StartedAt)); i > 0 && (s.Start-at).Abs() > 2*second {
			t.Errorf("track %d is heard at %s and its marker says %s", e.id, s.Start, at)
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
	r.boot()
	r.heard(0, 0)
	r.push(pushed)
	five := r.heard(5, 0)
	r.heard(6, five.Start) // 9 does not exist and is passed over

	from := r.now()
	if err := r.client.Skip(t.Context()); err != nil {
		t.Fatal(err)
	}
	seven := r.heard(7, from)
	carriedOut(t, "skip", seven.Start-from)
	r.recorded(seven.Start + 500*time.Millisecond)
	// Within the cross that skip began: the second must not be lost in it.
	from = r.now()
	if err := r.client.Skip(t.Context()); err != nil {
		t.Fatal(err)
	}
	eight := r.heard(8, from)
	carriedOut(t, "a second skip within the cross", eight.Start-from)
	r.recorded(eight.Start + 3*second)

	report := aircheck.Analyse(r.rec.PCM(), 0, 1, 2, 5, 6, 7, 8, 9, emergencyID)
	t.Logf("heard:\n%s", report)
	if got, want := report.Order(), []int{0, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if gap := report.Gap.Length(); gap > 100*time.Millisecond || len(report.Clicks) > 0 {
		t.Errorf("gap %s, %d clicks", gap, len(report.Clicks))
	}
	var s playout.Status
	r.eventually(func() (err error) { // the last marker's answer may be under way
		if s, err = r.client.Status(t.Context()); err == nil && s.PendingMarkers > 0 {
			err = errNotYet
		}
		return err
	})
	if got, want := r.control.files(), []string{"rotation 00.wav", "rotation 05.wav", "rotation 06.wav", "rotation 07.wav", "rotation 08.wav"}; !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
	if s.Edition != 2 || s.Entries != 5 || s.OnAir != playout.KindRotation || s.Last == nil || filepath.Base(s.Last.File) != "08.wav" || s.Remaining <= 0 {
		t.Errorf("status %+v", s)
	}
}

// carriedOut fails for an order that was not, and prints how soon it was heard.
func carriedOut(t *testing.T, what string, after time.Duration) {
	t.Helper()
	t.Logf("%s is heard after %s; target %s", what, after, second)
	if after > heardBound {
		t.Errorf("%s is not carried out within %s", what, heardBound)
	}
}
