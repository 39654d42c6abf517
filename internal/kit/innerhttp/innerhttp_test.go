package innerhttp_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A server takes over the file of one that was killed, answers this user alone, and its
// end is not held up by an answer that streams.
func TestASocketIsTakenOverPrivateAndClosed(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "a.sock")
	if err := os.WriteFile(socket, []byte("left over"), 0o644); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /word", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "heard") })
	streaming := make(chan struct{})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		close(streaming)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() {
		if err := innerhttp.Serve(ctx, socket, mux, nil); err != nil {
			t.Error(err)
		}
	})
	transport := innerhttp.Transport(socket)
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	get := func(path string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://node"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(req)
	}
	testkit.Eventually(t, "it answers", func() bool {
		resp, err := get("/word")
		if err != nil {
			return false
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		text, _ := io.ReadAll(resp.Body)
		return string(text) == "heard"
	})
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info.Mode(), err)
	}
	resp, err := get("/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	<-streaming
	cancel()
	run.Wait()
}
