package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/kit/client"
)

// The lines of a page's head that are the station's, and not the program's, stand between these.
const (
	stationBegins = "<!-- station -->"
	stationEnds   = "<!-- /station -->"
)

var htmlTag = regexp.MustCompile(`<html[^>]*>`)

const (
	// mostRendered bounds the documents that are kept: pages by what they describe.
	mostRendered = 64
	// cardEvery is how long a shared link to a page shows the same card: others keep pictures
	// by their address for days, and each would show what played when it was first shared.
	cardEvery = 5 * time.Minute
	// longestText is how many characters of a description are sent.
	longestText = 300
	// longestHost is how many bytes a host may have, its port included (RFC 1035, 2.3.4): heads
	// repeat it, and documents are kept.
	longestHost = 255 + len(":65535")
)

// dresser serves pages and files with the face of now.
type dresser struct {
	opt   Options
	home  string
	built map[string]*file
	pages map[string]Page // by their addresses
	lost  lost

	mu       sync.Mutex
	of       *Dress
	rendered map[string]*file
}

func newDresser(opt Options, built map[string]*file, pages []Page) *dresser {
	d := &dresser{opt: opt, home: cmp.Or(opt.Home, "/"), built: built, pages: map[string]Page{}, rendered: map[string]*file{}, lost: newLost()}
	for _, p := range pages {
		d.pages[p.url()] = p
	}
	if opt.Now == nil {
		d.opt.Now = time.Now
	}
	return d
}

// file answers a request for a file of the face.
func (d *dresser) file(w http.ResponseWriter, r *http.Request) bool {
	return d.opt.Dress != nil && d.opt.Dress().serve(w, r)
}

// page answers a request for a page that wears the face.
func (d *dresser) page(w http.ResponseWriter, r *http.Request) bool {
	page, ok := d.pages[document(r.URL.Path)]
	if !ok || d.opt.Dress == nil {
		return false
	}
	if len(r.Host) > longestHost {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "the host's name is too long", http.StatusBadRequest)
		return true
	}
	var about *Description
	if describe := d.opt.Describe[page]; describe != nil {
		about = describe(r)
	}
	f := d.document(page, r, about)
	if about != nil && about.Missing {
		f.missing(w, r) // the page itself says so, and is the way to all else
		return true
	}
	f.serve(w, r)
	return true
}

// document is a page for a request, made once for all who are told the same.
func (d *dresser) document(page Page, r *http.Request, about *Description) *file {
	origin := client.Origin(r)
	dress, address := d.opt.Dress(), origin+r.URL.Path
	if about != nil && about.Missing { // one document for all that anybody may ask for
		address = origin + page.url()
		about = &Description{Kind: "website", Title: wordsIn(dress.face.Language()).missing}
	}
	h := head{dress: dress, page: page, origin: origin, address: address, about: about, turn: d.opt.Now().Unix() / int64(cardEvery.Seconds())}
	if about != nil {
		h.feeds = about.Feeds
	} else if d.opt.Feeds != nil && (page == Player || page == History || page == Podcasts) {
		h.feeds = d.opt.Feeds()
	}
	key := fmt.Sprintf("%q %q %d %q", page, h.address, h.turn, h.feeds)
	if about != nil {
		key = fmt.Sprintf("%s %#v", key, *about)
	}
	if f := d.known(dress, key); f != nil {
		return f
	}
	// Unlocked: whoever asks for what nobody asked for before holds up nobody else.
	document := h.put(d.built[page.url()].plain)
	f := newFile(contentTypes[".html"], "no-cache", document)
	f.gzip = zipped(document)
	d.keep(dress, key, f)
	return f
}

func (d *dresser) known(dress *Dress, key string) *file {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of != dress {
		return nil
	}
	return d.rendered[key]
}

func (d *dresser) keep(dress *Dress, key string, f *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of != dress || len(d.rendered) >= mostRendered {
		d.of = dress
		clear(d.rendered)
	}
	d.rendered[key] = f
}

// head is what one document says in its head.
type head struct {
	dress           *Dress
	page            Page
	origin, address string // absolute
	about           *Description
	feeds           []Feed
	turn            int64 // another when the card may be
}

// put puts the head into a document as it was built.
func (h *head) put(document []byte) []byte {
	language := h.dress.face.Language()
	document = replaced(document, htmlTag.FindIndex(document), fmt.Sprintf(`<html lang="%s" dir="%s">`, language, direction(language)))
	begin, end := bytes.Index(document, []byte(stationBegins)), bytes.Index(document, []byte(stationEnds))
	if begin < 0 || end < begin { // a page that has no place for it
		begin = bytes.Index(document, []byte("</head>"))
		end = begin - len(stationEnds)
	}
	if begin < 0 {
		return document
	}
	document = replaced(document, []int{begin, end + len(stationEnds)}, h.lines())
	// The operator's sheet last: it stands over the page's own.
	last := bytes.Index(document, []byte("</head>"))
	if last < 0 {
		return document
	}
	return replaced(document, []int{last, last}, h.sheets())
}

