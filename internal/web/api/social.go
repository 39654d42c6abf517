package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// Social is the platform of what listeners send.
type Social struct {
	Posts   *social.Social
	Uploads http.Handler // tus, at UploadsPath
	// Sync attaches the overlay and pushes the rotation once; pushed is false where nothing
	// has changed.
	Sync func(ctx context.Context) (pushed bool, err error)
	// Every is how often, at most, a post is a pick of its category.
	Every    func() int
	AdminKey string // empty: nobody may moderate
	Rights   Rights
	Limits   social.Limits
}

// uploads serves resumable uploads, which are a protocol of their own (tus 1.0) and not rows
// of the table. Other sites' pages may not send them for a listener.
func (s *Server) uploads(mux *http.ServeMux) {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.invited(r) {
			problem.Answer(w, http.StatusForbidden, errUninvited.Error())
			return
		}
		s.opt.Social.Uploads.ServeHTTP(w, r)
	})
	mux.Handle(UploadsPath, serve)
	mux.Handle(strings.TrimSuffix(UploadsPath, "/"), serve)
}

// Problem answers with the problem of an error, for handlers of other packages.
func Problem(w http.ResponseWriter, _ *http.Request, err error) { problem.Write(w, err) }

// Rights is what a submitter confirms, in both languages.
type Rights struct {
	En string `json:"en"`
	Ar string `json:"ar"`
}

// UploadsPath is where resumable uploads are sent to.
const UploadsPath = "/api/social/tus/"

// socialPlatform returns the rows of the mission's section Social platform, and what pages
// and moderators need besides.
func (s *Server) socialPlatform() []route {
	const posts, one = "/api/social/posts", "/api/social/posts/{id}"
	return []route{
		{get, posts, open, reading, "Posts: approved ones, and those that listeners choose from; others with the admin key", typed(s.posts, gives(http.StatusNotModified), may(401, 403, 503))},
		{get, one, open, reading, "One post", typed(s.post, may(404, 503))},
		{post, posts, open, sending, "Send a post: audio as base64, or an address from which it is fetched", typed(s.sendPost, accepted, may(409, 413, 503, 507))},
		{post, "/api/social/upload/{type}", open, unmetered, "Send a post: the body is the audio", raw(s.uploadPost, rawPost)},
		{post, one + "/vote", open, writing, "Vote on a post that is approved, or that listeners choose from", typed(s.votePost, may(404, 409, 503))},
		{post, one + "/react", open, writing, "React to an approved post", typed(s.reactPost, may(404, 409, 503))},
		{post, one + "/report", open, writing, "Report a post that everybody can hear", typed(s.reportPost, may(404, 409, 503))},
		{post, one + "/withdraw", open, writing, "Take one's own post back, for good", typed(s.withdrawPost, may(404, 409, 503))},
		{post, one + "/appeal", open, writing, "Ask that one's own rejected post is judged again", typed(s.appealPost, may(404, 409, 503))},
		{get, one + "/audio", open, unmetered, "The mastered audio of a post", raw(s.postAudio, postFile("audio/mpeg"))},
		{get, one + "/cover", open, unmetered, "The cover picture of a post", raw(s.postCover, postFile("image/jpeg", "image/png"))},
		{get, one + "/alike", moderator, operating, "The sound of a library's track that a post is like", raw(s.postAlike, alikeAudio)},
		{post, one + "/approve", moderator, operating, "Put a post on the air", typed(s.decides(social.OpApprove), may(404, 409, 503))},
		{post, one + "/reject", moderator, operating, "Keep a post off the air", typed(s.decides(social.OpReject), may(404, 409, 503))},
		{post, one + "/process", moderator, operating, "Check and master a post again", typed(s.decides(social.OpProcess), may(404, 409, 503))},
		{post, one + "/hold", moderator, operating, "Let a post wait, with a word to its submitter", typed(s.decides(social.OpHold), may(404, 409, 503))},
		{post, one + "/review", moderator, operating, "Judge a post again: undoes a decision", typed(s.decides(social.OpReview), may(404, 409, 503))},
		{post, "/api/social/decide", moderator, operating, "Decide on several posts at once", typed(s.decideMany, may(503))},
		{post, "/api/social/submitters/{id}", moderator, operating, "Trust a submitter, or take nothing more from one", typed(s.judgeSubmitter, may(404, 503))},
		{post, "/api/social/sync", moderator, operating, "Attach the overlay and push the rotation", typed(s.syncSocial, may(409, 503))},
		{get, "/api/social/status", open, reading, "The platform: what may be sent, and how many posts there are", typed(s.socialStatus)},
		{get, "/api/social/next", open, reading, "The next ranked post", typed(s.nextPost, may(503))},
		{get, "/api/social/chart", open, reading, "The chart of the week", typed(s.chart, may(503))},
	}
}

