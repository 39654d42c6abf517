package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// openRequests opens a queue over the rig's library, with a request of a listener in it.
func (r *rig) openRequests(t *testing.T) {
	t.Helper()
	var err error
	r.asked, err = requests.Open(t.Context(), requests.Options{
		Log: r.log, DB: r.db, Library: shelves{r}, Zone: time.UTC, Now: time.Now,
		Limits: requests.Limits{Categories: []station.Category{station.English}, Every: 30 * time.Minute, PerDay: 5, Queue: 20, Rest: time.Hour, Expire: time.Hour},
		Air: func() requests.Air {
			return requests.Air{Aired: func(string) time.Time { return time.Time{} }, Plays: func(station.Category, time.Time) bool { return true }}
		},
		Changed: shelves{r}.Subscribe, Tell: func(string, any) {},
	})
	if err != nil {
		t.Fatal(err)
	}
}

type shelves struct{ *rig }

func (s shelves) Tracks() ([]station.Track, bool)      { return s.lib.Tracks, false }
func (s shelves) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }
func (s shelves) Find(path string) (station.Track, bool) {
	for _, t := range s.lib.Tracks {
		if t.Path == path {
			return t, true
		}
	}
	return station.Track{}, false
}

const asker, neighbour = "device-of-asker", "device-of-other"

func TestASongIsFoundAskedForAndTakenBack(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	for i := range r.lib.Tracks {
		r.lib.Tracks[i].Artist = fmt.Sprint("Singer ", i)
	}
	code, _, body := r.call(t, "GET", "/api/requests/search?q=singer+3", "", "X-Athir-Device", asker)
	if code != 200 || !strings.Contains(body, `"file":"music/english/3.mp3"`) || !strings.Contains(body, `"request":{"allowed":true}`) || !strings.Contains(body, `"total":1`) {
		t.Fatalf("search: %d %s", code, body)
	}
	const song = `{"file": "music/english/3.mp3", "name": "سلمى", "note": "لأمي", "id": "write-0001"}`
	code, _, body = r.call(t, "POST", "/api/requests", song, "X-Athir-Device", asker)
	var made struct{ Request api.ListenersRequest }
	if err := json.Unmarshal([]byte(body), &made); err != nil || code != 201 || !made.Request.Mine || made.Request.Note != "لأمي" {
		t.Fatalf("asked: %d %s", code, body)
	}
	if code, _, again := r.call(t, "POST", "/api/requests", song, "X-Athir-Device", asker); code != 201 || again != body {
		t.Errorf("the same id: %d %s", code, again)
	}
	code, _, body = r.call(t, "POST", "/api/requests", `{"file": "music/english/3.mp3"}`, "X-Athir-Device", neighbour)
	if code != 409 || !strings.Contains(body, `"reason":{"code":"asked","en":"Somebody has asked for it","ar":"طلبها مستمع آخر"`) {
		t.Errorf("asked for twice: %d %s", code, body)
	}
	// Its note is the asker's and the studio's.
	if _, _, body := r.call(t, "GET", "/api/requests", "", "X-Athir-Device", neighbour); strings.Contains(body, "لأمي") || !strings.Contains(body, `"mine":false`) {
		t.Errorf("a neighbour sees %s", body)
	}
	if _, _, body := r.call(t, "GET", "/api/requests", "", "X-Athir-Device", asker); !strings.Contains(body, "لأمي") || strings.Contains(body, `"nextAt":0`) {
		t.Errorf("the asker sees %s", body)
	}
	at := fmt.Sprint("/api/requests/", made.Request.ID)
	if code, _, body := r.call(t, "DELETE", at, "", "X-Athir-Device", neighbour); code != 404 {
		t.Errorf("a neighbour takes it back: %d %s", code, body)
	}
	if code, _, body := r.call(t, "DELETE", at, "", "X-Station-Key", "guess"); code != 401 {
		t.Errorf("a guessed key: %d %s", code, body)
	}
	if code, _, body := r.call(t, "DELETE", at, "", "X-Athir-Device", asker); code != 204 {
		t.Errorf("taken back: %d %s", code, body)
	}
}

func TestTheStudioKeepsTheQueue(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame"}
	_, _, body := r.call(t, "POST", "/api/requests", `{"file": "music/english/3.mp3", "note": "لأمي"}`, "X-Athir-Device", asker)
	var made struct{ Request api.ListenersRequest }
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(err, body)
	}
	if _, _, body := r.call(t, "GET", "/api/station/requests", "", key...); !strings.Contains(body, `"note":"لأمي"`) {
		t.Errorf("the studio sees %s", body)
	}
	code, _, body := r.call(t, "POST", fmt.Sprintf("/api/station/requests/%d/refuse", made.Request.ID), `{"word": "ليست اليوم"}`, key...)
	if code != 200 || !strings.Contains(body, `"action":"refuse"`) || !strings.Contains(body, `"requests":[]`) {
		t.Errorf("refused: %d %s", code, body)
	}
	if _, _, body := r.call(t, "GET", "/api/requests", "", "X-Athir-Device", asker); !strings.Contains(body, `"status":"refused"`) || !strings.Contains(body, "ليست اليوم") {
		t.Errorf("the asker sees %s", body)
	}
	if code, _, body := r.call(t, "PUT", "/api/station/requests/open", `{"open": false}`, key...); code != 200 || !strings.Contains(body, `"open":false`) {
		t.Errorf("closed: %d %s", code, body)
	}
	code, _, body = r.call(t, "POST", "/api/requests", `{"file": "music/english/2.mp3"}`, "X-Athir-Device", neighbour)
	if code != 409 || !strings.Contains(body, "closed") {
		t.Errorf("asked of a closed desk: %d %s", code, body)
	}
}

func TestAStationMayHaveNoRequests(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.Requests = nil })
	if code, _, body := r.call(t, "GET", "/api/requests", ""); code != 200 || !strings.Contains(body, `"enabled":false`) {
		t.Errorf("%d %s", code, body)
	}
	for path, method := range map[string]string{"/api/requests/search": "GET", "/api/requests/1": "DELETE", "/api/station/requests": "GET"} {
		if code, _, body := r.call(t, method, path, ""); code != http.StatusConflict {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
