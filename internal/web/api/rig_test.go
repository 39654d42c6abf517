package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/test/contract"
)

// rig is a surface over parts that a test sets.
type rig struct {
	view    scheduler.View
	lib     media.Snapshot
	markers []scheduler.Marker
	fail    error
	silent  bool
	desk    desk
	votes   votes
	push    *webpush.Push
	hooks   *webhooks.Hooks

	reactions reactions
	vibes     vibes
	counts    counts

	policy     *policy.Owner
	policyPath string
	applied    []rotation.Config
	log        *slog.Logger
	lines      *testkit.Lines
	board      *jobs.Board
	trouble    string // what keeps files from being mastered
	made       producer
	chat       *chat.Chat
	asked      *requests.Requests
	live       *onAir
	posts      *api.Social
	db         *store.DB
	people     *people.People
	shelf      *shelved
	podcasts   *podcast.Podcasts
	art        shownArt
	arrivals   *intake.Intake
	imports    string // folder
	file       string // of the database
	rebuilt    bool   // whether a change of the configuration rebuilds
	files      api.Files
	api        *api.Server
	client     *http.Client // which holds every answer against /openapi.json
	*httptest.Server
}

func (r *rig) Handler(id string) (http.Handler, bool) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/ogg")
		_, _ = io.WriteString(w, "audio of "+id)
	})
	return h, id == "main"
}
func (r *rig) Listeners() int   { return 3 }
func (r *rig) BytesOut() uint64 { return 1000 }

// mastered is the folder of what airs.
func (r *rig) mastered() string { return filepath.Join(filepath.Dir(r.files.Media), "mastered") }

func newRig(t *testing.T) *rig { return newRigWithKey(t, "") }

func newRigWithKey(t *testing.T, key string) *rig {
	t.Helper()
	r := makeRig(t, func(o *api.Options) { o.StationKey = secret.Of(key) })
	common.once.Do(func() { common.doc = document(t, r.URL) })
	r.client = checked(t, common.doc)
	return r
}

// common is the document of every rig whose options are the usual ones; a key
// changes nothing in it. Writing and reading it takes longer than most tests.
var common struct {
	once sync.Once
	doc  *contract.Document
}

// newRigWith makes a rig whose options may change what its document says.
func newRigWith(t *testing.T, change func(*api.Options)) *rig {
	t.Helper()
	r := makeRig(t, change)
	r.client = checked(t, document(t, r.URL))
	return r
}

func makeRig(t *testing.T, change func(*api.Options)) *rig {
	t.Helper()
	r := &rig{live: newOnAir()}
	now := time.Now()
	for i := range 6 {
		tr := station.Track{
			Path: fmt.Sprintf("music/english/%d.mp3", i), Category: station.English, Title: "أغنية " + strconv.Itoa(i),
			Artist: "فنان", Duration: 3 * time.Minute, Size: 10,
		}
		r.lib.Tracks = append(r.lib.Tracks, tr)
		r.view.Rotation.Entries = append(r.view.Rotation.Entries, rotation.Entry{Track: tr, Type: "music", Cross: 2 * time.Second})
	}
	r.lib.Decks = map[station.Category]media.Deck{station.English: {Tracks: 6, Duration: 18 * time.Minute}}
	r.lib.Quarantined = []media.Quarantine{{Path: "bad\xff.mp3", Reason: "holds no audio", Since: now}}
	r.view.Consumed, r.view.Rotation.BuiltAt = 2, now
	r.view.OnAir = scheduler.OnAir{Kind: scheduler.Rotation, Track: r.lib.Tracks[1], StartedAt: now, Index: 1}
	r.view.Past = []scheduler.OnAir{{Kind: scheduler.Rotation, Track: r.lib.Tracks[0], StartedAt: now.Add(-time.Minute)}}
	var err error
	r.policyPath = filepath.Join(t.TempDir(), "station.json")
	r.policy, err = policy.Open(r.policyPath, func(_ context.Context, cfg rotation.Config) (bool, error) {
		if r.fail != nil {
			return false, r.fail
		}
		r.applied = append(r.applied, cfg)
		return r.rebuilt, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.log, r.lines = testkit.Log(t)
	r.openDatabase(t)
	r.openBoard(t)
	r.openOutward(t)
	all := r.openChannels(t)
	if r.people, err = people.Open(t.Context(), people.Options{Log: r.log, DB: r.db, Cost: people.Cost{Passes: 1, Memory: 1 << 10}}); err != nil {
		t.Fatal(err)
	}
	onDemand := r.openPodcasts(t)
	r.openChat(t)
	r.openRequests(t)
	r.live.wall = r.openCarts(t)
	dir := t.TempDir()
	r.files = api.Files{
		Media: filepath.Join(dir, "media"), Playlist: filepath.Join(dir, "main.m3u"),
		Air: func(rel string) (string, string, bool) {
			registered := slices.ContainsFunc(r.lib.Tracks, func(t station.Track) bool { return t.Path == rel })
			return r.mastered(), rel, registered
		},
	}
	opt := api.Options{
		Log: r.log, Version: "test", Name: "أثير", Face: r.openFace(t), Language: "ar", Zone: time.UTC, Renditions: []int{256, 128, 64}, Icecast: api.Icecast{Port: 8005, Mounts: []api.Mount{{Path: "/main", Type: "application/ogg", Kbps: 192}}},
		// What tests change in place is another state each time.
		Air:     func() *scheduler.View { now := r.view; return &now },
		Library: func() *media.Snapshot { now := r.lib; return &now }, Mastering: func() api.Mastering { return api.Mastering{Waiting: 7, Silent: 4, Ready: 6, Problem: r.trouble} },
		Completed: func(_ context.Context, m scheduler.Marker) (string, error) {
			r.markers = append(r.markers, m)
			return "advanced", r.fail
		},
		Node: func(context.Context) (api.Node, error) {
			return api.Node{Programs: []api.Process{{Name: "liquidsoap", State: "running", PID: 7}}, Sounding: !r.silent}, nil
		},
		Count: func() telemetry.Count {
			return telemetry.Count{Listeners: 4, Source: "athir", Parts: telemetry.Parts{HLS: 4, Stream: 2, Icecast: 1, Total: 7}}
		},
		Countries: func() census.State { return census.State{On: true, File: "c.mmdb", BuiltAt: time.UnixMilli(1000)} },
		People:    r.people, Shelf: r.openShelf(t, r.files.Media), Art: &r.art, Imports: r.openImports(t), Podcasts: onDemand,
		Stream: r, Channels: besideMain{all}, Policy: r.policy, Desk: &r.desk, Queue: &r.desk, Votes: &r.votes, Push: r.push, Webhooks: r.hooks, Live: r.live.parts(),
		Reactions: &r.reactions, Chat: r.chat, Requests: r.asked, Social: r.openSocial(t), Vibes: &r.vibes, Telemetry: &r.counts,
		Jobs: r.board, Content: &r.made, Producer: &r.made,
		Logs: map[string]func(int) ([]string, error){
			"server":  func(n int) ([]string, error) { return make([]string, n), nil },
			"content": func(int) ([]string, error) { return nil, r.fail },
		},
		SyncToken: secret.Of("sesame"), Files: r.files, HLSPrefix: "/hls/", HLS: http.NotFoundHandler(),
		Pages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }),
	}
	change(&opt)
	r.api = api.New(opt)
	r.Server = httptest.NewServer(r.api.Handler())
	t.Cleanup(r.Close)
	return r
}

