package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
)

// producer notes what it is asked for, and makes it at once, or fails, or waits
// until it is let go.
type producer struct {
	mu     sync.Mutex
	orders []any
	fail   error
	hold   chan struct{}
	wrong  string   // what every part says of its last failure
	lines  []string // headlines
	board  *jobs.Board
	spoken string // file of every rehearsal
	looks  atomic.Int64
}

func (p *producer) order(ctx context.Context, what any) error {
	p.mu.Lock()
	p.orders = append(p.orders, what)
	hold, fail := p.hold, p.fail
	p.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fail
}

func (p *producer) last() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.orders) == 0 {
		return nil
	}
	return p.orders[len(p.orders)-1]
}

func (p *producer) set(fail error, hold chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail, p.hold = fail, hold
}

func (p *producer) Refresh(ctx context.Context, req content.Request, show func(content.Progress)) (content.Result, error) {
	show(content.Progress{Step: content.StepSongs, Done: 1, Total: 20, Detail: "أغنية"})
	return content.Result{Request: req, Purged: true, Categories: map[station.Category]*content.Count{}}, p.order(ctx, req)
}

func (p *producer) Plan(ctx context.Context, req content.Request, _ func(content.Progress)) (content.Plan, error) {
	return content.Plan{Inbox: []string{"ads/new.mp3"}}, p.order(ctx, req)
}

func (p *producer) Fetch(ctx context.Context, req content.FetchRequest, _ func(content.Progress)) (content.Result, error) {
	return content.Result{Categories: map[station.Category]*content.Count{}}, p.order(ctx, req)
}

func (p *producer) Restore(ctx context.Context, req content.RestoreRequest, _ func(content.Progress)) (content.Restored, error) {
	return content.Restored{Total: 3, Restored: map[station.Category]int{}}, p.order(ctx, req)
}

func (p *producer) Scrub(ctx context.Context, req content.ScrubRequest, _ func(content.Progress)) (content.Scrubbed, error) {
	return content.Scrubbed{Reasons: map[string]int{}}, p.order(ctx, req)
}

func (p *producer) Status(context.Context) (content.Status, error) {
	p.looks.Add(1)
	st := content.Status{Categories: map[station.Category]content.Holding{station.English: {Tracks: 6}}}
	if p.wrong != "" {
		st.Sources, st.Disk.Problem = []content.Health{{Name: "feed", LastError: p.wrong}}, p.wrong
		st.LastRun = &content.Result{Categories: map[station.Category]*content.Count{}, Problems: []content.Problem{{Text: p.wrong}}}
	}
	return st, nil
}

func (p *producer) Imaging(ctx context.Context, o production.ImagingOrder, _ func(jobs.Progress)) (production.ImagingMade, error) {
	return production.ImagingMade{Made: []production.ImagingAsset{{File: "sfx/SFX_ZAP_1.mp3", Kind: "stinger"}}}, p.order(ctx, o)
}

func (p *producer) Bulletin(ctx context.Context, show func(jobs.Progress)) (production.BulletinMade, error) {
	show(jobs.Progress{Step: "bulletin", Done: 1, Total: 3})
	return production.BulletinMade{File: "news/NEWS_1.mp3"}, p.order(ctx, "bulletin")
}

func (p *producer) BulletinStatus() production.BulletinStatus {
	return production.BulletinStatus{
		Sentence: "الساعة الآن", Headlines: []string{}, Segments: []production.BulletinSegment{{Kind: "weather", Problem: p.wrong}}, HeadlinesProblem: p.wrong, Error: p.wrong,
	}
}

func (p *producer) Headlines() (bulletin.Kept, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bulletin.Kept{Lines: p.lines, Version: p.version(), Cut: len(p.lines) == 50}, nil
}

// version is that of the lines; p.mu is held.
func (p *producer) version() string { return fmt.Sprintf("%d lines", len(p.lines)) }

