package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/test/aircheck"
)

// A station of AzuraCast with five thousand tracks, of which the backup has some files, comes over
// from a terminal while ours is on the air: what came and what did not is told, its playlists play,
// and its songs are heard. The same once more changes nothing.
func TestAnImportedStationIsHeard(t *testing.T) {
	t.Parallel()
	s, air := importing(t)
	a := importtest.NewAzura(5000, 1250)
	first := &a.Stations[0]
	tone := firstImported
	for i := range first.Media {
		m := &first.Media[i]
		if m.File == nil || m.ID >= 100_000 { // its station IDs
			continue
		}
		m.File, m.Length = importedSong(t, tone), 61
		m.Artist, m.Title = importedNames(tone)
		tone++
	}
	backup := importtest.WriteBackup(t, filepath.Join(t.TempDir(), "azuracast.tzst"), a.Entries(true))
	report := s.comesOver(t, air, 5012, "azuracast", backup, "--station", "athir")
	if report.Copied != tone-firstImported+12 || report.Playlists == 0 || len(report.Invited) != 2 {
		t.Errorf("%+v", report)
	}
	jingles := 0
	for _, p := range s.playlists() {
		if p.Plays == "songs" && p.Tracks == 12 && p.On {
			jingles++
		}
	}
	if jingles != 1 {
		t.Errorf("its station IDs: %+v", s.playlists())
	}
}

// A station of LibreTime with five thousand tracks comes over from a dump of its database and the folder
// of its files, of which some are left.
func TestAnImportedLibreTimeIsHeard(t *testing.T) {
	t.Parallel()
	s, air := importing(t)
	l, media := importtest.NewLibre(5000), t.TempDir()
	songs := []int{1, 2, 4, 1000, 5000}
	for i, id := range songs {
		artist, title := importedNames(firstImported + i)
		recordLibre(t, l, media, id, artist, title, "wav", importedSong(t, firstImported+i))
	}
	dump := libreDump(t, l)
	report := s.comesOver(t, air, 5000, "libretime", dump, "--media", media)
	if report.Copied != len(songs) || len(report.Invited) != 3 {
		t.Errorf("%+v", report)
	}
	if !slices.ContainsFunc(s.playlists(), func(p imported) bool { return p.Name == "صباح الخير" && p.Tracks > 0 }) {
		t.Errorf("its playlists: %+v", s.playlists())
	}
}

// recordLibre gives a track of LibreTime a sound, in its folder of files.
func recordLibre(t *testing.T, l *importtest.Libre, media string, id int, artist, title, format string, sound []byte) {
	t.Helper()
	l.Record(id, artist, title, format, 61, sound)
	at := filepath.Join(media, l.Path(id))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	delete(l.Files, id) // thousands are gigabytes
}

func libreDump(t *testing.T, l *importtest.Libre) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "libretime.sql")
	if err := os.WriteFile(file, l.Dump(importtest.LibreCopy), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// firstImported is the tone of the first song that comes over, which is played.
const firstImported = 120

func importedSong(t *testing.T, tone int) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "song.wav")
	// A minute and more, or it is taken for a short.
	if err := aircheck.WriteWAV(name, aircheck.Track{ID: tone, Scale: aircheck.Fine, Duration: 61 * time.Second}); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return sound
}

func importedNames(tone int) (artist, title string) {
	return fmt.Sprintf("فنان %d", tone), fmt.Sprintf("tone %d أغنية", tone)
}

// importing is a station on the air, with six songs of its own.
func importing(t *testing.T) (*station, *ear) {
	t.Helper()
	s := newStation(t, withKeys, func(s *station) { s.configure(programmeRules(40, []rotation.Daypart{})) })
	record(t, s.media, library()[:6])
	s.start().whole()
	return s, s.listen()
}

// broughtOver is what an import tells.
type broughtOver struct {
	Copied, There, Playlists, Items int
	Invited                         []struct{ Login string }
	Not                             []struct {
		Stage, What string
		Why         struct{ En string }
	}
}

// comesOver brings a station of so many tracks over, hears the first of its songs, and brings it over once more.
func (s *station) comesOver(t *testing.T, air *ear, tracks int, from ...string) broughtOver {
	t.Helper()
	before := time.Now()
	order := slices.Concat([]string{"import"}, from, []string{"--data", s.data, "--json"})
	if plan := s.athir(append(order, "--dry-run")...); !strings.Contains(plan, `"bring"`) {
		t.Fatalf("%.400s", plan)
	}
	brings := func() (report broughtOver) {
		t.Helper()
		if text := s.athir(order...); json.Unmarshal([]byte(text), &report) != nil {
			t.Fatalf("%.400s", text)
		}
		return report
	}
	report := brings()
	t.Logf("IMPORTED %d files of %d tracks, %d playlists with %d places, %d people; %d things did not come, in %s", report.Copied, tracks, report.Playlists, report.Items, len(report.Invited), len(report.Not), time.Since(before).Round(time.Second))
	why := map[string]int{}
	for _, n := range report.Not {
		reason, _, _ := strings.Cut(n.Why.En, ":")
		why[n.Stage+": "+reason]++
	}
	for _, reason := range slices.SortedFunc(maps.Keys(why), func(a, b string) int { return cmp.Compare(why[b], why[a]) }) {
		t.Logf("NOT %d × %s", why[reason], reason)
	}
	s.playsImported()
	t.Logf("HEARD %s after the import began", air.hears(s, firstImported, before).Round(100*time.Millisecond))
	if again := brings(); again.Copied != 0 || again.There != report.Copied {
		t.Errorf("once more: %+v", again)
	}
	return report
}

// playsImported puts the first song that comes over on the air, once it is fit to air.
func (s *station) playsImported() {
	s.t.Helper()
	s.eventually("one of its songs is played", func() bool {
		_, text := s.operate("GET", shelfAt+"?"+url.Values{"q": {fmt.Sprint("tone ", firstImported)}, "state": {"airs"}}.Encode(), "")
		var found struct {
			Tracks []struct{ Path, Category string }
		}
		if json.Unmarshal([]byte(text), &found) != nil || len(found.Tracks) != 1 {
			return false
		}
		code, _ := s.operate("POST", "/api/station/play", fmt.Sprintf(`{"category":%q,"file":%q}`, found.Tracks[0].Category, found.Tracks[0].Path))
		return code == http.StatusOK
	})
}

// imported is a playlist as the station lists it.
type imported struct {
	Name, Kind, Plays string
	Tracks            int
	On                bool
}

func (s *station) playlists() []imported {
	s.t.Helper()
	var lists struct{ Playlists []imported }
	if code, text := s.operate("GET", playlistsAt, ""); code != http.StatusOK || json.Unmarshal([]byte(text), &lists) != nil {
		s.t.Fatalf("%d %s", code, text)
	}
	return lists.Playlists
}
