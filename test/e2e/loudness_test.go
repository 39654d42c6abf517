package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/test/aircheck"
)

// An operator's files are far too loud, far too quiet, and begin and end in
// silence. The station airs each at -14 LUFS, sound next to sound, and leaves the
// files as they are. A bulletin is made and heard among them.
func TestWhatAirsIsMasteredWhateverTheFilesAre(t *testing.T) {
	t.Parallel() // most of it is listening
	s := newStation(t, withKeys, rules(shortRules))
	s.env = append(s.env, "ATHIR_LIBRARY_MASTERING=true")
	before := map[string]string{}
	for id := range 4 {
		file := filepath.Join(s.media, fmt.Sprintf("music/english/%02d.wav", id))
		write(t, file, "")
		track := aircheck.Track{ID: id, Duration: 8 * time.Second, Level: []float64{-1, -40, -30, -6}[id%4]}
		if err := aircheck.WriteWAV(file, track); err != nil {
			t.Fatal(err)
		}
		if id%2 == 1 {
			pad(t, file, 3*time.Second)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		before[file] = content(t, file)
	}
	write(t, filepath.Join(s.media, "music/english/none.wav"), "no sound at all")
	write(t, filepath.Join(s.data, "headlines.txt"), "افتتاح خط جديد لمترو الأنفاق\nانطلاق معرض الكتاب\n")
	hourAgo := fmt.Sprintf("news/NEWS_%d.mp3", time.Now().Add(-time.Hour).UnixMilli())
	write(t, filepath.Join(s.media, hourAgo), "")
	if err := aircheck.WriteWAV(filepath.Join(s.media, hourAgo), aircheck.Track{ID: 4, Duration: 8 * time.Second, Level: -14}); err != nil {
		t.Fatal(err)
	}
	s.start().onAir()
	s.atLeisure("the first file is fit to air", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
	s.whole()
	ear := s.listen()
	ready := 0
	for fit := range before {
		s.atLeisure(fit+" is fit to air, or another", func() bool {
			body, err := s.get("control", "/api/library?limit=100")
			var lib struct{ Tracks int }
			return err == nil && json.Unmarshal(body, &lib) == nil && lib.Tracks > ready
		})
		ready++
	}

	code, text := s.call(http.MethodPost, "control", "/api/bulletin/generate", testStationKey, "")
	if code != http.StatusAccepted {
		t.Fatalf("bulletin: %d %.300s", code, text)
	}
	var made production.BulletinMade
	s.atLeisure("a bulletin", func() bool { return s.jobResult("bulletin", &made) })
	if made.Problem != "" || !made.Rebuilt || math.Abs(made.LUFS+14) > 0.5 || made.DBTP > -1.5 {
		t.Errorf("the bulletin: %+v", made)
	}
	if slices.ContainsFunc(s.plays(), func(p played) bool { return p.file == hourAgo }) {
		t.Error("the bulletin of an hour ago was heard")
	}
	s.eventually("the rebuild for the new bulletin is logged", func() bool { return s.logged("rotation rebuilt", "forced") > 0 })
	if made.Archived != 1 || s.logged("rotation rebuilt", "purged") > 0 || s.logged("rotation rebuilt", "forced") != 1 {
		t.Errorf("%d old bulletins archived; rebuilds: %d for that, %d for the new one", made.Archived,
			s.logged("rotation rebuilt", "purged"), s.logged("rotation rebuilt", "forced"))
	}
	s.eventually("the bulletin is ordered", func() bool { // the engine may be late
		code, _ := s.call(http.MethodPost, "control", "/api/station/play", testStationKey, `{"category":"news"}`)
		return code == http.StatusOK
	})
	s.eventually("the bulletin on air", func() bool {
		return slices.ContainsFunc(s.plays(), func(p played) bool { return p.file == made.File })
	})
	s.eventually("some songs heard whole", func() bool { return len(wholeSongs(ear.PCM())) >= 3 })
	ear.stop()

	pcm := ear.PCM()
	report := aircheck.Analyse(pcm)
	t.Logf("%s", report)
	for _, seg := range wholeSongs(pcm) {
		middle := seg.Start + seg.Length()/2
		// The capture is one channel of two that are the same: 3.01 LU less.
		if got := loud(pcm.Cut(middle-time.Second, middle+time.Second)) + 3.01; math.Abs(got+14) > 0.5 {
			t.Errorf("tone %d is heard at %.2f LUFS", seg.ID, got)
		}
	}
	if gap := report.Gap.Length(); gap > 700*time.Millisecond { // a pause of the bulletin is 0.55 s
		t.Errorf("%s of silence at %s: what was at a file's ends is heard", gap, report.Gap.Start)
	}
	for file, was := range before {
		if content(t, file) != was {
			t.Errorf("the operator's %s was changed", file)
		}
	}
	if body, err := s.get("control", "/api/library"); err != nil || !strings.Contains(string(body), "none.wav") {
		t.Errorf("what cannot air is not told: %.300s", body)
	}
}

// wholeSongs are the songs that are neither cut by the capture or the bulletin,
// nor heard twice in a row, while nothing else was fit.
func wholeSongs(pcm aircheck.PCM) (out []aircheck.Segment) {
	for _, seg := range aircheck.Analyse(pcm).Segments {
		if seg.Length() >= 6*time.Second && seg.Length() <= 9*time.Second {
			out = append(out, seg)
		}
	}
	return out
}

// jobResult reads the result of the newest job of a kind, once it is done.
func (s *station) jobResult(kind string, into any) bool {
	s.t.Helper()
	_, text := s.call(http.MethodGet, "control", "/api/jobs", testStationKey, "")
	var all struct {
		Jobs []struct{ ID, Kind, State, Error string }
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return false
	}
	for _, j := range all.Jobs {
		if j.Kind != kind {
			continue
		}
		if j.Error != "" {
			s.t.Fatalf("%s: %s", kind, j.Error)
		}
		if j.State != "done" {
			return false
		}
		_, text := s.call(http.MethodGet, "control", "/api/jobs/"+j.ID, testStationKey, "")
		var one struct{ Result json.RawMessage }
		return json.Unmarshal([]byte(text), &one) == nil && json.Unmarshal(one.Result, into) == nil
	}
	return false
}

// loud is the loudness of a capture, as of one channel.
func loud(p aircheck.PCM) float64 {
	m := loudness.NewMeter(p.Rate, loudness.Mono)
	frames := make([]float32, len(p.Samples))
	for i, s := range p.Samples {
		frames[i] = float32(s) / 32768
	}
	m.Write(frames)
	return m.Result().Integrated
}

// pad puts silence before and after a WAV file of 16 bit stereo.
func pad(t *testing.T, file string, silence time.Duration) {
	t.Helper()
	data := content(t, file)
	quiet := strings.Repeat("\x00", int(silence.Seconds()*44100)*4)
	all := []byte(data[:44] + quiet + data[44:] + quiet)
	for at, n := range map[int]int{4: len(all) - 8, 40: len(all) - 44} {
		for i := range 4 {
			all[at+i] = byte(n >> (8 * i))
		}
	}
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
