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

// A playlist file that was deleted, or that another took the place of, is put back
// without the engine's end: the song on air goes on, the list is read once, and so is
// what is written into it afterwards.
func TestAPlaylistThatIsPutBackIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 60*second)))
	o := r.offline()
	o.play(2 * second)
	for i, put := range []func(list []byte) error{
		func(list []byte) error { r.push(list); return nil },
		func(list []byte) error {
			if err := os.WriteFile(r.o.Playlist+".other", list, 0o600); err != nil {
				return err
			}
			return os.Rename(r.o.Playlist+".other", r.o.Playlist)
		},
	} {
		if err := os.Remove(r.o.Playlist); err != nil {
			t.Fatal(err)
		}
		before := o.status()
		if err := put(r.list(music(1+2*i, 20*second))); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Rewatch(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := o.status()
		if after.Engine != before.Engine || after.Edition != before.Edition+1 || after.Entered != before.Entered {
			t.Errorf("from %+v to %+v", before, after)
		}
		o.pushed(r.list(music(2+2*i, 20*second)))
		o.play(second)
	}
	report := o.heard(0)
	unbroken(t, report)
}