// exampleRehearsal is the rehearsal that the manual speaks of: all have its id.
const exampleRehearsal = "YQ2K7HD3MZ5XN4TJ6WBC2RVLGE"

var rehearsedUntil = time.Now().Add(10 * time.Minute)

func (p *producer) Script(lines []string) (production.BulletinScript, error) {
	read, err := bulletin.Read(lines)
	return production.BulletinScript{
		Text: strings.Join(read, " "), Sentences: []production.BulletinSentence{}, Spares: []production.BulletinSentence{}, Missing: []production.BulletinSegment{}, Waiting: len(lines) - len(read),
	}, err
}

func (p *producer) Rehearse(lines []string) (jobs.Job, error) {
	if _, err := bulletin.Read(lines); err != nil {
		return jobs.Job{}, err
	}
	return p.board.Start("rehearsal", "rehearsal", func(ctx context.Context, _ *jobs.Task) (any, error) {
		made := production.BulletinRehearsed{ID: exampleRehearsal, Sentences: []production.BulletinSentence{}, Missing: []production.BulletinSegment{}}
		return made, p.order(ctx, lines)
	})
}

func (p *producer) Rehearsed(id string) (string, time.Time, error) {
	if id != exampleRehearsal || p.spoken == "" {
		return "", time.Time{}, fmt.Errorf("have it spoken again: %w", station.ErrNotFound)
	}
	return p.spoken, rehearsedUntil, nil
}

func (p *producer) SetHeadlines(lines []string, version string) error {
	if _, err := bulletin.Read(lines); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if version != bulletin.AnyVersion && version != p.version() {
		return fmt.Errorf("headlines.txt has changed: %w", station.ErrConflict)
	}
	p.lines = lines
	return nil
}

