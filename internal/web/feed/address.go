package feed

import (
	"net/url"

	"github.com/athir-radio/athir/internal/podcast"
)

// addresses are those of a show for who reaches the station at origin.
type addresses struct {
	origin string
	show   *podcast.Show
}

// Page is the path of a show's page.
func Page(slug string) string { return Prefix + url.PathEscape(slug) }

// Address is the path of a show's feed.
func Address(slug string) string { return Page(slug) + "/feed.xml" }

// Cover is the path of a show's cover.
func Cover(s *podcast.Show) string {
	path := Page(s.Slug) + "/cover.jpg"
	if s.Cover == "" { // of the station's face, which may change
		return path
	}
	return path + "?v=" + url.QueryEscape(s.Cover)
}

// EpisodePage is the path of an episode's page; its files are below it.
func EpisodePage(slug, id string) string { return Page(slug) + "/" + url.PathEscape(id) }

func (a addresses) page() string                { return a.origin + Page(a.show.Slug) }
func (a addresses) feed() string                { return a.origin + Address(a.show.Slug) }
func (a addresses) cover() string               { return a.origin + Cover(a.show) }
func (a addresses) episode(id string) string    { return a.origin + EpisodePage(a.show.Slug, id) }
func (a addresses) file(id, file string) string { return a.episode(id) + "/" + file }
