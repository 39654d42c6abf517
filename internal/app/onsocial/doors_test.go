package onsocial

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/audience/social/upload"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/problem"
)

type quiet struct{ signal.Changes }

func (*quiet) Plays(context.Context) (map[string]social.Airing, error) { return nil, nil }
func (*quiet) InUse(string) bool                                       { return false }

// door is the handler of resumable uploads as the platform wires it.
func door(t *testing.T, limits social.Limits, size resume.Limits) http.Handler {
	t.Helper()
	dir := t.TempDir()
	log, _ := testkit.Log(t)
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	posts, err := social.Open(t.Context(), social.Options{
		Log: log, DB: db, Now: time.Now, Dir: filepath.Join(dir, "social"), Media: filepath.Join(dir, "media"), Air: &quiet{}, Tell: func(string, any) {}, Limits: limits,
		Words: check.Words{Linked: func(text string) bool { return strings.Contains(text, "://") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	uploads, err := upload.Open(upload.Options{Dir: filepath.Join(dir, "social", tus), Base: api.UploadsPath, Taker: taker{posts}, Gate: gate{posts}, Log: log, Limits: size, Problem: api.Problem})
	if err != nil {
		t.Fatal(err)
	}
	return uploads
}

// create asks for an upload, with its bytes.
func create(h http.Handler, length int, meta map[string]string) *httptest.ResponseRecorder {
	var pairs []string
	for name, value := range meta {
		pairs = append(pairs, name+" "+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	r := httptest.NewRequest(http.MethodPost, api.UploadsPath, strings.NewReader(strings.Repeat("x", min(length, 100))))
	r.RemoteAddr = "203.0.113.7:5000"
	for name, value := range map[string]string{
		"Tus-Resumable": "1.0.0", "Upload-Length": fmt.Sprint(length), "Upload-Metadata": strings.Join(pairs, ","),
		"Content-Type": "application/offset+octet-stream", "X-Athir-Device": "device-of-sender",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A refused upload says why in words of both languages, as the other doors do.
func TestARefusedUploadSaysWhyInBothLanguages(t *testing.T) {
	good := map[string]string{"type": "voice", "title": "x", "rights": "true"}
	with := func(name, value string) map[string]string {
		out := map[string]string{name: value}
		for n, v := range good {
			if n != name {
				out[n] = v
			}
		}
		return out
	}
	for _, c := range []struct {
		what   string
		limits social.Limits
		size   resume.Limits
		before int // uploads that are taken first
		length int
		meta   map[string]string
		status int
		reason refusal.Refusal
	}{
		{what: "a link", length: 5, meta: with("title", "http://x.example"), status: 422, reason: refusal.Refusal{Code: refusal.NamesLinks, Field: refusal.Title}},
		{what: "no rights", length: 5, meta: with("rights", "false"), status: 422, reason: refusal.Refusal{Code: refusal.Unconfirmed}},
		{what: "no such type", length: 5, meta: with("type", "film"), status: 422, reason: refusal.Refusal{Code: refusal.UnknownType}},
		{what: "empty", meta: good, status: 422, reason: refusal.Refusal{Code: refusal.Empty}},
		{what: "too large", size: resume.Limits{Size: 1 << 20}, length: 1<<20 + 1, meta: good, status: 413, reason: refusal.Refusal{Code: refusal.TooLarge, Limit: 1 << 20}},
		{what: "an hour", limits: social.Limits{PerHour: 1}, before: 1, length: 5, meta: good, status: 429, reason: refusal.Refusal{Code: refusal.HourLimit, Limit: 1}},
		{what: "the queue", limits: social.Limits{Queue: 1}, before: 1, length: 5, meta: good, status: 507, reason: refusal.Refusal{Code: refusal.QueueFull}},
		{what: "waiting", limits: social.Limits{Waiting: 1}, before: 1, length: 5, meta: good, status: 409, reason: refusal.Refusal{Code: refusal.WaitingLimit, Limit: 1}},
		{what: "creations", size: resume.Limits{Creations: 1}, before: 1, length: 5, meta: good, status: 429, reason: refusal.Refusal{Code: refusal.TooFast}},
		{what: "unfinished", size: resume.Limits{ClientUploads: 1, ClientBytes: 4}, length: 5, meta: good, status: 429, reason: refusal.Refusal{Code: refusal.UnfinishedLimit}},
		{what: "all places", size: resume.Limits{Bytes: 4}, length: 5, meta: good, status: 507, reason: refusal.Refusal{Code: refusal.NoRoom}},
	} {
		h := door(t, c.limits, c.size)
		for range c.before {
			if got := create(h, 5, good); got.Code != http.StatusCreated || got.Header().Get("X-Post-Id") == "" {
				t.Fatalf("%s: before: %d %s", c.what, got.Code, got.Body)
			}
		}
		got := create(h, c.length, c.meta)
		var doc problem.Document
		if err := json.Unmarshal(got.Body.Bytes(), &doc); err != nil || got.Code != c.status || doc.Reason == nil {
			t.Errorf("%s: %d %s", c.what, got.Code, got.Body)
			continue
		}
		en, ar := refusal.Words(&c.reason)
		if doc.Reason.Code != string(c.reason.Code) || !strings.HasPrefix(doc.Reason.En, en) || !strings.HasPrefix(doc.Reason.Ar, ar) {
			t.Errorf("%s: %+v", c.what, doc.Reason)
		}
		if limited := c.reason.Code == refusal.HourLimit; (doc.Reason.At != 0) != limited {
			t.Errorf("%s: from %d", c.what, doc.Reason.At)
		}
	}
}
