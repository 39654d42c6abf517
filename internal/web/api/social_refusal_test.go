package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/problem"
)

// refusedAs reads the reason of a refusal, and holds it against its status and its words.
func refusedAs(t *testing.T, what string, status int, body string, want int, reason why.Refusal) problem.Reason {
	t.Helper()
	var doc problem.Document
	if err := json.Unmarshal([]byte(body), &doc); err != nil || status != want || doc.Status != want || doc.Reason == nil {
		t.Errorf("%s: %d %s", what, status, body)
		return problem.Reason{}
	}
	en, ar := why.Words(&reason)
	if doc.Reason.Code != string(reason.Code) || !strings.HasPrefix(doc.Reason.En, en) || !strings.HasPrefix(doc.Reason.Ar, ar) {
		t.Errorf("%s: %+v, want %s, %s, %s", what, doc.Reason, reason.Code, en, ar)
	}
	return *doc.Reason
}

// What listeners read is refused in words of both languages, whichever way they send.
func TestARefusedSubmissionSaysWhyInBothLanguages(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	doors := map[string]func(title, rights, sound string) (int, string){
		"raw": func(title, rights, sound string) (int, string) {
			code, _, body := r.ask(t, "POST", "/api/social/upload/voice?title="+title+"&rights="+rights, sound)
			return code, body
		},
		"json": func(title, rights, sound string) (int, string) {
			code, _, body := r.ask(t, "POST", "/api/social/posts", `{"type":"voice","title":"`+title+`","rights":`+rights+`,"base64":"`+base64.StdEncoding.EncodeToString([]byte(sound))+`"}`)
			return code, body
		},
	}
	blocked := func() {
		r.exec(t, `UPDATE social_submitters SET blocked = 1`)
	}
	sent := func() {
		if code, body := doors["raw"]("first", "true", "sound"); code != http.StatusAccepted {
			t.Fatalf("%d %s", code, body)
		}
	}
	for _, c := range []struct {
		what                 string
		limits               social.Limits
		before               func()
		title, rights, sound string
		status               int
		reason               why.Refusal
		at                   time.Duration // from now
	}{
		{what: "no title", title: "", status: 422, reason: why.Refusal{Code: why.NamesMissing, Field: why.Title}},
		{what: "a long title", title: strings.Repeat("x", 121), status: 422, reason: why.Refusal{Code: why.NamesLong, Field: why.Title, Limit: 120}},
		{what: "a link", title: "http://x.example", status: 422, reason: why.Refusal{Code: why.NamesLinks, Field: why.Title}},
		{what: "a word", title: "badword", status: 422, reason: why.Refusal{Code: why.NamesWords, Field: why.Title}},
		{what: "no rights", title: "x", rights: "false", status: 422, reason: why.Refusal{Code: why.Unconfirmed}},
		{what: "too large", limits: social.Limits{Bytes: 3}, title: "x", status: 413, reason: why.Refusal{Code: why.TooLarge, Limit: 3}},
		{what: "no room", limits: social.Limits{Reserve: 1 << 62}, title: "x", status: 507, reason: why.Refusal{Code: why.NoRoom}},
		{what: "the queue", limits: social.Limits{Queue: 1}, before: sent, title: "x", status: 507, reason: why.Refusal{Code: why.QueueFull}},
		{what: "waiting", limits: social.Limits{Waiting: 1}, before: sent, title: "x", status: 409, reason: why.Refusal{Code: why.WaitingLimit, Limit: 1}},
		{what: "an hour", limits: social.Limits{PerHour: 1, PerDay: 1}, before: sent, title: "x", status: 429, reason: why.Refusal{Code: why.HourLimit, Limit: 1}, at: time.Hour},
		{what: "a day", limits: social.Limits{PerDay: 1}, before: sent, title: "x", status: 429, reason: why.Refusal{Code: why.DayLimit, Limit: 1}, at: 24 * time.Hour},
		{what: "blocked", before: blocked, title: "x", status: 403, reason: why.Refusal{Code: why.Blocked}},
	} {
		r.exec(t, `DELETE FROM social_posts`)
		r.posts.Posts = r.platform(t, c.limits)
		from := time.Now()
		if c.before != nil {
			sent()
			r.exec(t, `DELETE FROM social_posts`)
			c.before()
		}
		if c.rights == "" {
			c.rights = "true"
		}
		for name, door := range doors {
			code, body := door(c.title, c.rights, "sound")
			got := refusedAs(t, c.what+", "+name, code, body, c.status, c.reason)
			if at := time.UnixMilli(got.At); c.at == 0 && got.At != 0 || c.at != 0 && (at.Before(from.Add(c.at).Truncate(time.Millisecond)) || at.After(time.Now().Add(c.at))) {
				t.Errorf("%s, %s: from %v", c.what, name, at)
			}
		}
	}
}

// The address of a network with many listeners has its own limit.
func TestARefusedNetworkIsToldWhen(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.posts.Posts = r.platform(t, social.Limits{Address: 1})
	const network = "X-Forwarded-For: 203.0.113.7"
	began := time.Now()
	if code, _, body := r.ask(t, "POST", "/api/social/upload/voice?title=x&rights=true", "sound", network); code != http.StatusAccepted {
		t.Fatalf("%d %s", code, body)
	}
	code, head, body := r.ask(t, "POST", "/api/social/upload/voice?title=x&rights=true", "sound", network)
	got := refusedAs(t, "its second", code, body, 429, why.Refusal{Code: why.NetworkLimit})
	clock := time.UnixMilli(got.At).UTC().Add(time.Minute - time.Nanosecond).Format("15:04")
	after, _ := strconv.Atoi(head.Get("Retry-After")) // an hour after the first, however long the two took
	if left := time.Hour - time.Since(began); time.Duration(after)*time.Second < left.Truncate(time.Second) || after > 3600 || !strings.Contains(got.En, clock) || !strings.Contains(got.Ar, clock) {
		t.Errorf("%s after %s", body, head.Get("Retry-After"))
	}
}

// What is refused before anything of it is read says so in the same way.
func TestRefusalsOfTheDoorItselfHaveWords(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	code, _, body := r.ask(t, "POST", "/api/social/posts", `{"type":"voice","title":"x","rights":true,"base64":"`+strings.Repeat("A", 12<<20)+`"}`)
	refusedAs(t, "more than a body may have", code, body, 413, why.Refusal{Code: why.TooLarge, Limit: 9 << 20})
	code, _, body = r.ask(t, "POST", "/api/social/upload/film?title=x&rights=true", "sound")
	refusedAs(t, "no such type", code, body, 422, why.Refusal{Code: why.UnknownType})
	code, _, body = r.ask(t, "POST", "/api/social/upload/voice?title=x&rights=true", "")
	refusedAs(t, "nothing", code, body, 422, why.Refusal{Code: why.Empty})
	shut := newRigWith(t, func(o *api.Options) { o.Social = nil })
	code, _, body = shut.ask(t, "POST", "/api/social/upload/voice?title=x&rights=true", "sound")
	refusedAs(t, "no platform", code, body, 503, why.Refusal{Code: why.Closed})
}
