package api

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/station"
)

type votePostInput struct {
	Visitor
	PostID
	Body struct {
		Delta int `json:"delta" enum:"1,0,-1" doc:"0 takes the vote back"`
	}
}

type votedAnswer struct {
	Body struct {
		Votes social.ShownVotes `json:"votes"`
	}
}

func (s *Server) votePost(ctx context.Context, in *votePostInput) (*votedAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	got, err := parts.Posts.Vote(ctx, in.client(), in.ID, in.Body.Delta)
	if err != nil {
		return nil, inField(err)
	}
	out := &votedAnswer{}
	out.Body.Votes = social.ShownVotes{Up: got.Up, Down: got.Down, Mine: &in.Body.Delta}
	return out, nil
}

type reactPostInput struct {
	Visitor
	PostID
	Body struct {
		Kind string `json:"kind" enum:"like,love,fire,laugh,wow,sad"`
		On   *bool  `json:"on,omitempty" default:"true" doc:"false takes the reaction back"`
	}
}

type reactedAnswer struct {
	Body struct {
		Reactions map[string]int `json:"reactions" doc:"Listeners by kind"`
		Reacted   []string       `json:"reacted" nullable:"false" doc:"What this listener has reacted with"`
	}
}

func (s *Server) reactPost(ctx context.Context, in *reactPostInput) (*reactedAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	out := &reactedAnswer{}
	if out.Body.Reactions, err = parts.Posts.React(ctx, in.client(), in.ID, in.Body.Kind, in.Body.On == nil || *in.Body.On); err != nil {
		return nil, inField(err)
	}
	mine, err := parts.Posts.MineOf(ctx, in.client(), []int64{in.ID})
	out.Body.Reacted = mine[in.ID].Reacted
	return out, err
}

type reportPostInput struct {
	Visitor
	PostID
	Body struct {
		Why  string `json:"why" enum:"rights,offensive,spam,quality,other"`
		Text string `json:"text,omitempty" maxLength:"2000"`
	}
}

func (s *Server) reportPost(ctx context.Context, in *reportPostInput) (*struct{}, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	return nil, inField(parts.Posts.Report(ctx, in.client(), in.ID, in.Body.Why, in.Body.Text))
}

func (s *Server) withdrawPost(ctx context.Context, in *postInput) (*postAnswer, error) {
	parts, err := s.ownPost(&in.Visitor, in.ID)
	if err != nil {
		return nil, err
	}
	if err := parts.Posts.Withdraw(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.onePost(ctx, parts, &in.Visitor, in.ID)
}

type appealInput struct {
	Visitor
	PostID
	Body struct {
		Text string `json:"text" minLength:"1" maxLength:"2000"`
	}
}

func (s *Server) appealPost(ctx context.Context, in *appealInput) (*postAnswer, error) {
	parts, err := s.ownPost(&in.Visitor, in.ID)
	if err != nil {
		return nil, err
	}
	if err := parts.Posts.Appeal(ctx, in.ID, in.Body.Text); err != nil {
		return nil, inField(err)
	}
	return s.onePost(ctx, parts, &in.Visitor, in.ID)
}

// postFile documents the rows that serve a file of a post.
func postFile(types ...string) note {
	return func(op *huma.Operation) {
		asks("path", "id", "Of the post", huma.Schema{Type: huma.TypeInteger})(op)
		asks("query", "token", "The secret of one's own post, while it is not approved", huma.Schema{Type: huma.TypeString})(op)
		gives(http.StatusOK, types...)(op)
		gives(http.StatusPartialContent, append(types, "multipart/byteranges")...)(op)
		gives(http.StatusNotModified)(op)
		gives(http.StatusPreconditionFailed)(op)
		gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
		may(http.StatusNotFound, http.StatusServiceUnavailable)(op)
	}
}

// postStall is how long a listener may take nothing of a file, postWhole how long it may
// take in all.
const (
	postStall = 30 * time.Second
	postWhole = 30 * time.Minute
)

func (s *Server) postAudio(w http.ResponseWriter, r *http.Request) error {
	return s.postFile(w, r, func(parts *Social, p *social.Post) (path, kind string) {
		if p.File == "" {
			return "", ""
		}
		return parts.Posts.Path(p.File), "audio/mpeg"
	})
}

func (s *Server) postCover(w http.ResponseWriter, r *http.Request) error {
	return s.postFile(w, r, func(parts *Social, p *social.Post) (path, kind string) {
		if p.Cover == "" {
			return "", ""
		}
		return parts.Posts.CoverPath(p), p.Cover
	})
}

// postFile serves a file of a post to who may see the post.
func (s *Server) postFile(w http.ResponseWriter, r *http.Request, which func(*Social, *social.Post) (path, kind string)) error {
	parts, err := s.social()
	if err != nil {
		return err
	}
	notFound := fmt.Errorf("a file of post %q: %w", cut(r.PathValue("id")), station.ErrNotFound)
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return notFound
	}
	p, err := parts.Posts.Brief(r.Context(), id)
	if err != nil {
		return err
	}
	if !parts.Posts.Public(&p) {
		token := r.Header.Get("X-Post-Token")
		if token == "" {
			token = r.URL.Query().Get("token")
		}
		if !parts.Posts.Owns(id, token) && !s.isModerator(r) {
			return notFound
		}
		w.Header().Set("Cache-Control", "private, no-store")
	} else {
		w.Header().Set("Cache-Control", "no-cache") // it may be withdrawn
	}
	path, kind := which(parts, &p)
	if path == "" {
		return notFound
	}
	f, err := os.Open(path) //nolint:gosec // named by the platform
	if err != nil {
		return notFound
	}
	w.Header().Set("Content-Type", kind)
	return sendPostFile(w, r, f, notFound)
}

