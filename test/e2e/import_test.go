package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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
	s := newStation(t, withKeys, func(s *station) { s.configure(programmeRules(40, []rotation.Daypart{})) })
	record(t, s.media, library()[:6])
	a := importtest.NewAzura(5000, 1250)
	first := &a.Stations[0]
	tone := 120
	for i := range first.Media {
		m := &first.Media[i]
		if m.File == nil || m.ID >= 100_000 { // its station IDs
			continue
		}
		name := filepath.Join(t.TempDir(), "song.wav")
		// A minute and more, or it is taken for a short.
		if err := aircheck.WriteWAV(name, aircheck.Track{ID: tone, Scale: aircheck.Fine, Duration: 61 * time.Second}); err != nil {
			t.Fatal(err)
		}
		sound, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m.File, m.Length, m.Artist, m.Title = sound, 61, fmt.Sprintf("فنان %d", tone), fmt.Sprintf("tone %d أغنية", tone)
		tone++
	}
	backup := importtest.WriteBackup(t, filepath.Join(t.TempDir(), "azuracast.tzst"), a.Entries(true))
	s.start().whole()
	air := s.listen()

	before := time.Now()
	order := []string{"import", "azuracast", backup, "--station", "athir", "--data", s.data, "--json"}
	plan := s.athir(append(order, "--dry-run")...)
	if !strings.Contains(plan, `"bring"`) {
		t.Fatalf("%.400s", plan)
	}
	var report struct {
		Copied, There, Playlists, Items int
		Invited                         []struct{ Login string }
		Not                             []struct{ Stage string }
	}
	imported := func() {
		t.Helper()
		text := s.athir(order...)
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Fatalf("%v: %.400s", err, text)
		}
	}
	imported()
	songs := tone - 120
	if report.Copied != songs+12 || report.Playlists == 0 || len(report.Invited) != 2 {
		t.Fatalf("%+v", report)
	}
	t.Logf("IMPORTED %d files of 5012 tracks, %d playlists with %d places, %d people; %d things did not come, in %s", report.Copied, report.Playlists, report.Items, len(report.Invited), len(report.Not), time.Since(before).Round(time.Second))
	var lists struct {
		Playlists []struct {
			Name, Kind, Plays string
			Tracks            int
			On                bool
		}
	}
	if code, text := s.operate("GET", playlistsAt, ""); code != http.StatusOK || json.Unmarshal([]byte(text), &lists) != nil || len(lists.Playlists) != report.Playlists {
		t.Errorf("%d %s", code, text)
	}
	jingles := 0
	for _, p := range lists.Playlists {
		if p.Plays == "songs" && p.Tracks == 12 && p.On {
			jingles++
		}
	}
	if jingles != 1 {
		t.Errorf("its station IDs: %+v", lists.Playlists)
	}
	s.eventually("one of its songs is played", func() bool {
		_, text := s.operate("GET", shelfAt+"?"+url.Values{"q": {"tone 120"}, "state": {"airs"}}.Encode(), "")
		var found struct {
			Tracks []struct{ Path, Category string }
		}
		if json.Unmarshal([]byte(text), &found) != nil || len(found.Tracks) != 1 {
			return false
		}
		code, _ := s.operate("POST", "/api/station/play", fmt.Sprintf(`{"category":%q,"file":%q}`, found.Tracks[0].Category, found.Tracks[0].Path))
		return code == http.StatusOK
	})
	air.hears(s, 120, before)
	t.Logf("HEARD %s after the import began", time.Since(before).Round(time.Second))
	was := report
	imported()
	if report.Copied != 0 || report.There != was.Copied {
		t.Errorf("once more: %+v", report)
	}
}
