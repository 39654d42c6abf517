package e2e

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/test/contract"
)

// A whole station answers as its document says: what it shows, and whatever is
// sent to it that the document does not allow. Then a channel beside the main one
// is heard.
func TestRealStationAnswersAsItsDocumentSays(t *testing.T) {
	s := look(t)
	text, err := s.get("control", "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := contract.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: doc.Transport(http.DefaultTransport, func(err error) { t.Error(err) }), Timeout: patience}
	random := rand.New(rand.NewPCG(3, 1))
	// Nothing that takes long, or no end.
	hints := contract.Hints{"wait": {"false"}, "bytes": {"1000"}, "token": {"guess"}, "channelId": {"none"}}
	cookie := s.member("contract")
	for _, op := range doc.Operations() {
		all := op.Broken(random, hints)
		if op.Method == http.MethodGet && op.Path != "/stream" {
			all = append(all, op.Valid(random, hints))
		}
		for _, q := range all {
			if strings.HasPrefix(op.Path, "/api/account") || op.Path == "/api/session/ticket" {
				q.Header.Set("Cookie", cookie) // what is one's own is no key's
			} else {
				q.Header.Set("X-Station-Key", testStationKey)
			}
			q.Header.Set("X-Sync-Token", testSyncToken)
			code, body := 0, []byte(nil)
			s.eventually(q.Method+" "+q.Target+", "+q.What+", is answered", func() bool { // with 503 where the node or the engine is late
				req, err := q.HTTP(t.Context(), s.url("control", ""))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatalf("%s %s, %s: %v", q.Method, q.Target, q.What, err)
				}
				body, _ = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				code = resp.StatusCode
				return code != http.StatusServiceUnavailable
			})
			if q.Want != nil && !slices.Contains(q.Want, code) || code >= http.StatusInternalServerError {
				t.Errorf("%s %s, %s: %d, want %v\nsent %.300s\n got %.300s", q.Method, q.Target, q.What, code, q.Want, q.Body, body)
			}
		}
	}

	if code, text := s.call("POST", "control", "/api/channels/create", testStationKey, `{"id":"fairuz","name":"فيروز"}`); code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("control", "/stream/fairuz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the channel: %v %v", resp, err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	go func() { _, _ = io.Copy(io.Discard, resp.Body) }()
	if code, text := s.call("POST", "control", "/api/channels/fairuz/queue", testStationKey, `{"category":"english"}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	s.eventually("a listener and a track on the channel", func() bool {
		_, text := s.call("GET", "control", "/api/channels", "", "")
		_, text, _ = strings.Cut(text, `"id":"fairuz"`)
		return strings.Contains(text, `"listeners":1`) && strings.Contains(text, `"queue":[]`) && s.logged("channel plays", "channel=fairuz") > 0
	})
}
