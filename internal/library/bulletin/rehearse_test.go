package bulletin

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/station"
)

// counted is a weather that counts who asks.
type counted struct {
	weather
	asked atomic.Int64
}

func (c *counted) Now(ctx context.Context) (arabic.Weather, error) {
	c.asked.Add(1)
	return c.weather.Now(ctx)
}

func texts(segments []Segment) (out []string) {
	for _, s := range segments {
		out = append(out, string(s.Kind)+": "+s.Text)
	}
	return out
}

// What a script says is what the bulletin says that is made at the same moment, to the letter.
func TestAScriptIsWhatTheBulletinSays(t *testing.T) {
	outside := &counted{weather: fine}
	m := maker(t, func(o *Options) { o.Voice, o.Master, o.Weather = &booth{t: t, hums: true}, copier{}, outside })
	at := time.Date(2026, 1, 15, 9, 39, 0, 0, time.UTC)
	kept, err := m.Headlines()
	if err != nil {
		t.Fatal(err)
	}
	before, err := m.Script(kept.Lines, at)
	if err != nil || before.Segments[1].Problem != "not asked yet" || len(before.Spares) == 0 {
		t.Errorf("before anybody asked for the weather: %+v, %v", before, err)
	}
	r, err := m.Make(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	made := m.Status()
	script, err := m.Script(kept.Lines, r.At)
	if err != nil || script.Text() != r.Text() || !slices.Equal(texts(script.Segments), texts(r.Segments)) || len(script.Spares) != 0 {
		t.Errorf("the script is\n%s\nthe bulletin says\n%s\n%v", script.Text(), r.Text(), err)
	}
	for _, s := range script.Segments {
		if strings.Join(s.Sentences, " ") != s.Text {
			t.Errorf("%q are the sentences of %q", s.Sentences, s.Text)
		}
	}
	if news := script.Segments[2].Sentences; len(news) != 4 || news[3] != "وزارة السياحة تعلن زيادة أعداد الزائرين خلال الشهر الماضي." {
		t.Errorf("the headlines are said as %q", news)
	}
	if now := m.Status(); outside.asked.Load() != 1 || len(files(t, m.o.Dir)) != 1 || now.Last.Path != made.Last.Path || !now.Tried.Equal(made.Tried) {
		t.Errorf("a script asked or changed something: %d, %+v", outside.asked.Load(), now)
	}
}

// Where there is time left, a script lists what may fill it, in its order; the weather is that
// of the last time for so long as it holds, and so is why there was none.
func TestAScriptListsWhatMayFillTheTime(t *testing.T) {
	outside := &counted{weather: weather{err: errors.New("weather service: answered 500")}}
	m := maker(t, func(o *Options) {
		o.Voice, o.Master, o.Weather = &booth{t: t, hums: true}, copier{}, outside
		o.ComingUp = func(time.Time) ComingUp {
			return ComingUp{Arabic: 9, Next: []arabic.Coming{{Title: "نسم علينا الهوى", Artist: "فيروز"}}}
		}
	})
	at := time.Date(2026, 1, 15, 9, 39, 0, 0, time.UTC)
	r, err := m.Make(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	script, err := m.Script([]string{"افتتاح خط جديد لمترو الأنفاق يربط شرق القاهرة بغربها"}, at)
	if err != nil || script.Segments[1].Problem != "weather service: answered 500" {
		t.Fatalf("%+v, %v", script, err)
	}
	var all []string // sentences that may be said
	for _, s := range script.Spares {
		all = append(all, s.Sentences...)
	}
	filled := 0
	for _, s := range r.Segments {
		if s.Kind != Date && s.Kind != Programme {
			continue
		}
		for _, sentence := range s.Sentences {
			i := slices.Index(all, sentence)
			if filled++; i < 0 {
				t.Fatalf("the bulletin says %q, the script may say %q", sentence, all)
			}
			all = all[i+1:]
		}
	}
	if filled == 0 || !slices.ContainsFunc(script.Spares, func(s Segment) bool { return strings.Contains(s.Text, "فيروز") }) {
		t.Errorf("%d sentences fill the bulletin, of %q", filled, texts(script.Spares))
	}
	empty, err := m.Script(nil, at)
	if err != nil || empty.Segments[2].Problem != "headlines.txt holds no headline" || len(empty.Spares) == 0 {
		t.Errorf("without headlines: %+v, %v", empty, err)
	}
	outside.err = nil
	if _, err := m.Make(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	later := m.now().Add(weatherAge + time.Second)
	m.now = func() time.Time { return later }
	if old, err := m.Script(nil, later); err != nil || old.Segments[1].Problem != "not asked yet" {
		t.Errorf("three hours later: %+v, %v", old.Segments, err)
	}
}

func TestAScriptIsRefusedAsItsHeadlinesWouldBe(t *testing.T) {
	m := maker(t, nil)
	for _, lines := range [][]string{{"خبر", "خبر", "..."}, {strings.Repeat("ا", 161)}, slices.Repeat([]string{"خبر"}, 51)} {
		want := m.SetHeadlines(lines, AnyVersion)
		_, err := m.Script(lines, m.now())
		_, read := Read(lines)
		_, spoken := m.Rehearse(t.Context(), lines, m.now(), filepath.Join(t.TempDir(), "a.mp3"), func(Stage) {})
		if want == nil || err == nil || err.Error() != want.Error() || spoken == nil || spoken.Error() != want.Error() || read == nil || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%.40q is refused with %v, %v and %v, not %v", lines, err, spoken, read, want)
		}
	}
	if read, err := Read([]string{" - أول ", "ثان", "ثالث", "رابع"}); err != nil || !slices.Equal(read, []string{"أول", "ثان", "ثالث"}) {
		t.Errorf("%q are read, %v", read, err)
	}
	unset := maker(t, func(o *Options) { o.Headlines = "" })
	if s, err := unset.Script([]string{"خبر"}, unset.now()); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "set bulletin.headlines") {
		t.Errorf("without a file: %+v, %v", s, err)
	}
}

// A rehearsal is a bulletin in every way, but not in the deck.
func TestARehearsalSoundsLikeTheBulletin(t *testing.T) {
	m := maker(t, nil)
	m.now = func() time.Time { return time.Date(2026, 1, 15, 4, 5, 0, 0, time.UTC) }
	dir := t.TempDir()
	path := filepath.Join(dir, "one.mp3")
	var stages []string
	lines := strings.Split(strings.TrimSpace(usual), "\n")
	r, err := m.Rehearse(t.Context(), lines, m.now(), path, func(s Stage) { stages = append(stages, s.String()) })
	if err != nil {
		t.Fatal(err)
	}
	script, err := m.Script(lines, m.now())
	if err != nil || script.Text() != r.Text() {
		t.Errorf("said is\n%s\nthe script\n%s\n%v", r.Text(), script.Text(), err)
	}
	lufs, dbtp, err := measure(t.Context(), path)
	if err != nil || math.Abs(lufs+14) > 0.5 || dbtp > -1.5 {
		t.Errorf("its loudness is %.1f LUFS, %.1f dBTP, %v", lufs, dbtp, err)
	}
	if d, err := ffmpeg.Length(t.Context(), path); err != nil || d < 34*time.Second || d > 37*time.Second {
		t.Errorf("it lasts %s, %v", d, err)
	}
	silentBetween(t, r)
	if !slices.Equal(stages, []string{"gather", "speak", "join", "master", "done"}) {
		t.Errorf("the stages were %v", stages)
	}
	if s := m.Status(); len(files(t, m.o.Dir)) != 0 || s.Last != nil || !s.Tried.IsZero() || !slices.Equal(files(t, dir), []string{"one.mp3"}) {
		t.Errorf("the deck holds %v, the folder %v, the status says %+v", files(t, m.o.Dir), files(t, dir), s)
	}
}

// held speaks once it is let go.
type held struct {
	hummer
	began chan struct{}
}

func (h held) SayAll(ctx context.Context, texts []string) []speech.Clip {
	if !strings.Contains(strings.Join(texts, " "), "تجربة") {
		return h.hummer.SayAll(ctx, texts)
	}
	close(h.began)
	<-ctx.Done()
	return slices.Repeat([]speech.Clip{{Err: ctx.Err()}}, len(texts))
}

func TestABulletinDoesNotWaitForARehearsal(t *testing.T) {
	voice := held{began: make(chan struct{})}
	m := maker(t, func(o *Options) { o.Voice, o.Master = voice, copier{} })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	path := filepath.Join(t.TempDir(), "one.mp3")
	go func() {
		_, err := m.Rehearse(ctx, []string{"خبر تجربة"}, m.now(), path, func(Stage) {})
		ended <- err
	}()
	testkit.Receive(t, "the rehearsal", voice.began)
	if _, err := m.Make(t.Context(), m.now()); err != nil || m.Status().Making {
		t.Errorf("beside a rehearsal: %v, %+v", err, m.Status())
	}
	cancel()
	if err := testkit.Receive(t, "its end", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a rehearsal that was given up: %v", err)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 0 {
		t.Errorf("it leaves %v", got)
	}
}
