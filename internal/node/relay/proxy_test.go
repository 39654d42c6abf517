package relay

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
