package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/negotiate"
	"github.com/athir-radio/athir/internal/station"
)

type postsInput struct {
	Visitor
	Has     string `header:"If-None-Match" maxLength:"200"`
	Status  string `query:"status" enum:"pending,processing,approved,rejected,failed,candidate" default:"approved" doc:"candidate: music that no moderator has judged yet and listeners vote on, none where the operator has no such rule; others than it and approved need the admin key"`
	Type    string `query:"type" enum:"song,mashup,ads,jingles,sweepers,voice,sfx"`
	Sort    string `query:"sort" enum:"new,top,rising,aired,oldest" default:"new" doc:"top: by score; rising: more votes lately than before; aired: last aired first; oldest: of those not approved"`
	Text    string `query:"q" maxLength:"100" doc:"In title, artist or name, folded"`
	Reason  string `query:"reason" maxLength:"40" doc:"Code of the reason; with the admin key"`
	Appeals bool   `query:"appeals" doc:"Only those with an appeal; with the admin key"`
	By      string `query:"submitter" maxLength:"64" doc:"Only those of one submitter; with the admin key"`
	Cursor  string `query:"cursor" maxLength:"100" doc:"Of the page before"`
	Limit   int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type postsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	ETag         string `header:"ETag"`
	Status       int
	Body         *postsBody
}

type postsBody struct {
	Posts []Post `json:"posts" nullable:"false"`
	Next  string `json:"next" doc:"Cursor of the next page; empty: this is the last one"`
	Total int    `json:"total" doc:"Posts in the whole list"`
}

func (s *Server) posts(ctx context.Context, in *postsInput) (*postsAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	candidates := in.Status == "candidate"
	var staff bool
	if in.Status != string(social.Approved) && !candidates || in.Reason != "" || in.Appeals || in.By != "" {
		if _, err := s.moderating(in.request); err != nil {
			return nil, refusedBy(moderator, "only moderators see these posts: ", err)
		}
		staff = true
	} else {
		staff = s.isModerator(in.request)
	}
	q := social.Query{
		Candidates: candidates, Type: social.Type(in.Type), Sort: social.Sort(in.Sort), Text: in.Text, Cursor: in.Cursor, Limit: in.Limit,
		Reason: why.Code(in.Reason), Appeal: in.Appeals, By: in.By, Oldest: in.Sort == "oldest",
	}
	if !candidates {
		q.Status = social.Status(in.Status)
	}
	page, err := parts.Posts.List(ctx, q)
	if err != nil {
		return nil, inQuery(err, "cursor")
	}
	out := &postsAnswer{CacheControl: "private, no-cache", Status: http.StatusOK, Body: &postsBody{Next: page.Next, Total: page.Total}}
	if out.Body.Posts, err = s.shownPosts(ctx, parts, &in.Visitor, page.Posts, staff); err != nil {
		return nil, err
	}
	return out, out.unchanged(in.Has)
}

// unchanged gives the answer its tag, and takes the body away where the client has it. The
// tag is of the whole answer, the listener's own votes included.
func (a *postsAnswer) unchanged(has string) error {
	text, err := json.Marshal(a.Body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	if a.ETag = `W/"` + hex.EncodeToString(sum[:12]) + `"`; negotiate.Has(has, a.ETag) { // weak: it may be compressed
		a.Status, a.Body = http.StatusNotModified, nil
	}
	return nil
}

// shownPosts returns the views of a list.
func (s *Server) shownPosts(ctx context.Context, parts *Social, v *Visitor, posts []social.Post, staff bool) ([]Post, error) {
	ids := make([]int64, len(posts))
	for i := range posts {
		ids[i] = posts[i].ID
	}
	mine, err := parts.Posts.MineOf(ctx, v.client(), ids)
	if err != nil {
		return nil, err
	}
	at, out := s.placed(), make([]Post, len(posts))
	about := submitters{}
	if staff {
		if err := parts.Posts.Found(ctx, posts); err != nil {
			return nil, err
		}
	}
	for i := range posts {
		out[i] = parts.shown(&posts[i], at).with(mine[posts[i].ID])
		if staff {
			who, err := about.of(ctx, parts, &posts[i])
			if err != nil {
				return nil, err
			}
			parts.forReview(&out[i], &posts[i], who)
		}
	}
	return out, nil
}

// with adds what one listener has said.
func (p Post) with(m social.Mine) Post {
	vote := m.Vote
	p.Votes.Mine, p.Reacted = &vote, m.Reacted
	return p
}

type postInput struct {
	Visitor
	PostID
}

type postAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         Post
}