// sendPostFile answers with a file, whole or in ranges, and closes it.
func sendPostFile(w http.ResponseWriter, r *http.Request, f *os.File, notFound error) error {
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		w.Header().Del("Content-Type")
		return notFound
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	http.ServeContent(deadline.Within(w, postStall, postWhole), r, f.Name(), info.ModTime(), f)
	return nil
}

type nextInput struct {
	Visitor
	Type     string `query:"type" enum:"song,mashup,ads,jingles,sweepers,voice,sfx"`
	Category string `query:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
}

type nextAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Post *Post `json:"post,omitempty" doc:"Missing where there is none"`
	}
}

func (s *Server) nextPost(_ context.Context, in *nextInput) (*nextAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	out := &nextAnswer{CacheControl: "no-store"}
	if one, ok := parts.Posts.Next(social.Type(in.Type), in.Category); ok {
		view := parts.shown(&one, s.placed())
		out.Body.Post = &view
	}
	return out, nil
}

type chartAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		From  int64  `json:"from" doc:"Epoch milliseconds"`
		To    int64  `json:"to"`
		Posts []Post `json:"posts" nullable:"false" doc:"Best first"`
	}
}

func (s *Server) chart(ctx context.Context, in *struct{ Visitor }) (*chartAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	posts, from, to := parts.Posts.Chart()
	out := &chartAnswer{CacheControl: "no-store"}
	out.Body.From, out.Body.To = from.UnixMilli(), to.UnixMilli()
	if out.Body.Posts, err = s.shownPosts(ctx, parts, &in.Visitor, posts, false); err != nil {
		return nil, err
	}
	for i := range out.Body.Posts {
		out.Body.Posts[i].Place = i + 1
	}
	return out, nil
}

type socialStatusAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         socialStatus
}

type socialStatus struct {
	Enabled  bool                    `json:"enabled"`
	Types    map[string]socialWindow `json:"types"`
	Rights   Rights                  `json:"rights" doc:"What a submitter confirms"`
	Limits   socialLimits            `json:"limits"`
	Every    int                     `json:"every" doc:"At most every so many-th pick of a category is a post; 0: posts do not air"`
	Kinds    []string                `json:"kinds" nullable:"false" doc:"Of reactions"`
	Reasons  []Reason                `json:"reasons" nullable:"false" doc:"That a moderator may choose, in the order of their numbers"`
	AdminKey bool                    `json:"adminKey" doc:"Whether anybody may moderate"`
	Counts   map[string]int          `json:"counts" doc:"Posts by status; only approved ones and candidates without the admin key"`
	Votes    int                     `json:"approveVotes" doc:"Votes that approve a candidate: see the list of posts; 0: nothing is put to the vote"`
	Push     bool                    `json:"push" doc:"Whether submitters can be told by notification"`
	Queue    *socialQueue            `json:"queue,omitempty" doc:"For moderators"`
}

type socialWindow struct {
	Category string  `json:"category"`
	Min      float64 `json:"min" doc:"Seconds"`
	Max      float64 `json:"max" doc:"Seconds"`
}

type socialLimits struct {
	PerHour   int     `json:"perHour" doc:"Posts of one submitter; 0: no limit"`
	Megabytes float64 `json:"megabytes" doc:"Of one file"`
}

type socialQueue struct {
	Pending       int   `json:"pending"`
	Processing    int   `json:"processing"`
	Failed        int   `json:"failed"`
	Appeals       int   `json:"appeals" doc:"Rejected posts with an appeal"`
	OldestPending int64 `json:"oldestPendingAt" doc:"When the oldest pending post was sent, epoch milliseconds; 0: none"`
}

func (s *Server) socialStatus(ctx context.Context, in *struct{ Visitor }) (*socialStatusAnswer, error) {
	out := &socialStatusAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Types, b.Kinds, b.Reasons, b.Counts = map[string]socialWindow{}, social.Kinds(), []Reason{}, map[string]int{}
	for _, t := range social.Types() {
		shortest, longest := t.Window()
		b.Types[string(t)] = socialWindow{string(t.Category()), shortest.Seconds(), longest.Seconds()}
	}
	for _, code := range why.Moderator() {
		b.Reasons = append(b.Reasons, *reasonOf(why.New(code)))
	}
	parts := s.opt.Social
	if parts == nil {
		return out, nil
	}
	b.Enabled, b.AdminKey, b.Every, b.Rights = true, parts.AdminKey != "", parts.Every(), parts.Rights
	b.Push = s.opt.Push != nil
	b.Limits = socialLimits{parts.Limits.PerHour, float64(parts.Limits.Bytes) / (1 << 20)}
	stats, err := parts.Posts.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	b.Counts[string(social.Approved)] = stats.Approved
	if b.Votes = parts.Posts.ApproveVotes(); b.Votes > 0 {
		b.Counts["candidate"] = stats.Candidates
	}
	if s.isModerator(in.request) {
		b.Counts[string(social.Pending)], b.Counts[string(social.Processing)] = stats.Pending, stats.Processing
		b.Counts[string(social.Rejected)], b.Counts[string(social.Failed)] = stats.Rejected, stats.Failed
		b.Queue = &socialQueue{stats.Pending, stats.Processing, stats.Failed, stats.Appeals, stats.OldestPending}
	}
	return out, nil
}
