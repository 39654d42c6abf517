//go:build soak

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

const (
	goLivePresses  = 20
	pressMedian    = 2 * time.Second
	pressWorst     = 3 * time.Second
	spokenToHeard  = 1200 * time.Millisecond
	silenceEach    = 4 * time.Second
	silenceLength  = 150 * time.Millisecond
	quietAmplitude = 300 // of 16 bits, -41 dBFS: beside a tone at -14 LUFS
)

// TestSoakGoLiveLatency presses Go live in Chromium again and again, and prints how long
// it took until a listener of Icecast heard it, and how old what listeners hear is.
func TestSoakGoLiveLatency(t *testing.T) {
	s := liveStation(t, withGoLiveLinks)
	air := s.listen()
	air.rotates(s, "the rotation before")
	air.stop()
	ear, listening := &firstEar{}, make(chan struct{})
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		defer close(listening)
		ear.run(ctx, s)
	}()

	dir := t.TempDir()
	heardFile, presses := filepath.Join(dir, "microphone.wav"), filepath.Join(dir, "presses.json")
	// A tone with a short silence in it each four seconds, by which times are compared. The
	// noise makes it as dense as a voice: of a pure tone a page of Ogg, which is sent when it
	// is full, holds half as much again.
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", fmt.Sprintf(
		"sine=%g:r=48000:d=120,volume=2[tone];anoisesrc=r=48000:d=120:c=pink:a=0.03:seed=1[noise];"+
			"[tone][noise]amix=normalize=0,volume=0:enable='gt(mod(t,%g),%g)'", aircheck.Fine.Frequency(freeTone), silenceEach.Seconds(), (silenceEach-silenceLength).Seconds()),
		"-ac", "1", "-c:a", "pcm_s16le", heardFile).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.pages([]string{
		"ATHIR_KEY=" + testStationKey, "ATHIR_WHIP=" + s.url("whip", ""), "ATHIR_MICROPHONE=" + heardFile,
		"ATHIR_PRESSES=" + presses, fmt.Sprintf("ATHIR_PRESS_COUNT=%d", goLivePresses),
	}, "presses.spec.ts")
	hangUp()
	<-listening
	if ear.parts != 1 {
		t.Fatalf("the listener connected %d times", ear.parts)
	}
	all, err := aircheck.Capture(t.Context(), ear.file(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	arrived := ear.arrival(all.Duration())
	text, err := os.ReadFile(presses)
	if err != nil {
		t.Fatal(err)
	}
	var noted []struct {
		PressedAt, LitAt float64
		HeardAt          []float64
	}
	if err := json.Unmarshal(text, &noted); err != nil || len(noted) != goLivePresses {
		t.Fatalf("%d presses, %v", len(noted), err)
	}

	var toHeard, toSign, delays []time.Duration
	for n, p := range noted {
		pressed := epoch(p.PressedAt)
		from := 10 * time.Millisecond * time.Duration(sort.Search(int(all.Duration()/(10*time.Millisecond)), func(i int) bool {
			return arrived(10 * time.Millisecond * time.Duration(i)).After(pressed)
		}))
		cut := all.Cut(from, from+15*time.Second)
		heard := aircheck.Fine.Analyse(cut).Segments
		i := slices.IndexFunc(heard, func(seg aircheck.Segment) bool { return seg.ID == freeTone })
		if i < 0 {
			t.Errorf("press %d was never heard: %+v", n, heard)
			continue
		}
		toHeard = append(toHeard, arrived(from+heard[i].Start).Sub(pressed))
		toSign = append(toSign, epoch(p.LitAt).Sub(pressed))
		for _, end := range silences(cut, heard[i].Start) {
			// The end of the broadcast has a silence, too: after ours comes the tone again.
			if next := aircheck.Fine.Analyse(cut.Cut(end, end+time.Second)).Segments; len(next) != 1 || next[0].ID != freeTone {
				continue
			}
			came := arrived(from + end)
			if spoken, ok := before(p.HeardAt, came); ok {
				delays = append(delays, came.Sub(spoken))
			}
		}
	}
	if len(toHeard) == 0 || len(delays) == 0 {
		t.Fatalf("%d presses heard, %d silences: nothing to compare", len(toHeard), len(delays))
	}
	for _, all := range [][]time.Duration{toHeard, toSign, delays} {
		slices.Sort(all)
	}
	t.Logf("press to a listener of Icecast, %d times: median %s (target %s), worst %s (target %s)", len(toHeard), middle(toHeard), pressMedian, slices.Max(toHeard).Round(time.Millisecond), pressWorst)
	t.Logf("press to the sign: median %s, worst %s", middle(toSign), slices.Max(toSign).Round(time.Millisecond))
	t.Logf("microphone to a listener of Icecast, %d silences: median %s, worst %s (target %s)", len(delays), middle(delays), slices.Max(delays).Round(time.Millisecond), spokenToHeard)
}

func epoch(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

// before is the last of some moments, in epoch milliseconds, that is not after another.
func before(moments []float64, at time.Time) (last time.Time, ok bool) {
	for _, m := range moments {
		if one := epoch(m); !one.After(at) && at.Sub(one) < silenceEach {
			last, ok = one, true
		}
	}
	return last, ok
}

// silences are where the short silences of the tone end, after a position.
func silences(pcm aircheck.PCM, after time.Duration) (ends []time.Duration) {
	const block = 5 * time.Millisecond
	size := int(block * time.Duration(pcm.Rate) / time.Second)
	quiet := time.Duration(0)
	for i := int(after / block); (i+1)*size <= len(pcm.Samples); i++ {
		most := 0.0
		for _, v := range pcm.Samples[i*size : (i+1)*size] {
			most = math.Max(most, math.Abs(float64(v)))
		}
		if most < quietAmplitude {
			quiet += block
			continue
		}
		if quiet >= silenceLength/2 && quiet <= 2*silenceLength {
			ends = append(ends, time.Duration(i)*block)
		}
		quiet = 0
	}
	return ends
}
