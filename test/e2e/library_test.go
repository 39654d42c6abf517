package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// shelfAt is the library in the studio's API.
const shelfAt = "/api/station/library"

// The songs of the library's station are those of the programme's English deck; what the test
// behind the browser sends and changes has tones that are far from theirs, and from each other.
const (
	toneReplaced = 42  // gets another file
	toneArchived = 43  // is archived and brought back
	toneLimited  = 45  // may air at some times only
	toneMended   = 80  // of a file that is broken at first
	toneHead     = 90  // of a track of three tones
	toneCued     = 100 // the one in the middle, which is cued
	toneTail     = 110
	toneSent     = 120
	toneBetter   = 130 // of the file that replaces another
)

// shelfSong is the path of one of the station's own tracks.
func shelfSong(tone int) string { return fmt.Sprintf("music/english/tone %02d أغنية.mp3", tone) }

// The library is run from Chromium: a file is sent and airs, a track is cued, another one's
// file is replaced, one is archived and brought back, a broken one mended; and limits hold.
// All of that is heard on the air, from the copies that the station made.
func TestTheLibraryIsRunFromChromium(t *testing.T) {
	t.Parallel()
	inTurnOfBrowsers(t)
	files := t.TempDir()
	s := newStation(t, withKeys, func(s *station) {
		s.env = append(s.env, "ATHIR_LIBRARY_MASTERING=true")
		// Each list has every song that may be planned.
		s.configure(programmeRules(40, []rotation.Daypart{}))
	})
	var songs []piece
	for _, p := range library() {
		if p.category == radio.English {
			songs = append(songs, p)
		}
	}
	record(t, s.media, songs)
	threeTones(t, filepath.Join(s.media, shelfSong(toneCued)))
	write(t, filepath.Join(s.media, shelfSong(toneMended)), "this was a song once")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.media, shelfSong(toneMended)), old, old); err != nil {
		t.Fatal(err)
	}
	for name, track := range map[string]aircheck.Track{
		"new.mp3":    {ID: toneSent, Title: "tone 120 جديدة", Artist: "فنان 120"},
		"better.mp3": {ID: toneBetter, Title: "tone 130 أوضح", Artist: "فنان 130"},
		"whole.mp3":  {ID: toneMended, Title: "tone 80 سليمة", Artist: "فنان 80"},
	} {
		track.Scale, track.Duration = aircheck.Fine, 8*time.Second
		place(t, filepath.Join(files, name), time.Now(), track)
	}
	s.start().whole()
	air := s.listen()
	// Not planned, they may be taken out of the library at once.
	for _, tone := range []int{toneReplaced, toneArchived} {
		s.say(shelfSong(tone), `{"limits":{"until":"2020-01-01"}}`)
	}
	s.limitsAreFollowed(shelfSong(toneLimited))
	s.eventually("they are planned no more", func() bool { return !s.plans(toneReplaced) && !s.plans(toneArchived) })

	s.pages([]string{"ATHIR_KEY=" + testStationKey, "ATHIR_MEDIA=" + s.media, "ATHIR_SHELF=" + files}, "shelf.spec.ts")
	if t.Failed() {
		return
	}
	const sent = "english/فنان 120 - tone 120 جديدة.mp3"
	for _, file := range []string{sent, shelfSong(toneCued), shelfSong(toneReplaced)} {
		if _, err := os.Stat(filepath.Join(s.data, "mastered", file)); err != nil {
			t.Errorf("the on-air copy: %v", err)
		}
	}
	from := air.Position(time.Now())
	for _, c := range []struct {
		file string
		tone int
	}{{sent, toneSent}, {shelfSong(toneCued), toneCued}, {shelfSong(toneReplaced), toneBetter}, {shelfSong(toneMended), toneMended}, {shelfSong(toneArchived), toneArchived}} {
		ordered := time.Now()
		s.eventually(c.file+" is played", func() bool { // the engine may be late
			a, err := s.play(radio.English, c.file)
			return err == nil && a.code == http.StatusOK
		})
		t.Logf("HEARD tone %d %s after the order", c.tone, air.hears(s, c.tone, ordered).Round(time.Millisecond))
	}
	air.stop()
	all := air.PCM()
	for _, seg := range aircheck.Fine.Analyse(all.Cut(from, all.Duration())).Segments {
		if slices.Contains([]int{toneHead, toneTail, toneReplaced}, seg.ID) {
			t.Errorf("tone %d is heard, which is cued off or was replaced: %s to %s", seg.ID, seg.Start, seg.End)
		}
	}
}

