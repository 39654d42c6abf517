package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a registry over a station configuration of its own, with a clock that is set.
type rig struct {
	*registry.Registry
	t     testing.TB
	path  string
	owner *policy.Owner
	now   time.Time
	lines *testkit.Lines
	calls atomic.Int64
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "station.json"), now: time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)}
	r.restart()
	return r
}

func (r *rig) restart() {
	r.t.Helper()
	owner, err := policy.Open(r.path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.owner = owner
	log, lines := testkit.Log(r.t)
	r.lines = lines
	r.Registry, err = registry.Open(registry.Options{
		Log: log, Store: owner, Now: func() time.Time { return r.now }, Changed: func() { r.calls.Add(1) },
		Addresses: registry.Addresses{Pipes: "/node/pipes", Own: []string{"rtmp://127.0.0.1:19350/"}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) register(url, title, ingest string) live.Stream {
	r.t.Helper()
	s, err := r.Register(r.t.Context(), registry.Fields{URL: url, Title: title, Ingest: ingest})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// The mission's rule, and what is like it and is not the same.
func TestTheSameStreamIsRegisteredOnce(t *testing.T) {
	r := newRig(t)
	first, err := r.Register(t.Context(), registry.Fields{URL: "http://a.example/s", Title: "Show", Creator: "Sara", Listeners: 5, Ingest: "rtmp2"})
	if err != nil {
		t.Fatal(err)
	}
	want := live.Stream{ID: first.ID, URL: "http://a.example/s", Title: "Show", Creator: "Sara", Listeners: 5, Ingest: "rtmp", AddedAt: r.now.UnixMilli()}
	if len(first.ID) != 12 || !strings.HasPrefix(first.ID, "LIVE") || first != want {
		t.Errorf("registered %+v", first)
	}
	if _, err := r.Vote(t.Context(), first.ID, 3); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(time.Hour)
	for _, ingest := range []string{"rtmp", "rtmp2", "webrtc", ""} {
		again, err := r.Register(t.Context(), registry.Fields{URL: " http://a.example/s ", Title: "Show", Creator: "Omar", Listeners: 7, Ingest: ingest})
		want.Creator, want.Listeners, want.Votes = "Omar", 7, 3
		if err != nil || again != want {
			t.Errorf("%s: %+v, %v", ingest, again, err)
		}
	}
	other := map[string]bool{first.ID: true}
	for _, s := range []live.Stream{
		r.register("http://a.example/s", "Another", "rtmp"), r.register("http://a.example/t", "Show", "rtmp"),
		r.register("http://a.example/s", "Show", "pipe"), r.register("pipe:/node/pipes/a.pcm", "Show", "webrtc"),
	} {
		other[s.ID] = true
	}
	if len(other) != 5 || len(r.List()) != 5 {
		t.Errorf("%d ids, list %+v", len(other), r.List())
	}
	if got := r.List()[4]; got.Ingest != "pipe" {
		t.Errorf("a pipe's ingest: %q", got.Ingest)
	}
}

func TestThePhonesPipeIsOneEntryWhateverItsTitle(t *testing.T) {
	r := newRig(t)
	r.register("pipe:/node/pipes/whip.pcm", "by the studio", "pipe")
	r.register("pipe:/node/pipes/whip.pcm", "by the studio again", "pipe")
	var ids []string
	for i, url := range []string{"pipe:/node/pipes/whip.pcm", "pipe:/node/pipes/whip.pcm", "pipe:/node/pipes/moved.pcm"} {
		s, err := r.RegisterPipe(t.Context(), registry.Fields{URL: url, Title: fmt.Sprint("show ", i), Creator: "Sara", Ingest: "webrtc"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
		if all := r.List(); len(all) != 1 || all[0].URL != url || all[0].Title != fmt.Sprint("show ", i) || all[0].Ingest != "pipe" {
			t.Errorf("after %d: %+v", i, all)
		}
		r.restart()
	}
	if ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("ids %v", ids)
	}
	if _, err := r.RegisterPipe(t.Context(), registry.Fields{URL: "http://a.example/s"}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("no pipe: %v", err)
	}
	// An encoder's mount carries one programme at a time.
	a, _ := r.RegisterFeed(t.Context(), registry.Fields{URL: "source:/sara", Title: "one"})
	b, err := r.RegisterFeed(t.Context(), registry.Fields{URL: "source:/sara", Title: strings.Repeat("ع", 300)})
	if err != nil || a.ID != b.ID || len([]rune(b.Title)) != 200 || len(r.List()) != 2 {
		t.Errorf("mount: %+v %+v %v", a, b, err)
	}
}

func TestWrongFieldsAreNamed(t *testing.T) {
	r := newRig(t)
	for url, want := range map[string]string{
		"": "url: must not be empty", "ftp://a.example/": "url: must begin with rtmp://", "javascript:alert(1)": "url: must begin",
		"HTTP://a.example/": "lower case", "http:a.example": "url: ", "http:///x": "names no host", "http://a.example:99999/": "port",
		"http://a.example/\u202ex": "control characters", "http://a.example/a b": "spaces", "http://a.example/\n": "",
		"http://127.0.0.1/x": "fetches nothing", "http://[::1]/x": "fetches nothing", "http://10.1.2.3/": "fetches nothing",
		"http://[::ffff:192.168.1.1]/": "fetches nothing", "http://localhost:80/": "private network", "rtmp://127.0.0.1:19351/live/x": "fetches nothing",
		"http://2130706433/": "unusual form", "http://0x7f.1/": "unusual form", "http://a.localhost./": "private network",
		"pipe:/node/pipes/../../etc/passwd": "directly in /node/pipes", "pipe:/etc/passwd": "directly in", "pipe:whip.pcm": "directly in",
		"pipe:/node/pipes/": "directly in", "pipe:/node/pipes/.hidden": "directly in", "pipe:/node/pipes//a": "directly in",
		"source:sara": "mount", "source:/a/../b": "mount", "source:/": "mount", "source:/a?b": "mount",
		"http://a.example/" + strings.Repeat("x", 1020): "at most 1024 bytes",
		"http://a\xff.example/":                         "control characters", "file:///etc/passwd": "must begin", "concat:a|b": "must begin",
	} {
		_, err := r.Register(t.Context(), registry.Fields{URL: url, Title: "x"})
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", url, err)
			}
			continue
		}
		if !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	for _, url := range []string{"rtmp://127.0.0.1:19350/live/sara", "https://user:secret@8.8.8.8:8443/s?x=1", "source:/sara", "pipe:/node/pipes/a.pcm", "http://مثال.example/s", "http://[2606:4700::1111]/"} {
		r.register(url, "fine", "")
	}
	_, err := r.Register(t.Context(), registry.Fields{URL: "x", Title: strings.Repeat("a", 201), Creator: strings.Repeat("b", 201), Listeners: -1, Ingest: "hls"})
	for _, field := range []string{"url: ", "title: ", "creator: ", "listeners: ", "ingest: must be rtmp, rtmp2, webrtc or pipe"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
	if s := r.register("http://a.example/s", " a\u202eb\u0007\n c\u200dd ", ""); s.Title != "ab c\u200dd" {
		t.Errorf("title %q", s.Title)
	}
}

func TestCredentialsAreKeptAndNotShown(t *testing.T) {
	r := newRig(t)
	const whole = "https://user:pass@a.example/live/s.m3u8?token=abc#x"
	s := r.register(whole, "private", "")
	_, refused := r.Register(t.Context(), registry.Fields{URL: "http://user:pass@10.0.0.1/x?token=abc"})
	found, _ := r.Find(s.ID)
	r.restart()
	for what, text := range map[string]string{"registered": s.URL, "found": found.URL, "listed": r.List()[0].URL, "refused": refused.Error(), "log": r.lines.String()} {
		if strings.Contains(text, "pass") || strings.Contains(text, "abc") || strings.Contains(text, "user") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if s.URL != "https://a.example/live/s.m3u8?…" {
		t.Errorf("shown as %s", s.URL)
	}
	src, err := r.Source(s.ID)
	if err != nil || src.URL != whole || r.Candidates(nil)[0].URL != whole {
		t.Errorf("for the desk: %+v, %v", src, err)
	}
	if err := r.Block(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	best := r.register("http://b.example/", "best", "")
	if all := r.Ranked(nil); len(all) != 2 || all[0].ID != best.ID || all[1].URL != s.URL {
		t.Errorf("ranked %+v", all)
	}
	if again := r.register(whole, "private", ""); again.ID != s.ID {
		t.Error("the address as shown and as kept are two")
	}
}

func TestStreamsSurviveARestart(t *testing.T) {
	r := newRig(t)
	a, b := r.register("http://a.example/a", "A", ""), r.register("http://a.example/b", "B", "")
	if _, err := r.Vote(t.Context(), a.ID, 5); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Touch(t.Context(), a.ID, r.now), r.Block(t.Context(), b.ID)); err != nil {
		t.Fatal(err)
	}
	before := r.List()
	r.restart()
	if d := cmp.Diff(before, r.List()); d != "" {
		t.Error(d)
	}
	if marks := r.Marks(); !marks[b.ID].ByOrder || len(marks) != 1 {
		t.Errorf("marks %+v", marks)
	}
	if text, _ := json.Marshal(r.List()); strings.Contains(string(text), "dead") || strings.Contains(string(text), "byOrder") {
		t.Errorf("the mark is shown: %s", text)
	}
	if err := r.Remove(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), a.ID); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	for name, err := range map[string]error{
		"touch": r.Touch(t.Context(), "LIVE00000000", r.now), "listeners": r.SetListeners("LIVE00000000", 1), "block": r.Block(t.Context(), a.ID), "failed": r.Failed(t.Context(), a.ID),
	} {
		if !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.restart()
	if all := r.List(); len(all) != 1 || all[0].ID != b.ID {
		t.Errorf("left: %+v", all)
	}
}

// What somebody wrote into the file by hand starts the station, as far as it can be used.
func TestEntriesThatCannotBeUsedAreLeftOutAndNamed(t *testing.T) {
	r := newRig(t)
	raw := `{"note":"mine","streams":[
		{"id":"LIVE0000000a","url":"http://a.example/a","title":"A","ingest":"rtmp","addedAt":1,"votes":99999999},
		{"url":"http://a.example/b","title":"B"}, {"id":"x","url":"http://a.example/c"}, 7,
		{"id":"LIVE0000000a","url":"http://a.example/d"}, {"id":"LIVE0000000b","url":"file:///etc/passwd"}]}`
	if err := r.owner.KeepLive(t.Context(), json.RawMessage(raw)); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if all := r.List(); len(all) != 2 || all[0].ID != "LIVE0000000a" || all[0].Votes != 1_000_000 || len(all[1].ID) != 12 || all[1].Ingest != "rtmp" {
		t.Errorf("taken: %+v", all)
	}
	for _, entry := range []string{"live.streams[2]", "live.streams[3]", "live.streams[4]", "live.streams[5]"} {
		if r.lines.Count("left out", entry) != 1 {
			t.Errorf("%s is not named", entry)
		}
	}
	r.register("http://a.example/e", "E", "")
	if !strings.Contains(string(r.owner.Live()), `"note":"mine"`) {
		t.Errorf("what stood beside the streams is gone: %s", r.owner.Live())
	}
	if err := r.owner.KeepLive(t.Context(), json.RawMessage(`{"streams":{}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Open(registry.Options{Store: r.owner}); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "live.streams") {
		t.Errorf("no list: %v", err)
	}
}

// broken is a store whose disk is full.
type broken struct{ registry.Store }

func (broken) KeepLive(context.Context, json.RawMessage) error { return station.ErrUnavailable }

func TestAChangeThatCannotBeKeptIsNotInForce(t *testing.T) {
	r := newRig(t)
	s := r.register("http://a.example/a", "A", "")
	log, _ := testkit.Log(t)
	full, err := registry.Open(registry.Options{Log: log, Store: broken{r.owner}})
	if err != nil {
		t.Fatal(err)
	}
	before := full.List()
	_, err1 := full.Register(t.Context(), registry.Fields{URL: "http://a.example/b"})
	_, err2 := full.Vote(t.Context(), s.ID, 1)
	err3 := full.Remove(t.Context(), s.ID)
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, station.ErrUnavailable) {
			t.Error(err)
		}
	}
	if d := cmp.Diff(before, full.List()); d != "" {
		t.Error(d)
	}
}

// A full disk keeps nobody off the air whose stream is known as it comes.
func TestAKnownFeedNeedsNoDisk(t *testing.T) {
	r := newRig(t)
	phone := live.Arrival{Protocol: live.WHIP, URL: "pipe:/node/pipes/whip.pcm", Title: "Evening", Creator: "Sara", Publisher: "sara", Session: "1"}
	before, err := r.Arrived(t.Context(), phone)
	if err != nil {
		t.Fatal(err)
	}
	log, _ := testkit.Log(t)
	full, err := registry.Open(registry.Options{Log: log, Store: broken{r.owner}, Addresses: registry.Addresses{Pipes: "/node/pipes"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := full.SetListeners(before.ID, 70); err != nil {
		t.Fatal(err)
	}
	if again, err := full.Arrived(t.Context(), phone); err != nil || again.ID != before.ID {
		t.Errorf("%+v, %v", again, err)
	}
	phone.Title = "Night"
	if _, err := full.Arrived(t.Context(), phone); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("another title: %v", err)
	}
}

func TestVotesListenersAndTheNumberOfStreamsAreBounded(t *testing.T) {
	r := newRig(t)
	s := r.register("http://a.example/a", "A", "")
	for _, delta := range []int{101, -101} {
		if _, err := r.Vote(t.Context(), s.ID, delta); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "delta: ") {
			t.Errorf("%d: %v", delta, err)
		}
	}
	for _, delta := range []int{1, 1, -1, 100, 0} {
		s, _ = r.Vote(t.Context(), s.ID, delta)
	}
	if s.Votes != 101 {
		t.Errorf("votes %d", s.Votes)
	}
	if err := errors.Join(r.SetListeners(s.ID, -5), r.SetListeners(s.ID, 1<<40)); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Find(s.ID); got.Listeners != 10_000_000 {
		t.Errorf("listeners %d", got.Listeners)
	}
	kept := r.owner.Live() // as many as fit, in one go: each would be a write
	all := make([]string, 500)
	for i := range all {
		all[i] = fmt.Sprintf(`{"id":"LIVE%08x","url":"http://a.example/%d","title":"t"}`, i, i)
	}
	if err := r.owner.KeepLive(t.Context(), json.RawMessage(`{"streams":[`+strings.Join(all, ",")+`]}`)); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if _, err := r.Register(t.Context(), registry.Fields{URL: "http://b.example/"}); len(r.List()) != 500 || !errors.Is(err, station.ErrConflict) {
		t.Errorf("%d streams, one more: %v", len(r.List()), err)
	}
	if _, err := r.Register(t.Context(), registry.Fields{URL: "http://a.example/7", Title: "t", Creator: "new"}); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	// Long texts fill the file before the number does: it can still be read.
	if err := r.owner.KeepLive(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i] = fmt.Sprintf(`{"id":"LIVE%08x","url":"http://a.example/%d","title":%q}`, i, i, strings.Repeat("𐎀", 200))
	}
	if err := r.owner.KeepLive(t.Context(), json.RawMessage(`{"streams":[`+strings.Join(all, ",")+`]}`)); err != nil {
		t.Fatal(err)
	}
	r.restart()
	long := strings.Repeat("𐎀", 200)
	taken := 0
	for ; taken < 5; taken++ {
		if err := r.Remove(t.Context(), fmt.Sprintf("LIVE%08x", 499-taken)); err != nil {
			break
		}
		if _, err := r.Register(t.Context(), registry.Fields{URL: "http://b.example/" + strings.Repeat("x", 1000), Title: long, Creator: long}); err != nil {
			if !errors.Is(err, station.ErrConflict) {
				t.Errorf("full: %v", err)
			}
			break
		}
	}
	r.restart() // reads it
}

func TestTouchIsWrittenOnceAMinute(t *testing.T) {
	r := newRig(t)
	s := r.register("http://a.example/a", "A", "")
	calls := r.calls.Load()
	for range 150 {
		r.now = r.now.Add(time.Second)
		if err := r.Touch(t.Context(), s.ID, r.now); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := r.Find(s.ID); r.calls.Load()-calls != 3 || got.LastLiveAt != r.now.Add(-29*time.Second).UnixMilli() {
		t.Errorf("%d writes, last %d", r.calls.Load()-calls, got.LastLiveAt)
	}
}

// One writer after another, readers in between.
func TestConcurrentChangesAreAllKept(t *testing.T) {
	r := newRig(t)
	s := r.register("http://a.example/a", "A", "")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := r.Vote(t.Context(), s.ID, 1); err != nil {
					t.Error(err)
				}
				if _, err := r.Register(t.Context(), registry.Fields{URL: fmt.Sprintf("http://a.example/%d/%d", i, j)}); err != nil {
					t.Error(err)
				}
				_ = r.Candidates(map[string]bool{s.ID: true})
				_ = r.SetListeners(s.ID, i*j)
			}
		})
	}
	wg.Wait()
	r.restart()
	if got, _ := r.Find(s.ID); got.Votes != 20 || len(r.List()) != 21 {
		t.Errorf("%+v, %d streams", got, len(r.List()))
	}
}

// One account that sends to one mount after another keeps nobody else out, and takes away
// nothing of others.
func TestOneAccountHasAFewAddresses(t *testing.T) {
	r := newRig(t)
	arrives := func(publisher, mount string) live.Stream {
		t.Helper()
		r.now = r.now.Add(time.Second)
		s, err := r.Arrived(t.Context(), live.Arrival{Protocol: live.Icecast, URL: live.SourceScheme + mount, Title: "A show", Publisher: publisher})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	other := arrives("other", "/other")
	first := arrives("sara", "/first")
	if err := r.Touch(t.Context(), first.ID, r.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		arrives("sara", fmt.Sprintf("/sara-%d", i))
	}
	r.restart()
	arrives("sara", "/sara-40")
	if all := r.List(); len(all) != 1+8 {
		t.Errorf("%d streams", len(all))
	}
	for _, s := range []live.Stream{other, first} { // another's, and what was live last
		if _, err := r.Find(s.ID); err != nil {
			t.Error(err)
		}
	}
	if again := arrives("sara", "/first"); again.ID != first.ID {
		t.Error("an address that is known has another id")
	}
	for i := range 20 { // the station's own password
		arrives("", fmt.Sprintf("/own-%d", i))
	}
	if all := r.List(); len(all) != 1+8+20 {
		t.Errorf("%d streams", len(all))
	}
}
