package playout_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// The gain of an entry holds for that entry alone, from its first frame to its last and
// through both its crosses, and the entry is music in all else.
func TestAGainHoldsForItsEntryAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	// Lengths that are no multiple of the engine's frame. Next to a stinger music does
	// not fade, so every moment of it shows its level.
	const a, sting, b, c, d = 0, 4, 8, 12, 16
	tracks := []entry{
		{a, "", "", 5003 * time.Millisecond, -20, ""}, {sting, "sfx", "0.2", 1004 * time.Millisecond, -20, ""},
		{b, "", "", 5007 * time.Millisecond, -30, ""}, {sting, "sfx", "0.2", 1004 * time.Millisecond, -20, ""},
		{c, "", "", 6006 * time.Millisecond, -14, ""}, {d, "", "", 8 * second, -20, ""},
	}
	r.list(tracks...)
	var lines, files []string
	for _, e := range tracks {
		line := e.line(r.dir)
		switch e.id {
		case b:
			line = gained("10", line)
		case c:
			line = gained("-6", line)
		}
		lines, files = append(lines, line), append(files, filepath.Base(e.file(r.dir)))
	}
	r.push(pad("#EXTM3U\n" + strings.Join(lines, "\n") + "\n"))
	o := r.offline()
	o.playUntil("the last entry", entered(len(lines)))
	o.play(4 * second)
	pcm := o.end()
	report := o.analysed(pcm, a, sting, b, c, d)
	if got, want := report.Order(), []int{a, sting, b, sting, c, d}; !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	for i, x := range report.Crosses() {
		if want := []float64{.2, .2, .2, .2, 2}[i]; math.Abs(x.Overlap.Seconds()-want) > 0.1 {
			t.Errorf("cross from %d to %d is %.2f s, want %.1f s", x.From, x.To, x.Overlap.Seconds(), want)
		}
	}
	// No word on clicks: at the end of a file that is no whole number of frames, cross
	// loses a part of a frame, in which these tones fall silent.
	gapless(t, report, 0)
	for i, s := range report.Segments {
		from, to := s.Start+frame, s.End-2*frame
		if i == 0 {
			from += second // the blip of emergency audio is over
		}
		if s.ID == c {
			to -= 2 * second // fades
		}
		if s.ID == d {
			from += 2 * second
		}
		for at := from; at < to; at += frame {
			if got := amplitude(pcm.Cut(at, at+frame), s.ID); math.Abs(got+20) > 0.1 {
				t.Errorf("entry %d, track %d, is at %.2f dBFS at %s (it lasts from %s to %s), want -20.00", i, s.ID, got, at, s.Start, s.End)
				break
			}
		}
	}
	if got := r.control.rotation(); !slices.Equal(got, files) {
		t.Errorf("markers %v, want %v", got, files)
	}
}

// amplitude is that of one track's tone, in dBFS. In a frame all tones of even number
// turn by whole turns, so that none shows in another's.
func amplitude(p aircheck.PCM, id int) float64 {
	var re, im float64
	for i, v := range p.Samples {
		at := 2 * math.Pi * aircheck.Frequency(id) * float64(i) / float64(p.Rate)
		re, im = re+float64(v)*math.Cos(at), im+float64(v)*math.Sin(at)
	}
	return 20 * math.Log10(2*math.Hypot(re, im)/float64(len(p.Samples))/32768)
}

// Whoever tags a file does not decide how it airs: not its level, its type, its cross,
// its name or which entry it is.
func TestTheTagsOfAFileDecideNothingButItsTitle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	forged := []string{
		"athir_gain", "40", "liq_amplify", "-20 dB", "replaygain_track_gain", "-20 dB", "type", "ads",
		"liq_cross_duration", "0.2", "athir_none", "0.2", "initial_uri", "annotate:athir_gain=\"40\":/x", "filename", "/etc/passwd",
		"athir_seq", "7", "rid", "1", "source", "emergency",
	}
	var args, lines []string
	for i := range forged {
		if i%2 == 0 {
			args = append(args, "-metadata", forged[i]+"="+forged[i+1])
		}
	}
	ids := []int{0, 4, 8, 12}
	for _, id := range ids {
		plain, file := filepath.Join(r.dir, "plain.wav"), filepath.Join(r.dir, fmt.Sprintf("%02d.flac", id))
		r.write(plain, aircheck.Track{ID: id, Duration: 6 * second, Level: -20})
		spec := proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append(append([]string{"-v", "error", "-i", plain}, args...), "-metadata", fmt.Sprintf("title=أغنية %d", id), file)}
		if _, err := proc.Output(t.Context(), spec, 64<<10); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, file)
	}
	paths := slices.Clone(lines)
	lines[1] = gained("0.5", lines[1])
	r.push(pad("#EXTM3U\n" + strings.Join(lines, "\n") + "\n"))
	o := r.offline()
	o.playUntil("the last entry", entered(len(lines)))
	o.play(3 * second)
	pcm := o.end()
	report := o.analysed(pcm, slices.Clone(ids)...)
	if got := report.Order(); !slices.Equal(got, ids) {
		t.Fatalf("order %v, want %v:\n%s", got, ids, report)
	}
	for i, x := range report.Crosses() {
		if math.Abs(x.Overlap.Seconds()-2) > 0.1 {
			t.Errorf("cross %d is %.2f s, want 2 s", i, x.Overlap.Seconds())
		}
	}
	for i, s := range report.Segments {
		want := -20.0
		if i == 1 {
			want = -19.5
		}
		if got := amplitude(pcm.Cut(s.Start+2500*time.Millisecond, s.Start+3500*time.Millisecond), s.ID); math.Abs(got-want) > 0.05 {
			t.Errorf("track %d is at %.2f dBFS, want %.2f", s.ID, got, want)
		}
	}
	markers := slices.DeleteFunc(r.control.markers(), func(m playout.Marker) bool { return m.Kind != playout.KindRotation })
	if len(markers) != len(paths) {
		t.Fatalf("%d markers for %d files: %+v", len(markers), len(paths), markers)
	}
	for i, m := range markers {
		if m.File != paths[i] || m.Type != "" || m.Title != fmt.Sprintf("أغنية %d", ids[i]) {
			t.Errorf("marker %d: file %q, type %q, title %q", i, m.File, m.Type, m.Title)
		}
	}
}