func (s *Server) post(ctx context.Context, in *postInput) (*postAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	return s.onePost(ctx, parts, &in.Visitor, in.ID)
}

// onePost is a post as a visitor may see it; one that the visitor may not see is not found.
func (s *Server) onePost(ctx context.Context, parts *Social, v *Visitor, id int64) (*postAnswer, error) {
	one, err := parts.Posts.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	staff, own := s.isModerator(v.request), parts.Posts.Owns(id, v.Token)
	if !parts.Posts.Public(&one) && !staff && !own {
		return nil, fmt.Errorf("post %d: %w", id, station.ErrNotFound)
	}
	mine, err := parts.Posts.MineOf(ctx, v.client(), []int64{id})
	if err != nil {
		return nil, err
	}
	out := &postAnswer{CacheControl: "no-store", Body: parts.shown(&one, s.placed()).with(mine[id])}
	out.Body.Peaks = one.Finding.Peaks
	switch {
	case staff:
		var about social.Submitter
		if about, err = parts.Posts.SubmitterOf(ctx, &one); err == nil {
			err = parts.whole(ctx, &out.Body, &one, about)
		}
	case own:
		parts.privately(&out.Body, &one)
	}
	return out, err
}

type sendInput struct {
	Visitor
	Key  string `header:"Idempotency-Key" maxLength:"64" doc:"The client's own for this submission, 8 to 64 of A-Z, a-z, 0-9, _ and -: the same one again is the same post"`
	Body struct {
		Type        string   `json:"type" enum:"song,mashup,ads,jingles,sweepers,voice,sfx"`
		Title       string   `json:"title" maxLength:"1000"`
		Artist      string   `json:"artist,omitempty" maxLength:"1000"`
		Description string   `json:"description,omitempty" maxLength:"8000"`
		Tags        []string `json:"tags,omitempty" maxItems:"50"`
		CreatedBy   string   `json:"createdBy,omitempty" maxLength:"1000" doc:"The submitter's name"`
		SourceURL   string   `json:"sourceUrl,omitempty" maxLength:"2000" doc:"http or https address of the audio; in place of base64"`
		Base64      string   `json:"base64,omitempty" doc:"The audio, in place of sourceUrl; a data URL as well. What is larger is sent to /api/social/upload or /api/social/tus"`
		Rights      bool     `json:"rights" doc:"The submitter confirms the text of /api/social/status"`
	}
}

func (in *sendInput) draft() social.Draft {
	b := in.Body
	return social.Draft{
		Type: social.Type(b.Type), Title: b.Title, Artist: b.Artist, Description: b.Description, Tags: b.Tags, CreatedBy: b.CreatedBy, Rights: b.Rights, Once: in.Key,
	}
}

type sentAnswer struct {
	Body struct {
		Post  Post   `json:"post"`
		Token string `json:"token" doc:"The secret by which the post is followed and withdrawn, as X-Post-Token"`
		Link  string `json:"link" doc:"Path of the page that follows it"`
	}
}

func (s *Server) sendPost(ctx context.Context, in *sendInput) (*sentAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	if in.Key != "" && !client.PlainID(in.Key) {
		return nil, fieldError("header.Idempotency-Key", client.IDRule)
	}
	var got social.Receipt
	switch {
	case in.Body.SourceURL != "" && in.Body.Base64 != "":
		return nil, fieldError("body", "must contain sourceUrl or base64, not both")
	case in.Body.SourceURL != "":
		got, err = parts.Posts.SubmitURL(ctx, in.client(), in.draft(), in.Body.SourceURL)
	case in.Body.Base64 != "":
		var audio []byte
		if audio, err = audioOf(in.Body.Base64); err == nil {
			got, err = parts.Posts.Submit(ctx, in.client(), in.draft(), "base64", int64(len(audio)), bytes.NewReader(audio))
		}
	default:
		return nil, fieldError("body", "must contain sourceUrl or base64")
	}
	if err != nil {
		return nil, inField(err)
	}
	return s.sent(ctx, parts, got)
}

