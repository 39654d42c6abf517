// Package conformance holds our Socket.IO server against the real client, in
// Node and in Chromium, straight and through nginx.
package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/npm"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// leastChecks is how many a run has at least: one that ends early is not one
// that passed.
const leastChecks = 53

// patience is far beyond what a whole run takes; each check has its own, too.
const patience = 10 * time.Minute

func TestRealClientInNode(t *testing.T) {
	install(t)
	for _, transport := range []string{"polling", "websocket", "upgrade"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := newStation(t)
			inNode(t, s, "http://"+s.addr, transport)
		})
	}
}

func TestRealClientThroughNginx(t *testing.T) {
	install(t)
	for _, transport := range []string{"polling", "websocket", "upgrade"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := newStation(t)
			inNode(t, s, "http://"+nginx(t, s.addr), transport)
		})
	}
}

func TestRealClientInChromium(t *testing.T) {
	install(t)
	for _, transport := range []string{"polling", "upgrade"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			inChromium(t, newStation(t), transport)
		})
	}
}

func install(t *testing.T) {
	t.Helper()
	if err := npm.Install(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
}

func inNode(t *testing.T, s *station, target, transport string) {
	control := httptest.NewServer(http.HandlerFunc(s.control))
	defer control.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "node.mjs", target, transport, control.URL)
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s%s", err, out, stderr.String())
	}
	report(t, out)
}

// report makes a test of each check's line.
func report(t *testing.T, out []byte) {
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); n++ {
		var result struct{ Name, Error string }
		if err := json.Unmarshal(lines.Bytes(), &result); err != nil {
			t.Fatalf("%v in %q", err, lines.Text())
		}
		t.Run(result.Name, func(t *testing.T) {
			if result.Error != "" {
				t.Error(result.Error)
			}
		})
	}
	if least := leastChecks - 4; n < least { // a browser has four less
		t.Errorf("%d checks ran, there are at least %d", n, least)
	}
}

// nginx passes on to upstream as docs/socket.md shows, and answers its address.
func nginx(t *testing.T, upstream string) string {
	dir, err := os.MkdirTemp("", "athir-conformance-nginx-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.Port(t)))
	config := fmt.Sprintf(`
daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	%[2]s
}`, dir, documented(t, addr, upstream))
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("nginx", "-c", path, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	testkit.Eventually(t, "nginx answers", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return addr
}

// documented is the example of docs/socket.md, with our addresses for its own.
func documented(t *testing.T, addr, upstream string) string {
	doc, err := os.ReadFile("../../docs/socket.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```nginx\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed || !strings.Contains(example, "listen 80;") || !strings.Contains(example, "127.0.0.1:5000") {
		t.Fatal("docs/socket.md has no example for nginx")
	}
	return strings.NewReplacer("listen 80;", "listen "+addr+";", "127.0.0.1:5000", upstream).Replace(example)
}

// inChromium serves a page that runs the checks and posts what came of them.
func inChromium(t *testing.T, s *station, transport string) {
	results := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.control)
	for path, file := range map[string]string{
		"/page": "page.html", "/checks.mjs": "checks.mjs",
		"/client.js": "node_modules/socket.io-client/dist/socket.io.esm.min.js",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if filepath.Ext(file) != ".html" {
				w.Header().Set("Content-Type", "text/javascript")
			}
			http.ServeFile(w, r, file)
		})
	}
	mux.HandleFunc("POST /results", func(_ http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		results <- body.Bytes()
	})
	web := httptest.NewServer(mux)
	defer web.Close()

	profile, err := os.MkdirTemp("", "athir-conformance-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(profile) }()
	page := web.URL + "/page?" + url.Values{"url": {"http://" + s.addr}, "transport": {transport}}.Encode()
	browser := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--no-first-run", "--enable-logging=stderr", "--user-data-dir="+profile, page)
	browser.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	var said bytes.Buffer
	browser.Stderr = &said
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-browser.Process.Pid, syscall.SIGKILL)
		_ = browser.Wait()
		if t.Failed() {
			for line := range strings.Lines(said.String()) {
				if strings.Contains(line, "CONSOLE") {
					t.Log(line)
				}
			}
		}
	}()
	select {
	case out := <-results:
		report(t, out)
	case <-time.After(patience):
		t.Fatal("the page posted nothing")
	}
}
