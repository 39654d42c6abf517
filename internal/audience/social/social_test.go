package social_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// A song from its submission to its last day.
func TestAPostsLife(t *testing.T) {
	r := open(t, nil)
	song := music(t, r.dir, 1, 50, "-af", "volume=-9dB")
	got := r.send(t, 1, social.Draft{Type: social.Song, Title: "قمر على الكورنيش", Artist: "هالة", CreatedBy: "Nour", Tags: []string{"live"}}, song)
	if got.ID == 0 || !r.Owns(got.ID, got.Token) || r.Owns(got.ID+1, got.Token) || r.Owns(got.ID, "") {
		t.Fatalf("receipt %+v", got)
	}
	r.work(t)
	p := r.get(t, got.ID)
	if p.Status != social.Pending || p.Reason != nil || p.File != "social/song/SOC_1_qmr-ala-alkwrnysh.mp3" {
		t.Fatalf("processed: %s %v %q", p.Status, p.Reason, p.File)
	}
	if p.Levels.Integrated < -14.6 || p.Levels.Integrated > -13.4 || p.Levels.TruePeak > -1.5 || p.Duration < 49*time.Second {
		t.Errorf("mastered to %+v, %s", p.Levels, p.Duration)
	}
	if tracks := *r.Tracks(); len(tracks) != 0 || len(r.Overlay()) != 0 {
		t.Errorf("airs before it is approved: %v", tracks)
	}
	if err := r.Decide(t.Context(), got.ID, social.Verdict{Op: social.OpApprove, By: "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	tracks := *r.Tracks()
	if len(tracks) != 1 || tracks[0].Path != p.File || tracks[0].Category != station.ArabicHits || tracks[0].Submitter == "" || tracks[0].Title != "قمر على الكورنيش" {
		t.Errorf("tracks %+v", tracks)
	}
	if o := r.Overlay()[station.ArabicHits]; !slices.Equal(o, []string{p.File}) {
		t.Errorf("overlay %v", o)
	}
	r.inUse[p.File] = true
	stop := testkit.Background(t, r.Run)
	r.airs(p.File)
	testkit.Eventually(t, "the airing is counted", func() bool { return r.Airing(&p).Plays == 1 })
	stop()
	if err := r.Withdraw(t.Context(), got.ID); err != nil {
		t.Fatal(err)
	}
	if len(*r.Tracks()) != 0 || len(r.Overlay()) != 0 {
		t.Error("a withdrawn post is still offered")
	}
	path := filepath.Join(r.dir, "media", p.File)
	r.work(t)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file was removed while it was on the air: %v", err)
	}
	r.mu.Lock()
	clear(r.inUse)
	r.mu.Unlock()
	stop = testkit.Background(t, r.Run)
	testkit.Eventually(t, "the file is removed", func() bool { _, err := os.Stat(path); return os.IsNotExist(err) })
	testkit.Eventually(t, "and its row knows", func() bool { return r.get(t, got.ID).File == "" })
	testkit.Eventually(t, "what was sent is removed", func() bool {
		left, err := os.ReadDir(filepath.Join(r.dir, "social", "incoming"))
		return err == nil && len(left) == 0
	})
	stop()
	var did []string
	history, err := r.History(t.Context(), got.ID)
	for _, e := range history {
		did = append(did, e.Who+" "+e.Action)
	}
	if want := []string{"submitter submit", "machine pass", "moderator 10.0.0.1 approve", "submitter withdraw"}; err != nil || !slices.Equal(did, want) {
		t.Errorf("history %q, %v", did, err)
	}
}

func TestAnswersThatAreRepeatedAreOnePost(t *testing.T) {
	r := open(t, nil)
	song := music(t, r.dir, 2, 1)
	d := social.Draft{Type: social.SFX, Title: "boom", Once: "write-00000001"}
	first := r.send(t, 1, d, song)
	again := r.send(t, 1, d, song)
	if again.ID != first.ID || again.Token != first.Token || !again.Again {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if other := r.send(t, 2, d, song); other.ID == first.ID {
		t.Error("another device's key of the same name is the same post")
	}
	if left, _ := os.ReadDir(filepath.Join(r.dir, "social", "incoming")); len(left) != 2 {
		t.Errorf("%d files for two posts", len(left))
	}
}

func TestWhatIsNotTaken(t *testing.T) {
	r := open(t, func(o *social.Options) {
		o.Limits = social.Limits{PerHour: 2, PerDay: 3, Address: 2, Waiting: 50, Queue: 20, Bytes: 1000}
		o.Words.Blocked = func(s string) bool { return strings.Contains(s, "vile") }
	})
	good := social.Draft{Type: social.Voice, Title: "x", Rights: true}
	for name, c := range map[string]struct {
		change func(*social.Draft)
		want   error
	}{
		"an unknown type": {func(d *social.Draft) { d.Type = "film" }, station.ErrInvalid},
		"no title":        {func(d *social.Draft) { d.Title = " " }, station.ErrInvalid},
		"a word":          {func(d *social.Draft) { d.Artist = "vile" }, station.ErrInvalid},
		"no rights":       {func(d *social.Draft) { d.Rights = false }, station.ErrInvalid},
	} {
		d := good
		c.change(&d)
		if _, err := r.Submit(t.Context(), listener(1), d, "upload", -1, strings.NewReader("x")); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader(strings.Repeat("x", 1001))); !errors.Is(err, station.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader("")); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("empty: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(r.dir, "social", "incoming")); len(left) != 0 {
		t.Errorf("what was refused is kept: %v", left)
	}
	for range 2 {
		if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	var limit *client.LimitError
	if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader("x")); !errors.As(err, &limit) || limit.RetryAfter != time.Hour {
		t.Errorf("the third within an hour: %v", err)
	}
	made := listener(1)
	made.Device = "another-made-up"
	if _, err := r.Submit(t.Context(), made, good, "upload", -1, strings.NewReader("x")); !errors.As(err, &limit) {
		t.Errorf("another device of the same address: %v", err)
	}
	r.later(time.Hour)
	if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader("x")); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	p := r.get(t, 1)
	if err := r.Judge(t.Context(), p.Submitter, false, true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Submit(t.Context(), listener(1), good, "upload", -1, strings.NewReader("x")); !errors.Is(err, station.ErrForbidden) {
		t.Errorf("a blocked submitter: %v", err)
	}
}

// A recording that is there already is refused, but by whom it was refused matters.
func TestTheSameRecordingTwice(t *testing.T) {
	r := open(t, nil)
	song := music(t, r.dir, 3, 14)
	again := filepath.Join(r.dir, "again.ogg")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-ss", "2", "-i", song, "-c:a", "libvorbis", "-q:a", "2", again).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first := r.send(t, 1, social.Draft{Type: social.Jingles, Title: "First"}, song)
	r.work(t)
	twin := r.send(t, 2, social.Draft{Type: social.Jingles, Title: "Another name"}, again)
	r.work(t)
	if p := r.get(t, twin.ID); p.Status != social.Rejected || p.Reason.Code != refusal.Duplicate || p.Reason.Of != "First" {
		t.Fatalf("the copy is %s, %+v", p.Status, p.Reason)
	}
	if err := r.Decide(t.Context(), first.ID, social.Verdict{Op: social.OpReject, Code: refusal.Rights, Note: "نعرف صاحبها"}); err != nil {
		t.Fatal(err)
	}
	other := r.send(t, 3, social.Draft{Type: social.Jingles, Title: "Once more"}, again)
	r.work(t)
	if p := r.get(t, other.ID); p.Status != social.Rejected || p.Reason.Code != refusal.DuplicateRejected {
		t.Errorf("a copy of what was rejected is %s, %+v", p.Status, p.Reason)
	}
	// Its submitter asks for another judgement, and gets it.
	if err := r.Appeal(t.Context(), first.ID, "هي أغنيتي"); err != nil || r.get(t, first.ID).Appeal != "هي أغنيتي" {
		t.Fatalf("%v, %q", err, r.get(t, first.ID).Appeal)
	}
	if err := r.Decide(t.Context(), first.ID, social.Verdict{Op: social.OpReject, Code: refusal.Rights}); err != nil || r.get(t, first.ID).Appeal != "" {
		t.Errorf("judged again, it still waits with %q, %v", r.get(t, first.ID).Appeal, err)
	}
	if err := r.Withdraw(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Appeal(t.Context(), first.ID, "x"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("an appeal of what was withdrawn: %v", err)
	}
}

func TestReportsPullAPostBackAndOneAddressIsOneReport(t *testing.T) {
	r := open(t, nil)
	p := r.approved(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 4, 6))
	one := listener(2)
	for _, device := range []string{"made-up-1", "made-up-2", "made-up-3", "made-up-4"} {
		one.Device = device
		if err := r.Report(t.Context(), one, p.ID, "spam", ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.get(t, p.ID); got.Status != social.Approved {
		t.Fatalf("one address pulled it back: %s", got.Status)
	}
	for n := range 2 {
		if err := r.Report(t.Context(), listener(10+n), p.ID, "offensive", "كلام جارح"); err != nil {
			t.Fatal(err)
		}
	}
	got := r.get(t, p.ID)
	if got.Status != social.Pending || got.Reason == nil || got.Reason.Code != refusal.Reported || len(r.Overlay()) != 0 {
		t.Fatalf("after three: %s %+v", got.Status, got.Reason)
	}
	if err := r.Decide(t.Context(), p.ID, social.Verdict{Op: social.OpApprove}); err != nil {
		t.Fatal(err)
	}
	if err := r.Report(t.Context(), listener(20), p.ID, "spam", ""); err != nil || r.get(t, p.ID).Status != social.Approved {
		t.Errorf("judged reports count again: %v", err)
	}
}

// What fails for the station's reasons is tried again, and never for ever.
func TestWhatFailsIsTriedAgain(t *testing.T) {
	away := errors.New("the disk is away")
	failing := &failing{err: away}
	r := open(t, func(o *social.Options) { failing.Desk, o.Master = o.Master, failing })
	got := r.send(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 5, 6))
	r.work(t)
	p := r.get(t, got.ID)
	if p.Status != social.Failed || p.Reason.Code != refusal.OurFault || p.NextTry != r.now.UnixMilli()+10_000 || p.File != "" {
		t.Fatalf("%s %+v, next %d", p.Status, p.Reason, p.NextTry-r.now.UnixMilli())
	}
	failing.err = nil
	r.later(10 * time.Second)
	stop := testkit.Background(t, r.Run)
	testkit.Eventually(t, "it is mastered", func() bool { return r.get(t, got.ID).Status == social.Pending })
	stop()

	failing.err = away
	if err := r.Decide(t.Context(), got.ID, social.Verdict{Op: social.OpProcess}); err != nil {
		t.Fatal(err)
	}
	for try := 1; try <= 10; try++ {
		r.again(t)
		stop := testkit.Background(t, r.Run)
		testkit.Eventually(t, "it has failed once more", func() bool {
			p := r.get(t, got.ID)
			return p.Status == social.Failed && p.Tries == try
		})
		stop()
		r.later(6 * time.Hour)
	}
	if p := r.get(t, got.ID); p.Status != social.Failed || p.NextTry != 0 {
		t.Errorf("after ten tries: %s, next %d", p.Status, p.NextTry)
	}
}

func TestFilesThatNoPostHasArePutAside(t *testing.T) {
	r := open(t, nil)
	p := r.approved(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 6, 6))
	dir := filepath.Join(r.dir, "media", "social", "voice")
	for name, stays := range map[string]bool{"SOC_99_x.mp3": false, "mine.mp3": true, "SOC_x_y.mp3": true} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.again(t)
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "media", p.File)); err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(filepath.Join(r.dir, "social", "lost", "SOC_99_x.mp3")); err != nil || string(kept) != "x" {
		t.Errorf("the file is lost: %v", err)
	}
	if err := os.Remove(filepath.Join(r.dir, "media", p.File)); err != nil {
		t.Fatal(err)
	}
	r.again(t)
	if len(*r.Tracks()) != 0 {
		t.Error("a dead path is offered")
	}
}

// Whoever withdraws a post at the very moment at which its file is made leaves no file.
func TestAPostWithdrawnWhileItIsMasteredLeavesNoFile(t *testing.T) {
	desk := &failing{}
	r := open(t, func(o *social.Options) { desk.Desk, o.Master = o.Master, desk })
	got := r.send(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 7, 6))
	withdrawn := make(chan error, 1)
	desk.then = func() { withdrawn <- r.Withdraw(context.WithoutCancel(t.Context()), got.ID) }
	stop := testkit.Background(t, r.Run)
	if err := testkit.Receive(t, "the withdrawal", withdrawn); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.dir, "media", "social", "voice")
	testkit.Eventually(t, "the file is gone", func() bool { left, err := os.ReadDir(dir); return err == nil && len(left) == 0 })
	stop()
	if p := r.get(t, got.ID); p.Status != social.Rejected || p.File != "" {
		t.Errorf("%s, %q", p.Status, p.File)
	}
}
