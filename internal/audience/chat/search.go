package chat

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// SearchIn is what an operator searches for; empty fields match everything.
type SearchIn struct {
	Text   string // anywhere in name or text
	Room   string // comments is one
	Of     string // a message or a comment: others of its author
	Before string // an id of either kind
	Limit  int
}

// Found is a message or a comment as an operator sees it.
type Found struct {
	Message
	State string `json:"state" enum:"shown,hidden,deleted" doc:"hidden: its author is muted without knowing"`
	// Device and Network tell authors apart without identifying them.
	Device  string `json:"device,omitempty" doc:"The same for what came from the same device"`
	Network string `json:"network,omitempty" doc:"The same for what came from the same address"`
}

// Search finds messages and comments, deleted ones too, newest first. Errors:
// station.ErrInvalid, ErrNotFound.
func (c *Chat) Search(ctx context.Context, in SearchIn) ([]Found, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(cond string, more ...any) { where, args = append(where, cond), append(args, more...) }
	if in.Before != "" {
		id, _, err := parse(in.Before)
		if err != nil {
			return nil, err
		}
		add(`id < ?`, id)
	}
	if in.Room != "" && in.Room != Comments {
		if _, err := c.room(in.Room); err != nil {
			return nil, err
		}
	}
	if in.Room != "" {
		add(`room = ?`, in.Room)
	}
	if in.Of != "" {
		l, err := find(ctx, c.opt.DB.Read(), in.Of)
		if err != nil {
			return nil, err
		}
		add(`(device = ? OR address = ?)`, l.author.device, l.author.address)
	}
	if in.Text != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(in.Text) + "%"
		add(`(text LIKE ? ESCAPE '\' OR user LIKE ? ESCAPE '\')`, like, like)
	}
	all, err := lines(ctx, c.opt.DB.Read(), strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?`, append(args, clamp(in.Limit))...)
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", err)
	}
	counts, err := reactionsOf(ctx, c.opt.DB.Read(), all)
	if err != nil {
		return nil, fmt.Errorf("read reactions: %w", err)
	}
	out := make([]Found, len(all))
	for i, l := range all {
		out[i] = Found{
			Message: l.message(counts[l.id]), State: []string{"shown", "hidden", "deleted"}[l.state],
			Device: tag(l.author.device), Network: tag(l.author.address),
		}
	}
	return out, nil
}

func tag(hash []byte) string { return hex.EncodeToString(hash[:min(4, len(hash))]) }

// Deed is one entry of the audit log.
type Deed struct {
	ID     int64           `json:"id"`
	At     int64           `json:"at" doc:"Epoch milliseconds"`
	Who    string          `json:"who" doc:"Address of the holder of the station key"`
	Action string          `json:"action" doc:"mute, shadow, ban, lift, words, room, delete, purge"`
	Target string          `json:"target"`
	Detail json.RawMessage `json:"detail"`
}

// Audit returns what operators did before an entry (0: the newest), newest first.
func (c *Chat) Audit(ctx context.Context, before int64, limit int) ([]Deed, error) {
	out := []Deed{}
	err := each(ctx, c.opt.DB.Read(), `SELECT id, at, who, action, target, detail FROM chat_audit WHERE ? = 0 OR id < ? ORDER BY id DESC LIMIT ?`,
		func(rows *sql.Rows) error {
			var d Deed
			var detail string
			err := rows.Scan(&d.ID, &d.At, &d.Who, &d.Action, &d.Target, &detail)
			d.Detail = json.RawMessage(detail)
			out = append(out, d)
			return err
		}, before, before, clamp(limit))
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return out, nil
}
