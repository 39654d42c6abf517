package playout_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
)

// The engine of a spare plays and tells of nothing. Once its node has the station, what begins
// from then on is told with the fence.
func TestTheEngineOfASpareTellsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var entries []entry
	for id := range 6 {
		entries = append(entries, entry{id, "jingles", "0.5", 2 * second, 0, ""})
	}
	r.push(r.list(entries...))
	if err := playout.SetStage(t.Context(), r.o, playout.Standby); err != nil { // the engine is not there yet
		t.Fatal(err)
	}
	o := r.offline()
	o.playUntil("the second entry", entered(2))
	if st := o.status(); st.PendingMarkers != 0 || st.Last == nil {
		t.Errorf("%d markers wait, the last is %+v", st.PendingMarkers, st.Last)
	}
	if err := playout.SetStage(t.Context(), r.o, playout.StageBy(7)); err != nil {
		t.Fatal(err)
	}
	playout.TellStage(t.Context(), r.o, playout.StageBy(7)) // on a busy machine its answer is late
	o.playUntil("the fourth entry", entered(4))
	o.play(second)
	o.playUntil("the markers are told", func(s playout.Status) bool { return s.PendingMarkers == 0 })
	told := r.control.markers()
	if len(told) == 0 || slices.ContainsFunc(told, func(m playout.Marker) bool { return m.Fence != 7 || m.Seq < 3 }) {
		t.Errorf("told: %+v", told)
	}
	for stage, want := range map[string]uint64{playout.Standby: 0, playout.StageBy(9): 9} {
		if err := playout.SetStage(t.Context(), r.o, stage); err != nil {
			t.Error(err)
		}
		if fence, spare, err := playout.StageOf(r.o); fence != want || spare != (want == 0) || err != nil {
			t.Errorf("%s: %d %t %v", stage, fence, spare, err)
		}
	}
}

// An engine that is just starting may have read what its node was, and takes no commands yet:
// a spare's that begins as the first node dies would tell of nothing for ever.
func TestAnEngineThatIsStartingIsToldItsStage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stage := playout.StageBy(7)
	if err := playout.SetStage(t.Context(), r.o, stage); err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{})
	go func() { defer close(told); playout.TellStage(t.Context(), r.o, stage) }()
	l, err := net.Listen("unix", r.o.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, answer := range []string{"", "{\"ok\":true,\"what\":\"7\"}\nEND\n"} { // at first it has no time
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != "athir.stage 7\n" {
			t.Errorf("it is told %q, %v", line, err)
		}
		_, _ = fmt.Fprint(conn, answer)
		_ = conn.Close()
	}
	testkit.Receive(t, "the answer taken", told)
}
