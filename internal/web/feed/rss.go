package feed

import (
	"cmp"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// content is what the feed of a show is made of.
type content struct {
	show     *podcast.Show
	episodes []podcast.Episode // the newest first
	station  string
	live     Live
	hasLive  bool
}

// The namespaces.
const (
	itunesSpace  = "http://www.itunes.com/dtds/podcast-1.0.dtd"
	podcastSpace = "https://podcastindex.org/namespace/1.0"
	atomSpace    = "http://www.w3.org/2005/Atom"
	contentSpace = "http://purl.org/rss/1.0/modules/content/"
)

const (
	// longestText is how many bytes Apple takes of a description.
	longestText = 4000
	// longestName bounds titles and names, in bytes.
	longestName = 250
	// longestPerson is that of podcast:person.
	longestPerson = 128
	// mostListed is how many chapters are listed among an episode's notes.
	mostListed = 200
)

// rss writes the feed of a show for those who reach the station at origin. What is the same
// content is the same document.
//
// It follows RSS 2.0 (https://www.rssboard.org/rss-specification), Apple's requirements
// (https://podcasters.apple.com/support/823-podcast-requirements) and the Podcasting 2.0 namespace
// (https://podcasting2.org/podcast-namespace). Episodes have the show's cover: those of songs and
// posts are too small for Apple, which takes none below 1400 pixels, and stand in their files.
func rss(c content, origin string) []byte {
	w := &writer{}
	a := addresses{origin, c.show}
	w.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	w.open("rss", "version", "2.0", "xmlns:itunes", itunesSpace, "xmlns:podcast", podcastSpace, "xmlns:atom", atomSpace, "xmlns:content", contentSpace)
	w.open("channel")
	c.channel(w, a)
	if c.hasLive {
		c.liveItem(w, a)
	}
	for i := range c.episodes {
		c.item(w, a, &c.episodes[i])
	}
	w.close("channel")
	w.close("rss")
	return w.Bytes()
}

func (c *content) author() string { return cmp.Or(name(c.show.Author), name(c.station), "Athir") }
func (c *content) title() string  { return cmp.Or(name(c.show.Title), c.show.Slug) }

func name(text string) string { return cut(line(text), longestName) }

func about(text, instead string) string {
	return cmp.Or(cut(strings.TrimSpace(clean(text)), longestText), instead)
}

func (c *content) channel(w *writer, a addresses) {
	s := c.show
	w.text("title", c.title())
	w.text("link", a.page())
	w.empty("atom:link", "href", a.feed(), "rel", "self", "type", "application/rss+xml")
	w.text("description", about(s.Description, c.title()))
	w.text("language", s.Language)
	w.text("copyright", name(s.Copyright))
	w.text("lastBuildDate", date(c.changed()))
	if len(c.episodes) > 0 {
		w.text("pubDate", date(time.UnixMilli(c.episodes[0].Published)))
	}
	w.text("generator", "Athir")
	w.text("ttl", "60")
	w.open("image")
	w.text("url", a.cover())
	w.text("title", c.title())
	w.text("link", a.page())
	w.close("image")
	w.text("itunes:author", c.author())
	if email := line(s.Email); email != "" {
		w.open("itunes:owner")
		w.text("itunes:name", c.author())
		w.text("itunes:email", email)
		w.close("itunes:owner")
	}
	w.empty("itunes:image", "href", a.cover())
	for _, one := range s.Categories {
		category(w, one)
	}
	w.text("itunes:explicit", strconv.FormatBool(s.Explicit))
	kind := "episodic"
	if s.Serial {
		kind = "serial"
	}
	w.text("itunes:type", kind)
	w.text("podcast:guid", s.GUID)
	w.text("podcast:medium", "podcast")
	locked := "no"
	if s.Locked {
		locked = "yes"
	}
	w.text("podcast:locked", locked, "owner", line(s.Email))
}

// category writes one of Apple's categories, as "A > B" names it.
func category(w *writer, text string) {
	wide, narrow, has := strings.Cut(text, ">")
	wide, narrow = line(wide), line(narrow)
	if !has || narrow == "" {
		w.empty("itunes:category", "text", wide)
		return
	}
	w.open("itunes:category", "text", wide)
	w.empty("itunes:category", "text", narrow)
	w.close("itunes:category")
}

func (c *content) item(w *writer, a addresses, e *podcast.Episode) {
	title := cmp.Or(name(e.Title), c.title())
	w.open("item")
	w.text("title", title)
	w.text("itunes:title", title)
	w.text("link", a.episode(e.ID))
	w.text("guid", line(e.GUID), "isPermaLink", "false")
	w.text("pubDate", date(time.UnixMilli(e.Published)))
	w.text("description", about(e.Summary, title))
	w.text("content:encoded", notes(e))
	w.empty("enclosure", "url", a.file(e.ID, "audio.mp3"), "length", strconv.FormatInt(e.Bytes, 10), "type", "audio/mpeg")
	w.text("itunes:duration", strconv.FormatInt(max(1, (e.DurationMS+500)/1000), 10))
	w.text("itunes:explicit", strconv.FormatBool(e.Explicit))
	if e.Number > 0 {
		w.text("itunes:episode", strconv.Itoa(e.Number))
		w.text("podcast:episode", strconv.Itoa(e.Number))
	}
	w.text("itunes:episodeType", "full")
	w.text("itunes:author", cmp.Or(name(e.Artist), name(e.Creator), c.author()))
	w.text("podcast:person", cut(line(e.Creator), longestPerson), "role", role(e.Source.Kind), "group", "cast")
	if len(e.Chapters) > 0 {
		w.empty("podcast:chapters", "url", a.file(e.ID, "chapters.json"), "type", chaptersType)
	}
	if clean(e.Text) != "" {
		w.empty("podcast:transcript", "url", a.file(e.ID, "transcript.txt"), "type", "text/plain", "language", c.show.Language)
	}
	w.close("item")
}

// role is that of who made an episode, of the taxonomy of podcast:person.
func role(k podcast.Kind) string {
	if k == podcast.Posts {
		return "guest"
	}
	return "host"
}

// onAir is where programs hear the station.
const onAir = "/hls/" + station.MainChannel + "/index.m3u8"

// liveItem writes the broadcast: podcast:liveItem, whose children are those of an item.
func (c *content) liveItem(w *writer, a addresses) {
	l := c.live
	title := cmp.Or(name(l.Title), c.title())
	status, end := "live", ""
	if !l.Ended.IsZero() {
		status, end = "ended", l.Ended.UTC().Format(time.RFC3339)
	}
	w.open("podcast:liveItem", "status", status, "start", l.Began.UTC().Format(time.RFC3339), "end", end)
	w.text("title", title)
	w.text("link", a.origin+"/")
	w.text("guid", "live:"+c.show.GUID+":"+hash(l.Key), "isPermaLink", "false")
	w.text("pubDate", date(l.Began))
	w.text("description", about(l.Summary, title))
	// HLS is AAC, which every phone plays; what /stream is depends on the station, Ogg Vorbis as a
	// rule. Nobody knows the length; RSS wants one.
	w.empty("enclosure", "url", a.origin+onAir, "length", "0", "type", "application/x-mpegURL")
	w.text("itunes:explicit", strconv.FormatBool(c.show.Explicit))
	w.text("itunes:author", cmp.Or(name(l.Creator), c.author()))
	w.text("podcast:person", cut(line(l.Creator), longestPerson), "role", "host", "group", "cast")
	w.text("podcast:contentLink", c.title(), "href", a.origin+"/")
	w.close("podcast:liveItem")
}

// notes are those of an episode as HTML: what is said of it, and its chapters.
func notes(e *podcast.Episode) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(about(e.Summary, ""), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(paragraph), "\n", "<br/>") + "</p>")
		}
	}
	if len(e.Chapters) == 0 {
		return b.String()
	}
	b.WriteString("<ul>")
	for _, ch := range e.Chapters[:min(len(e.Chapters), mostListed)] {
		b.WriteString("<li>" + clock(ch.StartMS) + " " + html.EscapeString(chapterTitle(ch)) + "</li>")
	}
	b.WriteString("</ul>")
	return b.String()
}

func chapterTitle(ch podcast.Chapter) string {
	title, artist := name(ch.Title), name(ch.Artist)
	switch {
	case artist == "":
		return title
	case title == "":
		return artist
	}
	return artist + " – " + title
}

// clock is a position as players show it, and by which some find the links among notes.
func clock(ms int64) string {
	two := func(n int64) string {
		if n < 10 {
			return "0" + strconv.FormatInt(n, 10)
		}
		return strconv.FormatInt(n, 10)
	}
	s := ms / 1000
	return two(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
}

// changed is when what listeners see last changed, as far as the content tells.
func (c *content) changed() time.Time {
	at := max(c.show.Changed, c.show.Created)
	for i := range c.episodes {
		at = max(at, c.episodes[i].Changed, c.episodes[i].Published)
	}
	if c.hasLive {
		at = max(at, c.live.Began.UnixMilli(), c.live.Ended.UnixMilli())
	}
	return time.UnixMilli(at)
}

// date is a date as RFC 2822 has it.
func date(at time.Time) string { return at.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700") }
