package onsocial

import (
	"net/http"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Describe describes the page of an approved post to whoever is sent a link to it; name is the
// station's.
func (p *Platform) Describe(name func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		if p.Posts == nil {
			return nil
		}
		id, err := strconv.ParseInt(r.URL.Query().Get("post"), 10, 64)
		if err != nil {
			return nil
		}
		post := p.Posts.Approved(id)
		if post == nil {
			return nil
		}
		s := p.Posts.Show(post)
		return pages.Post{Title: s.Title, Artist: s.Artist, By: s.CreatedBy, Page: s.Page, Audio: s.Audio, Cover: s.Cover}.Description(client.Origin(r), name())
	}
}
