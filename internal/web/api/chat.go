package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// chatting returns the rows of comments and chat rooms.
func (s *Server) chatting() []route {
	return []route{
		{get, "/api/comments", open, reading, "Comments, oldest first", typed(s.comments)},
		{post, "/api/comments", open, writing, "Post a comment", typed(s.comment, may(401, 403, 409))},
		{get, "/api/chat/rooms", open, reading, "The chat rooms and how they are kept", typed(s.rooms)},
		{get, "/api/chat/rooms/{room}/messages", open, reading, "Messages of a room, newest last", typed(s.messages)},
		{get, chat.MediaPath + "{file}", open, unmetered, "A voice note or a picture of the chat", raw(s.chatMedia, attachment)},
	}
}

// moderation returns the rows for moderating the chat. None is in the mission.
func (s *Server) moderation() []route {
	const at = "/api/station/chat"
	return []route{
		{get, at + "/messages", moderates, operating, "Search messages and comments, deleted ones too, newest first", typed(s.searchChat, may(404))},
		{http.MethodDelete, at + "/messages/{id}", moderates, operating, "Delete a message", typed(s.deleteLine)},
		{http.MethodDelete, at + "/comments/{id}", moderates, operating, "Delete a comment", typed(s.deleteLine)},
		{post, at + "/purge", moderates, operating, "Delete all that an author wrote of late", typed(s.purge, may(404, 409))},
		{post, at + "/mute", moderates, operating, "Keep the author of a message from writing", typed(s.sanctioning(s.opt.Chat.Mute), may(404, 409))},
		{post, at + "/ban", moderates, operating, "Keep the author of a message from writing and joining", typed(s.sanctioning(s.opt.Chat.Ban), may(404, 409))},
		{get, at + "/sanctions", moderates, operating, "Who is muted or banned", typed(s.sanctions)},
		{post, at + "/lift", moderates, operating, "End a mute or a ban", typed(s.lift, may(404))},
		{get, at + "/words", moderates, operating, "The word list", typed(s.words)},
		{put, at + "/words", moderates, operating, "Replace the word list", typed(s.putWords)},
		{put, at + "/rooms/{room}", moderates, operating, "How a room is kept, or the comments: what is missing stays", typed(s.putRoom)},
		{get, at + "/audit", moderates, operating, "What operators did, newest first", typed(s.auditLog)},
	}
}

// Chatter is the sender of a request to the chat, for inputs to embed.
type Chatter struct {
	Listener

	request *http.Request
}

// Resolve sets the sender.
func (c *Chatter) Resolve(ctx huma.Context) []error {
	c.request, _ = humago.Unwrap(ctx)
	return c.Listener.Resolve(ctx)
}

// chatter returns the sender as the chat knows it: staff who has the right, a listener
// without a key. A wrong key is refused.
func (s *Server) chatter(c Chatter) (chat.Client, error) {
	out := chat.Client{Address: c.from.Address, Device: c.from.Device}
	if who, ok := s.ownSession(c.request); ok {
		out.Staff = who.Rights.Has(people.Moderate) // others write as listeners do
		return out, nil
	}
	if !s.opt.StationKey.Set() || sentKey(c.request) == "" {
		return out, nil
	}
	if _, err := s.need(people.Moderate, c.request); err != nil {
		return out, refusedBy(moderates, "", err)
	}
	out.Staff = true
	return out, nil
}

type commentsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Comments []chat.Comment `json:"comments" nullable:"false"`
	}
}

func (s *Server) comments(ctx context.Context, in *struct {
	After string `query:"after" maxLength:"24" doc:"Id of a comment: those after it, the oldest first; the newest without"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*commentsAnswer, error) {
	all, err := s.opt.Chat.CommentsAfter(ctx, in.After, in.Limit)
	if err != nil {
		return nil, inQuery(err, "after")
	}
	out := &commentsAnswer{CacheControl: "no-store"}
	out.Body.Comments = all
	return out, nil
}

// inQuery names the query parameter that made a request invalid.
func inQuery(err error, name string) error {
	if problem.Status(err) != http.StatusUnprocessableEntity {
		return err
	}
	return fieldError("query."+name, station.Reason(err))
}

type commentInput struct {
	Chatter
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"400" doc:"1 to 40 characters"`
		Text string `json:"text" minLength:"1" maxLength:"8000" doc:"1 to 1000 characters"`
		ID   string `json:"id,omitempty" maxLength:"64" doc:"The client's own for this write, 8 to 64 of A-Z, a-z, 0-9, _ and -: the same one again from the same device, for a day, posts nothing and gets the same answer"`
	}
}

