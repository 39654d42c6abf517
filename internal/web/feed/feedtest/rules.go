package feedtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The longest texts, in bytes: of descriptions as Apple takes them, and of names as apps show them.
const (
	longestText  = 4000
	longestNotes = 100_000
	longestName  = 255
)

func (c *checker) root(e *Element) {
	if e.Name.Space != "" || e.Name.Local != "rss" || e.Attr["version"] != "2.0" {
		c.wrong("the root is <%s version=%q>, and not <rss version=\"2.0\">", e.Name.Local, e.Attr["version"])
	}
	c.within("rss", e, []rule{{"", "channel", 1, 1, nil}})
	c.guids = map[string]bool{}
	channel := e.One("", "channel")
	c.channel(channel)
	for i, item := range channel.All("", "item") {
		c.item(fmt.Sprintf("item %d", i+1), item)
	}
	for _, live := range channel.All(Podcast, "liveItem") {
		c.liveItem(live)
	}
	c.order(channel.All("", "item"))
}

// order holds feeds to the newest first: programs cut what they do not know at the first they do.
func (c *checker) order(items []*Element) {
	var last time.Time
	for i, item := range items {
		at, err := time.Parse(time.RFC1123Z, item.One("", "pubDate").Text)
		if err == nil && i > 0 && at.After(last) {
			c.wrong("item %d is newer than the one before", i+1)
		}
		last = at
	}
}

func (c *checker) channel(e *Element) {
	c.within("channel", e, []rule{
		{"", "title", 1, 1, some(longestName)}, {"", "link", 1, 1, link}, {"", "description", 1, 1, plain(longestText)},
		{"", "language", 1, 1, matches("language by RFC 5646", language)}, {"", "copyright", 0, 1, some(longestName)},
		{"", "pubDate", 0, 1, date}, {"", "lastBuildDate", 0, 1, date}, {"", "generator", 0, 1, some(longestName)}, {"", "ttl", 0, 1, positive},
		{"", "image", 0, 1, nil}, {"", "item", 0, 0, nil},
		{Atom, "link", 1, 1, both(attribute("rel", word("self")), attribute("type", word("application/rss+xml")), attribute("href", func(text string) error {
			if text != c.address {
				return fmt.Errorf("%q is not where it was fetched from", text)
			}
			return address(text)
		}))},
		{Itunes, "author", 1, 1, some(longestName)}, {Itunes, "image", 1, 1, attribute("href", picture)},
		{Itunes, "explicit", 1, 1, oneOf("true", "false")}, {Itunes, "type", 1, 1, oneOf("episodic", "serial")},
		{Itunes, "category", 1, 0, category}, {Itunes, "owner", 0, 1, nil},
		{Podcast, "guid", 1, 1, matches("UUID of version 5", uuid5)}, {Podcast, "medium", 0, 1, oneOf("podcast")},
		{Podcast, "locked", 0, 1, oneOf("yes", "no")}, {Podcast, "liveItem", 0, 0, nil},
	})
	for _, owner := range e.All(Itunes, "owner") {
		c.within("itunes:owner", owner, []rule{{Itunes, "name", 0, 1, some(longestName)}, {Itunes, "email", 1, 1, email}})
	}
	for _, image := range e.All("", "image") {
		same := func(name string) func(*Element) error {
			return func(one *Element) error {
				if one.Text != e.One("", name).Text {
					return fmt.Errorf("%.60q is not the channel's", one.Text)
				}
				return nil
			}
		}
		c.within("image", image, []rule{
			{"", "url", 1, 1, func(e *Element) error { return picture(e.Text) }}, {"", "title", 1, 1, same("title")}, {"", "link", 1, 1, same("link")},
		})
	}
}

func (c *checker) guid(e *Element) error {
	if err := plain(longestName)(e); err != nil {
		return err
	}
	if c.guids[e.Text] {
		return fmt.Errorf("%.60q is another's too", e.Text)
	}
	c.guids[e.Text] = true
	if e.Attr["isPermaLink"] != "false" { // it is one where nothing is said
		return address(e.Text)
	}
	return nil
}

func (c *checker) item(of string, e *Element) {
	c.within(of, e, append(c.common(false), []rule{
		{"", "pubDate", 1, 1, date},
		{Itunes, "title", 0, 1, some(longestName)}, {Itunes, "duration", 1, 1, matches("duration", duration)}, {Itunes, "episode", 0, 1, positive},
		{Itunes, "episodeType", 0, 1, oneOf("full", "trailer", "bonus")},
		{Podcast, "episode", 0, 1, positive},
		{Podcast, "chapters", 0, 1, both(attribute("url", address), attribute("type", word("application/json+chapters")))},
		{Podcast, "transcript", 0, 0, both(attribute("url", address), attribute("type", word("text/plain", "text/vtt", "text/html", "application/json", "application/x-subrip")))},
	}...))
}

