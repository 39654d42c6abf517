package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/web/edge"
)

// openChat opens comments and chat rooms.
func openChat(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, tell func(event string, payload any), members func(room string) int,
) (*chat.Chat, error) {
	all, err := cfg.Chat.RoomList()
	if err != nil {
		return nil, err
	}
	rooms := make([]chat.Room, len(all))
	for i, r := range all {
		rooms[i] = chat.Room(r)
	}
	return chat.Open(ctx, chat.Options{
		Log: log, DB: db, Dir: cfg.ChatMediaDir(), Station: cfg.Name, Rooms: rooms, Reserved: cfg.Chat.Reserved, Welcome: cfg.Chat.Welcome,
		KeepDays: cfg.Chat.KeepDays, MediaBytes: int64(cfg.Chat.MediaMB) << 20, Tell: tell, Members: members, Now: time.Now,
	})
}

func chatter(from edge.Client) chat.Client {
	return chat.Client{Address: from.Address, Device: from.Device, Staff: from.Staff}
}

type commented struct {
	Comment chat.Comment `json:"comment"`
}

func (a *asks) comment(ctx context.Context, from edge.Client, in chat.CommentIn) (any, error) {
	c, err := a.chat.Comment(ctx, chatter(from), in)
	return commented{c}, err
}

type messaged struct {
	Message chat.Message `json:"message"`
}

func (a *asks) message(ctx context.Context, from edge.Client, in chat.SayIn) (any, error) {
	m, err := a.chat.Say(ctx, chatter(from), in)
	return messaged{m}, err
}

func (a *asks) join(ctx context.Context, from edge.Client, in chat.JoinIn) (any, error) {
	mark := a.hub.Mark() // before what the answer shows is read
	out, err := a.chat.Join(ctx, chatter(from), in)
	if err != nil {
		return nil, err
	}
	return edge.Joined{Room: out.Room, Mark: mark, Who: a.chat.Keys(chatter(from)), Answer: agreed(out)}, nil
}

func (a *asks) reaction(ctx context.Context, from edge.Client, in chat.ReactIn) (any, error) {
	return a.chat.React(ctx, chatter(from), in)
}
