package pages

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/held"
)

// Description is what others show of a page when its link is shared, by the Open Graph
// protocol. Texts may hold anything.
type Description struct {
	Title, Text string
	// URL is the page's own address, Image and Audio are of what it shows; absolute, Image
	// and Audio may be empty.
	URL, Image, Audio string
}

// Post is what a listener's post is described by. Page, Audio and Cover are paths; Cover may
// be empty.
type Post struct{ Title, Artist, By, Page, Audio, Cover string }

// Description describes a post of a station that is reached at origin.
func (p Post) Description(origin, station string) *Description {
	d := &Description{Title: p.Title, URL: origin + p.Page, Audio: origin + p.Audio, Image: origin + cmp.Or(p.Cover, "/icon-512.png")}
	by := p.By
	if by == p.Artist {
		by = ""
	}
	texts := slices.DeleteFunc([]string{p.Artist, by, station}, func(text string) bool { return text == "" })
	d.Text = strings.Join(texts, " · ")
	return d
}

// Describe serves pages, and adds a description to the document of one of them where of has
// one: programs that show a link's description run no script.
func Describe(pages http.Handler, page Page, of func(*http.Request) *Description) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var about *Description
		if r.URL.Path == page.url() && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			about = of(r)
		}
		if about == nil {
			pages.ServeHTTP(w, r)
			return
		}
		plain := r.Clone(r.Context())
		plain.Method = http.MethodGet
		plain.Header.Del("Accept-Encoding")
		plain.Header.Del("If-None-Match")
		answer := held.New(w.Header(), math.MaxInt)
		pages.ServeHTTP(answer, plain)
		document := answer.Body.Bytes()
		if answer.Status == http.StatusOK {
			document = bytes.Replace(document, []byte("</head>"), []byte(about.tags()+"</head>"), 1)
			w.Header().Del("ETag")
			w.Header().Set("Cache-Control", "no-cache")
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(document)))
		w.WriteHeader(answer.Status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(document) // an error means that the client is gone
		}
	})
}

// tags are the elements of a description (https://ogp.me).
func (d *Description) tags() string {
	var b bytes.Buffer
	for _, tag := range []struct{ property, content string }{
		{"og:type", "music.song"}, {"og:title", d.Title}, {"og:description", d.Text}, {"og:url", d.URL}, {"og:image", d.Image}, {"og:audio", d.Audio},
	} {
		if tag.content != "" {
			fmt.Fprintf(&b, "<meta property=\"%s\" content=\"%s\" />\n", tag.property, html.EscapeString(tag.content))
		}
	}
	fmt.Fprintf(&b, "<meta name=\"twitter:card\" content=\"summary\" />\n")
	return b.String()
}