func (r *rig) openBoard(t *testing.T) {
	t.Helper()
	var err error
	if r.board, err = jobs.Open(t.Context(), jobs.Options{DB: r.db, Log: r.log}); err != nil {
		t.Fatal(err)
	}
	r.made.board, r.made.spoken = r.board, filepath.Join(t.TempDir(), exampleRehearsal+".mp3")
	if err := os.WriteFile(r.made.spoken, []byte("sound of a bulletin"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.board.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// job is one that runs until the test ends.
func (r *rig) job(t *testing.T) jobs.Job {
	t.Helper()
	j, err := r.board.Start("example", "example", func(ctx context.Context, _ *jobs.Task) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestLongWorkIsAJobThatCanBeWatchedAndCancelled(t *testing.T) {
	r := newRig(t)
	r.made.set(nil, make(chan struct{}))
	code, head, body := r.call(t, "POST", "/api/bulletin/generate", "")
	var j jobs.Job
	if err := json.Unmarshal([]byte(body), &j); err != nil || code != http.StatusAccepted || head.Get("Location") != "/api/jobs/"+j.ID {
		t.Fatalf("%d %v %s", code, head, body)
	}
	for now := (jobs.Job{}); now.Progress.Done != 1; {
		_, _, body := r.call(t, "GET", "/api/jobs/"+j.ID, "")
		if err := json.Unmarshal([]byte(body), &now); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, body := r.call(t, "POST", "/api/jobs/"+j.ID+"/cancel", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	_, _, body = r.call(t, "GET", "/api/jobs/"+j.ID+"?wait=1", "")
	if !strings.Contains(body, `"state":"cancelled"`) || !strings.Contains(body, "NEWS_1.mp3") {
		t.Errorf("%s", body)
	}
	if code, _, _ := r.call(t, "GET", "/api/jobs/nothing", ""); code != http.StatusNotFound {
		t.Errorf("an unknown job: %d", code)
	}
	if code, _, _ := r.call(t, "POST", "/api/jobs/"+j.ID+"/cancel", ""); code != http.StatusConflict {
		t.Errorf("cancelled again: %d", code)
	}
}

func TestWaitAnswersWithTheResultOrTheReason(t *testing.T) {
	r := newRig(t)
	if code, _, body := r.call(t, "POST", "/api/bulletin/generate?wait=1", ""); code != http.StatusOK || !strings.HasPrefix(body, `{"file":"news/NEWS_1.mp3"`) {
		t.Errorf("%d %s", code, body)
	}
	for _, c := range []struct {
		fail error
		code int
	}{
		{fmt.Errorf("a refresh is running: %w", station.ErrConflict), http.StatusConflict},
		{fmt.Errorf("the disk is nearly full: %w", station.ErrUnavailable), http.StatusServiceUnavailable},
		{fmt.Errorf("secret of the machine"), http.StatusInternalServerError},
	} {
		r.made.set(c.fail, nil)
		code, _, body := r.call(t, "POST", "/api/content/refresh?wait=1", "")
		if code != c.code || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s", c.fail, code, body)
		}
	}
}

func TestOrdersOfProductionReachItsParts(t *testing.T) {
	r := newRig(t)
	usual := production.UsualImaging()
	noStingers := usual
	noStingers.Stingers = 0
	for _, c := range []struct {
		path, body string
		want       any
	}{
		{"/api/content/refresh", "", content.Request{Songs: 20, Ads: 16}},
		{"/api/content/refresh", `{}`, content.Request{Songs: 20, Ads: 16}},
		{"/api/station/content/refresh", `{"songs":0,"ads":3,"restore":true}`, content.Request{Ads: 3, Restore: true}},
		{"/api/content/plan", `{"ads":1}`, content.Request{Songs: 20, Ads: 1}},
		{"/api/content/restore", "", content.RestoreRequest{}},
		{"/api/content/restore", `{"all":true,"category":"ads"}`, content.RestoreRequest{All: true, Category: "ads"}},
		{"/api/station/content/fetch", `{"category":"english"}`, content.FetchRequest{Category: "english", Target: 10}},
		{"/api/station/content/scrub", `{"category":"sfx","dryRun":true}`, content.ScrubRequest{Category: "sfx", DryRun: true}},
		{"/api/imaging/generate", "", usual},
		{"/api/imaging/sweepers", "", noStingers},
		{"/api/imaging/sweepers", `{"count":2,"songDrops":false,"ids":true,"voiceDrops":0,"archiveOld":false}`,
			production.ImagingOrder{Sweepers: 2, IDs: usual.IDs}},
		{"/api/imaging/stingers", `{"count":5}`, production.ImagingOrder{Stingers: 5, ArchiveOld: true}},
		{"/api/imaging/stingers", `{"count":true,"archiveOld":true}`, production.ImagingOrder{Stingers: 16, ArchiveOld: true}},
	} {
		code, _, body := r.call(t, "POST", c.path+"?wait=1", c.body, "Content-Type", "application/json")
		if got := r.made.last(); code != http.StatusOK || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %d %s\nasked for %+v, want %+v", c.path, c.body, code, body, got, c.want)
		}
	}
}

func TestWrongOrdersOfProductionNameTheField(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ path, body, field string }{
		{"/api/content/refresh", `{"songs":501}`, "body.songs"},
		{"/api/content/refresh", `{"songs":-1,"ads":"x"}`, "body.ads"},
		{"/api/content/refresh", `{"song":1}`, "body.song"},
		{"/api/content/restore", `{"category":"rock"}`, "body.category"},
		{"/api/station/content/fetch", `{"kind":"video"}`, "body.kind"},
		{"/api/station/content/fetch", `{"category":"english","kind":"ad"}`, "body.kind"},
		{"/api/station/content/fetch", `{"category":"english","kind":"ad"}`, "english holds the kind song"},
		{"/api/station/content/fetch", `{"target":3}`, "body.category"},
		{"/api/station/content/scrub", `{}`, "category"},
		{"/api/imaging/sweepers", `{"ids":201}`, "body.ids"},
		{"/api/imaging/sweepers", `{"ids":1.5}`, "body.ids"},
		{"/api/imaging/stingers", `{"count":"all"}`, "body.count"},
	} {
		code, _, body := r.call(t, "POST", c.path, c.body, "Content-Type", "application/json")
		if code != http.StatusUnprocessableEntity || !strings.Contains(body, c.field) {
			t.Errorf("%s %s: %d %s", c.path, c.body, code, body)
		}
	}
	if r.made.last() != nil {
		t.Errorf("a wrong order was carried out: %v", r.made.last())
	}
}

func TestAFullLaneRefusesFurtherWork(t *testing.T) {
	r := newRig(t)
	hold := make(chan struct{})
	r.made.set(nil, hold)
	var refused bool
	for range 8 {
		code, _, body := r.call(t, "POST", "/api/imaging/generate", "")
		if refused = code == http.StatusConflict; refused {
			if !strings.Contains(body, "imaging") {
				t.Errorf("%s", body)
			}
			break
		}
	}
	if !refused {
		t.Error("eight orders wait")
	}
	close(hold)
}

func TestStatusOfContentAndBulletinNeedNoKey(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	if got := r.json(t, "/api/content/status"); got["categories"].(map[string]any)["english"].(map[string]any)["tracks"] != 6.0 {
		t.Errorf("%v", got)
	}
	if got := r.json(t, "/api/bulletin/status"); got["sentence"] != "الساعة الآن" {
		t.Errorf("%v", got)
	}
}

func TestHeadlinesAreReadByAllAndWrittenWithTheKey(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	const path = "/api/bulletin/headlines"
	if got := r.json(t, path); !reflect.DeepEqual(got["headlines"], []any{}) || got["version"] != "0 lines" || got["cut"] != false {
		t.Errorf("before: %v", got)
	}
	body := `{"headlines":["افتتاح خط جديد","انطلاق المعرض"],"version":"0 lines"}`
	if code, _, text := r.call(t, "PUT", path, body); code != http.StatusUnauthorized {
		t.Errorf("without the key: %d %s", code, text)
	}
	key := []string{"x-station-key", "open-sesame"}
	if code, _, text := r.call(t, "PUT", path, body, key...); code != http.StatusOK || !strings.Contains(text, "انطلاق المعرض") || !strings.Contains(text, "2 lines") {
		t.Errorf("%d %s", code, text)
	}
	if got := r.json(t, path); !reflect.DeepEqual(got["headlines"], []any{"افتتاح خط جديد", "انطلاق المعرض"}) || got["version"] != "2 lines" {
		t.Errorf("after: %v", got)
	}
	if code, _, text := r.call(t, "PUT", path, body, key...); code != http.StatusConflict || !strings.Contains(text, "has changed") {
		t.Errorf("over lines that were not read: %d %s", code, text)
	}
	for _, wrong := range []string{
		`{"headlines":["..."],"version":"any"}`, `{"headlines":null,"version":"any"}`, `{"version":"any"}`, `{"headlines":[` + strings.Repeat(`"a",`, 50) + `"a"],"version":"any"}`,
	} {
		if code, _, text := r.call(t, "PUT", path, wrong, key...); code != http.StatusUnprocessableEntity || !strings.Contains(text, "headlines") {
			t.Errorf("%.60s: %d %s", wrong, code, text)
		}
	}
	if code, _, text := r.call(t, "PUT", path, `{"headlines":[]}`, key...); code != http.StatusUnprocessableEntity || !strings.Contains(text, "body.version") {
		t.Errorf("without a version: %d %s", code, text)
	}
	full := `{"headlines":[` + strings.Repeat(`"a",`, 49) + `"a"],"version":"any"}`
	if code, _, text := r.call(t, "PUT", path, full, key...); code != http.StatusOK || !strings.Contains(text, `"cut":true`) {
		t.Errorf("%d %.200s", code, text)
	}
}
