package feed_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/web/feed"
	"github.com/athir-radio/athir/internal/web/feed/feedtest"
)

const address = "http://radio.example/podcasts/nile/feed.xml"

func check(t *testing.T, what, document string) {
	t.Helper()
	for _, err := range feedtest.Check([]byte(document), address) {
		t.Errorf("%s: %v", what, err)
	}
}

func parsed(t *testing.T, document string) *feedtest.Element {
	t.Helper()
	root, err := feedtest.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// A feed keeps the three specifications whatever the show has, and another parser than Go's reads it.
func TestAFeedKeepsTheThreeSpecifications(t *testing.T) {
	r := newRig(t)
	whole := r.feed()
	check(t, "a show with everything", whole)
	lint := exec.CommandContext(t.Context(), "xmllint", "--noout", "--nonet", "-")
	lint.Stdin = strings.NewReader(whole)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("xmllint (of Debian's libxml2-utils; make deps-test installs it): %v: %s", err, out)
	}
	r.hasLive, r.live = true, feed.Live{Key: "k3", Title: "الآن", Creator: "سلمى", Began: start.Add(-time.Hour)}
	check(t, "on the air", r.feed())
	if live := parsed(t, r.feed()).One("", "channel").One(feedtest.Podcast, "liveItem"); live.Attr["status"] != "live" || live.One("", "enclosure").Attr["url"] != "http://radio.example/hls/main/index.m3u8" {
		t.Errorf("%+v", live)
	}
	r.live.Ended = start
	check(t, "after it", r.feed())
	r.hasLive = false
	r.change(func(s *podcast.Show, _ []podcast.Episode) []podcast.Episode {
		s.Own = podcast.Own{Slug: "nile", On: true, Title: "T", Language: "en", Categories: []string{"Technology"}, Serial: true, From: podcast.From{Kind: podcast.Bulletins}}
		s.Cover = ""
		return nil
	})
	check(t, "a show with nothing", r.feed())
}

// What the feed says of an episode is what its files are.
func TestAFeedSaysWhatThereIs(t *testing.T) {
	r := newRig(t)
	channel := parsed(t, r.feed()).One("", "channel")
	for name, want := range map[string]string{
		channel.One("", "title").Text: "مساء النيل", channel.One("", "description").Text: "حوار كل مساء.\n\nمع ضيف & موسيقى <حية>.",
		channel.One("", "lastBuildDate").Text: "Mon, 05 Oct 2026 09:00:00 +0000", channel.One(feedtest.Podcast, "locked").Text: "yes",
		channel.One(feedtest.Itunes, "image").Attr["href"]: "http://radio.example/podcasts/nile/cover.jpg?v=c1",
	} {
		if name != want {
			t.Errorf("%q, want %q", name, want)
		}
	}
	items := channel.All("", "item")
	if len(items) != 2 || items[0].One("", "guid").Text != "g-two" {
		t.Fatalf("%d episodes", len(items))
	}
	enclosure := items[0].One("", "enclosure").Attr
	got := r.ask("GET", strings.TrimPrefix(enclosure["url"], "http://radio.example"))
	if length := strconv.Itoa(got.Body.Len()); got.Code != 200 || got.Header().Get("Content-Type") != enclosure["type"] || length != enclosure["length"] || length != got.Header().Get("Content-Length") {
		t.Errorf("%v: %d, %s bytes, %v", enclosure, got.Code, length, got.Header())
	}
	for _, name := range []string{"chapters", "transcript"} {
		e := items[0].One(feedtest.Podcast, name).Attr
		got := r.ask("GET", strings.TrimPrefix(e["url"], "http://radio.example"))
		if kind, _, _ := strings.Cut(got.Header().Get("Content-Type"), ";"); got.Code != 200 || kind != e["type"] {
			t.Errorf("%s: %d %s, want %s", name, got.Code, kind, e["type"])
		}
		if len(items[1].All(feedtest.Podcast, name)) > 0 {
			t.Errorf("an episode without %s has some", name)
		}
	}
	if text := items[0].One(feedtest.Content, "encoded").Text; text != "<p>عن الماء</p><ul><li>00:00:00 مقدمة</li><li>00:01:01 أم كلثوم – انت عمري</li></ul>" {
		t.Errorf("notes: %s", text)
	}
	if https := r.ask("GET", "/podcasts/nile/feed.xml", "From-Address", "127.0.0.1:1", "X-Forwarded-Proto", "https").Body.String(); strings.Contains(https, `"http://radio.`) || !strings.Contains(https, "https://radio.example/podcasts/nile/"+two+"/audio.mp3") {
		t.Error("behind a proxy with TLS addresses are not those of https")
	}
}

