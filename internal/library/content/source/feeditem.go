package source

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// parseFeed makes candidates of a feed's items that have a sound.
func parseFeed(d fetch.Document, from Feed) ([]Candidate, error) {
	parsed, err := parseXML(d.Body, d.Type)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(d.URL)
	if err != nil {
		return nil, err
	}
	// Two feeds may give their items the same guid.
	sum := sha256.Sum256([]byte(from.URL))
	f := reader{feed: parsed, from: from, base: base, prefix: hex.EncodeToString(sum[:4]) + ":"}
	f.license = license(parsed.Extensions, parsed.DublinCoreExt, nil)
	if f.license == "" {
		f.license = Clean(parsed.Copyright)
	}
	entries := atomEntries(parsed)
	var found []Candidate
	seen := map[string]bool{}
	for i, item := range parsed.Items[:min(len(parsed.Items), feedItems)] {
		var links []*atom.Link
		if len(entries) == len(parsed.Items) {
			links = entries[i].Links
		}
		if c, ok := f.candidate(item, links); ok && !seen[c.ID] {
			seen[c.ID] = true
			found = append(found, c)
		}
	}
	return found, nil
}

func atomEntries(f *gofeed.Feed) []*atom.Entry {
	if original, ok := f.OriginalFeed().(*atom.Feed); ok {
		return original.Entries
	}
	return nil
}

type reader struct {
	feed    *gofeed.Feed
	from    Feed
	base    *url.URL
	prefix  string
	license string // of the whole feed
}

func (r *reader) candidate(item *gofeed.Item, links []*atom.Link) (Candidate, bool) {
	s, ok := r.sound(item)
	if !ok {
		return Candidate{}, false
	}
	id := item.GUID
	if id == "" {
		id = s.url
	}
	c := Candidate{
		Source: NameFeed, ID: shortID(r.prefix + id), URL: s.url, Page: page(item.Link), Category: r.from.Category,
		Title: cleanHTML(item.Title), Artist: r.artist(item), Album: cleanHTML(r.feed.Title),
		License: license(item.Extensions, item.DublinCoreExt, links), Licensor: r.licensor(),
		Duration: s.duration, Size: s.size,
	}
	switch {
	case c.License != "":
	case r.license != "":
		c.License = r.license
	default:
		c.License = Clean(r.from.License)
	}
	if len(item.Categories) > 0 {
		c.Genre = cleanHTML(item.Categories[0])
	}
	if at := item.PublishedParsed; at != nil {
		c.Published = *at
	} else if at := item.UpdatedParsed; at != nil {
		c.Published = *at
	}
	if c.Title == "" {
		_, c.Title = titleOf(s.path)
	}
	if i := item.ITunesExt; i != nil {
		if c.Duration == 0 {
			c.Duration = clock(i.Duration)
		}
		ok = !strings.EqualFold(strings.TrimSpace(i.EpisodeType), "trailer")
	}
	return c, ok
}

func (r *reader) artist(item *gofeed.Item) string {
	var names []string
	if i := item.ITunesExt; i != nil {
		names = append(names, i.Author)
	}
	for _, a := range item.Authors {
		names = append(names, a.Name)
	}
	if i := r.feed.ITunesExt; i != nil {
		names = append(names, i.Author)
	}
	for _, name := range append(names, r.feed.Title) {
		if name = cleanHTML(name); name != "" {
			return name
		}
	}
	return ""
}

func (r *reader) licensor() string {
	if name := cleanHTML(r.feed.Title); name != "" {
		return name
	}
	return r.base.Hostname()
}

// sound is what an item has to hear.
type sound struct {
	url, path string
	duration  time.Duration
	size      int64
}

// sound finds it among the enclosures and Media RSS contents: the default one, or
// the first.
func (r *reader) sound(item *gofeed.Item) (sound, bool) {
	type offer struct{ url, kind, size, seconds, standard string }
	var offers []offer
	for _, e := range item.Enclosures {
		offers = append(offers, offer{url: e.URL, kind: e.Type, size: e.Length})
	}
	media := item.Extensions["media"]
	contents := slices.Clone(media["content"])
	for _, group := range media["group"] {
		contents = append(contents, group.Children["content"]...)
	}
	for _, c := range contents {
		if c.Attrs["expression"] != "sample" {
			offers = append(offers, offer{c.Attrs["url"], c.Attrs["type"], c.Attrs["fileSize"], c.Attrs["duration"], c.Attrs["isDefault"]})
		}
	}
	var best sound
	for _, o := range offers {
		u, err := r.base.Parse(strings.TrimSpace(o.url))
		if err != nil || o.url == "" || !audible(o.kind, u.Path) || best.url != "" && o.standard != "true" {
			continue
		}
		best = sound{url: u.String(), path: u.Path, duration: clock(o.seconds), size: max(0, integer(o.size))}
	}
	return best, best.url != ""
}

// audible goes by the stated type, and by the name where the type says nothing.
func audible(kind, name string) bool {
	kind = strings.ToLower(strings.TrimSpace(kind))
	if strings.HasPrefix(kind, "audio/") {
		return !strings.Contains(kind, "mpegurl") && !strings.Contains(kind, "scpls")
	}
	if kind == "application/ogg" {
		return true
	}
	if kind != "" && kind != "application/octet-stream" && kind != "binary/octet-stream" {
		return false
	}
	name = strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	return name != "mp4" && slices.Contains(extensions(), name)
}

// license finds a licence in the places feeds put it: Podcasting 2.0, Creative
// Commons' own modules, Media RSS, links (RFC 4946), Dublin Core.
func license(e ext.Extensions, dc *ext.DublinCoreExtension, links []*atom.Link) string {
	for _, at := range [][2]string{{"podcast", "license"}, {"creativeCommons", "license"}, {"cc", "license"}, {"media", "license"}} {
		for _, found := range e[at[0]][at[1]] {
			for _, said := range []string{found.Attrs["url"], found.Attrs["href"], found.Attrs["resource"], found.Value} {
				if said = Clean(said); said != "" {
					return said
				}
			}
		}
	}
	for _, l := range e["atom"]["link"] {
		if l.Attrs["rel"] == "license" && l.Attrs["href"] != "" {
			return Clean(l.Attrs["href"])
		}
	}
	for _, l := range links {
		if l.Rel == "license" && l.Href != "" {
			return Clean(l.Href)
		}
	}
	if dc != nil {
		for _, said := range dc.Rights {
			if said = cleanHTML(said); said != "" {
				return said
			}
		}
	}
	for _, found := range e["media"]["copyright"] {
		if said := cleanHTML(found.Value); said != "" {
			return said
		}
	}
	return ""
}

// page keeps an address a person may open.
func page(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(link) > 2000 {
		return ""
	}
	u.User = nil
	return u.String()
}

// clock reads a length as feeds and archives write it: seconds, possibly with a
// fraction, or hours and minutes before them. 0 when it makes no sense.
func clock(s string) time.Duration {
	var total float64
	parts := strings.Split(strings.TrimSpace(s), ":")
	for _, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || !(n >= 0 && n < 1e6) || len(parts) > 3 {
			return 0
		}
		total = total*60 + n
	}
	if total > (100 * time.Hour).Seconds() {
		return 0
	}
	return time.Duration(total * float64(time.Second)).Round(time.Millisecond)
}

func integer(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
