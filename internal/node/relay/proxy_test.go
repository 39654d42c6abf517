package relay

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// documentedProxy is the example in the manual.
func documentedProxy(t *testing.T) string {
	t.Helper()
	manual, err := os.ReadFile("../../../docs/hls-and-ingest.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "```nginx\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the manual has no nginx example")
	}
	return example
}

func TestTheDocumentedHTTPSProxyKeepsTheSession(t *testing.T) {
	dir := shortDir(t)
	s, _ := start(t, dir, nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	cert, key := testkit.Certificate(t, dir, "radio.example")
	front := freeAddress(t)
	example := strings.NewReplacer("listen 443", "listen "+front, "/etc/ssl/radio.pem", cert, "/etc/ssl/radio.key", key,
		"127.0.0.1:19351", s.HLSAddr().String()).Replace(documentedProxy(t))
	config := fmt.Sprintf("daemon off; master_process off; pid %s/pid; error_log stderr;\nevents {}\nhttp { access_log off;\n"+
		"client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\n%s}\n", dir, example)
	name := filepath.Join(dir, "front.conf")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		spec := proc.Spec{Name: "nginx", Path: "nginx", Args: []string{"-p", dir, "-c", name, "-e", "stderr"}, Stop: syscall.SIGKILL, Stderr: t.Output()}
		if _, err := proc.Run(ctx, spec, nil); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	testkit.Eventually(t, "nginx", func() bool {
		conn, err := net.Dial("tcp", front)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})

	jar := filepath.Join(dir, "jar")
	base := "https://" + front + "/hls/main/"
	curl := func(args ...string) string {
		out, err := proc.Output(t.Context(), proc.Spec{Name: "curl", Path: "curl",
			Args: append([]string{"-s", "-k", "-w", "\n%{http_code} %{url_effective}"}, args...)}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	out := curl("-i", base+"index.m3u8")
	for _, want := range []string{"cookieCheck=1; HttpOnly; Secure; SameSite=None; Partitioned", "302 "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if out := curl("-L", "-b", jar, "-c", jar, base+"index.m3u8"); !strings.HasSuffix(out, "200 "+base+"index.m3u8?cookieCheck=1") || strings.Contains(out, "session=") {
		t.Fatalf("master: %s", out)
	}
	media := curl("-b", jar, base+mediaName)
	if !strings.Contains(media, "\n200 ") {
		t.Fatalf("media: %s", media)
	}
	list, _, _ := strings.Cut(media, "\n200 ")
	if out := curl("-o", "/dev/null", "-b", jar, base+lastSegment(t, list)); !strings.Contains(out, "200 ") {
		t.Errorf("segment: %s", out)
	}
}

// With the node on another machine, the control plane passes HLS on to it: each listener counts
// for its own address, at the limit of new sessions and by country, and nobody else's word for
// an address is believed.
func TestTheControlPlaneElsewhereNamesItsListeners(t *testing.T) {
	s, _ := start(t, shortDir(t), func(o *Options) {
		o.SessionBurst, o.SessionEvery = 1, time.Hour
		o.Front = func(token string) bool { return token == "control" }
		o.Who = func(r *http.Request) census.Who {
			return census.Who{Country: census.CountryNamed(map[string]string{"192.0.2.1": "EG", "192.0.2.2": "JO", "203.0.113.9": "DE"}[client.Address(r)])}
		}
	})
	publish(t, s, 4*time.Second)
	onAir(t, s)
	ask := func(token, address string) int {
		r := httptest.NewRequest(http.MethodGet, "/main/index.m3u8?cookieCheck=1", nil)
		r.RemoteAddr = "203.0.113.9:4711"
		r.Header.Set("X-Forwarded-For", address)
		if token != "" {
			r.Header.Set(client.FrontHeader, token)
		}
		w := httptest.NewRecorder()
		s.hlsHandler().ServeHTTP(w, r)
		return w.Code
	}
	for i, c := range []struct {
		token, address string
		want           int
	}{
		{"control", "192.0.2.1", 200}, {"control", "192.0.2.2", 200}, {"control", "10.9.8.7, 192.0.2.2", 429},
		{"wrong", "192.0.2.3", 200}, {"wrong", "192.0.2.4", 429}, {"", "192.0.2.5", 429},
	} {
		if got := ask(c.token, c.address); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
	countries := census.Count{}
	for e := s.sessions.newcomers.Front(); e != nil; e = e.Next() {
		countries[e.Value.(*session).who]++
	}
	if got := countries.Crowd().Countries; !maps.Equal(got, map[string]int{"EG": 1, "JO": 1, "DE": 1}) {
		t.Errorf("%v", got)
	}
}