// threeTones writes a song of three tones, one after the other: 5, 6 and 5 seconds.
func threeTones(t *testing.T, path string) {
	t.Helper()
	var wav []string
	dir := t.TempDir()
	for i, tone := range []int{toneHead, toneCued, toneTail} {
		name := filepath.Join(dir, fmt.Sprintf("%d.wav", i))
		if err := aircheck.WriteWAV(name, aircheck.Track{ID: tone, Scale: aircheck.Fine, Duration: time.Duration(5+i%2) * time.Second}); err != nil {
			t.Fatal(err)
		}
		wav = append(wav, "-i", name)
	}
	made := filepath.Join(dir, "three.mp3")
	encode := exec.CommandContext(t.Context(), "ffmpeg", slices.Concat([]string{"-v", "error"}, wav,
		[]string{"-filter_complex", "concat=n=3:v=0:a=1", "-b:a", "192k", "-metadata", "title=tone 100 من ثلاث", "-metadata", "artist=فنان 100", made})...)
	if out, err := encode.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sound, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, sound, 0o600), os.Chtimes(path, old, old))
	if err != nil {
		t.Fatal(err)
	}
}

// ofTrack is what the studio is told of a track.
type ofTrack struct {
	Note     json.RawMessage
	Standing *struct{ Broken []string }
	Deeds    []struct{ ID int64 }
}

func (s *station) ofTrack(path string) (out ofTrack) {
	s.t.Helper()
	code, text := s.operate("GET", shelfAt+"/track?"+url.Values{"path": {path}}.Encode(), "")
	if err := json.Unmarshal([]byte(text), &out); err != nil || code != http.StatusOK {
		s.t.Fatalf("track %s: %d %v %s", path, code, err, text)
	}
	return out
}

// say says something of a track, and returns the deed.
func (s *station) say(path, set string) (deed int64) {
	s.t.Helper()
	code, text := s.operate("PATCH", shelfAt, fmt.Sprintf(`{"paths":[%q],"set":%s}`, path, set))
	var out struct {
		Deed    struct{ ID int64 }
		Changed int
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || code != http.StatusOK || out.Changed != 1 {
		s.t.Fatalf("say %s of %s: %d %v %s", set, path, code, err, text)
	}
	return out.Deed.ID
}

// plans reports that a track is still to come.
func (s *station) plans(tone int) bool {
	all, consumed, err := s.rotation()
	return err != nil || slices.Contains(tones(all[min(consumed, len(all)):]), tone)
}

// limitsAreFollowed limits a track that is planned: it is planned no more, and its standing says
// why. Taken back, it is planned as before.
func (s *station) limitsAreFollowed(path string) {
	s.t.Helper()
	tone := toneOf(path)
	planned := func() {
		s.t.Helper()
		s.eventually("the track is planned", func() bool {
			if s.plans(tone) {
				return true
			}
			_, _ = s.operate("POST", "/api/station/rotation/rebuild", "") // it may be on the air
			time.Sleep(time.Second)
			return false
		})
	}
	now := time.Now().UTC()
	away := (now.Hour() + 6) % 24
	for _, limits := range []string{
		fmt.Sprintf(`{"hours":[[%d,%d]]}`, away, (away+1)%24),
		fmt.Sprintf(`{"until":%q}`, now.AddDate(0, 0, -1).Format(time.DateOnly)),
	} {
		planned()
		deed := s.say(path, `{"limits":`+limits+`}`)
		s.eventually("a list without the track", func() bool { return !s.plans(tone) })
		s.eventually("its standing says why", func() bool {
			standing := s.ofTrack(path).Standing
			return standing != nil && slices.Contains(standing.Broken, "track-limits")
		})
		if _, text := s.operate("POST", "/api/station/rotation/rebuild", ""); s.plans(tone) {
			s.t.Errorf("with the limits %s a new list has the track: %s", limits, text)
		}
		if code, text := s.operate("POST", fmt.Sprintf("%s/deeds/%d/undo", shelfAt, deed), "{}"); code != http.StatusOK || !strings.Contains(text, `"changed":1`) {
			s.t.Fatalf("undo: %d %s", code, text)
		}
		if note := s.ofTrack(path).Note; len(note) > 0 && string(note) != "null" {
			s.t.Errorf("taken back, %s is still said of it", note)
		}
	}
	planned()
}
