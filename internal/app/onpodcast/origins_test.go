package onpodcast

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// soundAt writes a short MP3 and returns its bytes.
func soundAt(t *testing.T, path string) []byte {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=3", "-b:a", "128k", "file:"+path).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same reports that a file is there and has the bytes that are wanted.
func same(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) { //nolint:gosec // test
		t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
	}
}

// node answers as the broadcast node does, and breaks off after so many bytes of a recording while
// that is above 0.
type node struct {
	server *httptest.Server
	cut    int64
}

func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimPrefix(n.server.URL, "http://")
	resp, err := n.server.Client().Transport.RoundTrip(r)
	if err == nil && n.cut > 0 && strings.HasSuffix(r.URL.Path, ".mp3") {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(resp.Body, n.cut), broken{}), resp.Body}
	}
	return resp, err
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

// The node's own recorder is asked, over HTTP, whole and in pieces: what breaks off leaves nothing,
// may be tried again, and is whole then.
func TestARecordingIsFetchedWholeOrNotAtAll(t *testing.T) {
	for _, piece := range []int64{0, 10_000} {
		dir := t.TempDir()
		const name = "LIVE_20261129-200000_nour.mp3"
		want := soundAt(t, filepath.Join(dir, name))
		began := time.Now().Add(-time.Hour)
		listeners := 4.5
		facts, err := json.Marshal(record.Recording{
			Name: name, Title: "سهرة", Presenter: "نور", StreamID: "LIVE12345678", Began: began.UnixMilli(), Ended: began.Add(time.Minute).UnixMilli(),
			DurationMS: 60_000, Bytes: int64(len(want)), Parts: 1, Complete: true, Listeners: &listeners,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, ".mp3")+".json"), facts, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := record.Open(record.Options{Dir: dir, Log: slog.New(slog.DiscardHandler), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		n := &node{server: httptest.NewServer(all.Handler())}
		t.Cleanup(n.server.Close)
		b := &broadcasts{
			node: wire.Recordings{RoundTripper: n, Piece: piece, Clock: &wire.Clock{Measured: func(at time.Time) time.Time { return at }}},
			now:  time.Now,
		}
		offers, err := b.Offers(t.Context())
		if err != nil || len(offers) != 1 {
			t.Fatalf("%+v, %v", offers, err)
		}
		if r := offers[0]; r.Source != (podcast.Source{Kind: podcast.Live, Key: name}) || r.Title != "سهرة" || r.Creator != "نور" || r.Stream != "LIVE12345678" || r.Duration != time.Minute || r.Listeners != 4.5 || r.Began.UnixMilli() != began.UnixMilli() {
			t.Errorf("offered %+v", r)
		}
		if found, err := b.Find(t.Context(), name); err != nil || found.Title != "سهرة" {
			t.Errorf("%+v, %v", found, err)
		}
		if _, err := b.Find(t.Context(), "../"+name); !errors.Is(err, station.ErrNotFound) {
			t.Error(err)
		}
		into := t.TempDir()
		to := filepath.Join(into, "a.raw")
		n.cut = 5000
		if err := b.Fetch(t.Context(), name, to); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("broken off: %v", err)
		}
		if left, err := os.ReadDir(into); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		n.cut = 0
		if err := b.Fetch(t.Context(), name, to); err != nil {
			t.Fatal(err)
		}
		same(t, to, want)
		if err := b.Fetch(t.Context(), name, to); !errors.Is(err, station.ErrConflict) {
			t.Errorf("to where a file is: %v", err)
		}
		same(t, to, want)
		if err := all.Delete(name); err != nil {
			t.Fatal(err)
		}
		if err := b.Fetch(t.Context(), name, filepath.Join(into, "b.raw")); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("deleted on the node: %v", err)
		}
		n.server.Close()
		if _, err := b.Offers(t.Context()); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("a node that is away: %v", err)
		}
	}
}

type listed struct {
	all   []wire.Recording
	asked int // for titles
}

func (l *listed) List(context.Context) ([]wire.Recording, error) { return slices.Clone(l.all), nil }

// Titles are of all but the second.
func (l *listed) Titles(_ context.Context, name string) ([]wire.Title, error) {
	l.asked++
	if name == "1" {
		return nil, station.ErrNotFound
	}
	return []wire.Title{{AtMS: 1000, Title: "b"}}, nil
}