// migrated is a database with the tables of every slice and nothing in them, and
// its log: to make them anew takes longer than most tests.
var migrated struct {
	sync.Mutex
	files [2][]byte
}

func (r *rig) openDatabase(t *testing.T) {
	t.Helper()
	r.file = filepath.Join(t.TempDir(), "athir.db")
	migrated.Lock()
	defer migrated.Unlock()
	for i, name := range []string{r.file, r.file + "-wal"} {
		if migrated.files[i] == nil {
			continue
		}
		if err := os.WriteFile(name, migrated.files[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if r.db, err = store.Open(t.Context(), r.file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.db.Close() })
}

// keepMigrated keeps the first database for the rigs to come.
func (r *rig) keepMigrated(t *testing.T) {
	t.Helper()
	migrated.Lock()
	defer migrated.Unlock()
	if migrated.files[0] != nil {
		return
	}
	for i, name := range []string{r.file, r.file + "-wal"} {
		var err error
		if migrated.files[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
}

// call sends one request; headers come in pairs.
func (r *rig) call(t *testing.T, method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func (r *rig) json(t *testing.T, path string) map[string]any {
	t.Helper()
	code, _, body := r.call(t, "GET", path, "")
	out := map[string]any{}
	if err := json.Unmarshal([]byte(body), &out); err != nil || code != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, code, err, body)
	}
	return out
}

// desk notes what it is told.
type desk struct {
	told     []string
	fail     error
	weighing scheduler.Weighing
}

func (d *desk) do(what string) error {
	d.told = append(d.told, what)
	return d.fail
}
func (d *desk) Rebuild(context.Context) error { return d.do("rebuild") }
func (d *desk) Queue(_ context.Context, path string) error {
	return d.do(fmt.Sprintf("queue %q", path))
}
func (d *desk) Skip(context.Context) error { return d.do("skip") }
func (d *desk) Play(_ context.Context, w scheduler.Wish) (station.Track, error) {
	return station.Track{Path: w.Path, Category: w.Category, Title: "forced"}, d.do(fmt.Sprintf("play %s %q", w.Category, w.Path))
}

func (d *desk) Weigh(_ context.Context, e scheduler.Edit) (scheduler.Weighing, error) {
	return d.weighing, d.do(fmt.Sprintf("check %s %d %d %q", e.Op, e.Position, e.To, e.Path))
}

func (d *desk) Edit(_ context.Context, e scheduler.Edit) (scheduler.Deed, scheduler.Weighing, error) {
	return scheduler.Deed{ID: "d1", Op: e.Op, At: time.UnixMilli(1), By: e.By}, d.weighing, d.do(fmt.Sprintf("edit %s %d %d %q by %s", e.Op, e.Position, e.To, e.Path, e.By))
}

func (d *desk) Undo(_ context.Context, id, by string) error {
	return d.do(fmt.Sprintf("undo %s by %s", id, by))
}

// votes counts without looking who votes.
type votes struct {
	sync.Mutex
	counts map[string]int
	from   feedback.Client
	fail   error
}

func (v *votes) Counts() map[string]int {
	v.Lock()
	defer v.Unlock()
	return maps.Clone(v.counts)
}

func (v *votes) Cast(_ context.Context, from feedback.Client, path string, delta int) error {
	v.Lock()
	defer v.Unlock()
	if v.fail != nil {
		return v.fail
	}
	if v.counts == nil {
		v.counts = map[string]int{}
	}
	v.from = from
	v.counts[path] += delta
	return nil
}
