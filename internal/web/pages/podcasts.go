package pages

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

// podcastsPrefix is where the pages of shows and episodes are: a name, and an id below it.
const podcastsPrefix = "/podcasts/"

const (
	// mostFeeds bounds the feeds that one page names.
	mostFeeds = 20
	// longestSlug bounds the names of shows and the ids of episodes in addresses, in bytes.
	longestSlug = 200
)

// ShowOf is the show, and the episode where there is one, whose page an address is of.
func ShowOf(path string) (slug, episode string, is bool) {
	rest, is := strings.CutPrefix(path, podcastsPrefix)
	if !is {
		return "", "", false
	}
	slug, episode, below := strings.Cut(rest, "/")
	named := func(s string) bool {
		return s != "" && len(s) <= longestSlug && !strings.ContainsAny(s, "/.\\")
	}
	return slug, episode, named(slug) && (!below || named(episode))
}

// Feed is a feed that a page names. Path is below the station's address.
type Feed struct{ Title, Path string }

// Show is what the page of a show is described by. Page, Cover and Feed are paths.
type Show struct{ Title, Text, Author, Language, Page, Cover, Feed string }

// Missing describes an address at which there is nothing.
func Missing() *Description { return &Description{Missing: true} }

// Description describes it for a request to a station.
func (s Show) Description(r *http.Request, station string) *Description {
	origin := client.Origin(r)
	d := &Description{Kind: "website", Title: s.Title, Text: s.Text, URL: origin + s.Page, Image: origin + s.Cover, Feeds: []Feed{{s.Title, s.Feed}}}
	if d.Text == "" {
		d.Text = station
	}
	d.Data = data(s.series(origin))
	return d
}

// Episode is what the page of an episode is described by. Page and Audio are paths.
type Episode struct {
	Title, Text, Page, Audio string
	Number                   int
	Published                time.Time
	Duration                 time.Duration
	Bytes                    int64
}

// Description describes it for a request to a station.
func (e Episode) Description(r *http.Request, of Show, station string) *Description {
	d := of.Description(r, station)
	origin := client.Origin(r)
	d.Kind, d.Title, d.URL, d.Audio = "article", e.Title, origin+e.Page, origin+e.Audio
	d.Text = of.Title
	if e.Text != "" {
		d.Text += " · " + e.Text
	}
	series := of.series(origin)
	series.Context = ""
	d.Data = data(linked{
		Context: schemaOrg, Type: "PodcastEpisode", Name: e.Title, Description: e.Text, URL: d.URL, Image: d.Image, Language: of.Language,
		Number: e.Number, Published: e.Published.UTC().Format(time.RFC3339), Duration: iso(e.Duration), Series: &series,
		Media: &linked{Type: "AudioObject", Content: d.Audio, Format: "audio/mpeg", Size: strconv.FormatInt(e.Bytes, 10), Duration: iso(e.Duration)},
	})
	return d
}

func (s Show) series(origin string) linked {
	out := linked{Context: schemaOrg, Type: "PodcastSeries", Name: s.Title, Description: s.Text, URL: origin + s.Page, Image: origin + s.Cover, Language: s.Language, Feed: origin + s.Feed}
	if s.Author != "" {
		out.Author = &linked{Type: "Organization", Name: s.Author}
	}
	return out
}

const schemaOrg = "https://schema.org"

// linked is a thing as schema.org describes it.
type linked struct {
	Context     string  `json:"@context,omitempty"`
	Type        string  `json:"@type"`
	Name        string  `json:"name,omitempty"`
	Description string  `json:"description,omitempty"`
	URL         string  `json:"url,omitempty"`
	Image       string  `json:"image,omitempty"`
	Language    string  `json:"inLanguage,omitempty"`
	Feed        string  `json:"webFeed,omitempty"`
	Author      *linked `json:"author,omitempty"`
	Number      int     `json:"episodeNumber,omitempty"`
	Published   string  `json:"datePublished,omitempty"`
	Duration    string  `json:"duration,omitempty"`
	Series      *linked `json:"partOfSeries,omitempty"`
	Media       *linked `json:"associatedMedia,omitempty"`
	Content     string  `json:"contentUrl,omitempty"`
	Format      string  `json:"encodingFormat,omitempty"`
	Size        string  `json:"contentSize,omitempty"`
}

// data is what stands in a script element: encoding/json escapes <, > and &.
func data(of linked) string {
	out, err := json.Marshal(of)
	if err != nil {
		return "" // of texts and numbers
	}
	return string(out)
}

// iso is a duration by ISO 8601.
func iso(d time.Duration) string {
	return "PT" + strconv.FormatInt(int64(d.Round(time.Second).Seconds()), 10) + "S"
}
