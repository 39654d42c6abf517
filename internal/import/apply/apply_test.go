package apply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/azuracast"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/plan"
)

// small is a source with what can go wrong: files that are alike, one that is refused, one that is
// missing, a playlist that repeats a track.
func small() *model.Station {
	open := func(data []byte) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil } // cannot seek
	}
	st := &model.Station{System: "AzuraCast", Name: "x"}
	for i := range 4 {
		data := importtest.Tone(i, 1500)
		st.Tracks = append(st.Tracks, model.Track{
			ID: fmt.Sprint(i), Path: fmt.Sprintf("in/%d.wav", i), Title: fmt.Sprintf("Song %d", i), Artist: "فنان", Length: 2 * time.Minute, Size: int64(len(data)), Open: open(data),
		})
	}
	st.Tracks[3].Open = st.Tracks[0].Open // the same sound twice: both are kept
	st.Tracks = append(st.Tracks,
		model.Track{ID: "bad", Path: "in/bad.mp3", Title: "Bad", Length: time.Minute * 2, Open: open([]byte("BAD file"))},
		model.Track{ID: "gone", Path: "in/gone.mp3", Title: "Gone", Length: time.Minute * 2})
	st.Playlists = []model.Playlist{
		{ID: "1", Name: "قائمة", Order: "sequence", Plays: "only", Items: []string{"2", "0", "gone", "2", "bad", "3", "1"}},
		{ID: "2", Name: "Other", Order: "shuffle", Plays: "share", Weight: 3, Items: []string{"1"}, Off: true},
		{ID: "3", Name: "Far", Plays: "share", Remote: "https://example.org/x.m3u"},
	}
	st.Streamers = []model.Streamer{{Login: "dj", Name: "DJ"}}
	st.Webhooks = []model.Webhook{{Name: "h", Type: "generic", Address: "https://example.org/h", Events: []string{"song_changed"}, Off: true}}
	return st
}

// now is a wait that does not.
func now(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// run is one process: it opens the journal, plans and applies, through a client that may be killed.
func run(ctx context.Context, t testing.TB, station *importtest.Station, st *model.Station, dir string, through http.RoundTripper) (apply.Report, *plan.Plan, error) {
	t.Helper()
	j, err := apply.OpenJournal(dir, "import.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	api := apply.Station{Base: station.URL, Key: importtest.StationKey}
	lib, err := api.Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Make(st, lib, j.Memory())
	if through != nil {
		api.HTTP = &http.Client{Transport: through}
	}
	report, err := apply.Run(ctx, apply.Options{Station: api, Plan: p, Source: st, Journal: j, Batch: "import", Wait: now})
	return report, p, err
}

// whole checks that everything came over, once.
func whole(t testing.TB, s *importtest.Station) {
	t.Helper()
	var tracks []string
	for _, tr := range s.Tracks {
		tracks = append(tracks, fmt.Sprintf("%s %v %v", tr.Path, tr.Said["title"], tr.Said["artist"]))
	}
	slices.Sort(tracks)
	want := []string{"arabic_hits/0.wav Song 0 فنان", "arabic_hits/1.wav Song 1 فنان", "arabic_hits/2.wav Song 2 فنان", "arabic_hits/3.wav Song 3 فنان"}
	if !slices.Equal(tracks, want) {
		t.Fatalf("%q", tracks)
	}
	var lists []string
	for _, l := range s.Lists {
		var items []string
		for _, p := range l.Items {
			items = append(items, strings.TrimSuffix(filepath.Base(p), ".wav"))
		}
		lists = append(lists, fmt.Sprintf("%v %v %v %v %s", l.Settings["name"], l.Settings["kind"], l.Settings["plays"], l.Settings["on"], strings.Join(items, "")))
	}
	if want := []string{"قائمة hand only true 20231", "Other hand share false 1", "Far remote share true "}; !slices.Equal(lists, want) {
		t.Fatalf("%q", lists)
	}
	if len(s.People) != 1 || s.People[0]["role"] != "presenter" || len(s.Hooks) != 1 {
		t.Fatalf("%v %v", s.People, s.Hooks)
	}
	if len(s.Arrivals) != 5 {
		t.Fatalf("%d files were uploaded", len(s.Arrivals))
	}
}

// told checks that links and secrets were given out, or said to be lost, and that the webhook is off
// or said not to be.
func told(t testing.TB, s *importtest.Station, all []apply.Report) {
	t.Helper()
	link, secret, off := 0, 0, s.Hooks[0]["enabled"] == false
	for _, r := range all {
		link, secret = link+len(r.Invited), secret+len(r.Webhooks)
		for _, n := range r.Not {
			switch n.Stage {
			case apply.People:
				link++
			case apply.Webhooks:
				secret++
				off = off || strings.Contains(n.Why.En, "switch it off")
			}
		}
	}
	if link != 1 || secret != 1 || !off {
		t.Fatalf("the link is told %d times, the secret %d; the webhook is off: %t", link, secret, off)
	}
}

func TestAPlanIsCarriedOut(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	report, _, err := run(t.Context(), t, s, small(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, s)
	told(t, s, []apply.Report{report})
	if report.Copied != 4 || report.Playlists != 3 || report.Items != 6 || report.Noted != 4 || len(report.Invited) != 1 || report.Invited[0].Token != "token-of-dj" || len(report.Webhooks) != 1 {
		t.Errorf("%+v", report)
	}
	not := map[string]string{}
	for _, n := range report.Not {
		not[n.What] = n.Why.En
	}
	if not["in/bad.mp3"] != "It is damaged." || !strings.Contains(not["in/gone.mp3"], "--media") {
		t.Errorf("%v", not)
	}
	// A second run finds all there, and does nothing.
	patches := s.Patches
	report, p, err := run(t.Context(), t, s, small(), dir, nil)
	if err != nil || report.Copied != 0 || report.Playlists != 0 || s.Patches != patches || p.Sum().There != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	whole(t, s)
	// Even one that knows nothing of the first adds no file that the names identify.
	if _, p, _ := run(t.Context(), t, s, &model.Station{}, t.TempDir(), nil); p.Sum().Bring != 0 {
		t.Errorf("%+v", p.Sum())
	}
}

var errKilled = errors.New("killed")

// killer is a connection that dies at a request, and the process with it: before it is sent, or
// when it is done and its answer lost.
type killer struct {
	mu    sync.Mutex
	left  int
	after bool
	kill  context.CancelFunc
	count int
}

func (k *killer) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	k.left--
	k.count++
	left := k.left
	k.mu.Unlock()
	switch {
	case left < 0:
		return nil, errKilled
	case left == 0 && !k.after:
		k.kill()
		return nil, errKilled
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if left == 0 && err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		k.kill()
		return nil, errKilled
	}
	return resp, err
}

// Killed at each request, before or after it is done, the next run ends with everything once.
func TestAKillAtAnyRequestIsGoneOnFrom(t *testing.T) {
	counting := &killer{left: 1 << 30}
	if _, _, err := run(t.Context(), t, importtest.NewStation(t), small(), t.TempDir(), counting); err != nil {
		t.Fatal(err)
	}
	if counting.count < 25 {
		t.Fatalf("%d requests", counting.count)
	}
	for at := 1; at <= counting.count; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%t", at, after), func(t *testing.T) {
				s, dir := importtest.NewStation(t), t.TempDir()
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				// Uploads go side by side: a late one may find the run at its end already.
				report, _, err := run(ctx, t, s, small(), dir, &killer{left: at, after: after, kill: kill})
				if (err != nil) != report.Stopped {
					t.Errorf("%+v, %v", report, err)
				}
				again, _, err := run(t.Context(), t, s, small(), dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				whole(t, s)
				told(t, s, []apply.Report{report, again})
			})
		}
	}
}