type commentAnswer struct {
	Body struct {
		Comment chat.Comment `json:"comment"`
	}
}

func (s *Server) comment(ctx context.Context, in *commentInput) (*commentAnswer, error) {
	from, err := s.chatter(in.Chatter)
	if err != nil {
		return nil, err
	}
	out := &commentAnswer{}
	out.Body.Comment, err = s.opt.Chat.Comment(ctx, from, chat.CommentIn{Name: in.Body.Name, Text: in.Body.Text, ID: in.Body.ID})
	if err != nil {
		return nil, inField(err)
	}
	return out, nil
}

type roomsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Rooms    []chat.RoomOut `json:"rooms" nullable:"false" doc:"The first is where one is without choosing"`
		Comments chat.State     `json:"comments" doc:"How the comments are kept"`
	}
}

func (s *Server) rooms(context.Context, *struct{}) (*roomsAnswer, error) {
	out := &roomsAnswer{CacheControl: "no-store"}
	out.Body.Rooms, out.Body.Comments = s.opt.Chat.Rooms(), s.opt.Chat.CommentsState()
	return out, nil
}

type messagesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Messages []chat.Message `json:"messages" nullable:"false"`
	}
}

func (s *Server) messages(ctx context.Context, in *struct {
	Room   string `path:"room" maxLength:"64"`
	Before string `query:"before" maxLength:"24" doc:"Id of a message: those before it; the newest without"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*messagesAnswer, error) {
	all, err := s.opt.Chat.Messages(ctx, in.Room, in.Before, in.Limit)
	if err != nil {
		return nil, inQuery(err, "before")
	}
	out := &messagesAnswer{CacheControl: "no-store"}
	out.Body.Messages = all
	return out, nil
}

// attachment documents the statuses of http.ServeContent.
func attachment(op *huma.Operation) {
	asks("path", "file", "As a message names it", huma.Schema{Type: huma.TypeString})(op)
	for _, status := range []int{http.StatusOK, http.StatusPartialContent} {
		gives(status, "audio/*", "image/*", "multipart/byteranges")(op)
	}
	for _, status := range []int{http.StatusNotModified, http.StatusPreconditionFailed} {
		gives(status)(op)
	}
	gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
}

func (s *Server) chatMedia(w http.ResponseWriter, r *http.Request) error {
	return s.opt.Chat.Media(w, r, r.PathValue("file"))
}

type searchAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Messages []chat.Found `json:"messages" nullable:"false"`
	}
}

func (s *Server) searchChat(ctx context.Context, in *struct {
	Text   string `query:"text" maxLength:"200" doc:"Anywhere in name or text"`
	Room   string `query:"room" maxLength:"64" doc:"A room, or comments"`
	Of     string `query:"of" maxLength:"24" doc:"Id of a message or a comment: others of its author"`
	Before string `query:"before" maxLength:"24" doc:"Id of a message or a comment: those before it"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*searchAnswer, error) {
	all, err := s.opt.Chat.Search(ctx, chat.SearchIn{Text: in.Text, Room: in.Room, Of: in.Of, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := &searchAnswer{CacheControl: "no-store"}
	out.Body.Messages = all
	return out, nil
}

// Moderator is the operator who sent a request, for inputs to embed.
type Moderator struct{ by chat.By }

// Resolve sets the operator's address.
func (m *Moderator) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	m.by.Address = client.Address(r)
	return nil
}

type lineInput struct {
	Moderator
	ID   string `path:"id" maxLength:"24"`
	path string
}

// Resolve notes which of the two rows was requested.
func (in *lineInput) Resolve(ctx huma.Context) []error {
	in.path = ctx.Operation().Path
	return in.Moderator.Resolve(ctx)
}

func (s *Server) deleteLine(ctx context.Context, in *lineInput) (*struct{}, error) {
	if strings.HasPrefix(in.ID, "c") != strings.Contains(in.path, "/comments/") {
		return nil, fieldError("path.id", "must be m and a number for a message, c and a number for a comment")
	}
	return nil, s.opt.Chat.Delete(ctx, in.by, in.ID)
}

type purgeAnswer struct {
	Body struct {
		Deleted int `json:"deleted" doc:"At most 2000 at a time; with dryRun those that would go"`
	}
}

func (s *Server) purge(ctx context.Context, in *struct {
	Moderator
	Body chat.PurgeIn
}) (*purgeAnswer, error) {
	n, err := s.opt.Chat.Purge(ctx, in.by, in.Body)
	if err != nil {
		return nil, inField(err)
	}
	out := &purgeAnswer{}
	out.Body.Deleted = n
	return out, nil
}

type sanctionInput struct {
	Moderator
	Body chat.SanctionIn
}

type sanctionAnswer struct{ Body chat.Sanction }

func (s *Server) sanctioning(do func(context.Context, chat.By, chat.SanctionIn) (chat.Sanction, error)) func(context.Context, *sanctionInput) (*sanctionAnswer, error) {
	return func(ctx context.Context, in *sanctionInput) (*sanctionAnswer, error) {
		done, err := do(ctx, in.by, in.Body)
		if err != nil {
			return nil, inField(err)
		}
		return &sanctionAnswer{done}, nil
	}
}

type sanctionsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Sanctions []chat.Sanction `json:"sanctions" nullable:"false" doc:"Newest first"`
	}
}

