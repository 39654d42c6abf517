package api_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/test/contract"
)

// document is what a surface says of itself.
func document(t *testing.T, url string) *contract.Document {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	read, _ := documents.LoadOrStore(string(text), sync.OnceValues(func() (*contract.Document, error) { return contract.Read(text) }))
	doc, err := read.(func() (*contract.Document, error))()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// documents are those that were read, by their text: most tests meet the same,
// and what it says is compiled once.
var documents sync.Map // string to func() (*contract.Document, error)

// checked is a client whose every answer must be as the document says.
func checked(t *testing.T, doc *contract.Document) *http.Client {
	t.Helper()
	return &http.Client{Transport: doc.Transport(http.DefaultTransport, func(err error) { t.Error(err) })}
}

// sendRequest sends what was drawn from the document.
func (r *rig) sendRequest(t *testing.T, q contract.Request) (int, http.Header, string) {
	t.Helper()
	req, err := q.HTTP(t.Context(), r.URL)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// Every operation is called as the document says, then with each thing that it
// says wrong or missing.
func TestEveryOperationAnswersAsDocumented(t *testing.T) { callEveryOperation(t, 6) }

// callEveryOperation draws so many valid requests of each.
func callEveryOperation(t *testing.T, draws int) {
	t.Helper()
	r := newRigWithKey(t, "open-sesame")
	random := rand.New(rand.NewPCG(5, 31))
	job := r.job(t)
	cookie := r.session(t, "omar", people.Owner)
	shows := r.exampleShows(t)
	hints := contract.Hints{"channelId": {"main", "none"}, "show": {exampleShow, "none"}, "key": {lateRecording, "none.mp3"},
		"id": {job.ID, exampleStream, examplePublisher, exampleRehearsal, shows[1], shows[3], "none"}, "token": {"sesame", "guess"}, "wait": {"false"},
		"name": {exampleRecording, "none"}, "session": {exampleSession, "none"}, "publisher": {examplePublisher}}
	for _, op := range document(t, r.URL).Operations() {
		var all []contract.Request
		for range draws {
			all = append(all, op.Valid(random, hints))
		}
		for _, q := range append(all, op.Broken(random, hints)...) {
			q.Header.Set("X-Station-Key", "open-sesame")
			if strings.HasPrefix(op.Path, "/api/account") || op.Path == "/api/session/ticket" {
				q.Header.Del("X-Station-Key")
				q.Header.Set("Cookie", cookie)
			}
			q.Header.Set("X-Sync-Token", "sesame")
			code, _, body := r.sendRequest(t, q)
			if q.Want != nil && !slices.Contains(q.Want, code) {
				t.Errorf("%s %s, %s: %d, want %v\nsent %.300s\n got %.300s", q.Method, q.Target, q.What, code, q.Want, q.Body, body)
			}
			if code >= 500 && code != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %d\nsent %.300s", q.Method, q.Target, code, q.Body)
			}
		}
	}
}