func (*listed) Save(context.Context, string, string, string) (string, error) {
	return "", errors.New("not asked for")
}

// What may still grow is no offer.
func TestOnlyWhatIsOverIsOffered(t *testing.T) {
	now := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	b := &broadcasts{now: func() time.Time { return now }, node: &listed{all: []wire.Recording{
		{Name: "under way", Began: ago(time.Hour), DurationMS: 3_000_000},
		{Name: "just interrupted", Began: ago(time.Hour), Ended: ago(95 * time.Second), Interrupted: true, DurationMS: 3_000_000},
		{Name: "interrupted for good", Began: ago(time.Hour), Ended: ago(3 * time.Minute), Interrupted: true, DurationMS: 3_000_000},
		{Name: "just ended", Began: ago(time.Hour), Ended: ago(0), DurationMS: 3_000_000, Presenter: "Sara"},
		{Name: "empty", Began: ago(time.Hour), Ended: ago(time.Minute)},
	}}}
	offers, err := b.Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range offers {
		names = append(names, r.Source.Key)
	}
	if !slices.Equal(names, []string{"interrupted for good", "just ended"}) {
		t.Error(names)
	}
	if offers[1].Title != "Sara" || offers[1].Listeners != -1 {
		t.Errorf("%+v", offers[1])
	}
	for _, name := range []string{"under way", "just interrupted"} {
		if _, err := b.Find(t.Context(), name); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Chapters are what the source said, where it said it.
func TestChaptersAreWhatTheSourceSaid(t *testing.T) {
	rec := wire.Recording{Title: "سهرة", Presenter: "نور", DurationMS: 60_000}
	said := []wire.Title{{AtMS: 4000, Title: "one", Creator: "نور"}, {AtMS: 9000, Title: ""}, {AtMS: 20_000, Title: "two", Creator: "by two"}, {AtMS: 60_000, Title: "at its end"}}
	got := chaptersOf(rec, said)
	if want := []podcast.Chapter{{Title: "سهرة"}, {StartMS: 4000, Title: "one"}, {StartMS: 20_000, Title: "two", Artist: "by two"}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	said[0].AtMS = 0 // before the first sound
	if got := chaptersOf(rec, said); len(got) != 2 || got[0] != (podcast.Chapter{Title: "one"}) {
		t.Errorf("%+v", got)
	}
	if got := chaptersOf(rec, nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

// What a source said is read once for each recording; a node that keeps no titles has none.
func TestChaptersAreReadOnce(t *testing.T) {
	now := time.Now()
	var all []wire.Recording
	for i := range marked + 20 {
		all = append(all, wire.Recording{Name: fmt.Sprint(i), Title: "a", Began: now.Add(-time.Hour).UnixMilli(), Ended: now.UnixMilli(), DurationMS: time.Hour.Milliseconds()})
	}
	node := &listed{all: all}
	b := &broadcasts{now: time.Now, node: node}
	for range 3 {
		offers, err := b.Offers(t.Context())
		if err != nil || len(offers) != len(all) || len(offers[0].Chapters) != 2 || offers[1].Chapters != nil || offers[marked].Chapters != nil {
			t.Fatalf("%d offers, %v", len(offers), err)
		}
	}
	if node.asked != marked {
		t.Errorf("asked %d times", node.asked)
	}
	if r, err := b.Find(t.Context(), fmt.Sprint(marked)); err != nil || len(r.Chapters) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	node.all = all[:1]
	if _, err := b.Offers(t.Context()); err != nil || len(b.chaped) != 1 {
		t.Errorf("%d are remembered of one, %v", len(b.chaped), err)
	}
}

// A bulletin tells what it says, from the time that it tells; no other file is one.
func TestBulletinsTellWhatTheySay(t *testing.T) {
	root, noted := t.TempDir(), filepath.Join(t.TempDir(), "bulletins")
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	b := &bulletins{media: root, noted: noted, arabic: true, zone: cairo, log: slog.New(slog.DiscardHandler)}
	if offers, err := b.Offers(t.Context()); err != nil || len(offers) != 0 {
		t.Errorf("without a deck: %v, %v", offers, err)
	}
	at := time.Date(2026, 11, 29, 13, 0, 0, 0, cairo)
	key := fmt.Sprintf("news/NEWS_%d.mp3", at.UnixMilli())
	older := fmt.Sprintf("news/NEWS_%d.mp3", at.Add(-time.Hour).UnixMilli())
	want := soundAt(t, filepath.Join(root, key))
	soundAt(t, filepath.Join(root, older))
	soundAt(t, filepath.Join(root, "news/NEWS_of_yesterday.mp3"))
	b.note(production.BulletinMade{File: key, At: at.UnixMilli(), Segments: []production.BulletinSegment{
		{Kind: "time", Text: "السَّاعَةُ الآنَ", Voice: "v"}, {Kind: "weather", Problem: "none"}, {Kind: "headlines", Text: "خبر", Voice: "v", At: 1500 * time.Millisecond},
	}})
	offers, err := b.Offers(t.Context())
	if err != nil || len(offers) != 2 || offers[0].Source.Key != key || offers[1].Source.Key != older {
		t.Fatalf("%+v, %v", offers, err)
	}
	r := offers[0]
	if r.Title != "نشرة الأحد 29 نوفمبر 2026، الساعة 13:00" || !r.From.Equal(at) || !r.Began.Equal(at) || r.Text != "السَّاعَةُ الآنَ\nخبر" || (r.Duration-3*time.Second).Abs() > 50*time.Millisecond {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.Chapters, []podcast.Chapter{{Title: "الساعة الآن"}, {StartMS: 1500, Title: "العناوين"}}) {
		t.Errorf("%+v", r.Chapters)
	}
	if offers[1].Text != "" || offers[1].Chapters != nil {
		t.Errorf("one that was made before: %+v", offers[1])
	}
	b.arabic = false
	if r, err := b.Find(t.Context(), key); err != nil || r.Title != "Bulletin of Sunday 29 November 2026, 13:00" {
		t.Errorf("%+v, %v", r, err)
	}
	to := filepath.Join(t.TempDir(), "a")
	if err := b.Fetch(t.Context(), key, to); err != nil {
		t.Fatal(err)
	}
	same(t, to, want)
	for _, bad := range []string{"", "news/", "news/../" + key, "other/" + filepath.Base(key), "../news/" + filepath.Base(key), filepath.Base(key), "news/NEWS_of_yesterday.mp3", "news/NEWS_1900000000000.mp3", key + "\x00"} {
		if _, err := b.Find(t.Context(), bad); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
		if err := b.Fetch(t.Context(), bad, filepath.Join(t.TempDir(), "b")); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for i := range mostNoted + 5 {
		b.note(production.BulletinMade{File: fmt.Sprintf("news/NEWS_%d.mp3", at.UnixMilli()+int64(i)+1)})
	}
	if left, err := os.ReadDir(noted); err != nil || len(left) != mostNoted {
		t.Errorf("%d are noted, %v", len(left), err)
	}
}

// sent are posts with their files in a folder.
type sent struct {
	posts map[int64]*social.Post
	dir   string
	err   error
}

func (s *sent) List(_ context.Context, q social.Query) (social.Page, error) {
	var p social.Page
	for _, post := range s.posts {
		if post.Status == q.Status {
			p.Posts = append(p.Posts, *post)
		}
	}
	slices.SortFunc(p.Posts, func(a, b social.Post) int { return int(b.ID - a.ID) })
	if at := slices.IndexFunc(p.Posts, func(a social.Post) bool { return fmt.Sprint(a.ID) == q.Cursor }); at >= 0 {
		p.Posts = p.Posts[at+1:]
	}
	if len(p.Posts) > 1 { // one a page
		p.Posts = p.Posts[:1]
		p.Next = fmt.Sprint(p.Posts[0].ID)
	}
	return p, s.err
}

func (s *sent) Brief(_ context.Context, id int64) (social.Post, error) {
	if p := s.posts[id]; p != nil && s.err == nil {
		return *p, nil
	}
	return social.Post{}, errors.Join(s.err, station.ErrNotFound)
}

func (s *sent) Path(file string) string { return filepath.Join(s.dir, file) }

// Posts are offered while they are approved; one that is rejected later is withdrawn.
func TestPostsAreThoseThatAreApproved(t *testing.T) {
	dir := t.TempDir()
	want := soundAt(t, filepath.Join(dir, "social/song/SOC_2_a.mp3"))
	approved := time.Now().UnixMilli()
	s := &sent{dir: dir, posts: map[int64]*social.Post{
		1: {ID: 1, Status: social.Pending, File: "social/song/SOC_1_a.mp3"},
		2: {ID: 2, Status: social.Approved, Type: social.Song, Title: "أغنية", Description: "words", CreatedBy: "سارة", Artist: " ", Approved: approved, File: "social/song/SOC_2_a.mp3", Duration: 3 * time.Second},
		3: {ID: 3, Status: social.Approved, Type: social.SFX, Title: "bang", Artist: "me", File: "social/sfx/SOC_3_a.mp3"},
		4: {ID: 4, Status: social.Rejected},
	}}
	p := posts{s}
	offers, err := p.Offers(t.Context())
	if err != nil || len(offers) != 2 || offers[0].Source.Key != "3" {
		t.Fatalf("%+v, %v", offers, err)
	}
	if r := offers[1]; r.Source.Key != "2" || r.Type != "song" || r.Title != "أغنية" || r.Artist != "سارة" || r.Creator != "سارة" || r.Summary != "words" || r.Began.UnixMilli() != approved || r.Duration != 3*time.Second || r.Listeners != -1 {
		t.Errorf("%+v", r)
	}
	to := filepath.Join(t.TempDir(), "a")
	if err := p.Fetch(t.Context(), "2", to); err != nil {
		t.Fatal(err)
	}
	same(t, to, want)
	if err := p.Fetch(t.Context(), "3", to+"3"); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("a file that is away: %v", err)
	}
	for _, key := range []string{"1", "4", "5", "02", "-2", "x", ""} {
		if _, err := p.Find(t.Context(), key); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
		if err := p.Fetch(t.Context(), key, to+"x"); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	for key, want := range map[string]podcast.Standing{"1": podcast.Withheld, "2": podcast.Free, "4": podcast.Withdrawn, "5": podcast.Withdrawn} {
		if got, err := p.Standing(t.Context(), key); err != nil || got != want {
			t.Errorf("%s is %v, %v", key, got, err)
		}
	}
}

// A platform that cannot be read now withdraws nothing.
func TestAPlatformThatIsAwayWithdrawsNothing(t *testing.T) {
	p := posts{unreadable{}}
	if is, err := p.Standing(t.Context(), "2"); is != "" || !errors.Is(err, station.ErrUnavailable) {
		t.Error(is, err)
	}
	if _, err := p.Offers(t.Context()); !errors.Is(err, station.ErrUnavailable) {
		t.Error(err)
	}
}

type unreadable struct{}

var errDisk = errors.New("disk I/O error")

func (unreadable) List(context.Context, social.Query) (social.Page, error) {
	return social.Page{}, errDisk
}
func (unreadable) Brief(context.Context, int64) (social.Post, error) { return social.Post{}, errDisk }
func (unreadable) Path(string) string                                { return "" }

// Of the library only what it names is read.
func TestTheLibraryGivesWhatItNames(t *testing.T) {
	root := t.TempDir()
	want := soundAt(t, filepath.Join(root, "mashups/one.mp3"))
	soundAt(t, filepath.Join(root, "mashups/unknown.mp3"))
	added := time.Now()
	library := &media.Snapshot{Tracks: []station.Track{
		{Path: "mashups/gone.mp3", Title: "gone", AddedAt: added.Add(-time.Hour)}, {Path: "mashups/one.mp3", Title: "one", Artist: "me", AddedAt: added, Duration: 3 * time.Second},
	}}
	s := shelf{library: func() *media.Snapshot { return library }, root: root, cover: func(t station.Track) string { return "cover of " + t.Title }}
	offers, err := s.Offers(t.Context())
	if err != nil || len(offers) != 2 || offers[0].Title != "one" || offers[0].Cover != "cover of one" || offers[0].Artist != "me" || offers[0].Duration != 3*time.Second {
		t.Fatalf("%+v, %v", offers, err)
	}
	to := filepath.Join(t.TempDir(), "a")
	if err := s.Fetch(t.Context(), "mashups/one.mp3", to); err != nil {
		t.Fatal(err)
	}
	same(t, to, want)
	for _, key := range []string{"mashups/unknown.mp3", "../etc/passwd", "mashups/../mashups/one.mp3", "mashups/gone.mp3", ""} {
		if err := s.Fetch(t.Context(), key, to+"2"); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	large := filepath.Join(root, "mashups/one.mp3")
	if err := os.Truncate(large, 40<<20); err != nil {
		t.Fatal(err)
	}
	if err := s.Fetch(ctx, "mashups/one.mp3", to+"3"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(to + "3"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
}
