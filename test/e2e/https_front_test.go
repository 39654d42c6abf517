package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	program "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// secureName is the name that the files in deploy/ have for an operator to replace.
const secureName = "radio.example"

// front is a web server that serves HTTPS by one of the files in deploy/.
type front struct {
	t      *testing.T
	secure int // port of https on 127.0.0.1
	plain  int // port of http
	trust  *x509.CertPool
}

// doorways are the addresses in the files, as the settings have them, and what they are
// called under ports.
var doorways = map[string]string{
	"127.0.0.1:4477": "player", "127.0.0.1:5000": "control", "127.0.0.1:19351": "hls", "127.0.0.1:8094": "chat", "127.0.0.1:8089": "whip",
}

// fronts start each server before a station whose doors are at other addresses.
var fronts = map[string]func(t *testing.T, doors map[string]string) *front{
	"nginx": func(t *testing.T, doors map[string]string) *front { return nginxFront(t, doors, wholeFile) },
	"caddy": func(t *testing.T, doors map[string]string) *front { return caddyFront(t, doors, wholeFile) },
}

// wholeFile is the file as it is.
func wholeFile(text string) string { return text }

// doorsOf are the addresses of a station's doors, by the addresses in the files.
func (s *machine) doorsOf() map[string]string {
	out := map[string]string{}
	for address, name := range doorways {
		out[address] = fmt.Sprintf("127.0.0.1:%d", s.ports[name])
	}
	return out
}

