package playout_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// The emergency audio by order, and off again: the entry it took the place of
// does not come back.
func TestEmergencyAudioByOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 60*second), music(1, 60*second)))
	r.boot()
	song := r.heard(0, 0).Start + second // the engine may begin with the emergency audio
	r.recorded(song + 2*second)
	from := r.now()
	if err := r.client.Emergency(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	ordered := r.heard(emergencyID, from)
	t.Logf("heard %s after the order", ordered.Start-from)
	r.eventually(func() error {
		if s, err := r.client.Status(t.Context()); err != nil || s.OnAir != playout.KindEmergency {
			return errNotYet
		}
		return nil
	})
	r.recorded(ordered.Start + 2*second)
	from = r.now()
	if err := r.client.Emergency(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	next := r.heard(1, from)
	t.Logf("the rotation is heard %s after the release", next.Start-from)
	r.recorded(next.Start + 3*second)
	pcm := r.rec.PCM()
	report := aircheck.Analyse(pcm.Cut(song, pcm.Duration()), 0, 1, emergencyID)
	t.Logf("heard:\n%s", report)
	if got, want := report.Order(), []int{0, emergencyID, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if report.Gap.Length() > 100*time.Millisecond {
		t.Errorf("a gap of %s", report.Gap.Length())
	}
}

// The media folder is unmounted and mounted again: emergency audio, then the
// rotation. Meanwhile the engine neither spins nor fills the log.
func TestEntriesThatVanishAndComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var entries []entry
	for i := range 8 {
		entries = append(entries, music(i, 6*second))
	}
	r.push(r.list(entries...))
	r.boot()
	r.heard(0, 0)
	for _, e := range entries {
		if err := os.Rename(e.file(r.dir), e.file(r.dir)+".away"); err != nil {
			t.Fatal(err)
		}
	}
	gone := r.heard(emergencyID, 0)
	r.recorded(gone.Start + 4*second)
	complaints := strings.Count(r.log.String(), "passed over")
	for _, e := range entries {
		if err := os.Rename(e.file(r.dir)+".away", e.file(r.dir)); err != nil {
			t.Fatal(err)
		}
	}
	from := r.now()
	r.eventually(func() error {
		if s, err := r.client.Status(t.Context()); err != nil || s.OnAir != playout.KindRotation {
			return errNotYet
		}
		return nil
	})
	t.Logf("the rotation is on air %s after its files are back; %d complaints meanwhile", r.now()-from, complaints)
	if complaints > 40 {
		t.Errorf("%d lines of log for 8 files in four seconds", complaints)
	}
}
