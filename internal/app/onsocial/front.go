package onsocial

import (
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// describeTime is how long the control plane may take to say what a post is: a page
// without its description is better than a late one.
const describeTime = 2 * time.Second

// OnFront describes the page of an approved post on a front as the control plane does,
// which it asks. The page is the front's own: of another build, its scripts would not be
// there.
func OnFront(control http.Handler, station func() string) func(*http.Request) *pages.Description {
	return onFront(control, station, describeTime)
}

func onFront(control http.Handler, station func() string, within time.Duration) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description { return asked(r, control, station(), within) }
}

func asked(r *http.Request, control http.Handler, station string, within time.Duration) *pages.Description {
	id, err := strconv.ParseUint(r.URL.Query().Get("post"), 10, 53)
	if err != nil {
		return nil
	}
	var p struct{ Status, Title, Artist, CreatedBy, Page, Audio, Cover string }
	if front.Ask(r, control, "/api/social/posts/"+strconv.FormatUint(id, 10), within, &p) != http.StatusOK || p.Status != "approved" {
		return nil
	}
	return pages.Post{Title: p.Title, Artist: p.Artist, By: p.CreatedBy, Page: p.Page, Audio: p.Audio, Cover: p.Cover}.Description(client.Origin(r), station)
}