func (c *checker) common(live bool) []rule {
	return []rule{
		{"", "title", 1, 1, some(longestName)}, {"", "link", 0, 1, link}, {"", "description", 0, 1, plain(longestText)},
		{"", "guid", 1, 1, c.guid}, {"", "enclosure", 1, 1, enclosure(live)}, {Content, "encoded", 0, 1, both(plain(longestNotes), notes)},
		{Itunes, "author", 0, 1, some(longestName)}, {Itunes, "explicit", 0, 1, oneOf("true", "false")}, {Itunes, "image", 0, 1, attribute("href", picture)},
		{Podcast, "person", 0, 0, person},
	}
}

func (c *checker) liveItem(e *Element) {
	const of = "podcast:liveItem"
	for name, says := range map[string]func(string) error{"status": word("pending", "live", "ended"), "start": iso} {
		if err := attribute(name, says)(e); err != nil {
			c.wrong("%s: %w", of, err)
		}
	}
	if end, has := e.Attr["end"]; has {
		if err := iso(end); err != nil {
			c.wrong("%s: %w", of, err)
		} else if end < e.Attr["start"] {
			c.wrong("%s: it ends before it begins", of)
		}
	} else if e.Attr["status"] == "ended" {
		c.wrong("%s: it does not say when it ended", of)
	}
	c.within(of, e, append(c.common(true), rule{"", "pubDate", 0, 1, date}, rule{Podcast, "contentLink", 1, 0, both(attribute("href", address), plain(longestName))}))
}

func iso(text string) error {
	if !isoDate.MatchString(text) {
		return fmt.Errorf("%.40q is no date by ISO 8601", text)
	}
	return nil
}

// category is one of Apple's, with one below it at most.
func category(e *Element) error {
	wide := e.Attr["text"]
	narrow, known := categories()[wide]
	if !known {
		return fmt.Errorf("%.40q is none of Apple's", wide)
	}
	below := e.All(Itunes, "category")
	if len(below) > 1 || len(below) != len(e.In) {
		return errors.New("more than one category below one")
	}
	for _, one := range below {
		if !slices.Contains(strings.Split(narrow, "|"), one.Attr["text"]) || len(one.In) > 0 {
			return fmt.Errorf("%.40q is none of Apple's below %s", one.Attr["text"], wide)
		}
	}
	return nil
}

// categories are Apple's, and those below each
// (https://podcasters.apple.com/support/1691-apple-podcasts-categories).
func categories() map[string]string {
	return map[string]string{
		"Arts":                    "Books|Design|Fashion & Beauty|Food|Performing Arts|Visual Arts",
		"Business":                "Careers|Entrepreneurship|Investing|Management|Marketing|Non-Profit",
		"Comedy":                  "Comedy Interviews|Improv|Stand-Up",
		"Education":               "Courses|How To|Language Learning|Self-Improvement",
		"Fiction":                 "Comedy Fiction|Drama|Science Fiction",
		"Government":              "",
		"History":                 "",
		"Health & Fitness":        "Alternative Health|Fitness|Medicine|Mental Health|Nutrition|Sexuality",
		"Kids & Family":           "Education for Kids|Parenting|Pets & Animals|Stories for Kids",
		"Leisure":                 "Animation & Manga|Automotive|Aviation|Crafts|Games|Hobbies|Home & Garden|Video Games",
		"Music":                   "Music Commentary|Music History|Music Interviews",
		"News":                    "Business News|Daily News|Entertainment News|News Commentary|Politics|Sports News|Tech News",
		"Religion & Spirituality": "Buddhism|Christianity|Hinduism|Islam|Judaism|Religion|Spirituality",
		"Science":                 "Astronomy|Chemistry|Earth Sciences|Life Sciences|Mathematics|Natural Sciences|Nature|Physics|Social Sciences",
		"Society & Culture":       "Documentary|Personal Journals|Philosophy|Places & Travel|Relationships",
		"Sports":                  "Baseball|Basketball|Cricket|Fantasy Sports|Football|Golf|Hockey|Rugby|Running|Soccer|Swimming|Tennis|Volleyball|Wilderness|Wrestling",
		"Technology":              "",
		"True Crime":              "",
		"TV & Film":               "After Shows|Film History|Film Interviews|Film Reviews|TV Reviews",
	}
}