// The newest three hundred episodes are in a feed.
func TestAFeedHasTheNewestEpisodes(t *testing.T) {
	r := newRig(t)
	r.change(func(_ *podcast.Show, had []podcast.Episode) (out []podcast.Episode) {
		for i := range 400 {
			e := had[0]
			e.ID, e.GUID, e.Number = "e"+strconv.Itoa(i), "g"+strconv.Itoa(i), 400-i
			out = append(out, e)
		}
		return out
	})
	items := parsed(t, r.feed()).Items()
	if len(items) != 300 || items[0].One("", "guid").Text != "g0" {
		t.Errorf("%d episodes", len(items))
	}
	check(t, "three hundred", r.feed())
}

// Whatever people write comes back as they wrote it, but for what no XML document may hold.
func FuzzAnyTextComesBack(f *testing.F) {
	for _, text := range []string{
		"", " ", "نص", "a & b < c > d \" e ' f", "]]>", "<![CDATA[x]]>", "</title><item>", "&amp;&#0;&nbsp;", "\x00\x01\x08\x0b\x1f\x7f\u0085", "line\r\nline\rline\n\tx", "\u202eمرآة\u202c\u200f\u2067x\u2069",
		"😀𝒳👩‍👩‍👧", "\ufffe\uffff\U0001fffe", "\xff\xfe\xc3", strings.Repeat("طويل ", 800), "<?xml version=\"1.1\"?>", "%s%n", "\u2028\u2029",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := rigOf(t, 16)
		r.change(func(s *podcast.Show, had []podcast.Episode) []podcast.Episode {
			s.Title, s.Description, s.Author, s.Copyright = text, text, text, text
			e := &had[0]
			e.Title, e.Summary, e.Creator, e.Artist, e.Text, e.GUID = text, text, text, text, text, "g1 "+text[:min(len(text), 100)]
			e.Chapters = []podcast.Chapter{{StartMS: 1, Title: text, Artist: text}}
			return had
		})
		r.hasLive, r.live = true, feed.Live{Key: text, Title: text, Summary: text, Creator: text, Began: start}
		document := r.feed()
		if !utf8.ValidString(document) {
			t.Error("no UTF-8")
		}
		check(t, fmt.Sprintf("%.200q", text), document)
		channel := parsed(t, document).One("", "channel")
		allowed := strings.Map(func(c rune) rune {
			if unicode.Is(unicode.Cc, c) && c != '\n' && c != '\t' || c&0xfffe == 0xfffe {
				return -1
			}
			return c
		}, strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n"), "\r", "\n"))
		wholly := strings.TrimSpace(allowed)
		oneLine := strings.Join(strings.Fields(allowed), " ")
		for where, e := range map[string]*feedtest.Element{"show": channel, "episode": channel.All("", "item")[0], "broadcast": channel.One(feedtest.Podcast, "liveItem")} {
			if got := e.One("", "title").Text; oneLine != "" && !same(got, oneLine) {
				t.Errorf("%s: title %q of %q", where, got, oneLine)
			}
			if got := e.One("", "description").Text; wholly != "" && !same(got, wholly) {
				t.Errorf("%s: description %q of %q", where, got, wholly)
			}
		}
		got := r.ask("GET", "/podcasts/nile/"+two+"/transcript.txt")
		if has := len(channel.All("", "item")[0].All(feedtest.Podcast, "transcript")) == 1; has != (allowed != "") || has != (got.Code == 200) || has && got.Body.String() != allowed {
			t.Errorf("the text: in the feed %v, %d %q", has, got.Code, got.Body)
		}
	})
}

// same is a text as it was, or its beginning where it was too long.
func same(got, want string) bool {
	begin, cut := strings.CutSuffix(got, "…")
	return got == want || cut && len(want) > 250 && strings.HasPrefix(want, begin)
}

