package chat

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Chat as events.Records: edges that may have missed events ask for the stored
// records. They are on disk before their event is sent, so they survive a control
// plane that dies in between.

// mostMissed bounds the comments or messages that Since returns.
const mostMissed = 2000

// banned is the event of a ban.
const banned = "banned"

// Newest returns the id of the newest record of each kind.
func (c *Chat) Newest(ctx context.Context) (map[string]string, error) {
	out := map[string]string{banned: c.rules.Load().newestBan()}
	for event, where := range map[string]string{"new_comment": "room = 'comments'", "message": "room <> 'comments'"} {
		var id sql.NullInt64
		if err := c.opt.DB.Read().QueryRowContext(ctx, `SELECT id FROM chat_lines WHERE `+where+` ORDER BY id DESC LIMIT 1`).Scan(&id); err != nil && !isNone(err) {
			return nil, fmt.Errorf("read newest %s: %w", event, err)
		}
		room := ""
		if event == "new_comment" {
			room = Comments
		}
		out[event] = nameOf(room, id.Int64)
	}
	return out, nil
}

// Since returns the payloads of a kind of record after an id, oldest first: comments
// and messages that are still shown, bans that are still in force.
func (c *Chat) Since(ctx context.Context, event, after string) ([]any, error) {
	if event == banned {
		return c.bansSince(after)
	}
	comment := event == "new_comment"
	id, err := optional(after, comment)
	if err != nil {
		return nil, err
	}
	where := `room <> 'comments'`
	if comment {
		where = `room = 'comments'`
	}
	all, err := lines(ctx, c.opt.DB.Read(), where+` AND id > ? AND state = 0 ORDER BY id LIMIT ?`, id, mostMissed)
	if err != nil {
		return nil, fmt.Errorf("read missed %s: %w", event, err)
	}
	out := make([]any, len(all))
	for i := range all {
		_, out[i] = all[i].payload()
	}
	return out, nil
}

func (c *Chat) bansSince(after string) ([]any, error) {
	number, found := strings.CutPrefix(after, "b")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return nil, fmt.Errorf("%s: must be the id of a ban (b12): %w", clip(after), station.ErrInvalid)
	}
	out, now := []any{}, c.opt.Now().UnixMilli()
	for _, s := range c.rules.Load().sanctions {
		if s.Kind == ban && s.ID > id && s.holds(now) {
			out = append(out, s.banned())
		}
	}
	return out, nil
}

// newestBan returns the newest ban's id as Since takes it; "b0" without bans.
func (r *rules) newestBan() string {
	newest := int64(0)
	for _, s := range r.sanctions {
		if s.Kind == ban {
			newest = s.ID
		}
	}
	return banID(newest)
}

func banID(id int64) string { return "b" + strconv.FormatInt(id, 10) }

// banned returns the payload by which edges learn of a ban.
func (s Sanction) banned() Banned { return Banned{ID: banID(s.ID), By: s.author.keys()} }
