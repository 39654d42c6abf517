package upload

import (
	"context"
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// posts takes what it is given, once each.
type posts struct {
	mu    sync.Mutex
	taken []post
}

type post struct {
	Finished
	content string
}

func (p *posts) all() []post {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.taken)
}

func (p *posts) Take(_ context.Context, u Finished) (Receipt, error) {
	text, err := os.ReadFile(u.Path)
	if err != nil {
		return Receipt{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, post{u, string(text)})
	return Receipt{int64(len(p.taken)), "token of " + u.ID}, nil
}

const root = "/api/social/tus/"

func serve(t *testing.T, dir string) (*posts, string) {
	t.Helper()
	p := &posts{}
	log, _ := testkit.Log(t)
	uploads, err := Open(Options{Dir: filepath.Join(dir, "tus"), Base: root, Taker: p, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(uploads)
	t.Cleanup(srv.Close)
	return p, srv.URL
}

// song is content that repeats nowhere.
func song(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	return content
}

func metadata(pairs map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		out = append(out, key+" "+base64.StdEncoding.EncodeToString([]byte(pairs[key])))
	}
	return strings.Join(out, ",")
}

func ask(t *testing.T, method, url string, headers map[string]string, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Tus-Resumable", "1.0.0")
	req.Header.Set("Content-Type", "application/offset+octet-stream")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

func TestAPostsReceiptIsItsNumberAndItsToken(t *testing.T) {
	p, url := serve(t, t.TempDir())
	meta := metadata(map[string]string{"title": "يا مسافر وحدك", "tags": "طرب، قديم", "rights": "true"})
	res := ask(t, "POST", url+root, map[string]string{"Upload-Length": "5", "Upload-Metadata": meta, "X-Athir-Device": "device-12345", "X-Forwarded-For": "203.0.113.7"}, "sound")
	if res.StatusCode != http.StatusCreated || res.Header.Get("X-Post-Id") != "1" || !strings.HasPrefix(res.Header.Get("X-Post-Token"), "token of ") {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	all := p.all()
	if len(all) != 1 || all[0].From != (From{"203.0.113.7", "device-12345"}) || all[0].Meta.Title != "يا مسافر وحدك" || len(all[0].Meta.Tags) != 2 || all[0].Meta.Size != 5 {
		t.Errorf("%+v", all)
	}
	if got := ask(t, "DELETE", url+res.Header.Get("Location"), nil, ""); got.StatusCode != http.StatusForbidden {
		t.Errorf("deleted: %d", got.StatusCode)
	}
	if got := ask(t, "POST", url+root, map[string]string{"Upload-Length": "5", "Upload-Metadata": metadata(map[string]string{"rights": "maybe"})}, ""); got.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("rights that are neither: %d", got.StatusCode)
	}
}

// The record of a version whose receipts had a post and a token.
func TestAReceiptOfAnEarlierVersionIsAnswered(t *testing.T) {
	dir, id := t.TempDir(), strings.Repeat("A", 26)
	record := `{"id":"` + id + `","size":5,"pairs":{"title":"x"},"from":{"address":"203.0.113.7"},"complete":true,"post":7,"token":"secret","taken":` +
		strconv.FormatInt(time.Now().UnixMilli(), 10) + `}`
	if err := os.MkdirAll(filepath.Join(dir, "tus"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tus", id+".json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, dir)
	res := ask(t, "HEAD", url+root+id, nil, "")
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Post-Id") != "7" || res.Header.Get("X-Post-Token") != "secret" || res.Header.Get("Upload-Offset") != "5" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	if earlier([]byte(`{"post":0}`)) != nil || earlier([]byte("{")) != nil {
		t.Error("a receipt out of nothing")
	}
}