// Killed again and again, it still ends with everything once.
func TestKillsOneAfterAnotherAreGoneOnFrom(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a test
			s, dir := importtest.NewStation(t), t.TempDir()
			for range 200 {
				ctx, kill := context.WithCancel(t.Context())
				_, _, err := run(ctx, t, s, small(), dir, &killer{left: 1 + chance.IntN(12), after: chance.IntN(2) == 0, kill: kill})
				if kill(); err == nil {
					whole(t, s)
					return
				}
			}
			t.Fatal("it never ends")
		})
	}
}

// faulty answers once per address with an error that another try does not meet.
type faulty struct {
	mu     sync.Mutex
	failed map[string]bool
	status int
}

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	key := r.Method + r.URL.Path
	fail := !f.failed[key]
	f.failed[key] = true
	f.mu.Unlock()
	if fail {
		return &http.Response{StatusCode: f.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestAStationThatRestartsIsWaitedFor(t *testing.T) {
	for _, status := range []int{429, 503, 423} {
		s := importtest.NewStation(t)
		if _, _, err := run(t.Context(), t, s, small(), t.TempDir(), &faulty{failed: map[string]bool{}, status: status}); err != nil {
			t.Fatal(status, err)
		}
		whole(t, s)
	}
}

func TestAFullDiskStopsTheImport(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	report, _, err := run(t.Context(), t, s, small(), dir, &faulty{failed: map[string]bool{}, status: 507})
	if err == nil || !report.Stopped || len(report.Not) > 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
		t.Fatal(err)
	}
	whole(t, s)
}

// What a kill or a power cut leaves of a journal is read as far as it is whole.
func TestATornJournalIsReadAsFarAsItIsWhole(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "import.jsonl")
	tear(t, journal)
	if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
		t.Fatal(err)
	}
	whole(t, s)
}

func TestTwoImportsOfOneSourceDoNotRunAtOnce(t *testing.T) {
	dir := t.TempDir()
	j, err := apply.OpenJournal(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apply.OpenJournal(dir, "x"); err == nil || !strings.Contains(err.Error(), "another import") {
		t.Errorf("%v", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if j, err = apply.OpenJournal(dir, "x"); err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
}

// A whole AzuraCast, out of an archive that is read once.
func TestAStationOfFiveThousandTracksComesOver(t *testing.T) {
	a := importtest.NewAzura(5000, 50)
	st, err := azuracast.Read(t.Context(), azuracast.Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.tzst"), a.Entries(true)), Station: "athir", Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	s := importtest.NewStation(t)
	report, p, err := run(t.Context(), t, s, st, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Copied != 112 || len(p.Tracks) != 5012 || len(s.Tracks) != 112 || len(s.People) != 2 || len(s.Hooks) != 2 {
		t.Errorf("%d copied, %d tracks, %d people, %d webhooks", report.Copied, len(s.Tracks), len(s.People), len(s.Hooks))
	}
	for _, tr := range s.Tracks {
		if i := slices.IndexFunc(a.Stations[0].Media, func(m importtest.AzuraMedia) bool { return bytes.Equal(m.File, tr.Data) }); i < 0 {
			t.Errorf("%s has other bytes", tr.Path)
		}
	}
}
