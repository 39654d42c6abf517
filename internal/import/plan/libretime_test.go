package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/libretime"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/station"
)

// What the library can ask for comes as a smart playlist, and what shows load plays at their times.
func TestAStationOfLibreTimeIsPlanned(t *testing.T) {
	l := importtest.NewLibre(60)
	file := filepath.Join(t.TempDir(), "libretime.sql")
	if err := os.WriteFile(file, l.Dump(importtest.LibreCopy), 0o600); err != nil {
		t.Fatal(err)
	}
	media := fstest.MapFS{}
	for i := 1; i <= 60; i++ {
		if i != 9 {
			media[l.Path(i)] = &fstest.MapFile{Data: l.Files[i]}
		}
	}
	st, err := libretime.Read(t.Context(), libretime.Source{File: file, Media: media, Now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Make(st, plan.Library{}, plan.Memory{})
	brought := 0
	for _, one := range p.Tracks {
		if one.ID == "5" && one.Category != station.Jingles {
			t.Errorf("a jingle comes as %s: %+v", one.Category, one.Why)
		}
		if one.Do == plan.Bring {
			brought++
		}
	}
	if brought != 56 { // 7, 8 and 9 are none, and 10 has no file
		t.Errorf("%d tracks come over", brought)
	}
	if smart := list(t, p, "طرب"); smart.Do != plan.Bring || smart.Settings.Kind != "smart" || smart.Settings.Query == nil || len(smart.Items) != 0 {
		t.Errorf("a smart block: %+v", smart)
	}
	if other := list(t, p, "New rock"); other.Do != plan.Not || !strings.Contains(other.Why.En, "utime after") {
		t.Errorf("a smart block that cannot be asked for: %+v", other)
	}
	if morning := list(t, p, "صباح الخير"); morning.Do != plan.Bring || morning.Settings.Plays != "once" || len(morning.Settings.When) != 2 || len(morning.Items) != 3 {
		t.Errorf("a playlist of a show: %+v", morning)
	}
	if len(p.People) != 3 {
		t.Errorf("people: %+v", p.People)
	}
}