// replaced exchanges words of a file. Each must be there: what the file no longer says is
// not tried.
func replaced(t *testing.T, text string, words map[string]string) string {
	t.Helper()
	var pairs []string
	for old, with := range words {
		if !strings.Contains(text, old) {
			t.Fatalf("the file does not say %q:\n%s", old, text)
		}
		pairs = append(pairs, old, with)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func newFront(t *testing.T) (f *front, dir, cert, key string) {
	t.Helper()
	dir = t.TempDir()
	f = &front{t: t, secure: testkit.Port(t), plain: testkit.Port(t)}
	cert, key, f.trust = authority(t, dir)
	return f, dir, cert, key
}

func nginxFront(t *testing.T, doors map[string]string, edit func(string) string) *front {
	t.Helper()
	f, dir, cert, key := newFront(t)
	words := map[string]string{
		"listen 80;":                 fmt.Sprintf("listen 127.0.0.1:%d;", f.plain),
		"listen [::]:80;":            fmt.Sprintf("listen 127.0.0.2:%d;", f.plain),
		"listen 443 ssl http2;":      fmt.Sprintf("listen 127.0.0.1:%d ssl http2;", f.secure),
		"listen [::]:443 ssl http2;": fmt.Sprintf("listen 127.0.0.2:%d ssl http2;", f.secure),
		"root /var/www/html;":        "root " + dir + ";",
		"/etc/letsencrypt/live/" + secureName + "/fullchain.pem": cert,
		"/etc/letsencrypt/live/" + secureName + "/privkey.pem":   key,
	}
	for old, with := range doors {
		words[old] = with
	}
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	%[2]s
}
`, dir, replaced(t, edit(shippedFile(t, "nginx/athir.conf")), words))
	path := filepath.Join(dir, "nginx.conf")
	write(t, path, config)
	f.serve(program.Spec{Name: "nginx", Path: "nginx", Args: []string{"-p", dir, "-c", path, "-e", "stderr"}, Stop: syscall.SIGKILL, Stderr: t.Output()})
	return f
}

// caddyFront has the file's site on ports and with a certificate of the test's: nobody out
// there is asked for one, and port 2019 is left alone.
func caddyFront(t *testing.T, doors map[string]string, edit func(string) string) *front {
	t.Helper()
	f, dir, cert, key := newFront(t)
	words := map[string]string{secureName + " {\n": fmt.Sprintf("%s {\n\ttls %s %s\n", secureName, cert, key)}
	for old, with := range doors {
		words[old] = with
	}
	options := fmt.Sprintf("{\n\tadmin off\n\tauto_https disable_certs\n\thttp_port %d\n\thttps_port %d\n\tdefault_bind 127.0.0.1\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n", f.plain, f.secure)
	path := filepath.Join(dir, "Caddyfile")
	write(t, path, options+replaced(t, edit(shippedFile(t, "caddy/Caddyfile")), words))
	f.serve(program.Spec{Name: "caddy", Path: "caddy", Args: []string{"run", "--adapter", "caddyfile", "--config", path}, Stop: syscall.SIGKILL, Stderr: t.Output(),
		Env: []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}})
	return f
}

// shippedFile is a file of deploy/.
func shippedFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// serve runs the server and waits until it listens at both ports.
func (f *front) serve(spec program.Spec) {
	f.t.Helper()
	testkit.Program(f.t, spec)
	for _, port := range []int{f.plain, f.secure} {
		testkit.Eventually(f.t, spec.Name+" listens", func() bool {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
}

// authority makes one, and a certificate of its own for secureName.
func authority(t *testing.T, dir string) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	issue := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		if parent == nil {
			parent, signer = template, own
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		made, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return made, own
	}
	root, rootKey := issue(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Athir test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leaf, leafKey := issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: secureName}, DNSNames: []string{secureName}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, root, rootKey)
	secret, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	trust = x509.NewCertPool()
	trust.AddCert(root)
	return cert, key, trust
}

// at is an address below https of the front.
func (f *front) at(path string) string {
	return fmt.Sprintf("https://%s:%d%s", secureName, f.secure, path)
}

// client asks at the front from an address of this machine, and trusts the test's authority
// alone. Redirects are the test's to follow.
func (f *front) client(from string, http2 bool) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: f.trust, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ask sends one request through the front, as a browser on its page does.
func (f *front) ask(c *http.Client, method, path, body string, headers ...string) (*http.Response, string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, f.at(path), strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Origin", f.at(""))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		f.t.Fatal(err)
	}
	if got := resp.Header.Values("Strict-Transport-Security"); !slices.Equal(got, []string{"max-age=15552000"}) {
		f.t.Errorf("%s %s: Strict-Transport-Security %q", method, path, got)
	}
	return resp, string(text)
}

// witness stands in for a door of the station and tells what reaches it.
type witness struct {
	door string
	req  *http.Request
	body io.Reader
	w    http.ResponseWriter
	done chan struct{}
}

// answer ends the request with a word.
func (w witness) answer(text string) {
	_, _ = io.WriteString(w.w, text)
	close(w.done)
}

// Whoever asks through a front arrives at the right door, under the address they have, and
// under no other: what a client says of itself, in as many hops as it likes, is gone.
func TestHTTPSFrontsLeadToTheRightDoorAndNameTheClient(t *testing.T) {
	t.Parallel()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			arrived, doors := witnesses(t)
			f := start(t, doors)
			for path, door := range map[string]string{
				"/": "player", "/chat": "player", "/social.html": "player", "/assets/app.js": "player", "/sw.js": "player", "/chat/media/a.webp": "player", "/ping": "player", "/metrics": "player", "/metadata": "player",
				"/stream": "control", "/stream/fairuz": "control", "/studio": "control", "/api/status": "control", "/api/social/tus/": "control",
				"/openapi.json": "control", "/asyncapi.json": "control", "/docs": "control",
				"/hls/main/index.m3u8?a=b%2F": "hls", "/socket.io/?EIO=4": "chat",
				"/go-live": "whip", "/whip": "whip", "/whip/5/facts": "whip", "/whip-info": "whip", "/whip-account": "whip",
			} {
				f.namesTheClient(arrived, path, door)
			}
		})
	}
}

func (f *front) namesTheClient(arrived <-chan witness, path, door string) {
	f.t.Helper()
	const from = "127.0.0.9"
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, text := f.ask(f.client(from, true), http.MethodPost, path, "{}", "X-Forwarded-For", "203.0.113.7, 127.0.0.1", "X-Forwarded-Proto", "http",
			"X-Forwarded-Host", "evil.example", "Forwarded", "for=203.0.113.7", "X-Real-IP", "203.0.113.7"); resp.StatusCode != 200 || text != "seen" {
			f.t.Errorf("%s: %s %.200s", path, resp.Status, text)
		}
	}()
	got := testkit.Receive(f.t, path, arrived)
	if want := strings.TrimPrefix(path, "/hls"); got.door != door || got.req.URL.String() != want {
		f.t.Errorf("%s arrived at %s as %s, want %s at %s", path, got.door, got.req.URL, want, door)
	}
	for header, want := range map[string]string{"X-Forwarded-For": from, "X-Forwarded-Proto": "https", "Forwarded": ""} {
		if said := strings.Join(got.req.Header.Values(header), ", "); said != want {
			f.t.Errorf("%s: %s is %q, want %q", path, header, said, want)
		}
	}
	if said := got.req.Header.Get("X-Forwarded-Host"); strings.Contains(said, "evil") || got.req.Host != strings.TrimPrefix(f.at(""), "https://") {
		f.t.Errorf("%s: Host %q, X-Forwarded-Host %q", path, got.req.Host, said)
	}
	got.answer("seen")
	testkit.Receive(f.t, path+" is answered", answered)
}

// Nothing waits at a front: the first bytes of sound and of an upload arrive before there
// are more, and a listener who leaves has left the station as well.
func TestHTTPSFrontsHoldNothingBack(t *testing.T) {
	t.Parallel()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			arrived, doors := witnesses(t)
			f := start(t, doors)
			for _, http2 := range []bool{true, false} {
				for _, path := range []string{"/stream", "/hls/main/a.ts", "/whip/5/facts", "/api/jobs/5"} {
					f.holdsNoAnswerBack(arrived, path, http2)
				}
				for _, path := range []string{"/api/social/tus/5", "/api/social/upload/song"} {
					f.holdsNoBodyBack(arrived, path, http2)
				}
			}
		})
	}
}

func (f *front) holdsNoAnswerBack(arrived <-chan witness, path string, http2 bool) {
	f.t.Helper()
	ctx, leave := context.WithCancel(f.t.Context())
	defer leave()
	read := make(chan string)
	go func() {
		defer close(read)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.at(path), nil)
		if err != nil {
			return
		}
		resp, err := f.client("127.0.0.1", http2).Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		for {
			word := make([]byte, 3)
			if _, err := io.ReadFull(resp.Body, word); err != nil {
				return
			}
			read <- string(word)
		}
	}()
	got := testkit.Receive(f.t, path, arrived)
	for _, word := range []string{"one", "two"} {
		_, _ = io.WriteString(got.w, word)
		if err := http.NewResponseController(got.w).Flush(); err != nil {
			f.t.Error(err)
		}
		if said := testkit.Receive(f.t, path+": "+word, read); said != word {
			f.t.Errorf("%s: %q, want %q", path, said, word)
		}
	}
	leave()
	// A front may notice only as it writes.
	testkit.Eventually(f.t, path+": the station is told that the listener left", func() bool {
		_, _ = io.WriteString(got.w, "more")
		_ = http.NewResponseController(got.w).Flush()
		return got.req.Context().Err() != nil
	})
	close(got.done)
	for range read { // until it is closed
	}
}

// half of an upload; nginx passes on 16 KiB at a time.
const half = 256 << 10

func (f *front) holdsNoBodyBack(arrived <-chan witness, path string, http2 bool) {
	f.t.Helper()
	body, more := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		defer close(answered)
		req, err := http.NewRequestWithContext(f.t.Context(), http.MethodPatch, f.at(path), body)
		if err != nil {
			return
		}
		req.ContentLength = 2 * half
		resp, err := f.client("127.0.0.1", http2).Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		text, _ := io.ReadAll(resp.Body)
		answered <- string(text)
	}()
	written := make(chan struct{})
	go func() { defer close(written); _, _ = more.Write(make([]byte, half)) }()
	got := testkit.Receive(f.t, path+": the first half of an upload", arrived)
	read := make(chan int64, 1)
	go func() {
		n, _ := io.CopyN(io.Discard, got.body, half/2)
		read <- n
	}()
	n := testkit.Receive(f.t, path+": some of the first half", read)
	testkit.Receive(f.t, path+": the first half is taken", written)
	go func() { _, _ = more.Write(make([]byte, half)); _ = more.Close() }()
	rest, err := io.Copy(io.Discard, got.body)
	if n+rest != 2*half || err != nil {
		f.t.Errorf("%s: %d bytes of %d arrived: %v", path, n+rest, 2*half, err)
	}
	got.answer("whole")
	if text := testkit.Receive(f.t, path+" is answered", answered); text != "whole" {
		f.t.Errorf("%s: %q", path, text)
	}
}

// The rest of the file: http leads to https with path and query, and a challenge of a
// certificate authority is answered over http.
func TestHTTPSFrontsLeadFromHTTP(t *testing.T) {
	t.Parallel()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			_, doors := witnesses(t)
			f := start(t, doors)
			for _, path := range []string{"/studio?tab=%D8%A3", "/api/status"} {
				resp, err := f.client("127.0.0.1", false).Get(fmt.Sprintf("http://%s:%d%s", secureName, f.plain, path))
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				// Caddy names its port where that is not 443.
				to := strings.Replace(resp.Header.Get("Location"), fmt.Sprintf(":%d", f.secure), "", 1)
				if (resp.StatusCode != 301 && resp.StatusCode != 308) || to != "https://"+secureName+path {
					t.Errorf("%s: %s to %q", path, resp.Status, to)
				}
			}
		})
	}
}

// The manual's command makes of a file that of a machine with one door for everything.
func TestHTTPSFrontsWithOneDoor(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/https.md")
	if err != nil {
		t.Fatal(err)
	}
	_, command, found := strings.Cut(string(manual), "\nsed -e ")
	command, _, end := strings.Cut(command, " deploy/nginx/athir.conf")
	if !found || !end {
		t.Fatal("docs/https.md has no command for one door")
	}
	for port, door := range map[string]string{"8094": "chat", "5000": "control", "8089": "whip"} {
		edit := func(text string) string {
			sed := exec.CommandContext(t.Context(), "sh", "-c", "sed -e "+command)
			sed.Env = append(os.Environ(), "NAME="+secureName, "PORT="+port)
			sed.Stdin = strings.NewReader(text)
			out, err := sed.Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		arrived, doors := witnesses(t)
		doors = map[string]string{"127.0.0.1:" + port: doors["127.0.0.1:"+port]}
		for name, f := range map[string]*front{"nginx": nginxFront(t, doors, edit), "caddy": caddyFront(t, doors, edit)} {
			t.Run(name+" to "+door, func(t *testing.T) {
				f.t = t
				for _, path := range []string{"/", "/api/status", "/stream", "/socket.io/?EIO=4", "/studio", "/whip"} {
					f.namesTheClient(arrived, path, door)
				}
			})
		}
	}
}

// witnesses are servers in place of a station's doors, by the addresses in the files.
func witnesses(t *testing.T) (arrived <-chan witness, doors map[string]string) {
	t.Helper()
	all := make(chan witness)
	doors = map[string]string{}
	for address, door := range doorways {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			one := witness{door, r, r.Body, w, make(chan struct{})}
			select {
			case all <- one:
				<-one.done
			case <-r.Context().Done():
			}
		})}
		testkit.Background(t, func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { _ = srv.Close() })
			_ = srv.Serve(l)
			return nil
		})
		doors[address] = l.Addr().String()
	}
	return all, doors
}
