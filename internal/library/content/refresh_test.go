package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

func feed(ids ...string) *lister {
	l := &lister{name: source.NameFeed, files: map[string]string{}}
	for _, id := range ids {
		l.files[id] = "the sound of " + id
	}
	return l
}

func numberedIDs(category station.Category, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s/%02d", category, i))
	}
	return out
}

func TestRefreshSharesOutSongsAndCountsEverything(t *testing.T) {
	l := feed(slices.Concat(numberedIDs(station.ArabicHits, 30), numberedIDs(station.English, 30), numberedIDs(station.Mashups, 1), numberedIDs(station.Shorts, 30), numberedIDs(station.Ads, 30))...)
	for id := range l.files {
		if c := strings.Split(id, "/")[0]; c == "shorts" || c == "ads" {
			l.files[id] += " length 10"
		}
	}
	l.files["arabic_hits/00"] = "silent"
	l.files["arabic_hits/01"] = "broken"
	l.files["arabic_hits/02"] = "spoken"
	l.files["arabic_hits/03"] = "length 10"
	l.files["arabic_hits/05"] = l.files["arabic_hits/04"]
	l.files["arabic_hits/06"] = "unfit"
	l.fail = func(id string) error {
		if id == "english/00" {
			return errors.New("the network is down")
		}
		return nil
	}
	other := &lister{name: source.NameArchive, files: map[string]string{"english/z": "of another source"}}
	r := newRig(t, func(o *Options) { o.Sources = []source.Source{l, other} })
	var steps []Step
	res, err := r.Refresh(t.Context(), DefaultRequest(), func(p Progress) {
		if len(steps) == 0 || steps[len(steps)-1] != p.Step {
			steps = append(steps, p.Step)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[station.Category]Count{
		station.ArabicHits: {Wanted: 10, Found: 16, Fetched: 16, Added: 10, Refused: 6, Tracks: 10,
			Refusals: map[string]int{"silent": 1, "unreadable": 1, "speech": 1, "too_short": 1, "duplicate": 1, "mastering": 1}},
		station.English: {Wanted: 5, Found: 9, Fetched: 5, Added: 5, Failed: 1, Tracks: 5},
		station.Mashups: {Wanted: 3, Found: 1, Fetched: 1, Added: 1, Tracks: 1},
		station.Shorts:  {Wanted: 2, Found: 4, Fetched: 2, Added: 2, Tracks: 2},
		station.Ads:     {Wanted: 16, Found: 25, Fetched: 16, Added: 16, Tracks: 16},
	}
	for category, w := range want {
		if got := res.Categories[category]; got == nil || fmt.Sprint(*got) != fmt.Sprint(w) {
			t.Errorf("%s: got %+v, want %+v", category, got, w)
		}
	}
	if len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Text, "network is down") || res.Purged || res.Rebuilt || r.air.rebuilt > 0 {
		t.Errorf("%+v", res)
	}
	if want := []Step{StepRecover, StepInbox, StepSongs, StepAds, StepImaging, StepRetire, StepExpire, StepRestore, StepScan, StepRebuild}; !slices.Equal(steps, want) {
		t.Errorf("steps %v", steps)
	}
	if other.fetched["english/z"] != 1 {
		t.Error("the second source was not taken from in its turn")
	}
	s, err := r.Status(t.Context())
	if err != nil || s.Categories[station.Ads].Fetched != 16 || s.LastRun == nil || s.LastRun.Run != res.Run || s.Sources[0].LastOK == 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	if text, _ := json.Marshal(res); !strings.Contains(string(text), `"arabic_hits":{"wanted":10,"found":16`) {
		t.Errorf("%s", text)
	}
	// What is known is not fetched again, what was refused neither.
	before := maps.Clone(l.fetched)
	if _, err := r.Refresh(t.Context(), Request{Songs: 20}, nil); err != nil {
		t.Fatal(err)
	}
	for id, n := range before {
		if l.fetched[id] != n {
			t.Errorf("%s was fetched again", id)
		}
	}
}

func TestWhatFailsWaitsLongerEachTimeAndIsGivenUp(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := feed("english/a")
	l.fail = func(string) error { return errors.New("the network is down") }
	r := newRig(t, func(o *Options) {
		o.Sources = []source.Source{l}
		o.Now = func() time.Time { return now }
	})
	refresh := func() Result {
		t.Helper()
		res, err := r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for try := 1; try < mostTries; try++ {
		if res := refresh(); res.Categories[station.English].Failed != 1 {
			t.Fatalf("try %d: %+v", try, res.Categories[station.English])
		}
		now = now.Add(time.Hour << try / 2)
		refresh()
		if l.fetched["english/a"] != try {
			t.Fatalf("fetched %d times after %d tries and half the wait", l.fetched["english/a"], try)
		}
		now = now.Add(time.Hour << try)
	}
	if res := refresh(); res.Categories[station.English].Refused != 1 {
		t.Errorf("%+v", res.Categories[station.English])
	}
	now = now.Add(29 * 24 * time.Hour)
	refresh()
	if l.fetched["english/a"] != mostTries {
		t.Error("what was refused was fetched within 30 days")
	}
	now, l.fail = now.Add(48*time.Hour), nil
	if res := refresh(); res.Categories[station.English].Added != 1 {
		t.Errorf("a month later: %+v", res.Categories[station.English])
	}
}

// What ffmpeg did not finish with is the machine's fault: it waits longer each time and
// is never given up, nor does it count with failed fetches.
func TestWhatTheMachineDidNotFinishIsNeverRefused(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := feed("english/a")
	r := newRig(t, func(o *Options) {
		o.Sources = []source.Source{l}
		o.Now = func() time.Time { return now }
	})
	hear, busy := r.hear, true
	r.hear = func(ctx context.Context, path string, longest time.Duration, hold wait) (heard, error) {
		if busy {
			return heard{}, &ffmpeg.UnfinishedError{Path: path, Reason: "ffmpeg decoded nothing for 1m0s"}
		}
		return hear(ctx, path, longest, hold)
	}
	fetch := func() Result {
		t.Helper()
		res, err := r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for n := 1; n <= 2*mostTries; n++ {
		if res := fetch(); res.Categories[station.English].Failed != 1 || l.fetched["english/a"] != n {
			t.Fatalf("time %d: %+v, fetched %d times", n, res.Categories[station.English], l.fetched["english/a"])
		}
		wait := min(5*time.Minute<<(n-1), 24*time.Hour)
		now = now.Add(wait - time.Minute)
		if fetch(); l.fetched["english/a"] != n {
			t.Fatalf("time %d: tried again before %v", n, wait)
		}
		now = now.Add(time.Minute)
	}
	busy = false
	if res := fetch(); res.Categories[station.English].Added != 1 {
		t.Errorf("when the machine has time: %+v", res.Categories[station.English])
	}
}

// Only what was fetched leaves, the least heard and oldest of it first.
func TestSurplusLeavesAndTheOperatorsFilesStay(t *testing.T) {
	var now atomic.Int64 // milliseconds
	later := func(d time.Duration) { now.Add(d.Milliseconds()) }
	l := feed(numberedIDs(station.Ads, 30)...)
	for id := range l.files {
		l.files[id] += " length 10"
	}
	r := newRig(t, func(o *Options) {
		o.Sources = []source.Source{&source.Inbox{Dir: filepath.Join(filepath.Dir(o.Media), "inbox"), Quiet: -1}, l}
		o.Keep = map[station.Category]int{station.Ads: 15}
		o.Now = func() time.Time { return time.UnixMilli(now.Add(1000)) }
		o.Parallel = 1 // so that the first offered is the oldest
	})
	own := r.fill(station.Ads, 20)
	inbox := filepath.Join(r.dir, "inbox", "ads")
	if err := errors.Join(os.MkdirAll(inbox, 0o750), os.WriteFile(filepath.Join(inbox, "operator.mp3"), []byte("length 10 of his"), 0o600)); err != nil {
		t.Fatal(err)
	}
	refresh := func(ads int) Result {
		t.Helper()
		res, err := r.Refresh(t.Context(), Request{Ads: ads}, nil)
		if err != nil || len(res.Problems) > 0 {
			t.Fatalf("%+v, %v", res.Problems, err)
		}
		return res
	}
	if res := refresh(20); res.Purged || res.Categories[station.Ads].Added != 21 {
		t.Fatalf("%+v", res.Categories[station.Ads])
	}
	later(23 * time.Hour)
	if res := refresh(0); res.Purged {
		t.Error("material left within a day")
	}
	later(48 * time.Hour)
	r.air.rotation, r.air.at = own[:1], 0
	r.Content.opt.OnAir = heardOften{r.air, map[string]int{"music/ads/00.mp3": 50, "music/ads/01.mp3": 50}}
	res := refresh(0)
	if !res.Purged || !res.Rebuilt || res.Categories[station.Ads].Archived != 5 || res.Categories[station.Ads].Tracks != 36 {
		t.Errorf("%+v %+v", res, res.Categories[station.Ads])
	}
	if got, want := walk(r.opt.Archive), []string{"music/ads/02.mp3", "music/ads/03.mp3", "music/ads/04.mp3", "music/ads/05.mp3", "music/ads/06.mp3"}; !slices.Equal(got, want) {
		t.Errorf("left: %q", got)
	}
	if !slices.Contains(walk(r.opt.Media), "music/ads/operator.mp3") {
		t.Error("the operator's file is gone")
	}
	if got := len(walk(filepath.Join(r.dir, "inbox"))); got > 0 {
		t.Error("the inbox was not emptied")
	}
	if res, err := r.Refresh(t.Context(), Request{Restore: true}, nil); err != nil || res.Restored.Total != 0 {
		t.Errorf("nothing is short, and %+v came back, %v", res.Restored, err)
	}
}

type heardOften struct {
	*onAir
	plays map[string]int
}

func (h heardOften) Plays(context.Context) (map[string]int, error) { return h.plays, nil }

// imagingRig makes what it is told to.
type imagingRig struct {
	sweepers
	fail   error
	failed []error
	none   bool
}

func (i *imagingRig) Make(ctx context.Context, hold func(context.Context) error, progress func(done, total int, detail string)) (int, []error, error) {
	if i.none {
		return 0, nil, nil
	}
	n, _, err := i.sweepers.Make(ctx, hold, progress)
	return n, i.failed, errors.Join(err, i.fail)
}

func TestOldImagingLeavesOnlyForNew(t *testing.T) {
	im := &imagingRig{}
	r := newRig(t, func(o *Options) { o.Imaging = im })
	im.root, im.air = r.opt.Media, r.air
	r.put("sweepers/SWP_INTRO_1.mp3", "old")
	r.put("sweepers/SWP_VOX_1.mp3", "old too")
	r.put("sweepers/mine.mp3", "the operator's")
	r.fill(station.English, 3)
	for _, c := range []struct {
		name string
		fail error
		none bool
	}{{"failing", errors.New("no voice"), false}, {"making none", nil, true}} {
		im.fail, im.none = c.fail, c.none
		res, err := r.Refresh(t.Context(), Request{}, nil)
		if err != nil || len(res.Problems) != 1 || res.Purged || len(walk(r.opt.Archive)) > 0 {
			t.Errorf("%s: %+v, %v", c.name, res, err)
		}
	}
	im.fail, im.none, im.failed = nil, false, []error{errors.New("2 song drops: the bed cannot be cut")}
	r.air.rotation, r.air.at = []string{"sweepers/SWP_VOX_1.mp3"}, 0 // on air
	res, err := r.Refresh(t.Context(), Request{}, nil)
	if len(res.Problems) != 1 || res.Problems[0].Step != StepImaging || res.Problems[0].Text != im.failed[0].Error() {
		t.Errorf("what could not be made: %+v", res.Problems)
	}
	if err != nil || res.Imaging != 4 || !res.Rebuilt || res.Categories[station.Sweepers].Kept != 1 {
		t.Errorf("%+v %+v, %v", res, res.Categories[station.Sweepers], err)
	}
	if exists(filepath.Join(r.opt.Media, "sweepers/SWP_INTRO_1.mp3")) || !exists(filepath.Join(r.opt.Media, "sweepers/SWP_VOX_1.mp3")) || !exists(filepath.Join(r.opt.Media, "sweepers/mine.mp3")) {
		t.Errorf("the deck: %q", walk(r.opt.Media))
	}
}

// With the media folder away an operator sees the decks as they were, and why nothing
// is fetched.
func TestTheStatusAnswersWhileTheMediaFolderIsAway(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Free = file.Space })
	r.fill(station.English, 1)
	if err := os.Rename(r.opt.Media, r.opt.Media+".away"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Status(t.Context())
	if err != nil || !s.Disk.Low || s.Disk.Total != 0 || !strings.Contains(s.Disk.Problem, "the media folder cannot be reached: is its disk mounted?") || !strings.Contains(s.Disk.Problem, r.opt.Media) {
		t.Errorf("%+v, %v", s.Disk, err)
	}
	if len(s.Categories) != len(station.Categories()) || s.Categories[station.English].Tracks != 1 {
		t.Errorf("%+v", s.Categories)
	}
	if err := os.Rename(r.opt.Media+".away", r.opt.Media); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Status(t.Context()); err != nil || s.Disk.Total == 0 || strings.Contains(s.Disk.Problem, "cannot be reached") {
		t.Errorf("with the folder back: %+v, %v", s.Disk, err)
	}
}

func TestANearlyFullDiskFetchesNothing(t *testing.T) {
	free := uint64(1 << 30)
	l := feed("english/a", "english/b")
	r := newRig(t, func(o *Options) {
		o.Sources = []source.Source{l}
		o.Free = func(string) (uint64, uint64, error) { return free, 1 << 40, nil }
	})
	res, err := r.Refresh(t.Context(), DefaultRequest(), nil)
	if err != nil || len(l.fetched) > 0 || len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Text, "the disk is nearly full: fetching needs 2048 MB free in "+r.opt.Work+", which has 1024 MB: free some space there") {
		t.Errorf("fetched %v: %+v, %v", l.fetched, res, err)
	}
	if s, err := r.Status(t.Context()); err != nil || !s.Disk.Low || s.Disk.Problem != res.Problems[0].Text {
		t.Errorf("%+v, %v", s.Disk, err)
	}
	free = 3 << 30
	if res, err = r.Refresh(t.Context(), DefaultRequest(), nil); err != nil || len(l.fetched) != 2 {
		t.Errorf("fetched %v: %+v, %v", l.fetched, res, err)
	}
}

func TestACancelledRefreshStopsAndTheNextGoesOn(t *testing.T) {
	l := feed(numberedIDs(station.English, 12)...)
	r := newRig(t, func(o *Options) { o.Sources = []source.Source{l} })
	ctx, cancel := context.WithCancel(t.Context())
	res, err := r.Refresh(ctx, Request{Songs: 40}, func(p Progress) {
		if p.Done == 4 {
			cancel()
		}
	})
	got := res.Categories[station.English].Added
	if !errors.Is(err, context.Canceled) || !res.Cancelled || got < 4 || got > 6 || res.Categories[station.English].Failed > 0 {
		t.Fatalf("%+v %+v, %v", res, res.Categories[station.English], err)
	}
	if left := unfinished(t, r.dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if res, err = r.Refresh(t.Context(), Request{Songs: 80}, nil); err != nil || res.Categories[station.English].Added != 12-got {
		t.Errorf("then %+v, %v", res.Categories[station.English], err)
	}
}

func TestOneThingAtATimeAndItsNameIsTold(t *testing.T) {
	l := feed("english/a")
	entered, leave := make(chan struct{}), make(chan struct{})
	l.fail = func(string) error { close(entered); <-leave; return nil }
	r := newRig(t, func(o *Options) { o.Sources = []source.Source{l} })
	done := make(chan error)
	go func() {
		_, err := r.Refresh(t.Context(), Request{Songs: 4}, nil)
		done <- err
	}()
	<-entered
	for name, do := range map[string]func() error{
		"refresh": func() error { _, err := r.Refresh(t.Context(), DefaultRequest(), nil); return err },
		"fetch": func() error {
			_, err := r.Fetch(t.Context(), FetchRequest{Kind: "song", Target: 1}, nil)
			return err
		},
		"restore": func() error { _, err := r.Restore(t.Context(), RestoreRequest{}, nil); return err },
		"scrub": func() error {
			_, err := r.Scrub(t.Context(), ScrubRequest{Category: station.English}, nil)
			return err
		},
	} {
		if err := do(); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "a refresh is running since") || !strings.Contains(err.Error(), "new songs") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := r.Status(t.Context()); err != nil || s.Running == nil || s.Running.Step != StepSongs || s.Running.Arabic != "أغانٍ جديدة" {
		t.Errorf("status: %+v, %v", s.Running, err)
	}
	r.put("news/NEWS_1.mp3", "old news")
	if m, err := r.Archive(t.Context(), []string{"news/NEWS_1.mp3"}, "replaced"); err != nil || len(m.Archived) != 1 {
		t.Errorf("a bulletin had to wait: %+v, %v", m, err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWrongOrdersAreRefused(t *testing.T) {
	r := newRig(t)
	_, err := r.Refresh(t.Context(), Request{Songs: -1}, nil)
	errs := []error{err}
	for _, q := range []FetchRequest{{Category: "jazz", Target: 1}, {Category: station.News, Target: 1}, {Kind: "polka", Target: 1}, {Target: 1}, {Category: station.English, Kind: "ad", Target: 1}, {Category: station.English}} {
		_, err := r.Fetch(t.Context(), q, nil)
		errs = append(errs, err)
	}
	_, err = r.Scrub(t.Context(), ScrubRequest{Category: "jazz"}, nil)
	errs = append(errs, err)
	for i, err := range errs {
		if !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// The schedule counts from the end of the last refresh, by whomever, and after a
// restart too.
func TestTheScheduleCountsFromTheEndOfTheLastRefresh(t *testing.T) {
	var runs, now atomic.Int32
	im := &counting{runs: &runs, now: &now}
	r := newRig(t, func(o *Options) { o.Imaging, o.Every, o.AfterBoot = im, 150*time.Millisecond, time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	testkit.Eventually(t, "three refreshes", func() bool { return runs.Load() >= 3 })
	if _, err := r.Refresh(t.Context(), Request{}, nil); err != nil && !errors.Is(err, station.ErrConflict) {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	rows, err := r.db.Read().Query("SELECT started_ms, ended_ms, json_extract(result, '$.trigger') FROM content_run WHERE ended_ms > 0 ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // test
	last := int64(0)
	for rows.Next() {
		var started, ended int64
		var trigger string
		if err := rows.Scan(&started, &ended, &trigger); err != nil {
			t.Fatal(err)
		}
		if trigger == "schedule" && last > 0 && started < last+149 {
			t.Errorf("a refresh began %d ms after the end of the last", started-last)
		}
		if trigger == "manual" && started < last {
			t.Error("two refreshes overlapped")
		}
		last = ended
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	r.opt.Every = time.Hour
	r.reopen()
	if due := r.next(time.Now()); due.Sub(time.UnixMilli(last)) < 59*time.Minute {
		t.Errorf("after a restart the next is due %s after the last", due.Sub(time.UnixMilli(last)))
	}
	r.opt.Every = 0
	r.reopen()
	if due := r.next(time.Now()); !due.IsZero() {
		t.Errorf("0 disables, and the next is due at %s", due)
	}
}

// What is on its way into the media folder when the station starts to look after
// it was not cut off.
func TestTheStartSettlesNothingOfWhatIsUnderWay(t *testing.T) {
	r := newRig(t)
	end, err := r.begin("fetch")
	if err != nil {
		t.Fatal(err)
	}
	it := &item{from: source.Candidate{Source: source.NameURL, ID: "a"}, category: station.English, state: itemPlacing, path: "music/english/a.mp3"}
	if err := r.save(t.Context(), it); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	testkit.Eventually(t, "the start", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return !r.started.IsZero()
	})
	if was, err := r.newest(t.Context(), source.NameURL, "a"); err != nil || was == nil || was.state != itemPlacing {
		t.Errorf("%+v, %v", was, err)
	}
	end()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A refresh that is due waits for its turn like any other work; one that is
// called off before it had it is not due again at once.
func TestADueRefreshIsQueuedAndMayBeCalledOff(t *testing.T) {
	var runs, now, asked atomic.Int32
	var off atomic.Bool
	r := newRig(t, func(o *Options) {
		o.Imaging, o.Every, o.AfterBoot = &counting{runs: &runs, now: &now}, time.Hour, time.Millisecond
		o.Queue = func(ctx context.Context, refresh func(context.Context, func(Progress)) (Result, error)) error {
			asked.Add(1)
			if off.Load() {
				return errors.New("cancelled before it began")
			}
			var steps []Step
			res, err := refresh(ctx, func(p Progress) { steps = append(steps, p.Step) })
			if res.Trigger != "schedule" || !slices.Contains(steps, StepImaging) {
				t.Errorf("%+v, shown %v", res, steps)
			}
			return err
		}
	})
	for _, calledOff := range []bool{false, true} {
		off.Store(calledOff)
		asked.Store(0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		testkit.Eventually(t, "the next refresh an hour away", func() bool {
			s, err := r.Status(ctx)
			return err == nil && asked.Load() > 0 && time.UnixMilli(s.NextRunAt).After(time.Now().Add(50*time.Minute))
		})
		cancel()
		if err := <-done; err != nil || asked.Load() != 1 || runs.Load() != 1 {
			t.Errorf("called off %v: asked %d times, %d runs: %v", calledOff, asked.Load(), runs.Load(), err)
		}
		r.mu.Lock()
		r.ended = time.Time{}
		r.mu.Unlock()
	}
}

// The schedule counts from the end of the last refresh, also where that has run while the
// scheduled one waited for its turn.
func TestARefreshThatWaitedForAnotherHasNothingToDo(t *testing.T) {
	var runs, now atomic.Int32
	var r *rig
	waited := make(chan error, 1)
	r = newRig(t, func(o *Options) {
		o.Imaging, o.Every, o.AfterBoot = &counting{runs: &runs, now: &now}, time.Hour, time.Millisecond
		o.Queue = func(ctx context.Context, refresh func(context.Context, func(Progress)) (Result, error)) error {
			_, first := r.Refresh(ctx, Request{}, nil)
			_, err := refresh(ctx, nil)
			waited <- errors.Join(first, err)
			return err
		}
	})
	end := testkit.Background(t, r.Run)
	if err := <-waited; err != nil || runs.Load() != 1 {
		t.Errorf("%d refreshes: %v", runs.Load(), err)
	}
	end()
}

type counting struct{ runs, now *atomic.Int32 }

func (c *counting) Old(context.Context) ([]string, error) { return nil, nil }
func (c *counting) Make(context.Context, func(context.Context) error, func(done, total int, detail string)) (int, []error, error) {
	if c.now.Add(1) > 1 {
		return 0, nil, errors.New("two at once")
	}
	defer c.now.Add(-1)
	c.runs.Add(1)
	return 1, nil, nil
}
