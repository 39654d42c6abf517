package registry_test

import (
	"errors"
	"testing"
	"time"
)

// The table of dead.go, in its order.
func TestADeadStreamIsLeftOutForALongerAndLongerTime(t *testing.T) {
	r := newRig(t)
	s := r.register("http://a.example/a", "A", "")
	candidate := func() bool { return len(r.Candidates(nil)) == 1 }
	failed := func() {
		t.Helper()
		if err := r.Failed(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	failed()
	if !candidate() {
		t.Error("one drop blacklists")
	}
	for _, pause := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
		pause *= time.Second
		failed()
		if candidate() || r.Marks()[s.ID].Until != r.now.Add(pause).UnixMilli() {
			t.Errorf("after %v: %+v", pause, r.Marks())
		}
		r.now = r.now.Add(pause - time.Millisecond)
		if candidate() {
			t.Errorf("back before %v", pause)
		}
		r.restart()
		r.now = r.now.Add(time.Millisecond)
		if !candidate() {
			t.Errorf("not back after %v", pause)
		}
	}
	failed()
	if err := r.Succeeded(t.Context(), s.ID); err != nil || !candidate() {
		t.Errorf("success does not clear: %v", err)
	}
	failed()
	if !candidate() {
		t.Error("the first failure after a success blacklists")
	}
	r.now = r.now.Add(time.Hour)
	failed()
	if !candidate() {
		t.Error("two drops an hour apart blacklist")
	}
	if err := errors.Join(r.Block(t.Context(), s.ID), r.Succeeded(t.Context(), s.ID)); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(1000 * time.Hour)
	r.restart()
	if candidate() {
		t.Error("what the operator blocked came back by itself")
	}
	if err := r.Unblock(t.Context(), s.ID); err != nil || !candidate() {
		t.Errorf("not lifted: %v", err)
	}
}
