package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/face"
)

//go:embed missing.html
var missingText string

//go:embed missing.css
var missingSheet string

// lost is the page of addresses at which there is nothing.
type lost struct {
	page   *template.Template
	policy string
}

func newLost() lost {
	sum := sha256.Sum256([]byte(missingSheet))
	return lost{
		page: template.Must(template.New("missing").Parse(missingText)),
		policy: fmt.Sprintf("default-src 'none'; style-src 'self' 'sha256-%s'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			base64.StdEncoding.EncodeToString(sum[:])),
	}
}

// saying is what the page says in one language.
type saying struct{ Language, Direction, Title, Text, Home string }

// missing answers for an address at which there is nothing: to a browser with a page of the
// station's, to a program in a line.
func (d *dresser) missing(w http.ResponseWriter, r *http.Request) {
	program := slices.ContainsFunc([]string{"/api/", "/assets/", "/hls/", "/socket.io/", "/face/", "/card/"}, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
	if program || d.opt.Dress == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Vary", "Accept") // of both answers: a cache keeps the short one too
	if !wantsPage(r) {
		http.NotFound(w, r)
		return
	}
	dress := d.opt.Dress()
	f := &dress.face
	show := struct {
		Name, Icon, Theme, Custom, Address string
		Language, Direction                string
		Sheet                              template.CSS
		In                                 []saying
	}{
		Name: f.Title(), Icon: dress.address(face.IconPath(192)), Theme: dress.address(face.ThemePath), Custom: dress.address(face.CustomPath), Address: d.home,
		Language: f.Language(), Direction: direction(f.Language()), Sheet: template.CSS(missingSheet), //nolint:gosec // our own file
	}
	for _, language := range f.Languages {
		say := wordsIn(language)
		show.In = append(show.In, saying{language, direction(language), say.missing, say.missingText, say.home})
	}
	var out bytes.Buffer
	if err := d.lost.page.Execute(&out, show); err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", d.lost.policy)
	h.Set("Content-Type", contentTypes[".html"])
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(out.Bytes()) // an error means that the client is gone
	}
}

// wantsPage reports whether a client names HTML among what it takes: browsers do so when
// somebody goes to an address, and not for what a page loads.
func wantsPage(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(accept string) bool { return strings.Contains(strings.ToLower(accept), "text/html") })
}
