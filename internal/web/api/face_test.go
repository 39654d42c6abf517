package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/people"
)

func (r *rig) openFace(t *testing.T) *face.Owner {
	t.Helper()
	o, err := face.Open(t.Context(), r.db, face.Defaults{Name: "أثير", Language: face.Arabic})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const ownFace = `{"version": %d, "face": {"name": {"ar": "إذاعة النيل", "en": "Nile Radio"}, "tagline": {"ar": "", "en": ""}, "about": {"ar": "", "en": ""}, "languages": ["ar", "en"],
	"accent": "#1f7a5c", "links": [{"label": {"ar": "الموقع", "en": ""}, "url": "https://nile.example"}],
	"contact": {"email": "", "phone": "", "whatsapp": "", "address": {"ar": "", "en": ""}}, "credit": false, "css": "h1 { color: red }"}}`

// What the operator says is what listeners get, at once and under one version.
func TestTheFaceIsSetAndServed(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame", "Content-Type", "application/json"}
	decoded := func(text string) (out map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	code, head, text := r.call(t, "GET", "/api/face", "")
	if before := decoded(text); code != 200 || head.Get("ETag") == "" || before["version"] != 0.0 || at(before, "name", "en") != "أثير" {
		t.Errorf("before: %d %v %s", code, head, text)
	}
	if code, _, _ := r.call(t, "GET", "/api/face", "", "If-None-Match", head.Get("ETag")); code != 304 {
		t.Errorf("asked for again: %d", code)
	}
	code, _, text = r.call(t, "PUT", "/api/station/face", fmt.Sprintf(ownFace, 0), key...)
	if set := decoded(text); code != 200 || set["version"] != 1.0 || at(set, "face", "css") != "h1 { color: red }" || at(set, "defaults", "name") != "أثير" || set["logo"] != "" {
		t.Errorf("set: %d %s", code, text)
	}
	code, again, text := r.call(t, "GET", "/api/face", "")
	if now := decoded(text); code != 200 || again.Get("ETag") == head.Get("ETag") || at(now, "name", "ar") != "إذاعة النيل" || now["credit"] != false || now["css"] != nil || !strings.HasPrefix(text, `{"version":1,"name":{`) {
		t.Errorf("after: %d %s", code, text)
	}
	for path, where := range map[string][]string{"/api/status": {"station", "name"}, "/api/channels": nil} {
		if _, _, text := r.call(t, "GET", path, ""); !strings.Contains(text, "إذاعة النيل") || where != nil && at(decoded(text), where...) != "إذاعة النيل" {
			t.Errorf("%s has another name: %s", path, text)
		}
	}
	if code, _, text := r.call(t, "PUT", "/api/station/face", fmt.Sprintf(ownFace, 0), key...); code != 409 || !strings.Contains(text, "load version 1") {
		t.Errorf("the second editor: %d %s", code, text)
	}
	for name, c := range map[string]struct{ old, text, want string }{
		"a long name":  {"Nile Radio", strings.Repeat("x", 41), "body.face.name.en"},
		"a script":     {"https://nile.example", "javascript:alert(1)", "body.face.links[0].url"},
		"a language":   {`["ar", "en"]`, `["fr"]`, "body.face.languages[0]"},
		"no language":  {`["ar", "en"]`, `[]`, "body.face.languages"},
		"no colour":    {"#1f7a5c", "red", "body.face.accent"},
		"an import":    {"h1 { color: red }", "@import 'x';", "body.face.css"},
		"null":         {`["ar", "en"]`, `null`, "body.face.languages"},
		"what is more": {`"credit": false`, `"credit": false, "x": 1`, "body.face"},
	} {
		if code, _, text := r.call(t, "PUT", "/api/station/face", strings.Replace(fmt.Sprintf(ownFace, 1), c.old, c.text, 1), key...); code != 422 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
}

func TestThePicturesOfTheFaceAreSetAndTakenAway(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame", "Content-Type", "image/png"}
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"logo", "icon"} {
		path := map[string]string{"logo": "/face/logo.png?v=%d", "icon": "/face/icon-512.png?v=%d"}[kind]
		var out map[string]any
		code, _, text := r.call(t, "PUT", "/api/station/face/"+kind, data.String(), key...)
		if err := json.Unmarshal([]byte(text), &out); err != nil || code != 200 || out[kind] != fmt.Sprintf(path, i+1) {
			t.Errorf("%s: %d %s", kind, code, text)
		}
		if code, _, text := r.call(t, "PUT", "/api/station/face/"+kind, "<svg/>", key...); code != 422 || !strings.Contains(text, kind) || !strings.Contains(text, `"ar"`) {
			t.Errorf("%s of something else: %d %s", kind, code, text)
		}
		if code, _, text := r.call(t, "PUT", "/api/station/face/"+kind, strings.Repeat("x", face.MostBytes+1), key...); code != 413 {
			t.Errorf("%s that is too large: %d %s", kind, code, text)
		}
	}
	for _, kind := range []string{"logo", "icon"} {
		if code, _, text := r.call(t, "DELETE", "/api/station/face/"+kind, "", "X-Station-Key", "open-sesame"); code != 200 || !strings.Contains(text, `"`+kind+`":""`) {
			t.Errorf("%s taken away: %d %s", kind, code, text)
		}
	}
	// A presenter sees it and changes nothing.
	cookie := r.session(t, "one.presenter", people.Presenter)
	for order, want := range map[string]int{"GET /api/station/face": 200, "PUT /api/station/face/logo": 403, "DELETE /api/station/face/icon": 403, "PUT /api/station/face": 403} {
		method, path, _ := strings.Cut(order, " ")
		if code, _, text := r.call(t, method, path, "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); code != want {
			t.Errorf("%s by a presenter: %d %s", order, code, text)
		}
	}
}