// accepted documents an answer 202: the work goes on.
func accepted(op *huma.Operation) { op.DefaultStatus = http.StatusAccepted }

// social returns the platform, or an error if the operator has switched it off.
func (s *Server) social() (*Social, error) {
	if s.opt.Social == nil {
		return nil, why.New(why.Closed).Kind(station.ErrUnavailable)
	}
	return s.opt.Social, nil
}

// errNoAdminKey closes the moderators' routes where the settings have no key for them.
var errNoAdminKey = errors.New("the settings have no social_admin_key: nobody may moderate posts until it is set")

// errNotModerator refuses a request without the moderators' key.
var errNotModerator = errors.New("send the SOCIAL_ADMIN_KEY as x-admin-key, or as a Bearer token")

// moderating admits the SOCIAL_ADMIN_KEY, the station key, whose holder may do all, and users
// who have the right. Wrong keys are guesses, as elsewhere.
func (s *Server) moderating(r *http.Request) (people.Caller, error) {
	key := cmp.Or(r.Header.Get("X-Station-Key"), r.Header.Get("X-Admin-Key"), sentKey(r))
	// By the role, not by caller: an open station opens no posts.
	c, shown, err := s.bySession(r)
	if !shown && people.IsKey(key) {
		c, err = s.byKey(r, key)
		shown = true
	}
	if shown {
		return c, granted(people.Moderate, c, err)
	}
	switch {
	case s.opt.Social == nil || s.opt.Social.AdminKey == "":
		return people.Caller{}, errNoAdminKey
	case key == "":
		return people.Caller{}, errNotModerator
	}
	out, admitted := people.Caller{Rights: people.Look | people.Moderate, Way: people.ByAdminKey}, false
	err = s.guesses.TakeIf(client.Address(r), func() bool {
		switch {
		case s.opt.StationKey.Matches(key):
			out, admitted = people.Caller{Rights: people.All, Way: people.ByStationKey}, true
		case equal(cmp.Or(r.Header.Get("X-Admin-Key"), key), s.opt.Social.AdminKey):
			admitted = true
		}
		return !admitted
	})
	if err == nil && !admitted {
		s.opt.Log.Warn("moderator's key refused", "from", from(r))
		err = errNotModerator
	}
	return out, err
}

// Visitor is the sender of a request to the platform, for inputs to embed.
type Visitor struct {
	Listener
	Token string `header:"X-Post-Token" maxLength:"64" doc:"The secret of one's own post"`

	request *http.Request
}

// Resolve keeps the request, by which moderators are told from others.
func (v *Visitor) Resolve(ctx huma.Context) []error {
	v.request, _ = humago.Unwrap(ctx)
	return v.Listener.Resolve(ctx)
}

func (v *Visitor) client() social.Client { return poster(v.from) }

// poster is a listener as the platform knows one.
func poster(from feedback.Client) social.Client {
	return social.Client{Address: from.Address, Device: from.Device}
}

// isModerator reports whether a visitor showed the moderators' key. Without any key nothing is
// asked of the limits on guesses.
func (s *Server) isModerator(r *http.Request) bool {
	if _, ok := s.ownSession(r); !ok && r.Header.Get("X-Admin-Key") == "" && sentKey(r) == "" {
		return false
	}
	_, err := s.moderating(r)
	return err == nil
}

// PostID is the path of a post.
type PostID struct {
	ID int64 `path:"id" minimum:"1"`
}

// ownPost refuses who does not have a post's secret, without saying whether there is a post.
func (s *Server) ownPost(v *Visitor, id int64) (*Social, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	if !parts.Posts.Owns(id, v.Token) {
		return nil, fmt.Errorf("post %d with that token: %w", id, station.ErrNotFound)
	}
	return parts, nil
}
