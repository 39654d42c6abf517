package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/import/apply"
	importing "github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/people"
)

// What the manual uploads, and the upload that it speaks of.
const (
	exampleBackup = "azuracast.zip"
	exampleImport = "OEXAMPLEIMPORTAZURACAST234"
)

// openImports opens imports into the rig itself; only its own machine is reached.
func (r *rig) openImports(t *testing.T) *importing.Desk {
	t.Helper()
	r.imports = filepath.Join(t.TempDir(), "imports")
	return importing.Open(importing.Options{
		Dir: r.imports, Log: r.log, Fetch: origin.Client("test", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "content.networks"),
		Station: func() apply.Station { return apply.Station{Base: r.URL, Key: "open-sesame"} },
	})
}

// backup is one of AzuraCast, a zip.
func backup(t *testing.T, a *importtest.Azura, media bool) []byte {
	t.Helper()
	data, err := os.ReadFile(importtest.WriteBackup(t, filepath.Join(t.TempDir(), exampleBackup), a.Entries(media)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keepImport uploads a file.
func (r *rig) keepImport(t *testing.T, data []byte) importing.File {
	t.Helper()
	code, head, body := r.call(t, "PUT", "/api/station/import/file?name="+exampleBackup, string(data), "X-Station-Key", "open-sesame", "Content-Type", "application/octet-stream")
	var f importing.File
	if err := json.Unmarshal([]byte(body), &f); err != nil || code != http.StatusOK || f.Name != exampleBackup || f.Size != int64(len(data)) || head.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", code, err, body)
	}
	return f
}

func (r *rig) exampleImport(t *testing.T) []string {
	t.Helper()
	return []string{exampleImport, r.keepImport(t, backup(t, importtest.NewAzura(20, 0), false)).ID}
}

// ordered sends an order and returns its job, once it has ended.
func (r *rig) ordered(t *testing.T, what, body string) jobs.Job {
	t.Helper()
	key := []string{"X-Station-Key", "open-sesame", "Content-Type", "application/json"}
	code, head, answer := r.call(t, "POST", "/api/station/import/"+what, body, key...)
	if code != http.StatusAccepted {
		t.Fatalf("%s: %d %s", what, code, answer)
	}
	_, _, answer = r.call(t, "GET", head.Get("Location")+"?wait=true", "", key...)
	var j jobs.Job
	if err := json.Unmarshal([]byte(answer), &j); err != nil || j.Lane != "import" {
		t.Fatalf("%v %s", err, answer)
	}
	return j
}

func TestAStationComesOverFromTheStudio(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.runIntake(t)
	a := importtest.NewAzura(6, 0)
	a.Stations[0].Webhooks[0].Events = []string{"song_changed"}
	f := r.keepImport(t, backup(t, a, false))
	order := fmt.Sprintf(`{"system":"azuracast","file":%q,"station":"athir"}`, f.ID)

	j := r.ordered(t, "plan", order)
	var p importing.Planned
	if err := json.Unmarshal(j.Result, &p); err != nil || j.State != jobs.Done || p.System != "AzuraCast" || p.Tracks.Not != 18 || len(p.NotTracks) != 18 || len(p.Playlists) == 0 || len(p.People) != 3 {
		t.Fatalf("%v %s %s\n%s", err, j.State, j.Error, j.Result)
	}
	j = r.ordered(t, "apply", order)
	var done importing.Report
	if err := json.Unmarshal(j.Result, &done); err != nil || j.State != jobs.Done || done.Playlists == 0 || len(done.Invited) != 2 || done.Counts.Webhooks == 0 || j.Progress.Step != "webhooks" {
		t.Fatalf("%v %s %s\n%s", err, j.State, j.Error, j.Result)
	}
	if users := r.people.List(); len(users) != 2 {
		t.Errorf("%v", users)
	}

	// What opens something is told to owners alone, and not by the job.
	_, _, answer := r.call(t, "GET", "/api/station/import/secrets", "", "X-Station-Key", "open-sesame")
	var s importing.Secrets
	if err := json.Unmarshal([]byte(answer), &s); err != nil || len(s.Invited) != 2 || s.Invited[0].Token == "" || len(s.Webhooks) == 0 || s.Webhooks[0].Secret == "" {
		t.Fatalf("%v %s", err, answer)
	}
	for _, secret := range []string{s.Invited[0].Token, s.Invited[1].Token, s.Webhooks[0].Secret, "hook?a="} {
		if strings.Contains(string(j.Result), secret) {
			t.Errorf("the job tells %q", secret)
		}
	}
	// The same file again does nothing twice.
	again := r.keepImport(t, backup(t, a, false))
	j = r.ordered(t, "apply", strings.ReplaceAll(order, f.ID, again.ID))
	if err := json.Unmarshal(j.Result, &done); err != nil || j.State != jobs.Done || done.Playlists != 0 || len(done.Invited) != 0 {
		t.Errorf("%v %s %s\n%s", err, j.State, j.Error, j.Result)
	}
	for code, id := range map[int]string{http.StatusNoContent: f.ID, http.StatusNotFound: "../" + f.ID} {
		if got, _, body := r.call(t, "DELETE", "/api/station/import/file/"+strings.ReplaceAll(id, "/", "%2F"), "", "X-Station-Key", "open-sesame"); got != code {
			t.Errorf("%s: %d %s", id, got, body)
		}
	}
}

// Whoever may not manage the station learns nothing of imports.
func TestImportsAreTheOwnersAlone(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	cookie := r.session(t, "nour", people.Programmer)
	for _, order := range []string{"PUT file?name=x", "POST plan", "POST apply", "DELETE file/x", "GET secrets"} {
		method, path, _ := strings.Cut(order, " ")
		code, _, body := r.call(t, method, "/api/station/import/"+path, "{}", "Cookie", cookie, "Content-Type", "application/json")
		if code != http.StatusForbidden {
			t.Errorf("%s: %d %s", order, code, body)
		}
	}
}

func TestAnOrderThatCannotBeIsRefusedAtOnce(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	for body, field := range map[string]string{
		`{"system":"azuracast"}`:                                                   "body.file",
		`{"system":"azuracast","file":"x"}`:                                        "body.file",
		`{"system":"azuracast","address":"radio.example.org","key":"k"}`:           "body.address",
		`{"system":"azuracast","address":"https://a:b@radio.example.org"}`:         "body.address",
		`{"system":"azuracast","address":"https://radio.example.org"}`:             "body.key",
		`{"system":"libretime","address":"https://radio.example.org","user":"ad"}`: "body.password",
	} {
		code, out := r.sendKeyed(t, "POST", "/api/station/import/plan", body)
		errs, _ := out["errors"].([]any)
		if code != http.StatusUnprocessableEntity || len(errs) != 1 || at(errs[0], "location") != field || at(out, "reason", "ar") == "" {
			t.Errorf("%s: %d %v", body, code, out)
		}
	}
}

func (r *rig) sendKeyed(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	code, _, answer := r.call(t, method, path, body, "X-Station-Key", "open-sesame", "Content-Type", "application/json")
	out := map[string]any{}
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		t.Fatalf("%d %s", code, answer)
	}
	return code, out
}
