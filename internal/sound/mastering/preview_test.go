package mastering_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

// The gain of a preview is that of the whole file, also where the start is softer than the
// rest by 20 dB; strokes get no more than the limiter's depth; silent ends and direct
// current are told; a silent file is said to be one.
func TestPreviewGivesTheGainOfTheWhole(t *testing.T) {
	dir := t.TempDir()
	m := mastering.New(mastering.Options{})
	preview := func(file string, length time.Duration) (mastering.Preview, error) {
		return m.Preview(t.Context(), file, station(t), length, 0)
	}
	for name, c := range map[string]struct {
		graph  string
		length time.Duration
		heard  time.Duration
	}{
		"short.flac": {music(8, 0.02), 8 * time.Second, 8 * time.Second},
		"soft.flac":  {music(60, 0.05) + ",volume='if(lt(t,20),0.1,1)':eval=frame", 60 * time.Second, 60 * time.Second},
		"long.ogg":   {music(5, 0.05) + ",aloop=-1:220500,atrim=0:400,volume='if(lt(t,100),0.1,1)':eval=frame", 400 * time.Second, 80 * time.Second},
		"long.mp3":   {music(5, 0.05) + ",aloop=-1:220500,atrim=0:400", 400 * time.Second, 80 * time.Second},
	} {
		file := sound(t, filepath.Join(dir, name), c.graph)
		part, err := preview(file, c.length)
		if err != nil {
			t.Fatal(name, err)
		}
		whole, err := m.Do(t.Context(), mastering.Job{In: file, Out: filepath.Join(dir, "x.mp3"), Profile: station(t), Measure: true}, nil)
		if err != nil || math.Abs(part.Gain-whole.Gain) > 0.5 || (part.Heard-c.heard).Abs() > 300*time.Millisecond {
			t.Errorf("%s: %+v, the whole takes %.2f dB, %v", name, part, whole.Gain, err)
		}
		if part.Lead > 0 || part.Tail > 100*time.Millisecond || math.Abs(part.Offset) > 0.002 {
			t.Errorf("%s: ends or offset: %+v", name, part)
		}
	}
	strokes := sound(t, filepath.Join(dir, "strokes.wav"), "aevalsrc='0.9*exp(-150*mod(t,0.5))*sin(2*PI*180*t)':d=4:s=44100")
	if part, err := preview(strokes, 4*time.Second); err != nil || part.Gain > -1.5+8-part.TruePeak || part.Gain < 5-part.TruePeak {
		t.Errorf("strokes: %+v, %v", part, err)
	}
	edges := sound(t, filepath.Join(dir, "edges.wav"), fmt.Sprintf("aevalsrc='if(between(t,2,57),0.2*sin(2*PI*300*t)+0.05,0)':d=%d:s=44100", 60))
	if part, err := preview(edges, time.Minute); err != nil || (part.Lead-2*time.Second).Abs() > 50*time.Millisecond || (part.Tail-3*time.Second).Abs() > 50*time.Millisecond || part.Offset < 0.03 {
		t.Errorf("silent ends and direct current: %+v, %v", part, err)
	}
	// The guard of the air hears nothing of the last seconds of a long fade, nor of a beginning
	// that is hardly there; louder as it airs, it is.
	fade := func(name, loud string) string {
		return sound(t, filepath.Join(dir, name), fmt.Sprintf("aevalsrc='sin(2*PI*300*t)*if(between(t,3,54),%s,0.0025)':d=60:s=44100", loud))
	}
	if part, err := preview(fade("fade.wav", "0.28"), time.Minute); err != nil || (part.Lead-3*time.Second).Abs() > 50*time.Millisecond || (part.Tail-6*time.Second).Abs() > 50*time.Millisecond {
		t.Errorf("a long fade: %+v, %v", part, err)
	}
	if part, err := preview(fade("quiet.wav", "0.07"), time.Minute); err != nil || part.Gain < 6 || part.Lead > 0 || part.Tail > 0 {
		t.Errorf("a soft piece whose ends are heard: %+v, %v", part, err)
	}
	silent := sound(t, filepath.Join(dir, "silent.wav"), "anullsrc=d=2")
	var refused *mastering.RefusedError
	if _, err := preview(silent, 2*time.Second); !errors.As(err, &refused) || refused.Reason != mastering.Silent {
		t.Errorf("silence: %v", err)
	}
}