func (s *Server) sanctions(context.Context, *struct{}) (*sanctionsAnswer, error) {
	out := &sanctionsAnswer{CacheControl: "no-store"}
	out.Body.Sanctions = s.opt.Chat.Sanctions()
	return out, nil
}

func (s *Server) lift(ctx context.Context, in *struct {
	Moderator
	Body struct {
		ID int64 `json:"id" minimum:"1" doc:"Of the sanction"`
	}
}) (*sanctionAnswer, error) {
	done, err := s.opt.Chat.Lift(ctx, in.by, in.Body.ID)
	if err != nil {
		return nil, err
	}
	return &sanctionAnswer{done}, nil
}

type wordsBody struct {
	Words []words.Word `json:"words" nullable:"false" maxItems:"2000"`
}

type wordsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         wordsBody
}

func (s *Server) words(context.Context, *struct{}) (*wordsAnswer, error) {
	return &wordsAnswer{"no-store", wordsBody{s.opt.Chat.Words()}}, nil
}

func (s *Server) putWords(ctx context.Context, in *struct {
	Moderator
	Body wordsBody
}) (*wordsAnswer, error) {
	if err := s.opt.Chat.PutWords(ctx, in.by, in.Body.Words); err != nil {
		return nil, inField(err)
	}
	return s.words(ctx, nil)
}

type roomStateAnswer struct{ Body chat.State }

func (s *Server) putRoom(ctx context.Context, in *struct {
	Moderator
	Room string `path:"room" maxLength:"64" doc:"A room, or comments"`
	Body chat.RoomIn
}) (*roomStateAnswer, error) {
	state, err := s.opt.Chat.PutRoom(ctx, in.by, in.Room, in.Body)
	if err != nil {
		return nil, inField(err)
	}
	return &roomStateAnswer{state}, nil
}

type auditAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Deeds []chat.Deed `json:"deeds" nullable:"false"`
	}
}

func (s *Server) auditLog(ctx context.Context, in *struct {
	Before int64 `query:"before" minimum:"0" doc:"Id of an entry: those before it"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*auditAnswer, error) {
	all, err := s.opt.Chat.Audit(ctx, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &auditAnswer{CacheControl: "no-store"}
	out.Body.Deeds = all
	return out, nil
}
