package relay

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMediaMTXConfigurationUsesDocumentedSettingsOnly(t *testing.T) {
	m := MediaMTX{
		Binary: "/usr/bin/mediamtx", Dir: t.TempDir(), HLSAddress: ":19351", RTMPAddress: ":19350",
		APIAddress: "127.0.0.1:19997", SourcePassword: `p"a:s\s`, SampleRate: 44100,
	}
	got := m.Config()
	const golden = "testdata/mediamtx.yml"
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != string(got) {
		t.Errorf("differs from %s (%v); go test -update rewrites it:\n%s", golden, err, got)
	}

	known := map[string]bool{}
	keys, err := os.ReadFile("testdata/mediamtx-1.20-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(string(keys)) {
		known[key] = true
	}
	var settings map[string]any
	if err := yaml.Unmarshal(got, &settings); err != nil {
		t.Fatal(err)
	}
	for key := range settings {
		if !known[key] {
			t.Errorf("MediaMTX has no setting %s", key)
		}
	}
	for name, path := range settings["paths"].(map[string]any) {
		for key := range path.(map[string]any) {
			if !known["path."+key] {
				t.Errorf("path %s: MediaMTX has no setting %s", name, key)
			}
		}
	}
	sum := sha256.Sum256([]byte(m.SourcePassword))
	user := settings["authInternalUsers"].([]any)[0].(map[string]any)
	if user["pass"] != "sha256:"+base64.StdEncoding.EncodeToString(sum[:]) || strings.Contains(string(got), "p\"a") {
		t.Errorf("password %v", user["pass"])
	}

	spec, err := m.Prepare()
	if err != nil || spec.Path != m.Binary || len(spec.Args) != 1 {
		t.Fatalf("%+v %v", spec, err)
	}
	if info, err := os.Stat(spec.Args[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("configuration file %v %v", info, err)
	}
	m.SourcePassword = ""
	if _, err := m.Prepare(); err == nil {
		t.Error("an empty password is taken")
	}
}

func TestPathsProxyIsReadOnly(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Method, " ", r.URL.RequestURI())
	}))
	defer upstream.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- servePathsProxy(ctx, l, upstream.Listener.Addr().String()) }()
	base := "http://" + l.Addr().String()
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/v3/paths/list?page=0", 200},
		{"POST", "/v3/paths/list", 405},
		{"GET", "/v3/config/global/get", 404},
		{"POST", "/v3/hlssessions/kick/x", 404},
	} {
		if r, body := ask(t, c.method, base+c.path, nil); r.StatusCode != c.want || (c.want == 200 && body != "GET "+c.path) {
			t.Errorf("%s %s: %d %q", c.method, c.path, r.StatusCode, body)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
