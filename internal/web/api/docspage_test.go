package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/web/api"
)

// The page of the API shows every row, needs no script and nobody else's server,
// and its policy lets its own style pass.
func TestDocsShowEveryRowWithoutScriptsOrStrangers(t *testing.T) {
	r := newRig(t)
	code, head, page := r.call(t, "GET", "/docs", "")
	if code != 200 || head.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v", code, head)
	}
	for _, row := range api.Rows() {
		if !strings.Contains(page, ">"+row.Method+"</span> <code>"+row.Path+"</code>") {
			t.Errorf("%s %s is not on the page", row.Method, row.Path)
		}
	}
	if !strings.Contains(page, `-X PUT http://127.0.0.1:5000/api/station/library/cover --data-binary @file`) {
		t.Error("a picture is not sent as a file")
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(page)
	if style == nil {
		t.Fatal("no style")
	}
	sum := sha256.Sum256([]byte(style[1]))
	if policy := head.Get("Content-Security-Policy"); !strings.Contains(policy, "sha256-"+base64.StdEncoding.EncodeToString(sum[:])) {
		t.Errorf("the policy %s keeps the page's own style out", policy)
	}
	for _, no := range []string{"<script", "onclick", "//cdn", "<link", "<img", "ZgotmplZ"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %s", no)
		}
	}
	// Every reference leads somewhere.
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+m[1]+`"`) {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
}
