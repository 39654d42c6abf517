package intake

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/resume"
)

// An upload over HTTP is answered with its arrival, and a refusal with the words of this
// package.
func TestAnUploadIsAnsweredWithItsArrival(t *testing.T) {
	r := newRig(t)
	opts := r.UploadOptions()
	opts.Dir, opts.Base = filepath.Join(r.dir, "uploads"), "/api/station/library/uploads/"
	opts.Name = func(*http.Request) string { return "نادية" }
	uploads, err := resume.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	send := func(name, body string) *httptest.ResponseRecorder {
		q := httptest.NewRequest(http.MethodPost, opts.Base, strings.NewReader(body))
		b64 := base64.StdEncoding.EncodeToString
		for header, value := range map[string]string{
			"Tus-Resumable": "1.0.0", "Upload-Length": "25", "Content-Type": "application/offset+octet-stream",
			"Upload-Metadata": "filename " + b64([]byte(name)) + ",folder " + b64([]byte("ألبومات/Dido")) + ",batch " + b64([]byte("b-1")) + ",category " + b64([]byte("english")) + ",replace ,filetype ,relativePath ",
		} {
			q.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		uploads.ServeHTTP(w, q)
		return w
	}
	got := send("Dido/a.mp3", "200|Dido|Thank You|guitar")
	id := got.Header().Get(Header)
	if got.Code != http.StatusCreated || id == "" || strings.Contains(got.Header().Get("Location"), id) {
		t.Fatalf("%d %v %s", got.Code, got.Header(), got.Body)
	}
	r.run()
	if a := r.expect(id, Taken, "english/Dido - Thank You.mp3"); a.By != "نادية" || a.Batch != "b-1" || a.Folder != "ألبومات/Dido" || a.Name != "a.mp3" || a.Size != 25 {
		t.Errorf("%+v", a)
	}
	if got := send("cover.jpg", ""); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), "Only MP3") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if left := content(t, opts.Dir); len(left) != 1 { // the receipt
		t.Errorf("%v", left)
	}
}

// All that a page says of a file fits into the header, in Arabic.
func TestTheLongestNamesFitIntoTheHeader(t *testing.T) {
	total := 0
	for _, key := range newRig(t).UploadOptions().Keys {
		total += len(key.Name) + 2 + base64.StdEncoding.EncodedLen(2*key.Longest)
	}
	if total > resume.LongestMetadata {
		t.Errorf("%d bytes, %d are allowed", total, resume.LongestMetadata)
	}
}
