package bulletin

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

func TestABulletinIsWhatTheSpecificationSays(t *testing.T) {
	var stages []string
	m := maker(t, func(o *Options) { o.Progress = func(s Stage) { stages = append(stages, s.String()) } })
	m.now = func() time.Time { return time.Date(2026, 1, 15, 4, 5, 0, 0, time.UTC) }
	r, err := m.Make(t.Context(), m.now())
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, m.o.Dir); len(got) != 1 || got[0] != "NEWS_1768449900000.mp3" || filepath.Base(r.Path) != got[0] {
		t.Errorf("the deck holds %v", got)
	}
	info, err := ffmpeg.Probe(t.Context(), r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Codec != "mp3" || info.Channels != 2 || info.Tags["artist"] != "Break" || info.Tags["title"] != "Break" || info.Tags["genre"] != "Break" {
		t.Errorf("it is %+v", info)
	}
	if d, err := ffmpeg.Length(t.Context(), r.Path); err != nil || d < 34*time.Second || d > 37*time.Second || (d-r.Duration).Abs() > 100*time.Millisecond {
		t.Errorf("it lasts %s and says %s, %v", d, r.Duration, err)
	}
	lufs, dbtp, err := measure(t.Context(), r.Path)
	if err != nil || math.Abs(lufs+14) > 0.5 || dbtp > -1.5 || math.Abs(lufs-r.Mastered.Integrated) > 0.1 || math.Abs(dbtp-r.Mastered.TruePeak) > 0.2 {
		t.Errorf("its loudness is %.1f LUFS, %.1f dBTP and it says %+v, %v", lufs, dbtp, r.Mastered, err)
	}
	if got := spokenKinds(r); got != "time weather headlines return" || len(r.Problems()) != 0 {
		t.Errorf("it holds %s; problems %v", got, r.Problems())
	}
	for i, want := range []string{
		"السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، السَّادِسَةُ وَخَمْسُ دَقَائِقَ صَبَاحًا.",
		"الطَّقْسُ فِي القَاهِرَةِ: السَّمَاءُ صَافِيَةٌ، وَدَرَجَةُ الحَرَارَةِ ثَلَاثٌ وَعِشْرُونَ دَرَجَةً",
		"وزارة السياحة تعلن زيادة أعداد الزائرين خلال الشهر الماضي.",
		"نَعُودُ الآنَ إِلَى المُوسِيقَى.",
	} {
		if !strings.Contains(r.Segments[i].Text, want) || r.Segments[i].Voice != "espeak-ng:ar" {
			t.Errorf("segment %d is %q by %s", i, r.Segments[i].Text, r.Segments[i].Voice)
		}
	}
	if strings.Contains(r.Segments[2].Text, "رابع") {
		t.Error("the fourth line is read")
	}
	if !slices.Equal(stages, []string{"gather", "speak", "join", "master", "done"}) {
		t.Errorf("the stages were %v", stages)
	}
	silentBetween(t, r)
}

// silentBetween decodes the file and holds the pauses to 0.55 s.
func silentBetween(t *testing.T, r Result) {
	t.Helper()
	raw, err := proc.Output(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Args: []string{"-v", "error", "-nostdin", "-i", r.Path, "-ac", "1", "-ar", "8000", "-f", "s16le", "pipe:1"},
	}, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range r.Segments[1:] {
		from := r.Segments[i].At + r.Segments[i].Length
		if between := s.At - from; (between - gap).Abs() > time.Millisecond {
			t.Errorf("between %s and %s lie %s", r.Segments[i].Kind, s.Kind, between)
		}
		var loudest int16
		for at := from + 60*time.Millisecond; at < s.At-60*time.Millisecond; at += time.Second / 8000 {
			v := int16(binary.LittleEndian.Uint16(raw[2*int(at*8000/time.Second):]))
			loudest = max(loudest, v, -v)
		}
		if loudest > 60 { // -55 dBFS
			t.Errorf("something of %d is heard before the %s", loudest, s.Kind)
		}
	}
}

