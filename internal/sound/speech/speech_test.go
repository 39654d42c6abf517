package speech

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/wav"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const sentence = "السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، الثَّالِثَةُ وَخَمْسُ دَقَائِقَ صَبَاحًا."

func espeak(t *testing.T) *Espeak {
	t.Helper()
	e, err := NewEspeak("ar", 8)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func booth(t *testing.T, steps ...Step) *Booth {
	t.Helper()
	b, err := New(Options{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mustBeWAV checks the header byte by byte and returns the samples.
func mustBeWAV(t *testing.T, c Clip) []int16 {
	t.Helper()
	b := c.WAV
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " || string(b[36:40]) != "data" {
		t.Fatalf("%d bytes are no WAV", len(b))
	}
	le := binary.LittleEndian
	if le.Uint16(b[22:]) != 1 || le.Uint32(b[24:]) != Rate || le.Uint16(b[34:]) != 16 || int(le.Uint32(b[40:])) != len(b)-44 || int(le.Uint32(b[4:])) != len(b)-8 {
		t.Fatalf("the WAV's header is wrong: % x", b[:44])
	}
	pcm := make([]int16, (len(b)-44)/2)
	for i := range pcm {
		pcm[i] = int16(le.Uint16(b[44+2*i:]))
	}
	if got := time.Duration(len(pcm)) * time.Second / Rate; got != c.Duration {
		t.Errorf("a clip of %s says it lasts %s", got, c.Duration)
	}
	return pcm
}

func TestEspeakSpeaksArabicAndIsTrimmed(t *testing.T) {
	c, err := booth(t, Step{espeak(t), time.Minute}).Say(t.Context(), sentence)
	if err != nil {
		t.Fatal(err)
	}
	pcm := mustBeWAV(t, c)
	if c.Voice != "espeak-ng:ar" || c.Duration < 3*time.Second || c.Duration > 9*time.Second {
		t.Errorf("%s spoke for %s", c.Voice, c.Duration)
	}
	if cut, _ := trim(pcm); len(cut) < len(pcm)-2*Rate/100 {
		t.Errorf("%d samples of silence were left around the voice", len(pcm)-len(cut))
	}
}

// phonemes is what espeak-ng makes of a text.
func phonemes(t *testing.T, text string) string {
	t.Helper()
	out, err := proc.Output(t.Context(), proc.Spec{
		Name: "espeak-ng", Path: "espeak-ng", Args: []string{"-v", "ar", "-q", "-x", "--stdin"}, Stdin: strings.NewReader(text),
	}, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Text in Unicode's normal order must not lose the vowels of doubled letters.
func TestVowelsOfDoubledLettersAreSpoken(t *testing.T) {
	for text, vowel := range map[string]string{"اللَّيْلِ": "ai", "وَالرُّبْعُ": "RRu", "وَالنِّصْفُ": "nni", "السِّتُّ": "ssi"} {
		got := strings.ReplaceAll(phonemes(t, shaddaFirst(text)), "'", "")
		if !strings.Contains(got, vowel) {
			t.Errorf("%s is said %q, without %q", text, got, vowel)
		}
	}
}

func TestATextNeverBecomesAnOption(t *testing.T) {
	b := booth(t, Step{espeak(t), time.Minute})
	for _, text := range []string{
		"--voices", "-f /etc/passwd", "$(reboot) `id` ; reboot", "<speak><break time='60s'/>مَرْحَبًا</speak>", "[[a:]] مَرْحَبًا",
		"\u202eمَرْحَبًا\u202c\x00\x1b[2J", "مَرْحَبًا\r\nمَرْحَبًا", "مَرْ\xff\xfeحَبًا",
	} {
		c, err := b.Say(t.Context(), text)
		if err != nil || c.Duration > 8*time.Second {
			t.Errorf("%q: %v, %s", text, err, c.Duration)
		}
	}
}

func TestTextsThatCannotBeSpokenReachNoEngine(t *testing.T) {
	e := &fake{name: "never"}
	for _, text := range []string{"", " \n", "؟!…", "\u200f\u202e", strings.Repeat("ا", MaxText/2+1), strings.Repeat(" ", 5*MaxText)} {
		if _, err := booth(t, Step{e, time.Minute}).Say(t.Context(), text); !errors.Is(err, ErrText) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if e.calls != 0 {
		t.Errorf("the engine was asked %d times", e.calls)
	}
	if _, err := clean(strings.Repeat("اَ ", MaxText/5)); err != nil {
		t.Errorf("a text of the longest length: %v", err)
	}
}

// fake is an engine whose answers a test chooses.
type fake struct {
	name  string
	speak func(ctx context.Context, text string) ([]byte, error)
	calls int
}

func (f *fake) Name() string { return f.name }

func (f *fake) Speak(ctx context.Context, text string) ([]byte, error) {
	f.calls++
	return f.speak(ctx, text)
}

// hum is a WAV of a tone that lasts so many seconds.
func hum(seconds, level float64) []byte {
	pcm := make([]int16, int(seconds*Rate))
	for i := range pcm {
		pcm[i] = int16(level * math.MaxInt16 * math.Sin(float64(i)*2*math.Pi*200/Rate))
	}
	return wav.PCM16(Rate, 1, pcm)
}

// good is an engine that always speaks, for as long as the text is.
func good(name string) *fake {
	return &fake{name: name, speak: func(_ context.Context, text string) ([]byte, error) {
		return hum(float64(letters(text))/12, 0.5), nil
	}}
}

func TestFallsThroughWhatGivesNoSpeech(t *testing.T) {
	mp3, err := espeak(t).Speak(t.Context(), sentence)
	if err != nil {
		t.Fatal(err)
	}
	second := good("second")
	for name, speak := range map[string]func(context.Context, string) ([]byte, error){
		"an error":         func(context.Context, string) ([]byte, error) { return nil, errors.New("broken") },
		"nothing":          func(context.Context, string) ([]byte, error) { return nil, nil },
		"no sound file":    func(context.Context, string) ([]byte, error) { return bytes.Repeat([]byte("<html>"), 999), nil },
		"silence":          func(context.Context, string) ([]byte, error) { return hum(5, 0), nil },
		"next to silence":  func(context.Context, string) ([]byte, error) { return hum(5, 0.0005), nil },
		"a click":          func(context.Context, string) ([]byte, error) { return hum(0.05, 0.5), nil },
		"an endless drone": func(context.Context, string) ([]byte, error) { return hum(60, 0.5), nil },
		"a file cut early": func(context.Context, string) ([]byte, error) { return mp3[:20000], nil },
		"a list of files": func(context.Context, string) ([]byte, error) {
			return []byte("ffconcat version 1.0\nfile /etc/passwd\n"), nil
		},
		"a wait for ever":   func(ctx context.Context, _ string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
		"a header, no data": func(context.Context, string) ([]byte, error) { return mp3[:44], nil },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := booth(t, Step{&fake{name: "first", speak: speak}, 300 * time.Millisecond}, Step{second, time.Minute}).Say(t.Context(), sentence)
			if err != nil || c.Voice != "second" {
				t.Errorf("%s spoke: %v", c.Voice, err)
			}
			c, err = booth(t, Step{&fake{name: "only", speak: speak}, 300 * time.Millisecond}).Say(t.Context(), sentence)
			if err == nil || c.WAV != nil || c.Voice != "" || !strings.HasPrefix(err.Error(), "only: ") {
				t.Errorf("alone: %v, %d bytes", err, len(c.WAV))
			}
		})
	}
}

func TestOneVoiceSpeaksWhatBelongsTogether(t *testing.T) {
	stumbles := good("first")
	speak := stumbles.speak
	stumbles.speak = func(ctx context.Context, text string) ([]byte, error) {
		if strings.Contains(text, "ثلاثة") {
			return nil, errors.New("refused")
		}
		return speak(ctx, text)
	}
	second := good("second")
	for _, c := range booth(t, Step{stumbles, time.Minute}, Step{second, time.Minute}).SayAll(t.Context(), []string{"واحد واحد", "ثلاثة ثلاثة", "أربعة أربعة"}) {
		if c.Err != nil || c.Voice != "second" {
			t.Errorf("%s spoke: %v", c.Voice, c.Err)
		}
	}
	if stumbles.calls != 2 {
		t.Errorf("the first was asked %d times, the third time in vain", stumbles.calls)
	}

	// What the last cannot say keeps the first one's voice; what nobody can, has an error.
	mute := good("last")
	mute.speak = func(ctx context.Context, text string) ([]byte, error) {
		if strings.Contains(text, "أربعة") {
			return speak(ctx, text)
		}
		return nil, errors.New("mute")
	}
	clips := booth(t, Step{stumbles, time.Minute}, Step{mute, time.Minute}).SayAll(t.Context(), []string{"واحد واحد", "ثلاثة ثلاثة", "أربعة أربعة", "!"})
	for i, want := range []string{"first", "", "last", ""} {
		if clips[i].Voice != want || (clips[i].Err == nil) != (want != "") {
			t.Errorf("text %d: %q spoke, %v", i, clips[i].Voice, clips[i].Err)
		}
	}
}

func TestAFailedEngineRestsAndTheLastNever(t *testing.T) {
	broken := &fake{name: "broken", speak: func(context.Context, string) ([]byte, error) { return nil, errors.New("down") }}
	last := good("last")
	b := booth(t, Step{broken, time.Minute}, Step{last, time.Minute})
	clock := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return clock }
	for i, c := range []struct {
		pass  time.Duration
		calls int
	}{{0, 1}, {time.Minute, 1}, {4*time.Minute + time.Second, 2}} {
		clock = clock.Add(c.pass)
		if clip, err := b.Say(t.Context(), sentence); err != nil || clip.Voice != "last" || broken.calls != c.calls {
			t.Errorf("turn %d: %s spoke, %v; the broken one was asked %d times", i, clip.Voice, err, broken.calls)
		}
	}
	last.speak = broken.speak
	for range 2 {
		if _, err := b.Say(t.Context(), sentence); err == nil {
			t.Error("nobody spoke, and no error")
		}
	}
	if last.calls != 5 {
		t.Errorf("the last was asked %d times", last.calls)
	}
}

func TestTheCallersEndIsNoFailureOfTheEngine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first := &fake{name: "first", speak: func(ctx context.Context, _ string) ([]byte, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	b := booth(t, Step{first, time.Minute}, Step{good("last"), time.Minute})
	if _, err := b.Say(ctx, sentence); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if b.resting(first) {
		t.Error("an engine rests because the caller went away")
	}
}

// stand-in for an operator's Piper: it accepts only the options both of
// Piper's lines know, and speaks with espeak-ng.
const piperScript = `#!/bin/sh
[ "$#" = 6 ] && [ "$1" = --model ] && [ "$3 $4" = "--length_scale 0.926" ] && [ "$5 $6" = "--output_file -" ] || exit 2
case "$2" in /*) ;; *) exit 3;; esac
[ -f "$2" ] || { echo "no such model" >&2; exit 4; }
exec espeak-ng -v ar -b 1 --stdin --stdout
`

func TestPiperSpeaksWithTheOperatorsModel(t *testing.T) {
	dir := t.TempDir()
	program, model := filepath.Join(dir, "piper"), filepath.Join(dir, "-ar_JO-kareem-medium.onnx")
	for path, text := range map[string]string{program: piperScript, model: "a model"} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program must be executable
			t.Fatal(err)
		}
	}
	p, err := NewPiper(program, model, 8)
	if err != nil {
		t.Fatal(err)
	}
	c, err := booth(t, Step{p, time.Minute}).Say(t.Context(), sentence)
	if err != nil || c.Voice != "piper:-ar_JO-kareem-medium" {
		t.Errorf("%q spoke: %v", c.Voice, err)
	}
	gone, err := NewPiper(program, model+"x", 8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := booth(t, Step{gone, time.Minute}).Say(t.Context(), sentence); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("a missing model: %v", err)
	}
	var missing *proc.MissingError
	absent, _ := NewPiper(filepath.Join(dir, "absent"), model, 8)
	if _, err := booth(t, Step{absent, time.Minute}).Say(t.Context(), sentence); !errors.As(err, &missing) {
		t.Errorf("a missing program: %v", err)
	}
}

func TestVoicesAndRatesAreChecked(t *testing.T) {
	for _, voice := range []string{"", "-f", "ar;id", "AR", "ar/../x"} {
		if _, err := NewEspeak(voice, 8); err == nil {
			t.Errorf("espeak-ng takes the voice %q", voice)
		}
	}
	for _, voice := range []string{"", "ar-EG-Salma", "ar-EG-Salma'Neural", "ar-EG-SalmaNeural'/>", "SalmaNeural"} {
		if _, err := NewEdge(voice, 8, ""); err == nil {
			t.Errorf("Edge takes the voice %q", voice)
		}
	}
	if _, err := NewEdge("ar-EG-SalmaNeural", 101, ""); err == nil {
		t.Error("a rate of +101 % is taken")
	}
	if _, err := NewPiper("", "", 8); err == nil {
		t.Error("Piper without a model is taken")
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a booth without engines is taken")
	}
}

func TestVoicesStandInTheirOrder(t *testing.T) {
	for want, o := range map[string]Order{
		"edge:ar-EG-SalmaNeural espeak-ng:ar":              {},
		"edge:ar-EG-ShakirNeural piper:ar_JO espeak-ng:ar": {Voice: "ar-EG-ShakirNeural", PiperModel: "/models/ar_JO.onnx"},
		"piper:ar_JO espeak-ng:ar":                         {Offline: true, PiperModel: "ar_JO.onnx"},
		"espeak-ng:ar":                                     {Offline: true},
	} {
		steps, err := o.Steps()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range steps {
			names = append(names, s.Engine.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%+v: %s, want %s", o, got, want)
		}
	}
	if _, err := (Order{Voice: "Salma"}).Steps(); err == nil {
		t.Error("a voice that is none is taken")
	}
}
