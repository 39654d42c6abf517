package playout

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

//go:embed main.liq.tmpl
var scriptTemplate string

// parts are the files of Liquidsoap's standard library that the script uses, each
// after those that it needs.
var parts = []string{
	"error", "null", "ref", "list", "math", "getter", "predicate", "settings", "log", "thread", "process", "string", "json", "file",
}

// libraryDir is where Debian has the standard library of the only version that the
// lean start is known to work with.
const libraryDir = "/usr/share/liquidsoap/2.1.3/libs"

// libraries returns the files of the lean start. It returns nil if that is not wanted
// or a file is missing: the script then loads the whole standard library.
func (o Options) libraries() []string {
	if o.WholeLibrary {
		return nil
	}
	files := make([]string, 0, len(parts))
	for _, name := range parts {
		file := filepath.Join(libraryDir, name+".liq")
		if _, err := os.Stat(file); err != nil {
			return nil
		}
		files = append(files, file)
	}
	return files
}

// Render returns the engine's script. Texts in the options may hold any bytes: they
// reach the script only as quoted strings.
func Render(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	t, err := template.New("main.liq").Funcs(template.FuncMap{
		"liq": quote, "comment": comment,
	}).Parse(scriptTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse playout script: %w", err)
	}
	libs := o.libraries()
	var out bytes.Buffer
	err = t.Execute(&out, struct {
		Options
		EmergencyFiles []string
		Lean           bool
		Libs           []string
		HarborBind     string
		LogLevel       int
		Between        [][]float64
		FirstList      float64 // seconds
	}{o, o.emergencyFiles(), libs != nil, libs, o.harborBind(), o.logLevel(), loudness.Between(), cmp.Or(o.FirstList, firstList).Seconds()})
	if err != nil {
		return nil, fmt.Errorf("render playout script: %w", err)
	}
	return out.Bytes(), nil
}

// firstList is the default of Options.FirstList.
const firstList = 8 * time.Second

// quote makes a Liquidsoap expression whose value is exactly the bytes of s. Letters of
// any script stay readable; every byte that has a meaning to the lexer or is not valid
// UTF-8 becomes \xHH. Liquidsoap resolves escapes before it looks for #{...}, so no
// escape protects a '#': the literal ends there and a second one is appended.
func quote(s string) string {
	var b strings.Builder
	b.WriteString(`("`)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '#':
			b.WriteString(`#" ^ "`)
		case r == utf8.RuneError && n <= 1,
			r < utf8.RuneSelf && !plain(byte(r)),
			r >= utf8.RuneSelf && !unicode.IsLetter(r):
			for i := range n {
				fmt.Fprintf(&b, `\x%02x`, s[i])
			}
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteString(`")`)
	return b.String()
}

// plain reports whether a byte stands for itself inside a string literal.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(" -_.,:;/+=@()[]<>&%?!*", c) >= 0
}

// comment makes a text fit on one comment line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' || r == '-' {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
}

// maxSocketPath is the longest path a Unix socket can have on Linux, in bytes.
const maxSocketPath = 107

func (o Options) check() error {
	var errs []error
	need := func(name, value string) {
		if value == "" {
			errs = append(errs, fmt.Errorf("playout option %s is empty", name))
		}
		if strings.ContainsRune(value, 0) {
			errs = append(errs, fmt.Errorf("playout option %s holds a NUL byte", name))
		}
	}
	need("Dir", o.Dir)
	need("Playlist", o.Playlist)
	need("Password", o.Password)
	need("MetadataURL", o.MetadataURL)
	if n := len(o.Socket()); n > maxSocketPath {
		errs = append(errs, fmt.Errorf("the command socket's path has %d bytes and Linux allows %d: choose a shorter directory than %s", n, maxSocketPath, o.Dir))
	}
	for name, port := range map[string]int{"IcecastPort": o.IcecastPort, "HarborPort": o.HarborPort} {
		if port < 1 || port > 65535 {
			errs = append(errs, errors.New("playout option "+name+" is not a port: "+strconv.Itoa(port)))
		}
	}
	return errors.Join(errs...)
}
