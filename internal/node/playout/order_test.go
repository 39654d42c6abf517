package playout_test

import (
	"os"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/node/playout"
)

func onAir(kind string) func(playout.Status) bool {
	return func(s playout.Status) bool { return s.OnAir == kind }
}

// The emergency audio by order, and off again: the entry it took the place of
// does not come back.
func TestEmergencyAudioByOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	o := r.offline()
	o.play(3 * second)
	if err := r.client.Emergency(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if took := o.playUntil("emergency audio", onAir(playout.KindEmergency)); took > second {
		t.Errorf("the emergency audio is on air after %s", took)
	}
	o.play(2 * second)
	if err := r.client.Emergency(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if took := o.playUntil("rotation", onAir(playout.KindRotation)); took > second {
		t.Errorf("the rotation is back after %s", took)
	}
	o.play(3 * second)
	report := o.heard(0, 1)
	if got, want := report.Order(), []int{0, emergencyID, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	gapless(t, report, turn)
}

// The media folder is unmounted and mounted again: emergency audio, then the
// rotation. Meanwhile the engine neither spins nor fills the log.
func TestEntriesThatVanishAndComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var entries []entry
	for i := range 8 {
		entries = append(entries, music(i, 4*second))
	}
	r.push(r.list(entries...))
	o := r.offline()
	o.play(second)
	for _, e := range entries {
		if err := os.Rename(e.file(r.dir), e.file(r.dir)+".away"); err != nil {
			t.Fatal(err)
		}
	}
	o.playUntil("emergency audio", onAir(playout.KindEmergency))
	o.play(20 * second)
	complaints := r.log.Count("passed over")
	for _, e := range entries {
		if err := os.Rename(e.file(r.dir)+".away", e.file(r.dir)); err != nil {
			t.Fatal(err)
		}
	}
	took := o.playUntil("rotation", onAir(playout.KindRotation))
	t.Logf("the rotation is on air %s after its files are back; %d complaints meanwhile", took, complaints)
	if complaints > 2*len(entries) {
		t.Errorf("%d lines of log for %d files", complaints, len(entries))
	}
}
