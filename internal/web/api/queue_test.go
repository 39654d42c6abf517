package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// What comes is shown with what of it is held, and a change reaches the scheduler as it was sent.
func TestTheQueueByHand(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	sara := []string{"Cookie", r.session(t, "sara", people.Presenter), "Sec-Fetch-Site", "same-origin"}
	for i := range 4 {
		r.view.Rotation.Entries[i].Held = true
	}
	e := &r.view.Rotation.Entries[3]
	e.Hand, e.List, e.ListName, e.Due, e.Relaxed, e.Why.Reason = true, 7, "سهرة", time.UnixMilli(5000), []rotation.Rule{rotation.ArtistGap}, "placed by hand"
	r.view.Rotation.HeldBy = "omar"
	code, _, got := r.sendAs(t, "GET", "/api/station/queue", nil, sara...)
	entries, _ := got["entries"].([]any)
	if code != 200 || got["version"] != r.view.Version() || got["held"] != 2.0 || got["heldBy"] != "omar" || got["most"] != 50.0 || len(entries) != 4 {
		t.Fatalf("%d %v", code, got)
	}
	second, _ := entries[1].(map[string]any)
	for name, want := range map[string]any{
		"position": 3.0, "file": "music/english/3.mp3", "hand": true, "locked": true, "list": 7.0, "listName": "سهرة", "due": 5000.0, "durationMs": 180000.0,
	} {
		if second[name] != want {
			t.Errorf("%s is %v, want %v", name, second[name], want)
		}
	}
	if text := fmt.Sprint(second["relaxed"]); text != "[map[rule:artist-gap]]" {
		t.Errorf("relaxed are %s", text)
	}
	third, _ := entries[2].(map[string]any)
	if third["locked"] != false || third["hand"] != false || fmt.Sprint(third["relaxed"]) != "[]" {
		t.Errorf("not held: %v", third)
	}
	_, _, schedule := r.call(t, "GET", "/api/schedule", "")
	if strings.Count(schedule, `"held":true`) != 4 || strings.Count(schedule, `"hand":true`) != 1 {
		t.Errorf("the schedule does not show it: %s", schedule)
	}
	r.desk.weighing = scheduler.Weighing{
		Breaks: []scheduler.Broken{{Break: rotation.Break{Rule: rotation.TimedEvent, Detail: "late", Late: 90 * time.Second, Due: time.UnixMilli(7000)}, Position: 4, Track: station.Track{Path: "a\xff.mp3", Title: "T"}}},
		Lifts: []scheduler.Broken{{Break: rotation.Break{
			Rule: rotation.ArtistGap, Detail: "near", After: 12 * time.Minute, Other: station.Track{Path: "b.mp3", Title: "نور العين"},
		}, Position: 3, Track: station.Track{Path: "a.mp3", Title: "T", Artist: "عمرو دياب"}}},
	}
	v := r.view.Version()
	for body, want := range map[string]string{
		`{"version":"` + v + `","op":"move","position":4,"to":3}`:                     `move 4 3 ""`,
		`{"version":"` + v + `","op":"remove","position":3}`:                          `remove 3 -1 ""`,
		`{"version":"` + v + `","op":"lock","position":3}`:                            `lock 3 -1 ""`,
		`{"version":"` + v + `","op":"release"}`:                                      `release -1 -1 ""`,
		`{"version":"` + v + `","op":"release","position":3}`:                         `release 3 -1 ""`,
		`{"version":"` + v + `","op":"insert","file":"music/english/1.mp3"}`:          `insert -1 -1 "music/english/1.mp3"`,
		`{"version":"` + v + `","op":"insert","file":"music/english/1.mp3","to":100}`: `insert -1 100 "music/english/1.mp3"`,
	} {
		for _, what := range []string{"check", "edit"} {
			r.desk.told = nil
			code, _, got := r.call(t, "POST", "/api/station/queue/"+what, body, append(sara, "Content-Type", "application/json")...)
			said := what + " " + want
			if what == "edit" {
				said += " by sara"
			}
			if code != 200 || !slices.Equal(r.desk.told, []string{said}) {
				t.Errorf("%s %s: %d %v %s", what, body, code, r.desk.told, got)
			}
			if !strings.Contains(got, `"breaks":[{"position":4,"file":"a\ufffd.mp3","title":"T","rule":"timed-event","detail":"late","lateMs":90000,"due":7000}]`) {
				t.Errorf("%s: breaks are not told: %s", what, got)
			}
			if what == "check" && !strings.Contains(got, `"lifts":[{"position":3,"file":"a.mp3","title":"T","artist":"عمرو دياب","rule":"artist-gap","detail":"near","afterMs":720000,"other":"نور العين"}]`) {
				t.Errorf("lifts are not told: %s", got)
			}
			if what == "edit" && (!strings.Contains(got, `"deed":{"id":"d1",`) || !strings.Contains(got, `"version":"`+v+`"`)) {
				t.Errorf("edit: %s", got)
			}
		}
	}
	r.desk.told = nil
	if code, _, body := r.sendAs(t, "POST", "/api/station/queue/undo", map[string]any{"id": "d1"}, sara...); code != 200 || r.desk.told[0] != "undo d1 by sara" || body["version"] != v {
		t.Errorf("undo: %d %v %v", code, r.desk.told, body)
	}
	// Checks are no orders.
	list, err := r.people.Orders(t.Context(), "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	orders, _ := json.Marshal(list)
	if strings.Contains(string(orders), "queue/check") || !strings.Contains(string(orders), "queue/edit") || !strings.Contains(string(orders), "queue/undo") {
		t.Errorf("log of orders: %s", orders)
	}
}

// Where everybody may look, who changed the queue is told to those who work at the station.
func TestWhoChangedTheQueueIsForTheStation(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Look = secret.Of("open-sesame"), true })
	r.user(t, "omar", people.Owner)
	sara := r.session(t, "sara", people.Presenter)
	for i := range 4 {
		r.view.Rotation.Entries[i].Held = true
	}
	r.view.Rotation.HeldBy = "omar"
	for who, headers := range map[string][]string{"": nil, "key": {"X-Station-Key", "open-sesame"}, "sara": {"Cookie", sara}} {
		code, _, body := r.call(t, "GET", "/api/station/queue", "", headers...)
		if code != 200 || !strings.Contains(body, `"held":2`) || strings.Contains(body, "omar") != (who != "") {
			t.Errorf("%q is told: %d %.200s", who, code, body)
		}
	}
}

