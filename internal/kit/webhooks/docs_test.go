package webhooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/webhooks"
)

const goAround = `package main

import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "fmt"; "os"; "strconv"; "strings"; "time")

func main() {
	body, _ := os.ReadFile(os.Args[5])
	fmt.Println(genuine(os.Args[1], os.Args[2], os.Args[3], os.Args[4], body))
}

`

const nodeAround = `
const a = process.argv.slice(2);
console.log(genuine(a[0], a[1], a[2], a[3], require('node:fs').readFileSync(a[4])));
`

// The programs of the manual tell what the station has sent from what it has not.
func TestTheManualsProgramsCheckWhatIsSent(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(manual), "## Check the signature")
	program := func(tongue string) string {
		_, text, found := strings.Cut(after, "```"+tongue+"\n")
		text, _, _ = strings.Cut(text, "```")
		if !found {
			t.Fatalf("no %s in the manual", tongue)
		}
		return text
	}
	x := receive(t, nil)
	h := open(t, options(database(t)))
	k := add(t, h, x.URL, "*")
	if _, err := h.Change(t.Context(), k.ID, webhooks.Change{Rotate: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Test(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	g := x.got()[0] // signed with two secrets: k has the former one
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	body, forged := write("body.json", g.body), write("forged.json", g.body+" ")
	binary := filepath.Join(dir, "check")
	run("go", "build", "-o", binary, write("check.go", goAround+program("go")))
	script := write("check.js", program("js")+nodeAround)
	stale := "1" + g.timestamp[:len(g.timestamp)-1]
	for name, check := range map[string]func(args ...string) string{
		"Go":   func(args ...string) string { return run(binary, args...) },
		"Node": func(args ...string) string { return run("node", append([]string{script}, args...)...) },
	} {
		for what, c := range map[string]struct{ args, want string }{
			"genuine":     {strings.Join([]string{k.Secret, g.id, g.timestamp, g.signature, body}, "|"), "true"},
			"forged":      {strings.Join([]string{k.Secret, g.id, g.timestamp, g.signature, forged}, "|"), "false"},
			"other's":     {strings.Join([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", g.id, g.timestamp, g.signature, body}, "|"), "false"},
			"stale":       {strings.Join([]string{k.Secret, g.id, stale, webhooks.Sign(key(t, k.Secret), g.id, seconds(stale), []byte(g.body)), body}, "|"), "false"},
			"no time":     {strings.Join([]string{k.Secret, g.id, "soon", g.signature, body}, "|"), "false"},
			"no sign":     {strings.Join([]string{k.Secret, g.id, g.timestamp, "", body}, "|"), "false"},
			"another id":  {strings.Join([]string{k.Secret, "msg_", g.timestamp, g.signature, body}, "|"), "false"},
			"half a sign": {strings.Join([]string{k.Secret, g.id, g.timestamp, g.signature[:20], body}, "|"), "false"},
		} {
			if got := check(strings.Split(c.args, "|")...); got != c.want {
				t.Errorf("%s: %s is called %s", name, what, got)
			}
		}
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", program("sh"))
	shell.Env = append(os.Environ(), "SECRET="+k.Secret, "ID="+g.id, "TIMESTAMP="+g.timestamp, "BODY="+body)
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(" "+g.signature+" ", " "+strings.TrimSpace(string(out))+" ") {
		t.Errorf("openssl: %v: %s is not in %s", err, out, g.signature)
	}
}

func key(t *testing.T, secret string) []byte {
	t.Helper()
	var out []byte
	if err := json.Unmarshal([]byte(`"`+strings.TrimPrefix(secret, "whsec_")+`"`), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func seconds(text string) int64 {
	d, _ := time.ParseDuration(text + "s")
	return int64(d / time.Second)
}
