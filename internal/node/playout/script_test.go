package playout

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Whatever bytes a setting holds, the engine reads back exactly those, and runs
// none of it. The engine itself is the judge.
func TestQuotedTextReachesTheEngineExactly(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "plain", `"`, `\`, `\"`, "#{", "#{1+1}", `\#{1+1}`, "##{1}", "#", "}", "#\n{1}", "a#{print(\"x\")}b", "%{x}", "\\x41",
		"أثير #{x}", "\u202e\u200f", "\xff\xfe", "\xd8", "\x00", "\r\n\t", "'", "/* */", "(* ", "~", "`", "$", "😀", "e\u0301",
	}
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's choice
	alphabet := []string{"#", "{", "}", `"`, `\`, "x", "1", "n", "أ", "\xff", "\x00", "\n", " ", "(", "^"}
	for range 400 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		texts = append(texts, b.String())
	}
	for c := range 256 {
		texts = append(texts, "a"+string([]byte{byte(c)})+"b")
	}
	var script bytes.Buffer
	for _, s := range texts {
		fmt.Fprintf(&script, "print(string.base64.encode(%s))\n", quote(s))
	}
	file := filepath.Join(t.TempDir(), "quote.liq")
	if err := os.WriteFile(file, script.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := proc.Output(t.Context(), proc.Spec{Name: "liquidsoap", Path: "liquidsoap", Args: []string{"--no-stdlib", "-c", file}}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d lines for %d texts", len(lines), len(texts))
	}
	for i, want := range texts {
		got, err := base64.StdEncoding.DecodeString(lines[i])
		if err != nil || string(got) != want {
			t.Errorf("%q reads back as %q (%v)", want, got, err)
		}
	}
}

func FuzzQuoteLeavesNothingToTheLexer(f *testing.F) {
	f.Add(`"#{x}\`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, literal := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(quote(s), `("`), `")`), `" ^ "`) {
			if strings.ContainsAny(literal, "\"\n\r\x00") || strings.Contains(literal, "#{") {
				t.Errorf("%q becomes %s", s, quote(s))
			}
			for rest := literal; ; {
				i := strings.IndexByte(rest, '\\')
				if i < 0 {
					break
				}
				if len(rest) < i+4 || rest[i+1] != 'x' {
					t.Fatalf("%q becomes %s", s, quote(s))
				}
				rest = rest[i+4:]
			}
		}
		if strings.ContainsAny(comment(s), "\n\r") {
			t.Errorf("%q breaks out of a comment", s)
		}
	})
}

// A lean start leaves out most of the standard library; where Debian's version
// is not there, the script runs on all of it. Both must load.
func TestScriptLoadsWithAndWithoutTheWholeLibrary(t *testing.T) {
	t.Parallel()
	o := Options{
		Dir: t.TempDir(), Playlist: "/none", Password: "p", IcecastPort: 1, HarborPort: 2, MetadataURL: "http://x/metadata",
		Station: "أثير\n#{shutdown()}", Genre: "g",
	}
	for _, whole := range []bool{false, true} {
		o.WholeLibrary = whole
		script, err := Render(o)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(script, []byte("%include")) == whole {
			t.Errorf("whole library %v: is this not Debian's Liquidsoap 2.1.3?", whole)
		}
		if err := os.WriteFile(o.Script(), script, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.PasswordFile(), []byte(o.Password), 0o600); err != nil {
			t.Fatal(err)
		}
		spec := Spec(o)
		spec.Args = append([]string{"-c"}, spec.Args...)
		if _, err := proc.Output(t.Context(), spec, 1<<20); err != nil {
			t.Errorf("whole library %v: %v", whole, err)
		}
	}
}

func TestOptionsThatCannotWorkAreNamed(t *testing.T) {
	good := Options{Dir: "/d", Playlist: "/p", Password: "p", IcecastPort: 1, HarborPort: 2, MetadataURL: "u"}
	for want, change := range map[string]func(*Options){
		"Password":       func(o *Options) { o.Password = "" },
		"HarborPort":     func(o *Options) { o.HarborPort = 70000 },
		"107":            func(o *Options) { o.Dir = "/" + strings.Repeat("d", 100) },
		"Playlist":       func(o *Options) { o.Playlist = "a\x00b" },
		"MetadataURL is": func(o *Options) { o.MetadataURL = "" },
	} {
		o := good
		change(&o)
		if _, err := Render(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
