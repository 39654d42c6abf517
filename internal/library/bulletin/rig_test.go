package bulletin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/sound/speech"
)

// childDir, set in the environment, makes this test binary a program that makes
// a bulletin there and gets stuck when half of it is written, for a test to kill.
const childDir = "ATHIR_TEST_BULLETIN_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		stuck, err := New(Options{Dir: dir, Voice: hummer{}, Master: stuckDesk{}})
		if err == nil {
			_, err = stuck.Make(context.Background())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testkit.Main(m)
}

// hummer gives a second of noise for every text.
type hummer struct{}

func (hummer) SayAll(_ context.Context, texts []string) []Spoken {
	pcm := sound{rate, make([]float32, rate)}
	for i := range pcm.samples {
		pcm.samples[i] = float32(i%100)/100 - 0.5
	}
	out := make([]Spoken, len(texts))
	for i := range out {
		out[i] = Spoken{WAV: monoWAV(pcm), Voice: "hummer"}
	}
	return out
}

// monoWAV keeps one channel of two.
func monoWAV(s sound) []byte {
	both := s.stereoWAV()
	b := slices.Clone(both[:44])
	b[22], b[32] = 1, 2
	binary.LittleEndian.PutUint32(b[40:], uint32(2*len(s.samples)))
	for i := 44; i < len(both); i += 4 {
		b = append(b, both[i], both[i+1])
	}
	return b
}

// stuckDesk writes half a file and never comes to an end.
type stuckDesk struct{}

func (stuckDesk) Master(_ context.Context, in, out string, _ map[string]string) (Loudness, error) {
	all, err := os.ReadFile(in)
	if err != nil {
		return Loudness{}, err
	}
	if err := os.WriteFile(out, all[:len(all)/2], 0o600); err != nil {
		return Loudness{}, err
	}
	time.Sleep(time.Hour)
	return Loudness{}, errors.New("not killed")
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
	broken func(text string) bool
}

var saidBefore sync.Map // text to Spoken

func (b *booth) SayAll(ctx context.Context, texts []string) []Spoken {
	voice, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: espeak(b.t), Limit: time.Minute}}})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []Spoken
	for _, text := range texts {
		said, ok := saidBefore.Load(text)
		switch {
		case b.broken != nil && b.broken(text):
			said = Spoken{Err: errors.New("out of breath")}
		case !ok:
			c, err := voice.Say(ctx, text)
			said = Spoken{c.WAV, c.Voice, err}
			if err == nil {
				saidBefore.Store(text, said)
			}
		}
		out = append(out, said.(Spoken))
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

func (copier) Master(_ context.Context, in, out string, _ map[string]string) (Loudness, error) {
	sound, err := os.ReadFile(in)
	if err != nil {
		return Loudness{}, err
	}
	return Loudness{}, os.WriteFile(out, sound, 0o600)
}

// studio masters with ffmpeg: gain, limiter, MP3, and a look at the result.
type studio struct{ fail error }

func (s studio) Master(ctx context.Context, in, out string, tags map[string]string) (Loudness, error) {
	if s.fail != nil {
		return Loudness{}, s.fail
	}
	loud, err := measure(ctx, in)
	if err != nil {
		return Loudness{}, err
	}
	args := []string{"-v", "error", "-i", in, "-af", fmt.Sprintf("volume=%.2fdB,alimiter=limit=0.75:level=false", -14-loud.LUFS+0.4), "-c:a", "libmp3lame", "-b:a", "128k"}
	for k, v := range tags {
		args = append(args, "-metadata", k+"="+v)
	}
	if _, err := proc.Output(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append(args, out)}, 1<<16); err != nil {
		return Loudness{}, err
	}
	return measure(ctx, out)
}

var truePeak = regexp.MustCompile(`(?m)^\s+Peak:\s+(-?[\d.]+) dBFS`)

func measure(ctx context.Context, path string) (Loudness, error) {
	var said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stderr: &said,
		Args: []string{"-nostdin", "-hide_banner", "-nostats", "-i", path, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"},
	}, nil)
	i, p := integrated.FindSubmatch(said.Bytes()), truePeak.FindSubmatch(said.Bytes())
	if err != nil || !exit.OK() || i == nil || p == nil {
		return Loudness{}, fmt.Errorf("measure: %w: %s", err, said.Bytes())
	}
	var l Loudness
	l.LUFS, _ = strconv.ParseFloat(string(i[1]), 64)
	l.DBTP, _ = strconv.ParseFloat(string(p[1]), 64)
	return l, nil
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
		Voice: &booth{t: t}, Master: studio{}, Weather: fine,
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
