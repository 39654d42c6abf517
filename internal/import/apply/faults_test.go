package apply_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// A file that cannot be read just now stops the import: its playlist would be without it for good.
func TestAFileThatCannotBeReadNowStopsTheImport(t *testing.T) {
	s, dir, st := importtest.NewStation(t), t.TempDir(), small()
	good := st.Tracks[1].Open
	st.Tracks[1].Open = func() (io.ReadCloser, error) { return nil, errors.New("input/output error") }
	report, _, err := run(t.Context(), t, s, st, dir, nil)
	if err == nil || !strings.Contains(err.Error(), "in/1.wav") || !report.Stopped || len(s.Lists) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	asked := 0
	st.Tracks[1].Open = func() (io.ReadCloser, error) {
		if asked++; asked == 1 {
			return nil, &fetch.StatusError{Code: http.StatusServiceUnavailable}
		}
		return good()
	}
	if report, _, err := run(t.Context(), t, s, st, dir, nil); err != nil || asked != 2 {
		t.Fatalf("asked %d times: %+v, %v", asked, report, err)
	}
	whole(t, s)
}

// damaged is a file that breaks in the middle.
type damaged struct {
	io.Reader
	err error
}

func (d damaged) Close() error { return nil }
func (d damaged) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil {
		return n, d.err
	}
	return n, nil
}

// One damaged file is told and left out, in this run and in the next.
func TestADamagedFileDoesNotStopTheImport(t *testing.T) {
	for _, fault := range []error{zip.ErrChecksum, io.EOF} { // a file that is shorter than it is said to be
		s, dir, st := importtest.NewStation(t), t.TempDir(), small()
		data, opened := importtest.Tone(1, 1500), 0
		st.Tracks[1].Open = func() (io.ReadCloser, error) {
			opened++
			return damaged{bytes.NewReader(data[:9000]), fault}, nil
		}
		report, _, err := run(t.Context(), t, s, st, dir, nil)
		if err != nil || report.Copied != 3 || report.Playlists != 3 || !slices.ContainsFunc(report.Not, func(n apply.NotBrought) bool { return n.What == "in/1.wav" }) {
			t.Fatalf("%v: %+v, %v", fault, report, err)
		}
		before := opened
		report, _, err = run(t.Context(), t, s, st, dir, nil)
		if err != nil || opened != before || !slices.ContainsFunc(report.Not, func(n apply.NotBrought) bool { return n.What == "in/1.wav" }) {
			t.Errorf("%v: opened %d times: %+v, %v", fault, opened, report, err)
		}
	}
}

