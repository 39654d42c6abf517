package imaging

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/library/mastering"
	"github.com/athir-radio/athir/internal/library/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// announcer is the offline voice, for real. What was said once is not said
// again: it takes a while.
type announcer struct{ booth *speech.Booth }

var saidBefore sync.Map // text to Spoken

func (a announcer) Say(ctx context.Context, text string) (Spoken, error) {
	if said, ok := saidBefore.Load(text); ok {
		return said.(Spoken), nil
	}
	c, err := a.booth.Say(ctx, text)
	if err != nil {
		return Spoken{}, err
	}
	saidBefore.Store(text, Spoken{c.WAV, c.Voice})
	return Spoken{c.WAV, c.Voice}, nil
}

func espeak(t testing.TB) announcer {
	t.Helper()
	e, err := speech.NewEspeak("ar", 8)
	if err != nil {
		t.Fatal(err)
	}
	b, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: e, Limit: time.Minute}}})
	if err != nil {
		t.Fatal(err)
	}
	return announcer{b}
}

// desk masters for real.
type desk struct{ master *mastering.Master }

func (d desk) Master(ctx context.Context, in, out string, tags map[string]string) (Mastered, error) {
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		return Mastered{}, err
	}
	rec, err := d.master.Do(ctx, mastering.Job{In: in, Out: out, Profile: profile, Tags: tags, Again: true}, nil)
	return Mastered{rec.Integrated, rec.TruePeak, rec.Duration}, err
}

func maker(t testing.TB, change func(*Options)) (*Maker, string) {
	t.Helper()
	dir := t.TempDir()
	o := Options{Dir: dir, Voice: espeak(t), Master: desk{mastering.New(mastering.Options{})}}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, o.Dir
}

func songs(paths ...string) func(context.Context) ([]Song, error) {
	return func(context.Context) ([]Song, error) {
		var out []Song
		for _, p := range paths {
			out = append(out, Song{Path: p, Title: filepath.Base(p)})
		}
		return out, nil
	}
}
