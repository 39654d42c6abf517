package playout_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
)

// The life of a station in one boot: nothing to play, then a playlist, then a
// live source over it, then the rotation again, then a playlist that ends.
func TestEmergencyRotationLiveAndBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.offline() // there is no playlist file yet
	o.play(2 * second)
	if err := r.client.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
		t.Errorf("skip of the emergency audio: %v", err)
	}
	o.pushed(r.list(music(0, 20*second), music(1, 20*second), music(2, 20*second)))
	o.playUntil("rotation", onAir(playout.KindRotation))
	o.play(2 * second)

	encoder := o.connect(20, 8*second)
	o.playUntil("live", onAir(playout.KindLive))
	o.play(2 * second)
	if err := r.client.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
		t.Errorf("skip while live: %v", err)
	}
	if s := o.status(); s.OnAir != playout.KindLive || !s.LiveConnected {
		t.Errorf("status while live: %+v", s)
	}
	_ = encoder.Close()
	o.playUntil("rotation after the encoder ended", onAir(playout.KindRotation))
	o.play(2 * second)

	o.connect(21, 8*second)
	o.playUntil("live again", onAir(playout.KindLive))
	o.play(second)
	if err := r.client.DisconnectLive(t.Context()); err != nil {
		t.Error(err)
	}
	o.playUntil("rotation after live was cut off", onAir(playout.KindRotation))
	o.play(2 * second)

	// Nothing left to play: the entries are gone, and the list is empty.
	o.pushed(pad("#EXTM3U\n"))
	o.skip()
	o.playUntil("emergency audio", onAir(playout.KindEmergency))
	o.play(2 * second)
	o.pushed(r.list(music(5, 20*second)))
	o.playUntil("rotation after the emergency", onAir(playout.KindRotation))
	o.play(2 * second)

	report := o.heard(0, 1, 2, 5, 20, 21)
	if got, want := report.Order(), []int{emergencyID, 0, 20, 1, 21, 2, emergencyID, 5}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	gapless(t, report, turn)
	want := []string{"emergency .", "rotation 00.wav", "live .", "rotation 01.wav", "live .", "rotation 02.wav", "emergency .", "rotation 05.wav"}
	if got := r.control.files(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// An operator's emergency file that is no audio: ours is played instead.
func TestCorruptEmergencyFileFallsBackToOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.Remove(r.o.EmergencyFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.o.Emergency, []byte(strings.Repeat("not audio ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	o := r.offline()
	// The same engine is told from others by its script, and has a size.
	pids := playout.Find(r.o)
	if len(pids) != 1 || proc.RSS(pids[0]) < 1<<20 {
		t.Errorf("engines found: %v", pids)
	}
	o.play(3 * second)
	// The chord plays until ours is decoded, and each begins softly.
	report := o.heard()
	gapless(t, report, turn)
	if report.Length == 0 {
		t.Error("nothing was heard")
	}
	if got := r.control.files(); !slices.Equal(got, []string{"emergency ."}) {
		t.Errorf("markers %v", got)
	}
	if err := playout.Ready(t.Context(), r.o); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("ready without an engine: %v", err)
	}
	// A tampered script heals with the next start.
	if err := os.WriteFile(r.o.Script(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := playout.Prepare(t.Context(), r.o); err != nil {
		t.Fatal(err)
	}
	want, err := playout.Render(r.o)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.o.Script()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the script was not healed: %v", err)
	}
}
