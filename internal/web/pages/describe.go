package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/kit/client"
)

// Description is what others show of a page when its link is shared, by the Open Graph
// protocol. Texts may hold anything.
type Description struct {
	Title, Text string
	// Kind is og:type; music.song when empty.
	Kind string
	// URL is the page's own address, Image and Audio are of what it shows; absolute. Each may
	// be empty: the page's address, and for the image the card of what plays.
	URL, Image, Audio string
	// Card tells that Image is a card of 1200 × 630 pixels, and no square.
	Card bool
	// Missing says that there is nothing at the address: the answer is 404. All else is empty.
	Missing bool
	// Feeds are those of what the page shows.
	Feeds []Feed
	// Data is what search engines read of it, as JSON-LD; empty: nothing.
	Data string
}

// Post is what a listener's post is described by. Page, Audio and Cover are paths; Cover may
// be empty.
type Post struct{ Title, Artist, By, Page, Audio, Cover string }

// Description describes a post of a station that is reached at origin.
func (p Post) Description(origin, station string) *Description {
	d := &Description{Title: p.Title, URL: origin + p.Page, Audio: origin + p.Audio, Image: origin + cmp.Or(p.Cover, oldIcon(512))}
	by := p.By
	if by == p.Artist {
		by = ""
	}
	texts := slices.DeleteFunc([]string{p.Artist, by, station}, func(text string) bool { return text == "" })
	d.Text = strings.Join(texts, " · ")
	return d
}

// Track is what the page of a track is described by.
type Track struct{ ID, Title, Artist string }

// Description describes it for a request to a station.
func (t Track) Description(r *http.Request, station string) *Description {
	origin := client.Origin(r)
	texts := slices.DeleteFunc([]string{t.Artist, station}, func(text string) bool { return text == "" })
	return &Description{
		Title: t.Title, Text: strings.Join(texts, " · "), URL: origin + trackPrefix + t.ID,
		Image: origin + "/card/" + t.ID + ".png", Card: true,
	}
}
