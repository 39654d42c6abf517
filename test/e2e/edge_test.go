package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// An edge on another machine joins the bus inside over TLS, with the credential that the
// command prints and none of the station's keys. Its listeners write and hear; it lets
// nobody in as staff; and once its name is refused it is out.
func TestAnEdgeWithACredentialOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the station:\n%s", s.tail(100))
		}
	})
	cert, key := testkit.Certificate(t, t.TempDir(), "localhost")
	control := s.part("control", binary, []string{"control", "--data", s.data, "--media", s.media},
		"ATHIR_BUS_TLS_CERT="+cert, "ATHIR_BUS_TLS_KEY="+key)
	s.eventually("the control plane", func() bool { _, err := s.get("control", "/ping"); return err == nil })

	cmd := exec.Command(binary, "credential", "cairo-2", "--data", s.data)
	cmd.Env = s.env
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	there := filepath.Join(t.TempDir(), "edge")
	write(t, filepath.Join(there, "athir.yaml"), fmt.Sprintf(
		"station_key: %q\nsync_token: another\nsource_password: another-one\n%s  url: tls://localhost:%d\n  ca: %q\n  control: 127.0.0.1:%d\n",
		"another-key", printed, s.ports["nats"], cert, s.ports["control"]))
	s.ports["edge"] = freePorts(t, 1)[0]
	edge := s.part("chat", "env", []string{
		"-i", fmt.Sprintf("ATHIR_PORTS_CHAT=%d", s.ports["edge"]), "ATHIR_BIND=127.0.0.1", "ATHIR_LOG_FORMAT=text", binary, "chat", "--data", there,
	})
	s.eventually("the edge hears the station", func() bool { _, err := s.get("edge", "/healthz"); return err == nil })

	listener, err := sockettest.Dial(t.Context(), s.url("edge", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(listener.Close)
	got, err := listener.Ask(t.Context(), "send_comment", map[string]any{"name": "نور", "text": "من القاهرة", "id": "comment-over-the-socket"})
	if err != nil || !strings.Contains(string(got), `"ok":true`) {
		t.Fatalf("a comment over the socket: %s %v", got, err)
	}
	if code, text := s.call(http.MethodPost, "edge", "/api/comments", "", `{"name":"نور","text":"مرحبا","id":"comment-over-http"}`); code/100 != 2 {
		t.Fatalf("a comment over HTTP: %d %s", code, text)
	}
	s.eventually("both are heard", func() bool { return len(listener.Heard("new_comment")) == 2 })

	const remedy = "this edge takes no station key"
	staff, err := sockettest.Dial(t.Context(), s.url("edge", ""), map[string]any{"key": testStationKey})
	if err == nil {
		staff.Close()
	}
	if err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("the station key at an edge that is not the station's own: %v", err)
	}

	control.signal(os.Interrupt)
	control.env = append(control.env, "ATHIR_BUS_REFUSED=cairo-2")
	control.start()
	s.eventually("the edge is refused", func() bool { return s.logged("chat:", "the bus refuses our password") > 0 })
	edge.signal(os.Interrupt)
}
