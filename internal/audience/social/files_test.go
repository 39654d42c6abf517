package social_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// meddling is air at which something happens just before a file is removed.
type meddling struct {
	social.Air
	before func()
}

func (m meddling) InUse(path string) bool {
	m.before()
	return m.Air.InUse(path)
}

// A moderator who approves an old rejected post at the moment at which its file would be
// removed gets a post that can air.
func TestAPostThatIsApprovedWhileItsFileIsRemovedKeepsTheFile(t *testing.T) {
	asked := make(chan struct{})
	m := meddling{}
	r := open(t, func(o *social.Options) { m.Air = o.Air })
	id := r.planted(t, 1, "old")
	path := filepath.Join(r.dir, "media", r.get(t, id).File)
	write(t, path)
	if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpReject, Code: refusal.Quality}); err != nil {
		t.Fatal(err)
	}
	r.later(31 * 24 * time.Hour)
	m.before = func() {
		if err := r.Decide(context.WithoutCancel(t.Context()), id, social.Verdict{Op: social.OpApprove}); err != nil {
			t.Error(err)
		}
		close(asked)
	}
	r.opt.Air = m
	r.again(t)
	stop := testkit.Background(t, r.Run)
	testkit.Receive(t, "the removal", asked)
	stop()
	if _, err := os.Stat(path); err != nil || r.get(t, id).File == "" || len(*r.Tracks()) != 1 {
		t.Errorf("it is %s and has %q, %v", r.get(t, id).Status, r.get(t, id).File, err)
	}
}

// What stands in the way of removing one file keeps no other.
func TestAFileThatCannotBeRemovedKeepsNoOther(t *testing.T) {
	r := open(t, nil)
	first, second := r.planted(t, 1, "first"), r.planted(t, 2, "second")
	stuck := filepath.Join(r.dir, "media", r.get(t, first).File)
	write(t, filepath.Join(stuck, "inside"))
	other := filepath.Join(r.dir, "media", r.get(t, second).File)
	write(t, other)
	for _, id := range []int64{first, second} {
		if err := r.Withdraw(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	stop := testkit.Background(t, r.Run)
	defer stop()
	testkit.Eventually(t, "the other file is removed", func() bool { _, err := os.Stat(other); return os.IsNotExist(err) })
}

// Ordering the processing of a post that is being processed changes nothing.
func TestAPostThatIsProcessedIsNotBegunAnew(t *testing.T) {
	desk := &failing{}
	r := open(t, func(o *social.Options) { desk.Desk, o.Master = o.Master, desk })
	got := r.send(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 8, 6))
	made := 0
	desk.then = func() {
		made++
		if err := r.Decide(context.WithoutCancel(t.Context()), got.ID, social.Verdict{Op: social.OpProcess}); err != nil {
			t.Error(err)
		}
	}
	r.work(t)
	if p := r.get(t, got.ID); made != 1 || p.Tries != 1 || p.Status != social.Pending {
		t.Errorf("mastered %d times in %d tries, it is %s", made, p.Tries, p.Status)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte("x"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