func replaced(in []byte, at []int, by string) []byte {
	if at == nil {
		return in
	}
	out := make([]byte, 0, len(in)+len(by))
	out = append(out, in[:at[0]]...)
	out = append(out, by...)
	return append(out, in[at[1]:]...)
}

// lines are the station's lines of the head.
func (h *head) lines() string {
	var b bytes.Buffer
	d, f := h.dress, &h.dress.face
	title, text := h.page.title(f), h.page.about(f)
	if h.about != nil {
		title, text = cmp.Or(h.about.Title, title), cmp.Or(h.about.Text, text)
	}
	shown := title
	if h.about != nil && h.about.Title != "" {
		shown += " · " + f.Title()
	}
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(shown))
	meta(&b, "name", "application-name", f.Title())
	meta(&b, "name", "apple-mobile-web-app-title", f.Title())
	if !h.page.ours() {
		meta(&b, "name", "description", short(text))
		h.openGraph(&b, title, short(text))
	}
	if h.page == Player || h.page == History {
		b.WriteString(OEmbedLink(h.origin, strings.TrimPrefix(h.address, h.origin), f.Title()))
	}
	h.links(&b)
	fmt.Fprintf(&b, "<meta name=\"theme-color\" content=\"%s\" media=\"(prefers-color-scheme: light)\" />\n", noonGround)
	fmt.Fprintf(&b, "<meta name=\"theme-color\" content=\"%s\" media=\"(prefers-color-scheme: dark)\" />\n", nightGround)
	if d.files["/icon.svg"] == nil {
		fmt.Fprintf(&b, "<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\" />\n")
	} else {
		link(&b, "icon", d.address(face.FaviconPath), `sizes="32x32"`)
		link(&b, "icon", d.address(face.IconPath(192)), `type="image/png" sizes="192x192"`)
	}
	link(&b, "apple-touch-icon", d.address(face.IconPath(180)), "")
	if !h.page.ours() {
		link(&b, "manifest", d.address(face.ManifestPath), "")
	}
	data, err := json.Marshal(f) // <, >, & and line separators are escaped
	if err == nil {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"face\">%s</script>\n", data)
	}
	return b.String()
}

// openGraph are the elements by which programs describe a link (https://ogp.me), and those of
// Twitter's cards.
func (h *head) openGraph(b *bytes.Buffer, title, text string) {
	f, about := &h.dress.face, h.about
	if about == nil {
		about = &Description{Kind: "website"}
	}
	image, wide := about.Image, about.Card
	if image == "" {
		image, wide = h.origin+face.Address("/card/now.png", f.Version)+"-"+strconv.FormatInt(h.turn, 36), true
	}
	for _, tag := range []struct{ property, content string }{
		{"og:site_name", f.Title()}, {"og:type", cmp.Or(about.Kind, "music.song")}, {"og:title", title}, {"og:description", text},
		{"og:url", cmp.Or(about.URL, h.address)}, {"og:image", image}, {"og:audio", about.Audio}, {"og:locale", wordsIn(f.Language()).locale},
	} {
		meta(b, "property", tag.property, tag.content)
	}
	for _, language := range f.Languages[1:] {
		meta(b, "property", "og:locale:alternate", wordsIn(language).locale)
	}
	card := "summary"
	if wide {
		card = "summary_large_image"
		meta(b, "property", "og:image:width", "1200")
		meta(b, "property", "og:image:height", "630")
	}
	meta(b, "property", "og:image:alt", title)
	meta(b, "name", "twitter:card", card)
}

// links are the page's own address where it may have others, and the feeds of what it shows; and
// what search engines read. That is data, which no policy keeps from a page: it is not run.
func (h *head) links(b *bytes.Buffer) {
	if h.page == Podcasts {
		address := h.address
		if h.about != nil {
			address = cmp.Or(h.about.URL, address)
		}
		link(b, "canonical", address, "")
	}
	for _, feed := range h.feeds[:min(len(h.feeds), mostFeeds)] {
		link(b, "alternate", h.origin+feed.Path, fmt.Sprintf(`type="application/rss+xml" title="%s"`, html.EscapeString(feed.Title)))
	}
	if h.about != nil && h.about.Data != "" {
		fmt.Fprintf(b, "<script type=\"application/ld+json\">%s</script>\n", h.about.Data)
	}
}

// sheets are the links to the style sheets of the face.
func (h *head) sheets() string {
	if h.page.ours() {
		return ""
	}
	var b bytes.Buffer
	link(&b, "stylesheet", h.dress.address(face.ThemePath), "")
	link(&b, "stylesheet", h.dress.address(face.CustomPath), "")
	return b.String()
}

func meta(b *bytes.Buffer, kind, name, content string) {
	if content != "" {
		fmt.Fprintf(b, "<meta %s=\"%s\" content=\"%s\" />\n", kind, name, html.EscapeString(content))
	}
}

func link(b *bytes.Buffer, rel, href, more string) {
	if href == "" {
		return
	}
	if more != "" {
		more = " " + more
	}
	fmt.Fprintf(b, "<link rel=\"%s\" href=\"%s\"%s />\n", rel, html.EscapeString(href), more)
}

func short(text string) string {
	if all := []rune(text); len(all) > longestText {
		return string(all[:longestText-1]) + "…"
	}
	return text
}