func TestWhatIsMissingIsLeftOutAndSaid(t *testing.T) {
	fails := func(what string) func(*Options) {
		return func(o *Options) {
			o.Voice.(*booth).broken = func(text string) bool { return strings.Contains(text, what) }
		}
	}
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
		says   string
	}{
		"weather down":         {func(o *Options) { o.Weather = weather{err: errors.New("weather service: answered 500")} }, "time date headlines programme return", "weather: weather service: answered 500"},
		"weather not wanted":   {func(o *Options) { o.Weather = nil }, "time date headlines programme return", "weather: not asked for"},
		"headlines missing":    {func(o *Options) { o.Headlines = filepath.Join(o.Dir, "none.txt") }, "time date weather programme return", "headlines: none.txt is missing"},
		"headlines empty":      {func(o *Options) { _ = os.Truncate(o.Headlines, 0) }, "time date weather programme return", "headlines: headlines.txt holds no headline"},
		"the time not spoken":  {fails("السَّاعَةُ الآنَ"), "weather headlines return", "time: out of breath"},
		"the news not spoken":  {fails("العَنَاوِينِ"), "time weather return", "headlines: out of breath"},
		"the way not spoken":   {fails("المُوسِيقَى"), "time weather headlines", "return: out of breath"},
		"all but one unspoken": {fails("ا"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := maker(t, func(o *Options) {
				o.Voice, o.Master = &booth{t: t, hums: true}, copier{}
				c.change(o)
			})
			r, err := m.Make(t.Context(), m.now())
			if c.want == "" {
				if !errors.Is(err, ErrUnspoken) {
					t.Errorf("it is made: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := spokenKinds(r); got != c.want || !slices.Equal(r.Problems(), []string{c.says}) {
				t.Errorf("it holds %s; problems %q", got, r.Problems())
			}
			if d, err := ffmpeg.Length(t.Context(), r.Path); err != nil || d < 3*time.Second || r.Tempo != 1 {
				t.Errorf("it lasts %s at %g, %v", d, r.Tempo, err)
			}
			if s := m.Status(); s.Last == nil || !slices.Equal(s.Last.Problems(), []string{c.says}) {
				t.Errorf("the status says %+v", s)
			}
		})
	}
}

func TestAFailureLeavesNoFileAndTheOldBulletin(t *testing.T) {
	m := maker(t, func(o *Options) { o.Voice, o.Master = &booth{t: t, hums: true}, copier{} })
	first, err := m.Make(t.Context(), m.now())
	if err != nil {
		t.Fatal(err)
	}
	voice := m.o.Voice.(*booth)
	for name, c := range map[string]struct {
		change func(ctx context.Context) context.Context
		says   string
	}{
		"nothing spoken": {func(ctx context.Context) context.Context {
			voice.broken = func(string) bool { return true }
			return ctx
		}, "no segment was spoken: out of breath"},
		"not mastered": {func(ctx context.Context) context.Context {
			m.o.Master = failing{errors.New("too loud")}
			return ctx
		}, "master the bulletin: too loud"},
		"the caller gone": {func(ctx context.Context) context.Context {
			gone, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("closing down"))
			return gone
		}, "closing down"},
	} {
		t.Run(name, func(t *testing.T) {
			voice.broken, m.o.Master = nil, copier{}
			_, err := m.Make(c.change(t.Context()), m.now())
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if got := files(t, m.o.Dir); !slices.Equal(got, []string{filepath.Base(first.Path)}) {
				t.Errorf("the deck holds %v", got)
			}
			if s := m.Status(); s.Making || s.Latest != first.Path || s.Last == nil || s.Last.Path != first.Path || name != "the caller gone" && !errors.Is(s.Err, err) {
				t.Errorf("the status says %+v", s)
			}
		})
	}
	if err := os.Chmod(m.o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := m.MakeFile(t.Context(), time.Now(), filepath.Join(m.o.Dir, "no", "such", "folder.mp3")); err == nil {
		t.Error("a bulletin is made into a folder that is not there")
	}
}

func TestHeadlinesAreReadAnewOnEveryRun(t *testing.T) {
	m := maker(t, func(o *Options) { o.Voice, o.Master = &booth{t: t, hums: true}, copier{} })
	for _, line := range []string{"خبر الصباح قبل كل شيء", "خبر المساء بعد كل شيء"} {
		if err := os.WriteFile(m.o.Headlines, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := m.Status(); !slices.Equal(s.Headlines, []string{line}) || s.HeadlinesProblem != "" {
			t.Errorf("the status says %q %q", s.Headlines, s.HeadlinesProblem)
		}
		r, err := m.Make(t.Context(), m.now())
		if err != nil || !slices.ContainsFunc(r.Segments, func(s Segment) bool { return s.Kind == Headlines && strings.Contains(s.Text, line) }) {
			t.Errorf("it reads %+v, %v", r.Segments, err)
		}
	}
}

// The boundaries of the day's parts, in a zone that changes its clock.
func TestTheTimeIsCairosOnEitherSideOfEachBoundary(t *testing.T) {
	cairoTime, err := time.LoadLocation(cairoZone)
	if err != nil {
		t.Fatal(err)
	}
	for utc, want := range map[string]string{
		"2026-01-14T21:59:59Z": "الثَّانِيَةَ عَشْرَةَ إِلَّا دَقِيقَةً وَاحِدَةً لَيْلًا",
		"2026-01-14T22:00:00Z": "الثَّانِيَةَ عَشْرَةَ تَمَامًا مُنْتَصَفَ اللَّيْلِ",
		"2026-01-15T00:39:00Z": "الثَّانِيَةُ وَتِسْعٌ وَثَلَاثُونَ دَقِيقَةً بَعْدَ مُنْتَصَفِ اللَّيْلِ",
		"2026-01-15T01:00:00Z": "الثَّالِثَةُ تَمَامًا صَبَاحًا",
		"2026-01-15T09:39:00Z": "الحَادِيَةَ عَشْرَةَ وَتِسْعٌ وَثَلَاثُونَ دَقِيقَةً صَبَاحًا",
		"2026-01-15T10:00:00Z": "الثَّانِيَةَ عَشْرَةَ تَمَامًا ظُهْرًا",
		"2026-01-15T13:00:00Z": "الثَّالِثَةُ تَمَامًا عَصْرًا",
		"2026-01-15T15:00:00Z": "الخَامِسَةُ تَمَامًا مَسَاءً",
		"2026-01-15T19:00:00Z": "التَّاسِعَةُ تَمَامًا مَسَاءً",
		// Summer time begins on the last Friday of April at midnight and ends
		// on the last Thursday of October.
		"2026-04-23T21:59:00Z": "الثَّانِيَةَ عَشْرَةَ إِلَّا دَقِيقَةً وَاحِدَةً لَيْلًا",
		"2026-04-23T22:00:00Z": "الوَاحِدَةُ تَمَامًا بَعْدَ مُنْتَصَفِ اللَّيْلِ",
		"2026-10-29T20:59:00Z": "الثَّانِيَةَ عَشْرَةَ إِلَّا دَقِيقَةً وَاحِدَةً لَيْلًا",
		"2026-10-29T21:00:00Z": "الحَادِيَةَ عَشْرَةَ تَمَامًا مَسَاءً",
	} {
		at, err := time.Parse(time.RFC3339, utc)
		if err != nil {
			t.Fatal(err)
		}
		if got := TimeSentence(at, cairoTime); got != "السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، "+want+"." {
			t.Errorf("%s: %s", utc, got)
		}
	}
	elsewhere := time.FixedZone("Elsewhere", 3600)
	if got := TimeSentence(time.Unix(0, 0), elsewhere); got != "السَّاعَةُ الآنَ الوَاحِدَةُ تَمَامًا بَعْدَ مُنْتَصَفِ اللَّيْلِ." {
		t.Errorf("elsewhere: %s", got)
	}
}

func TestBulletinsAreMadeOneAfterTheOther(t *testing.T) {
	m := maker(t, func(o *Options) { o.Weather, o.Headlines, o.Voice, o.Master = nil, "", hummer{}, copier{} })
	var running, most atomic.Int64
	m.o.Progress = func(s Stage) {
		switch s {
		case Gathering:
			most.Store(max(most.Load(), running.Add(1)))
		case Done:
			running.Add(-1)
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := m.Make(t.Context(), m.now()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := files(t, m.o.Dir); most.Load() != 1 || len(got) != 3 {
		t.Errorf("%d at once, %v", most.Load(), got)
	}
}

func TestEveryUsualBulletinKeepsItsLength(t *testing.T) {
	for name, c := range map[string]struct {
		at      string
		weather arabic.Weather
	}{
		"the shortest": {"2026-01-15T05:00:00Z", arabic.Weather{Celsius: 0, Code: 65, WindKmh: 0}},
		"the longest":  {"2026-01-14T22:37:00Z", arabic.Weather{Celsius: 28, Code: 99, WindKmh: 28, WindDeg: 135}},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			m := maker(t, func(o *Options) { o.Weather, o.Master = weather{w: c.weather}, copier{} })
			out := filepath.Join(t.TempDir(), "bulletin.mp3")
			r, err := m.MakeFile(t.Context(), at, out)
			if err != nil {
				t.Fatal(err)
			}
			d, err := ffmpeg.Length(t.Context(), out)
			if err != nil || d < 34*time.Second || d > 37*time.Second {
				t.Errorf("it lasts %s at a tempo of %.3f, %v", d, r.Tempo, err)
			}
			t.Logf("%s at a tempo of %.3f", d, r.Tempo)
		})
	}
}

// Without weather and headlines a bulletin was eleven seconds long. The date, and what
// comes up, need neither a network nor a file.
func TestABulletinKeepsItsLengthWhateverIsMissing(t *testing.T) {
	names := []arabic.Coming{{Title: "Yesterday", Artist: "The Beatles"}, {Title: "نسم علينا الهوى", Artist: "فيروز"}, {Title: "سهرة بياتي"}, {Title: "ألف ليلة وليلة", Artist: "أم كلثوم"}}
	for name, c := range map[string]struct {
		up       *ComingUp
		weather  bool
		news     string
		includes string
	}{
		"no weather":              {&ComingUp{Arabic: 9, English: 5, Next: names}, false, usual, "time date headlines"},
		"no headlines":            {&ComingUp{Arabic: 9, English: 5, Next: names}, true, "", "time date weather"},
		"one headline":            {&ComingUp{Arabic: 9, English: 5, Next: names}, true, "افتتاح خط جديد لمترو الأنفاق", "time date weather headlines"},
		"neither":                 {&ComingUp{Arabic: 9, English: 5, Next: names}, false, "", "time date programme return"},
		"neither, English titles": {&ComingUp{English: 14, Next: names[:1]}, false, "", "time date programme return"},
		"neither, nothing to say": {nil, false, "", "time date programme return"},
	} {
		t.Run(name, func(t *testing.T) {
			m := maker(t, func(o *Options) {
				o.Master, o.Headlines = copier{}, headlineFile(t, c.news)
				if !c.weather {
					o.Weather = nil
				}
				if c.up != nil {
					o.ComingUp = func(time.Time) ComingUp { return *c.up }
				}
			})
			out := filepath.Join(t.TempDir(), "bulletin.mp3")
			r, err := m.MakeFile(t.Context(), m.now(), out)
			if err != nil {
				t.Fatal(err)
			}
			d, err := ffmpeg.Length(t.Context(), out)
			if err != nil || d < 34*time.Second || d > 37*time.Second {
				t.Errorf("it lasts %s at a tempo of %.3f, %v", d, r.Tempo, err)
			}
			if got := spokenKinds(r); !strings.HasPrefix(got, c.includes) || !strings.HasSuffix(got, "return") {
				t.Errorf("it holds %s", got)
			}
			t.Logf("%s at a tempo of %.3f: %s", d, r.Tempo, spokenKinds(r))
			for _, s := range r.Segments {
				if s.Kind == Programme {
					t.Log(s.Text)
				}
			}
		})
	}
}

func TestSegmentsShareOneLoudness(t *testing.T) {
	said := (&booth{t: t}).SayAll(t.Context(), []string{"السَّاعَةُ الآنَ الثَّالِثَةُ تَمَامًا صَبَاحًا.", "نَعُودُ الآنَ إِلَى المُوسِيقَى."})
	var voices []sound
	for i, s := range said {
		v, err := read(s.WAV)
		if err != nil {
			t.Fatal(err)
		}
		for n := range v.samples { // one 26 dB below the other
			v.samples[n] *= []float32{1, 0.05}[i]
		}
		voices = append(voices, v)
	}
	segments := make([]Segment, 2)
	joined, _, err := join(t.Context(), segments, voices)
	if err != nil {
		t.Fatal(err)
	}
	var loud [2]float64
	for i, s := range segments {
		path := filepath.Join(t.TempDir(), "part.wav")
		part := sound{rate, joined.samples[samplesIn(s.At):samplesIn(s.At+s.Length)]}
		if err := os.WriteFile(path, part.stereoWAV(), 0o600); err != nil {
			t.Fatal(err)
		}
		loud[i], _, err = measure(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(loud[0]-loud[1]) > 0.5 || math.Abs(loud[0]-(prepass+3)) > 0.7 {
		t.Errorf("they are at %.1f and %.1f LUFS", loud[0], loud[1])
	}
}

func TestVoicesThatAreNotMonoAreRefused(t *testing.T) {
	good := sound{rate, make([]float32, 100)}.stereoWAV()
	for name, b := range map[string][]byte{"stereo": good, "half a header": good[:20]} {
		if s, err := read(b); err == nil {
			t.Errorf("%s is %d samples", name, len(s.samples))
		}
	}
}

func TestAKilledRunLeavesNoHalfFileInTheDeck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "news")
	half := filepath.Join(dir, tempPrefix+"*", "mastered.mp3")
	child, kill := context.WithCancel(t.Context())
	defer kill()
	go func() {
		defer kill()
		for child.Err() == nil {
			if found, _ := filepath.Glob(half); len(found) > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	exit, err := proc.Run(child, proc.Spec{Name: "bulletin", Path: os.Args[0], Env: []string{childDir + "=" + dir}, Stop: syscall.SIGKILL}, nil)
	if err != nil || exit.Signal != syscall.SIGKILL {
		t.Fatalf("%s, %v", exit, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if all, err := bulletins(dir); err != nil || len(all) != 0 || len(left) != len(hidden) || len(hidden) != 1 {
		t.Fatalf("the deck holds %v, %v", left, err)
	}
	// An hour later the next run clears it away.
	m := maker(t, func(o *Options) { o.Dir, o.Voice, o.Master = dir, hummer{}, copier{} })
	m.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	r, err := m.Make(t.Context(), m.now())
	if got := files(t, dir); err != nil || len(got) != 1 || got[0] != filepath.Base(r.Path) {
		t.Errorf("the deck holds %v, %v", got, err)
	}
}

// A media folder whose disk is away stays away: a bulletin in a folder made in
// its place would be all there is to air.
func TestABulletinDoesNotMakeTheMediaFolder(t *testing.T) {
	media := filepath.Join(t.TempDir(), "media")
	m := maker(t, func(o *Options) { o.Dir = filepath.Join(media, "news") })
	if r, err := m.Make(t.Context(), m.now()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := os.Lstat(media); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the media folder was made: %v", err)
	}
}