// What a playlist lacked for want of a file comes into it with the file.
func TestAPlaylistGetsTheTracksWhoseFilesComeLater(t *testing.T) {
	s, dir, st := importtest.NewStation(t), t.TempDir(), small()
	good := st.Tracks[0].Open
	st.Tracks[0].Open = nil
	if _, _, err := run(t.Context(), t, s, st, dir, nil); err != nil {
		t.Fatal(err)
	}
	st.Tracks[0].Open = good
	for range 2 {
		if _, _, err := run(t.Context(), t, s, st, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, p := range s.Lists[0].Items {
		got = append(got, strings.TrimSuffix(filepath.Base(p), ".wav"))
	}
	if strings.Join(got, "") != "22310" {
		t.Errorf("%q", got)
	}
}

// Another server gives the same ids to others: what a journal has of the one is not theirs.
func TestAJournalIsBelievedOnlyOfItsOwnSource(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
		t.Fatal(err)
	}
	other := small()
	for i := range 4 {
		data := importtest.Tone(10+i, 1700)
		tr := &other.Tracks[i]
		tr.Path, tr.Title, tr.Size = fmt.Sprintf("out/%d.wav", 10+i), fmt.Sprintf("Else %d", i), int64(len(data))
		tr.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	}
	other.Tracks = other.Tracks[:4]
	other.Playlists = other.Playlists[:1]
	other.Playlists[0].Name = "Elsewhere"
	report, _, err := run(t.Context(), t, s, other, dir, nil)
	if err != nil || report.Copied != 4 || report.Playlists != 1 || len(s.Tracks) != 8 || len(s.Lists) != 4 || len(s.Lists[3].Items) != 5 || !strings.Contains(s.Lists[3].Items[0], "/12.wav") {
		t.Errorf("%+v, %v", report, err)
	}
}

// A file whose line is gone is looked for by what is its own: a length is anybody's.
func TestALostFileIsNotTakenForAnother(t *testing.T) {
	for _, c := range []struct {
		title string
		more  int
		found bool
	}{{"Other", 5, false}, {"Mine", 5, true}, {"Other", 0, true}} {
		s, dir := importtest.NewStation(t), t.TempDir()
		data := importtest.Tone(1, 1500)
		st := &model.Station{System: "AzuraCast", Name: "x", Tracks: []model.Track{{
			ID: "1", Path: "in/1.wav", Title: "Mine", Length: 1500 * time.Millisecond, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		}}}
		journal := `{"kind":"upload","id":"1","from":{"path":"in/1.wav","title":"Mine","lengthMs":1500},"key":"k"}` + "\n" + `{"kind":"arrival","id":"1","arrival":"gone"}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, "import.jsonl"), []byte(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		added := false
		// It comes into the library after the plan: the plan itself would find it.
		report, _, err := run(t.Context(), t, s, st, dir, through(func(r *http.Request) (*http.Response, error) {
			if !added {
				added = true
				s.AddTrack(&importtest.StationTrack{Path: "a/b.wav", Title: c.title, Data: append(slices.Clone(data), make([]byte, c.more)...)})
			}
			return http.DefaultTransport.RoundTrip(r)
		}))
		if err != nil || (report.Copied == 1) != c.found || len(report.Not) == 1 == c.found {
			t.Errorf("%+v: %+v, %v", c, report, err)
		}
	}
}

// killAt kills a run at a request, which is not sent.
func killAt(t *testing.T, s *importtest.Station, dir, method, path string) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	_, _, err := run(ctx, t, s, small(), dir, through(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && r.URL.Path == path {
			kill()
			return nil, errKilled
		}
		return http.DefaultTransport.RoundTrip(r)
	}))
	if err == nil {
		t.Fatal("it was not killed")
	}
}

// A playlist that an operator made under the name meanwhile is theirs.
func TestAnOperatorsPlaylistIsNotTakenOver(t *testing.T) {
	for _, theirs := range []importtest.StationList{
		{Settings: map[string]any{"name": "قائمة", "kind": "hand", "order": "sequence", "plays": "only", "on": false}, Items: []string{"x.mp3"}},
		{Settings: map[string]any{"name": "قائمة", "kind": "hand", "order": "sequence", "plays": "only", "on": true}},
		{Settings: map[string]any{"name": "قائمة", "kind": "hand", "order": "turns", "plays": "only", "on": false}},
	} {
		s, dir := importtest.NewStation(t), t.TempDir()
		killAt(t, s, dir, http.MethodPost, "/api/station/playlists")
		theirs.ID, theirs.Version = 1, 1
		s.Lists = append(s.Lists, &theirs)
		if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
			t.Fatal(err)
		}
		if theirs.Version != 1 || len(s.Lists) != 4 || s.Lists[1].Settings["name"] != "قائمة (2)" || len(s.Lists[1].Items) != 5 {
			t.Errorf("%+v, %d playlists, %v", theirs, len(s.Lists), s.Lists[1].Settings)
		}
	}
}

func TestAnOperatorsWebhookIsNotSwitchedOff(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	killAt(t, s, dir, http.MethodPost, "/api/station/webhooks")
	s.Hooks = append(s.Hooks, map[string]any{"id": "1", "url": "https://example.org/h", "events": []string{"live.start"}, "enabled": true})
	report, _, err := run(t.Context(), t, s, small(), dir, nil)
	if err != nil || len(s.Hooks) != 1 || s.Hooks[0]["enabled"] != true || report.Not[len(report.Not)-1].Stage != apply.Webhooks {
		t.Errorf("%+v, %v: %v", report, err, s.Hooks)
	}
}

// A process that is killed gives no report: the next run says which links and secrets are lost.
func TestLinksThatNobodyWasToldAreMissed(t *testing.T) {
	s, dir := importtest.NewStation(t), t.TempDir()
	if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "import.jsonl")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	text, whole := bytes.CutSuffix(text, []byte("{\"kind\":\"told\"}\n"))
	if err := os.WriteFile(journal, text, 0o600); err != nil || !whole {
		t.Fatal(err, string(text))
	}
	report, _, err := run(t.Context(), t, s, small(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	told(t, s, []apply.Report{report})
	if report, _, err = run(t.Context(), t, s, small(), dir, nil); err != nil || slices.ContainsFunc(report.Not, func(n apply.NotBrought) bool { return n.Stage == apply.People || n.Stage == apply.Webhooks }) {
		t.Errorf("it is told again: %+v, %v", report, err)
	}
}

// A line for which the disk had no room leaves nothing that another is glued to.
func TestAJournalOutlivesAFullDisk(t *testing.T) {
	dir := t.TempDir()
	j, err := apply.OpenJournal(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	j.FillDisk(60)
	var failed int
	for i := range 5 {
		if j.NotePerson(fmt.Sprint("dj", i)) != nil {
			failed++
		}
	}
	if err := j.Close(); err != nil || failed != 1 {
		t.Fatalf("%d failed, %v", failed, err)
	}
	if j, err = apply.OpenJournal(dir, "x"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if people := j.Memory().People; len(people) != 4 || people["dj1"] {
		t.Errorf("%v", people)
	}
}

func TestTheStationsTimeZoneIsRead(t *testing.T) {
	s := importtest.NewStation(t)
	lib, err := apply.Station{Base: s.URL, Key: importtest.StationKey}.Library(t.Context())
	if err != nil || lib.Zone != "Asia/Riyadh" {
		t.Errorf("%q, %v", lib.Zone, err)
	}
}
