package onsocial

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/held"
	"github.com/athir-radio/athir/internal/web/pages"
)

const (
	// describeTime is how long the control plane may take to say what a post is: a page
	// without its description is better than a late one.
	describeTime = 2 * time.Second
	// mostOfPost bounds what it says, in bytes.
	mostOfPost = 64 << 10
)

// OnFront describes the page of an approved post on a front as the control plane does,
// which it asks. The page is the front's own: of another build, its scripts would not be
// there.
func OnFront(station string) func(built, control http.Handler) http.Handler {
	return onFront(station, describeTime)
}

func onFront(station string, within time.Duration) func(built, control http.Handler) http.Handler {
	return func(built, control http.Handler) http.Handler {
		return pages.Describe(built, pages.Social, func(r *http.Request) *pages.Description {
			return asked(r, control, station, within)
		})
	}
}

func asked(r *http.Request, control http.Handler, station string, within time.Duration) *pages.Description {
	id, err := strconv.ParseUint(r.URL.Query().Get("post"), 10, 53)
	if err != nil {
		return nil
	}
	// Of its own: an answer that breaks off would abort the request whose context it has.
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	ask := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/api/social/posts/" + strconv.FormatUint(id, 10)}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Host: r.Host, RemoteAddr: r.RemoteAddr, Header: http.Header{},
	}).WithContext(ctx)
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"} { // whom it is for
		if values := r.Header.Values(name); len(values) > 0 {
			ask.Header[name] = values
		}
	}
	got := held.New(http.Header{}, mostOfPost)
	control.ServeHTTP(got, ask)
	var p struct{ Status, Title, Artist, CreatedBy, Page, Audio, Cover string }
	if got.Status != http.StatusOK || json.Unmarshal(got.Body.Bytes(), &p) != nil || p.Status != "approved" {
		return nil
	}
	return pages.Post{Title: p.Title, Artist: p.Artist, By: p.CreatedBy, Page: p.Page, Audio: p.Audio, Cover: p.Cover}.Description(client.Origin(r), station)
}
