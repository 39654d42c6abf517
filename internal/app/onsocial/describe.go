package onsocial

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Describe serves the pages, and describes the page of an approved post to whoever is sent a
// link to it.
func (p *Platform) Describe(built http.Handler, name string) http.Handler {
	if p.Posts == nil {
		return built
	}
	return pages.Describe(built, pages.Social, func(r *http.Request) *pages.Description {
		id, err := strconv.ParseInt(r.URL.Query().Get("post"), 10, 64)
		if err != nil {
			return nil
		}
		post := p.Posts.Approved(id)
		if post == nil {
			return nil
		}
		shown, origin := p.Posts.Show(post), api.Origin(r)
		d := &pages.Description{Title: shown.Title, URL: origin + shown.Page, Audio: origin + shown.Audio}
		if shown.Cover != "" {
			d.Image = origin + shown.Cover
		} else {
			d.Image = origin + "/icon-512.png"
		}
		d.Text = strings.Join(nonEmpty(shown.Artist, by(post), name), " · ")
		return d
	})
}

// by is who sent it, where that is not the artist.
func by(p *social.Post) string {
	if p.CreatedBy == p.Artist {
		return ""
	}
	return p.CreatedBy
}

func nonEmpty(texts ...string) (out []string) {
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}
