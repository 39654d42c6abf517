package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
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
