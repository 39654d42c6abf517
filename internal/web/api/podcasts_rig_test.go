package api_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// openPodcasts opens what is offered on demand, without a show.
func (r *rig) openPodcasts(t *testing.T) *api.Podcasts {
	t.Helper()
	var err error
	r.podcasts, err = podcast.Open(t.Context(), podcast.Options{
		Log: r.log, DB: r.db, Dir: filepath.Join(t.TempDir(), "podcasts"), Finish: copied{}, Station: func() string { return "أثير" }, MostBytes: 20 << 30,
		Origins: map[podcast.Kind]podcast.Origin{podcast.Live: broadcasts{}, podcast.Bulletins: broadcasts{}, podcast.Posts: broadcasts{}, podcast.Library: broadcasts{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &api.Podcasts{Shows: r.podcasts, Live: func(string) bool { return false }}
}

// exampleShows makes what the manual speaks of, and returns its names in the manual and here: a show
// with an episode that is heard and one that could not be made.
func (r *rig) exampleShows(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.podcasts.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	own := podcast.Own{Slug: exampleShow, On: true, Title: "ديوان المساء", Language: "ar", Categories: []string{"Music"}, From: podcast.From{Kind: podcast.Live}}
	if _, err := r.podcasts.Create(ctx, own, r.URL+"/podcasts/diwan/feed.xml"); err != nil {
		t.Fatal(err)
	}
	made := func(key string, state podcast.State) string {
		e, err := r.podcasts.Add(ctx, exampleShow, podcast.Source{Kind: podcast.Live, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		err = retry.Until(t.Context(), func(ctx context.Context) error {
			now, err := r.podcasts.Episode(ctx, exampleShow, e.ID)
			if err == nil && now.State != state {
				err = fmt.Errorf("%s is %s: %s", key, now.State, now.Problem)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	return []string{exampleEpisode, made(exampleRecording, podcast.Published), exampleMade, made(emptyRecording, podcast.Failed)}
}

const emptyRecording, lateRecording = "20260601-empty.mp3", "20260601-late.mp3"

// broadcasts are an origin of three.
type broadcasts struct{}

func (broadcasts) Offers(context.Context) (out []podcast.Raw, err error) {
	for i, key := range []string{lateRecording, emptyRecording, exampleRecording} {
		out = append(out, podcast.Raw{
			Source: podcast.Source{Kind: podcast.Live, Key: key}, Title: "سهرة " + key, Creator: "عمر", Began: time.UnixMilli(1_790_000_000_000 - int64(i)*1000), Duration: time.Minute, Listeners: 4,
			Chapters: []podcast.Chapter{{Title: "الأطلال", Artist: "أم كلثوم"}},
		})
	}
	return out, nil
}

func (b broadcasts) Find(ctx context.Context, key string) (podcast.Raw, error) {
	all, _ := b.Offers(ctx)
	for _, raw := range all {
		if raw.Source.Key == key {
			return raw, nil
		}
	}
	return podcast.Raw{}, fmt.Errorf("%q: %w", key, station.ErrNotFound)
}

func (broadcasts) Fetch(_ context.Context, key, to string) error {
	return os.WriteFile(to, []byte("ID3 "+key), 0o600)
}

func (broadcasts) Standing(context.Context, string) (podcast.Standing, error) {
	return podcast.Free, nil
}

// copied finishes a sound as it is.
type copied struct{}

func (copied) Finish(_ context.Context, from, to string, _ podcast.Tags) (podcast.Finished, error) {
	data, err := os.ReadFile(from)
	if err == nil && strings.Contains(string(data), emptyRecording) {
		err = station.Wrong("sound", "is silence", "لا صوت فيه")
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	return podcast.Finished{Bytes: int64(len(data)), Duration: time.Minute}, err
}

// onDemand are shows in memory, which a test sets.
type onDemand struct {
	sync.Mutex
	dir      string
	shows    map[string]podcast.Show
	episodes map[string][]podcast.Episode // by slug, newest first
	offers   []podcast.Raw
	live     string // slug
	feed     string // that the newest show was made with
	fail     error
}

const exampleShow, exampleEpisode, exampleMade = "diwan", "mfzwq4tdnbuw6ylt", "nb2wyzldn5sgk3tu"

// newRigOnDemand is a rig with a show of broadcasts that has three episodes: one heard, one held,
// one that could not be made.
func newRigOnDemand(t *testing.T) (*rig, *onDemand) {
	t.Helper()
	p := &onDemand{}
	r := makeRig(t, func(o *api.Options) { o.StationKey, o.Podcasts = secret.Of("open-sesame"), p.open(t) })
	common.once.Do(func() { common.doc = document(t, r.URL) })
	r.client = checked(t, common.doc)
	return r, p
}

func (p *onDemand) open(t *testing.T) *api.Podcasts {
	t.Helper()
	p.dir, p.shows, p.episodes = t.TempDir(), map[string]podcast.Show{}, map[string][]podcast.Episode{}
	p.shows[exampleShow] = podcast.Show{
		Own:     podcast.Own{Slug: exampleShow, On: true, Title: "ديوان المساء", Description: "شعر وموسيقى", Language: "ar", Categories: []string{"Music"}, From: podcast.From{Kind: podcast.Live}},
		Version: 1, GUID: "9b024349-ccf0-5f69-a609-6b82873eab3c", Created: 1000, Changed: 1000, Episodes: 1, Latest: 3000, Bytes: 9,
	}
	file := filepath.Join(p.dir, exampleEpisode+".mp3")
	if err := os.WriteFile(file, []byte("ID3 sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := podcast.Episode{
		ID: exampleEpisode, Show: exampleShow, Number: 1, State: podcast.Published, Title: "أم كلثوم: الأطلال", Creator: "منى", Began: 2000, Published: 3000, Changed: 3000, DurationMS: 60_000, Bytes: 9,
		File: exampleEpisode + ".mp3", Chapters: []podcast.Chapter{{StartMS: 0, Title: "الأطلال", Artist: "أم كلثوم"}}, Text: "أهلا بكم", Listeners: -1, Source: podcast.Source{Kind: podcast.Live, Key: exampleRecording},
	}
	held, failed := e, e
	held.ID, held.Number, held.State, held.Published, held.File = exampleMade, 2, podcast.Held, 0, exampleEpisode+".mp3"
	failed.ID, failed.Number, failed.State, failed.Problem, failed.ProblemAR, failed.File = "orxxazlt5fsgk3tv", 3, podcast.Failed, "the recording is empty", "التسجيل فارغ", ""
	p.episodes[exampleShow] = []podcast.Episode{failed, held, e}
	p.offers = []podcast.Raw{{Source: podcast.Source{Kind: podcast.Live, Key: "2026-06-01-late.mp3"}, Title: "سهرة", Creator: "عمر", Began: time.UnixMilli(5000), Duration: time.Minute}}
	return &api.Podcasts{Shows: p, Live: func(slug string) bool { return slug == p.live }}
}

func (p *onDemand) Bytes() (used, most int64) { return 9, 20 << 30 }

func (p *onDemand) Shows() (out []*podcast.Show) {
	p.Lock()
	defer p.Unlock()
	for _, show := range p.shows {
		out = append(out, &show)
	}
	slices.SortFunc(out, func(a, b *podcast.Show) int { return strings.Compare(a.Title+a.Slug, b.Title+b.Slug) })
	return out
}

func (p *onDemand) Show(slug string) (*podcast.Show, error) {
	p.Lock()
	defer p.Unlock()
	show, there := p.shows[slug]
	if !there {
		return nil, fmt.Errorf("show %q: %w", slug, station.ErrNotFound)
	}
	return &show, p.fail
}

func (p *onDemand) Heard(slug string) ([]podcast.Episode, error) {
	all, err := p.Episodes(context.Background(), slug)
	return slices.DeleteFunc(all, func(e podcast.Episode) bool { return !e.Heard(time.Now()) }), err
}

func (p *onDemand) Episodes(_ context.Context, slug string) ([]podcast.Episode, error) {
	p.Lock()
	defer p.Unlock()
	return slices.Clone(p.episodes[slug]), p.fail
}

func (p *onDemand) Episode(_ context.Context, slug, id string) (podcast.Episode, error) {
	return p.change(slug, id, func(*podcast.Episode) error { return nil })
}

func (p *onDemand) Offers(_ context.Context, slug string) ([]podcast.Raw, error) {
	if _, err := p.Show(slug); err != nil {
		return nil, err
	}
	return p.offers, nil
}

func (p *onDemand) Create(_ context.Context, own podcast.Own, feed string) (*podcast.Show, error) {
	p.Lock()
	defer p.Unlock()
	if _, there := p.shows[own.Slug]; there {
		return nil, fmt.Errorf("show %q is there: %w", own.Slug, station.ErrConflict)
	}
	if own.Title == "" {
		return nil, station.Wrong("title", "must be given", "اكتب عنوانا")
	}
	show := podcast.Show{Own: own, Version: 1, Created: 1000, Changed: 1000}
	p.shows[own.Slug], p.feed = show, feed
	return &show, nil
}

func (p *onDemand) alter(slug string, change func(*podcast.Show) error) (*podcast.Show, error) {
	p.Lock()
	defer p.Unlock()
	show, there := p.shows[slug]
	if !there {
		return nil, fmt.Errorf("show %q: %w", slug, station.ErrNotFound)
	}
	if err := change(&show); err != nil {
		return nil, err
	}
	show.Version++
	show.Changed++
	p.shows[slug] = show
	return &show, nil
}

func (p *onDemand) Set(_ context.Context, slug string, version int64, own podcast.Own) (*podcast.Show, error) {
	return p.alter(slug, func(show *podcast.Show) error {
		switch {
		case version != show.Version:
			return fmt.Errorf("load version %d: %w", show.Version, station.ErrConflict)
		case own.Slug != slug:
			return station.Wrong("slug", "cannot be changed", "لا يتغير")
		}
		show.Own = own
		return nil
	})
}

func (p *onDemand) SetCover(_ context.Context, slug string, data []byte) (*podcast.Show, error) {
	return p.alter(slug, func(show *podcast.Show) error {
		if !strings.HasPrefix(string(data), "\x89PNG") {
			return station.Wrong("cover", "must be a picture", "أرسل صورة")
		}
		show.Cover = "c0ffee"
		return nil
	})
}

func (p *onDemand) RemoveCover(_ context.Context, slug string) (*podcast.Show, error) {
	return p.alter(slug, func(show *podcast.Show) error { show.Cover = ""; return nil })
}

func (p *onDemand) Remove(_ context.Context, slug string) error {
	_, err := p.alter(slug, func(show *podcast.Show) error { show.Removed = 4000; return nil })
	return err
}

func (p *onDemand) Restore(_ context.Context, slug string) error {
	_, err := p.alter(slug, func(show *podcast.Show) error { show.Removed = 0; return nil })
	return err
}

func (p *onDemand) Add(_ context.Context, slug string, from podcast.Source) (podcast.Episode, error) {
	if from.Key == "gone.mp3" {
		return podcast.Episode{}, station.Wrong("key", "names nothing that is there", "لا شيء بهذا الاسم")
	}
	p.Lock()
	defer p.Unlock()
	e := podcast.Episode{ID: fmt.Sprintf("made%012d", len(p.episodes[slug])), Show: slug, State: podcast.Making, Title: from.Key, Listeners: -1, Source: from}
	p.episodes[slug] = append([]podcast.Episode{e}, p.episodes[slug]...)
	return e, nil
}

func (p *onDemand) change(slug, id string, with func(*podcast.Episode) error) (podcast.Episode, error) {
	p.Lock()
	defer p.Unlock()
	for i := range p.episodes[slug] {
		e := &p.episodes[slug][i]
		if e.ID != id {
			continue
		}
		if err := with(e); err != nil {
			return podcast.Episode{}, err
		}
		return *e, nil
	}
	return podcast.Episode{}, fmt.Errorf("episode %q: %w", id, station.ErrNotFound)
}

func (p *onDemand) Edit(_ context.Context, slug, id string, by podcast.Edit) (podcast.Episode, error) {
	return p.change(slug, id, func(e *podcast.Episode) error {
		if by.Chapters != nil {
			for i, c := range *by.Chapters {
				if c.StartMS < 0 {
					return station.Wrong(fmt.Sprintf("chapters[%d].startMs", i), "must not be negative", "لا تكن سالبة")
				}
			}
			e.Chapters = *by.Chapters
		}
		if by.Title != nil {
			e.Title = *by.Title
		}
		if by.State != nil {
			e.State, e.Published = *by.State, 4000
		}
		if by.Pinned != nil {
			e.Pinned = *by.Pinned
		}
		return nil
	})
}

func (p *onDemand) state(slug, id string, state podcast.State) error {
	_, err := p.change(slug, id, func(e *podcast.Episode) error {
		if e.State, e.Removed = state, 0; state == podcast.Removed {
			e.Removed = 4000
		}
		return nil
	})
	return err
}

func (p *onDemand) RemoveEpisode(_ context.Context, slug, id string) error {
	return p.state(slug, id, podcast.Removed)
}

func (p *onDemand) RestoreEpisode(_ context.Context, slug, id string) error {
	return p.state(slug, id, podcast.Published)
}

func (p *onDemand) Retry(_ context.Context, slug, id string) error {
	return p.state(slug, id, podcast.Making)
}

func (p *onDemand) SoundOf(_ context.Context, slug, id string) (string, podcast.Episode, error) {
	e, err := p.change(slug, id, func(*podcast.Episode) error { return nil })
	if err == nil && e.File == "" {
		err = fmt.Errorf("a sound of episode %q: %w", id, station.ErrNotFound)
	}
	return filepath.Join(p.dir, e.File), e, err
}
