package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/production"
)

func TestHeadlinesAreHeardBeforeTheyAreKept(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	const at = "/api/station/bulletin/preview"
	key := []string{"X-Station-Key", "open-sesame"}
	body := `{"headlines":["افتتاح خط جديد","انطلاق المعرض","خبر ثالث","خبر رابع"]}`
	code, _, text := r.call(t, "POST", at, body, key...)
	if code != http.StatusOK || !strings.Contains(text, `"text":"افتتاح خط جديد انطلاق المعرض خبر ثالث"`) || !strings.Contains(text, `"waiting":1`) {
		t.Errorf("%d %s", code, text)
	}
	if len(r.orders(t)) != 0 {
		t.Errorf("typing fills the log of orders: %+v", r.orders(t))
	}
	code, head, text := r.call(t, "POST", at+"/audio", body, key...)
	var j jobs.Job
	if err := json.Unmarshal([]byte(text), &j); err != nil || code != http.StatusAccepted || head.Get("Location") != "/api/jobs/"+j.ID {
		t.Fatalf("%d %v %s", code, head, text)
	}
	if _, _, text := r.call(t, "GET", "/api/jobs/"+j.ID+"?wait=1", "", key...); !strings.Contains(text, `"state":"done"`) || !strings.Contains(text, exampleRehearsal) {
		t.Errorf("%s", text)
	}
	if want := []string{"افتتاح خط جديد", "انطلاق المعرض", "خبر ثالث", "خبر رابع"}; !reflect.DeepEqual(r.made.last(), want) || len(r.made.lines) != 0 {
		t.Errorf("spoken are %v, kept %v", r.made.last(), r.made.lines)
	}
	if orders := r.orders(t); len(orders) != 1 || orders[0].Order != "POST "+at+"/audio" {
		t.Errorf("%+v", orders)
	}

	_, _, text = r.call(t, "POST", at+"/audio/"+exampleRehearsal+"/ticket", "", key...)
	var ticket struct {
		Path  string
		Until int64
	}
	if err := json.Unmarshal([]byte(text), &ticket); err != nil || ticket.Until != rehearsedUntil.UnixMilli() {
		t.Fatalf("%s: %v", text, err)
	}
	code, head, text = r.call(t, "GET", ticket.Path, "", "Range", "bytes=9-10")
	if code != http.StatusPartialContent || text != "a " || head.Get("Content-Type") != "audio/mpeg" || head.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("%d %q %v", code, text, head)
	}
	for what, path := range map[string]string{
		"another bulletin": strings.Replace(ticket.Path, exampleRehearsal, "other", 1),
		"no ticket":        "/api/bulletin/preview/audio?id=" + exampleRehearsal,
		"a track's ticket": strings.Replace(ticket.Path, "/api/bulletin/preview/audio?id=", "/api/library/audio?path=", 1),
	} {
		if code, head, _ := r.call(t, "GET", path, ""); code != http.StatusUnauthorized || head.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %v", what, code, head)
		}
	}
	r.made.spoken = "" // a quarter of an hour later
	for method, path := range map[string]string{"POST": at + "/audio/" + exampleRehearsal + "/ticket", "GET": ticket.Path} {
		if code, _, text := r.call(t, method, path, "", key...); code != http.StatusNotFound || !strings.Contains(text, "spoken again") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

// Each door names the line that is wrong, and none opens without the right.
func TestHeadlinesAreRefusedAlikeEverywhere(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	nour := r.session(t, "nour", people.Moderator)
	for _, door := range []struct{ method, path string }{
		{"PUT", "/api/bulletin/headlines"}, {"POST", "/api/station/bulletin/preview"}, {"POST", "/api/station/bulletin/preview/audio"},
	} {
		version := ""
		if door.method == "PUT" {
			version = `,"version":"any"`
		}
		for wrong, location := range map[string]string{
			`["خبر","خبر","..."]`:                     `"location":"body.headlines[2]"`,
			`["` + strings.Repeat("ا", 161) + `"]`:    `"location":"body.headlines[0]"`,
			`[` + strings.Repeat(`"a",`, 50) + `"a"]`: `"location":"body.headlines"`,
			`null`: `body.headlines`,
		} {
			code, _, text := r.call(t, door.method, door.path, `{"headlines":`+wrong+version+`}`, "X-Station-Key", "open-sesame")
			if code != http.StatusUnprocessableEntity || !strings.Contains(text, location) {
				t.Errorf("%s %.40s: %d %s", door.path, wrong, code, text)
			}
		}
		body := `{"headlines":["خبر"]` + version + `}`
		if code, _, text := r.call(t, door.method, door.path, body); code != http.StatusUnauthorized {
			t.Errorf("%s without a key: %d %s", door.path, code, text)
		}
		if code, _, text := r.call(t, door.method, door.path, body, "Cookie", nour); code != http.StatusForbidden {
			t.Errorf("%s by a moderator: %d %s", door.path, code, text)
		}
	}
	if r.made.last() != nil {
		t.Errorf("spoken is %v", r.made.last())
	}
}

// What a voice that failed says reaches the page in both languages, from the job and from
// an answer that waited.
func TestARehearsalThatFailedIsExplained(t *testing.T) {
	r := newRig(t)
	reason := &production.RehearsalReason{Code: "unspoken", En: "No voice could speak.", Ar: "لم ينطق أي صوت.", Detail: "espeak-ng: exit code 1"}
	r.made.set(fmt.Errorf("speak: %w", reason), nil)
	code, _, text := r.call(t, "POST", "/api/station/bulletin/preview/audio?wait=1", `{"headlines":["خبر"]}`)
	if code != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"unspoken"`) || !strings.Contains(text, "لم ينطق أي صوت.") || !strings.Contains(text, "espeak-ng") {
		t.Errorf("%d %s", code, text)
	}
}