// Each rule of the checker catches a feed that breaks it: else the feed above would show nothing.
func TestTheCheckerCatchesWhatBreaksARule(t *testing.T) {
	r := newRig(t)
	r.hasLive, r.live = true, feed.Live{Key: "k", Title: "now", Creator: "x", Began: start.Add(-time.Hour), Ended: start}
	good := r.feed()
	check(t, "as it was written", good)
	for _, c := range []struct{ what, old, new, says string }{
		{"the version", `version="2.0"`, `version="0.92"`, "the root"},
		{"no title", "<title>مساء النيل</title>\n  <link>", "<link>", "<title> is missing"},
		{"two links", "<ttl>60</ttl>", "<link>http://radio.example/</link>", "<link> stands there 2 times"},
		{"a relative link", "<link>http://radio.example/podcasts/nile</link>", "<link>/podcasts/nile</link>", "no whole address"},
		{"a language that is none", "<language>ar</language>", "<language>العربية</language>", "language"},
		{"a date of ISO", "<lastBuildDate>Mon, 05 Oct 2026 12:00:00 +0000", "<lastBuildDate>2026-10-05T09:00:00Z", "RFC 2822"},
		{"the wrong day", "<lastBuildDate>Mon, 05", "<lastBuildDate>Monday, 05", "RFC 2822"},
		{"another self", `feed.xml" rel="self"`, `feed" rel="self"`, "where it was fetched from"},
		{"another namespace", feedtest.Podcast, "https://podcastindex.org/namespace/2.0", "none that is known"},
		{"a category that is none", `text="Daily News"`, `text="Weekly News"`, "none of Apple's"},
		{"explicit as it was once", "<itunes:explicit>false", "<itunes:explicit>clean", "none of true, false"},
		{"a picture that is none", "cover.jpg?v=c1", "cover.webp?v=c1", "neither with .jpg"},
		{"a mail address", "<itunes:email>owner@", "<itunes:email>owner at ", "no address of mail"},
		{"a guid of another version", "-5d6c-", "-4d6c-", "UUID of version 5"},
		{"the medium", "<podcast:medium>podcast", "<podcast:medium>radio", "none of podcast"},
		{"locked", `">yes</podcast:locked>`, `">true</podcast:locked>`, "none of yes, no"},
		{"the guid of another episode", ">g-one<", ">g-two<", "another's too"},
		{"no enclosure", `url="http://radio.example/podcasts/nile/` + one, `href="http://radio.example/podcasts/nile/` + one, "url is missing"},
		{"no length", `length="` + strconv.Itoa(len(r.file(one))), `length="0`, "no length"},
		{"the type", `length="` + strconv.Itoa(len(r.file(one))) + `" type="audio/mpeg"`, `length="5" type="audio/ogg"`, "none of audio/mpeg"},
		{"a duration", "<itunes:duration>180", "<itunes:duration>3 min", "no duration"},
		{"number 0", "<itunes:episode>1<", "<itunes:episode>0<", "no number above zero"},
		{"the order", "Mon, 05 Oct 2026 08:00:00 +0000</pubDate>\n   <desc", "Thu, 01 Oct 2026 08:00:00 +0000</pubDate>\n   <desc", "newer than the one before"},
		{"type of chapters", "application/json+chapters", "application/json", "none of application/json+chapters"},
		{"type of a transcript", `type="text/plain"`, `type="text"`, "none of text/plain"},
		{"a role", `role="host"`, `role="Presenter"`, "not of the taxonomy"},
		{"a script among notes", "&lt;p&gt;عن", "&lt;script&gt;عن", "not for notes"},
		{"a broadcast's status", `status="ended"`, `status="over"`, "none of pending"},
		{"a broadcast's start", `start="2026-10-05T11:00:00Z"`, `start="Mon, 05 Oct 2026"`, "ISO 8601"},
		{"a broadcast that ends first", `end="2026-10-05T12`, `end="2026-10-05T10`, "ends before it begins"},
		{"a control character", "الأولى", "\x0bالأولى", "control character"},
		{"an entity of HTML", "الأولى", "&nbsp;الأولى", "not well formed"},
		{"a document type", "<rss", "<!DOCTYPE rss [<!ENTITY a \"b\">]><rss", "document type"},
		{"an element that is not closed", "</channel>", "", "not well formed"},
		{"text beside elements", "</channel>", "x</channel>", "text beside elements"},
		{"an element of nobody's", "<ttl>60</ttl>", "<rating>5</rating>", "none that is known"},
	} {
		if !strings.Contains(good, c.old) {
			t.Errorf("%s: the feed has no %q", c.what, c.old)
			continue
		}
		errs := feedtest.Check(bytes.ReplaceAll([]byte(good), []byte(c.old), []byte(c.new)), address)
		if !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), c.says) }) {
			t.Errorf("%s: %v", c.what, errs)
		}
	}
}