// audioOf decodes base64, of either alphabet, with or without its padding.
func audioOf(text string) ([]byte, error) {
	notBase64 := fmt.Errorf("base64: must be audio in base64, or a data URL of that: %w", station.ErrInvalid)
	if head, data, ok := strings.Cut(text, ","); ok && strings.HasPrefix(head, "data:") {
		if !strings.HasSuffix(head, ";base64") {
			return nil, notBase64
		}
		text = data
	}
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(text), "=")
	audio, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, notBase64
	}
	return audio, nil
}

// sent is the answer to a submission.
func (s *Server) sent(ctx context.Context, parts *Social, got social.Receipt) (*sentAnswer, error) {
	one, err := parts.Posts.Get(ctx, got.ID)
	if err != nil {
		return nil, err
	}
	out := &sentAnswer{}
	out.Body.Post, out.Body.Token = parts.shown(&one, s.placed()), got.Token
	parts.privately(&out.Body.Post, &one)
	out.Body.Link = fmt.Sprintf("/social.html#post=%d&token=%s", got.ID, got.Token)
	return out, nil
}

// rawPost documents the upload of a raw body.
func rawPost(op *huma.Operation) {
	text := func(in, name, doc string) {
		asks(in, name, doc, huma.Schema{Type: huma.TypeString})(op)
	}
	asks("path", "type", "What kind of audio it is", huma.Schema{Type: huma.TypeString, Enum: []any{"song", "mashup", "ads", "jingles", "sweepers", "voice", "sfx"}})(op)
	for name, doc := range map[string]string{
		"title": "Must not be empty", "artist": "May be empty", "description": "May be empty", "tags": "Apart by commas", "createdBy": "The submitter's name",
		"rights": "true: the submitter confirms the text of /api/social/status", "filename": "The file's own name",
	} {
		text("query", name, doc)
	}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"*/*": {}}}
	gives(http.StatusAccepted, "application/json")(op)
	may(http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusServiceUnavailable, http.StatusInsufficientStorage)(op)
}

const (
	// uploadStall is how long an upload may bring nothing, uploadWhole how long it may take.
	uploadStall = 30 * time.Second
	uploadWhole = 2 * time.Hour
)

func (s *Server) uploadPost(w http.ResponseWriter, r *http.Request) error {
	parts, err := s.social()
	if err != nil {
		return err
	}
	d, from := uploadDraft(r), poster(listener(r))
	if d.Once != "" && !client.PlainID(d.Once) {
		return fmt.Errorf("Idempotency-Key: %s: %w", client.IDRule, station.ErrInvalid)
	}
	got, err := parts.Posts.Submit(r.Context(), from, d, "upload", r.ContentLength, deadline.Reader(w, r.Body, uploadStall, uploadWhole))
	if err != nil {
		return err
	}
	out, err := s.sent(r.Context(), parts, got)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	return json.NewEncoder(w).Encode(out.Body)
}

func uploadDraft(r *http.Request) social.Draft {
	q := r.URL.Query()
	d := social.Draft{
		Type: social.Type(r.PathValue("type")), Title: q.Get("title"), Artist: q.Get("artist"), Description: q.Get("description"), CreatedBy: q.Get("createdBy"),
		Rights: q.Get("rights") == "true" || q.Get("rights") == "1", Name: q.Get("filename"), Once: r.Header.Get("Idempotency-Key"),
	}
	if tags := q.Get("tags"); tags != "" {
		d.Tags = strings.FieldsFunc(tags, func(r rune) bool { return r == ',' || r == '،' })
	}
	return d
}
