package bulletin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// childDir, set in the environment, makes this test binary a program that makes
// a bulletin there and gets stuck when half of it is written, for a test to kill.
const childDir = "ATHIR_TEST_BULLETIN_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		stuck, err := New(Options{Dir: dir, Voice: hummer{}, Master: stuckDesk{}})
		if err == nil {
			_, err = stuck.Make(context.Background(), time.Now())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testkit.Main(m)
}

// hummer gives a second of noise for every text.
type hummer struct{}

func (hummer) SayAll(_ context.Context, texts []string) []speech.Clip {
	pcm := make([]int16, rate)
	for i := range pcm {
		pcm[i] = int16(327 * (i%100 - 50))
	}
	out := make([]speech.Clip, len(texts))
	for i := range out {
		out[i] = speech.Clip{WAV: wav.PCM16(rate, 1, pcm), Voice: "hummer"}
	}
	return out
}

// stuckDesk writes half a file and never comes to an end.
type stuckDesk struct{}

func (stuckDesk) Do(_ context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	all, err := os.ReadFile(job.In)
	if err != nil {
		return mastering.Record{}, err
	}
	if err := os.WriteFile(job.Out, all[:len(all)/2], 0o600); err != nil {
		return mastering.Record{}, err
	}
	time.Sleep(time.Hour)
	return mastering.Record{}, errors.New("not killed")
}

// usual are three headlines of a usual length.
const usual = "افتتاح خط جديد لمترو الأنفاق يربط شرق القاهرة بغربها\n" +
	"انطلاق معرض القاهرة الدولي للكتاب بمشاركة ألف دار نشر\n" +
	"وزارة السياحة تعلن زيادة أعداد الزائرين خلال الشهر الماضي\n" +
	"خبر رابع لا يقرؤه أحد\n"

// booth is the offline voice, for real, which breaks at texts of a test's
// choice. What was said once is not said again: it takes a while.
type booth struct {
	t      *testing.T
	hums   bool // every text is a second of noise: where a test does not listen
	broken func(text string) bool
}

var saidBefore sync.Map // text to speech.Clip

func (b *booth) SayAll(ctx context.Context, texts []string) []speech.Clip {
	voice, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: espeak(b.t), Limit: time.Minute}}})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []speech.Clip
	for _, text := range texts {
		said, ok := saidBefore.Load(text)
		switch {
		case b.broken != nil && b.broken(text):
			said = speech.Clip{Err: errors.New("out of breath")}
		case b.hums:
			said = hummer{}.SayAll(ctx, []string{text})[0]
		case !ok:
			c, err := voice.Say(ctx, text)
			said = c
			if err == nil {
				saidBefore.Store(text, said)
			}
		}
		out = append(out, said.(speech.Clip))
	}
	return out
}

func espeak(t *testing.T) *speech.Espeak {
	t.Helper()
	e, err := speech.NewEspeak("ar", 8)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// copier leaves the sound as it is, where a test does not listen to it.
type copier struct{}

func (copier) Do(_ context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	sound, err := os.ReadFile(job.In)
	if err != nil {
		return mastering.Record{}, err
	}
	return mastering.Record{}, os.WriteFile(job.Out, sound, 0o600)
}

// failing masters nothing.
type failing struct{ err error }

func (f failing) Do(context.Context, mastering.Job, func(float64)) (mastering.Record, error) {
	return mastering.Record{}, f.err
}

var truePeak = regexp.MustCompile(`(?m)^\s+Peak:\s+(-?[\d.]+) dBFS`)

// measure asks ffmpeg's meter for LUFS and dBTP.
func measure(ctx context.Context, path string) (lufs, dbtp float64, err error) {
	var said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stderr: &said,
		Args: []string{"-nostdin", "-hide_banner", "-nostats", "-i", path, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"},
	}, nil)
	i, p := integrated.FindSubmatch(said.Bytes()), truePeak.FindSubmatch(said.Bytes())
	if err != nil || !exit.OK() || i == nil || p == nil {
		return 0, 0, fmt.Errorf("measure: %w: %s", err, said.Bytes())
	}
	lufs, _ = strconv.ParseFloat(string(i[1]), 64)
	dbtp, _ = strconv.ParseFloat(string(p[1]), 64)
	return lufs, dbtp, nil
}

type weather struct {
	w   arabic.Weather
	err error
}

func (w weather) Now(context.Context) (arabic.Weather, error) { return w.w, w.err }

var fine = weather{w: arabic.Weather{Celsius: 23, Code: 0, WindKmh: 12, WindDeg: 320}}

func maker(t *testing.T, change func(*Options)) *Maker {
	t.Helper()
	o := Options{
		Dir: filepath.Join(t.TempDir(), "news"), Headlines: headlineFile(t, usual),
		Voice: &booth{t: t}, Master: mastering.New(mastering.Options{}), Weather: fine,
	}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	// 06:05 of a winter's day in Cairo; time goes by, but not to the next minute.
	var calls atomic.Int64
	m.now = func() time.Time {
		return time.Date(2026, 1, 15, 4, 5, 0, int(calls.Add(1))*int(time.Millisecond), time.UTC)
	}
	return m
}

// spokenKinds are the segments in a bulletin, in order.
func spokenKinds(r Result) string {
	var out []string
	for _, s := range r.Segments {
		if s.Voice != "" {
			out = append(out, string(s.Kind))
		}
	}
	return strings.Join(out, " ")
}

// files lists all that is below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}
