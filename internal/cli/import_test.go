package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/plan"
)

// imports runs the command line against a station.
func imports(ctx context.Context, t *testing.T, s *importtest.Station, data string, args ...string) (string, error) {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ATHIR_PORTS_CONTROL", u.Port())
	t.Setenv("STATION_KEY", importtest.StationKey)
	var out bytes.Buffer
	err = Main(ctx, Process{Version: "test", Out: &out, Args: append([]string{"import"}, append(args, "--data", data)...)})
	return out.String(), err
}

func backupOf(t *testing.T, a *importtest.Azura) string {
	t.Helper()
	return importtest.WriteBackup(t, filepath.Join(t.TempDir(), "azuracast_backup.tzst"), a.Entries(true))
}

func TestImportPrintsItsPlanAndThenCarriesItOut(t *testing.T) {
	s, data, file := importtest.NewStation(t), dataDir(t), backupOf(t, importtest.NewAzura(60, 6))
	before, _ := os.ReadDir(data)
	out, err := imports(t.Context(), t, s, data, "azuracast", file, "--station", "athir", "--dry-run", "--lang", "ar")
	if err != nil || !strings.Contains(out, "قوائم التشغيل") || len(s.Tracks)+len(s.Lists) != 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if after, _ := os.ReadDir(data); len(after) != len(before) {
		t.Errorf("a dry run leaves %v", after)
	}
	out, err = imports(t.Context(), t, s, data, "azuracast", file, "--station", "athir", "--dry-run", "--json")
	var p plan.Plan
	if err != nil || json.Unmarshal([]byte(out), &p) != nil || p.Sum().Bring != 22 {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = imports(t.Context(), t, s, data, "azuracast", file, "--station", "athir")
	if err != nil || len(s.Tracks) != 22 || len(s.People) != 2 {
		t.Fatalf("%v: %d tracks\n%s", err, len(s.Tracks), out)
	}
	for _, want := range []string{"came over: 22 files", "/studio#/invited/token-of-dj_nour", "did not come over: playlists: Relay", "more: --json names all"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	out, err = imports(t.Context(), t, s, data, "azuracast", file, "--station", "athir", "--json")
	var r apply.Report
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || r.Copied != 0 || r.There != 22 || r.Playlists != 0 || len(s.Tracks) != 22 {
		t.Errorf("%v\n%s", err, out)
	}
	// Another backup of the station goes on with the same journal.
	lists := len(s.Lists)
	out, err = imports(t.Context(), t, s, data, "azuracast", backupOf(t, importtest.NewAzura(60, 6)), "--station", "ATHIR", "--json")
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || r.Copied != 0 || r.Playlists != 0 || len(s.Lists) != lists {
		t.Errorf("%v: %d playlists\n%s", err, len(s.Lists)-lists, out)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "imports", "files-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

func TestImportReachesAnOwnNetworkOnlyWhenTold(t *testing.T) {
	a := importtest.NewAzura(20, 5)
	server, s, data := a.Serve(t), importtest.NewStation(t), dataDir(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(importtest.Key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"azuracast", server.URL, "--station", "athir", "--api-key-file", key}
	if out, err := imports(t.Context(), t, s, data, args...); err == nil || !strings.Contains(err.Error(), "--private") {
		t.Fatalf("%v\n%s", err, out)
	}
	// What has no file there is told: the API lists it all the same.
	out, err := imports(t.Context(), t, s, data, append(args, "--private", "--lang", "ar")...)
	if err != nil || len(s.Tracks) != 16 || !strings.Contains(out, "الملفات المنقولة: 16") || !strings.Contains(out, "لم يُنقل") {
		t.Errorf("%v: %d tracks\n%s", err, len(s.Tracks), out)
	}
}

func TestImportThatIsStoppedSaysHowToGoOn(t *testing.T) {
	s, data, file := importtest.NewStation(t), dataDir(t), backupOf(t, importtest.NewAzura(10, 1))
	ctx, stop := context.WithCancel(t.Context())
	s.OnArrival = stop
	out, err := imports(ctx, t, s, data, "azuracast", file, "--station", "athir")
	if err != nil || !strings.Contains(out, "run the same command") || len(s.Lists) != 0 {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := imports(t.Context(), t, s, data, "azuracast", file, "--station", "athir"); err != nil || len(s.Tracks) != 22 || len(s.Arrivals) != 22 {
		t.Errorf("%v: %d tracks, %d files\n%s", err, len(s.Tracks), len(s.Arrivals), out)
	}
}

func TestImportBringsALibreTime(t *testing.T) {
	l, dir := importtest.NewLibre(20), t.TempDir()
	dump, media := filepath.Join(dir, "libretime.sql"), filepath.Join(dir, "storage")
	write := func(name string, data []byte) {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(dump, l.Dump(importtest.LibreCopy))
	files := 0
	for i := 1; i <= 20; i++ {
		if i < 7 || i > 10 { // those are no tracks, or have no file
			write(filepath.Join(media, l.Path(i)), l.Files[i])
			files++
		}
	}
	s, data := importtest.NewStation(t), dataDir(t)
	out, err := imports(t.Context(), t, s, data, "libretime", dump, "--media", media)
	if err != nil || len(s.Tracks) != files || !slices.ContainsFunc(s.Lists, func(l *importtest.StationList) bool {
		return l.Settings["name"] == "صباح الخير" && len(l.Items) == 3
	}) {
		t.Errorf("%v: %d tracks\n%s", err, len(s.Tracks), out)
	}
	if _, err := imports(t.Context(), t, s, data, "libretime", filepath.Join(dir, "none.sql")); err == nil || !strings.Contains(err.Error(), "none.sql") {
		t.Errorf("%v", err)
	}
}

func TestImportNamesTheFlagThatIsWrong(t *testing.T) {
	s, data, file := importtest.NewStation(t), dataDir(t), backupOf(t, importtest.NewAzura(3, 0))
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"azuracast", file}, "--station"},
		{[]string{"azuracast", file, "--api-key-file", empty}, "--api-key-file"},
		{[]string{"azuracast", filepath.Join(data, "none.zip")}, "none.zip"},
		{[]string{"azuracast", "http://"}, "SOURCE"},
		{[]string{"azuracast", file, "--media", file}, "--media"},
		{[]string{"azuracast", file, "--lang", "fr"}, "--lang"},
	} {
		if out, err := imports(t.Context(), t, s, data, append(c.args, "--dry-run")...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\n%s", c.args, err, out)
		}
	}
}