// Whatever is sent, a change that is none is refused before the scheduler hears of it, and what
// the scheduler refuses is told with its words.
func TestQueueEditsThatAreRefused(t *testing.T) {
	r := newRig(t)
	for body, want := range map[string]struct {
		code int
		says string
	}{
		`{"no":`: {400, ""},
		`{"version":"v","op":"move","position":3}`:                                            {422, "body.to"},
		`{"version":"v","op":"move","to":3}`:                                                  {422, "body.position"},
		`{"version":"v","op":"remove"}`:                                                       {422, "body.position"},
		`{"version":"v","op":"insert"}`:                                                       {422, "body.file"},
		`{"version":"v","op":"shuffle","position":3}`:                                         {422, "body.op"},
		`{"version":"v","op":"lock","position":-1}`:                                           {422, "body.position"},
		`{"version":"v","op":"lock","position":1e30}`:                                         {422, "body.position"},
		`{"version":"v","op":"lock","position":3.5}`:                                          {422, "body.position"},
		`{"version":"v","op":"insert","file":"../../etc/passwd"}`:                             {404, "passwd"},
		`{"version":"v","op":"insert","file":"` + strings.Repeat("a", 20_000) + `"}`:          {422, "body.file"},
		`{"version":"` + strings.Repeat("v", 100) + `","op":"lock","position":3}`:             {422, "body.version"},
		`{"version":"","op":"lock","position":3}`:                                             {422, "body.version"},
		`{"version":"v","op":"lock","position":3,"by":"somebody else"}`:                       {422, "by"},
		`{"version":"v","op":"lock","position":3,"pad":"` + strings.Repeat("x", 2<<20) + `"}`: {413, ""},
	} {
		for _, what := range []string{"check", "edit"} {
			code, _, got := r.call(t, "POST", "/api/station/queue/"+what, body, "Content-Type", "application/json")
			if code != want.code || !strings.Contains(got, want.says) || len(r.desk.told) != 0 {
				t.Errorf("%s %.100s: %d %v %.300s", what, body, code, r.desk.told, got)
			}
		}
	}
	for kind, code := range map[error]int{station.ErrConflict: 409, station.ErrNotFound: 404, station.ErrUnavailable: 503} {
		r.desk.fail = fmt.Errorf("the queue has changed since: look again: %w", kind)
		for path, body := range map[string]string{
			"check": `{"version":"v","op":"lock","position":3}`, "edit": `{"version":"v","op":"lock","position":3}`, "undo": `{"id":"x"}`,
		} {
			got, _, text := r.call(t, "POST", "/api/station/queue/"+path, body, "Content-Type", "application/json")
			if got != code || !strings.Contains(text, "look again") {
				t.Errorf("%s: %d %s", path, got, text)
			}
		}
	}
	// Before anything is planned there is nothing to come.
	r.view.Rotation.Entries, r.view.Consumed = nil, 0
	if got := r.json(t, "/api/station/queue"); got["held"] != 0.0 || len(got["entries"].([]any)) != 0 { //nolint:forcetypeassert // a test
		t.Errorf("%v", got)
	}
}
