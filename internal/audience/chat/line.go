package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Comment is the payload of new_comment.
type Comment struct {
	ID    string `json:"id" doc:"c and a number that grows"`
	Name  string `json:"name"`
	Text  string `json:"text"`
	At    int64  `json:"at" doc:"Epoch milliseconds"`
	Staff bool   `json:"staff,omitempty" doc:"Written with the station key"`
}

// Message is the payload of message.
type Message struct {
	ID         string         `json:"id,omitempty" doc:"m and a number that grows; the station's welcome has none"`
	User       string         `json:"user"`
	Text       string         `json:"text"`
	Room       string         `json:"room"`
	Type       string         `json:"type" enum:"text,voice,image,admin"`
	URL        string         `json:"url,omitempty" doc:"Of the voice note or the picture, on this server"`
	MIME       string         `json:"mime,omitempty"`
	DurationMS int64          `json:"durationMs,omitempty"`
	Width      int            `json:"width,omitempty"`
	Height     int            `json:"height,omitempty"`
	At         int64          `json:"at" doc:"Epoch milliseconds"`
	Staff      bool           `json:"staff,omitempty" doc:"Written with the station key"`
	Reactions  map[string]int `json:"reactions,omitempty" doc:"How often each emoji"`
}

// Deleted is the payload of message_deleted.
type Deleted struct {
	ID   string `json:"id" doc:"Of a message or a comment"`
	Room string `json:"room,omitempty" doc:"None for a comment"`
}

// The states of a line.
const (
	shown   = 0
	hidden  = 1 // shown to its author alone
	deleted = 2
)

// line is one stored comment or message.
type line struct {
	id, at        int64
	room, user    string
	kind, text    string
	media         string
	bytes         int
	duration      int64
	width, height int
	staff         bool
	state         int
	author        author
}

const lineColumns = `id, at, room, user, kind, text, coalesce(media, ''), duration, width, height, staff, state, device, address`

func (l *line) scan(from interface{ Scan(into ...any) error }) error {
	return from.Scan(&l.id, &l.at, &l.room, &l.user, &l.kind, &l.text, &l.media, &l.duration, &l.width, &l.height, &l.staff, &l.state,
		&l.author.device, &l.author.address)
}

// name returns the id as clients see it: c12 for a comment, m12 for a message.
func (l *line) name() string {
	if l.room == Comments {
		return "c" + strconv.FormatInt(l.id, 10)
	}
	return "m" + strconv.FormatInt(l.id, 10)
}

func (l *line) deletion() Deleted {
	if l.room == Comments {
		return Deleted{ID: l.name()}
	}
	return Deleted{ID: l.name(), Room: l.room}
}

func (l *line) comment() Comment {
	return Comment{ID: l.name(), Name: l.user, Text: l.text, At: l.at, Staff: l.staff}
}

func (l *line) message(reactions map[string]int) Message {
	m := Message{
		ID: l.name(), User: l.user, Text: l.text, Room: l.room, Type: l.kind, DurationMS: l.duration, Width: l.width, Height: l.height,
		At: l.at, Staff: l.staff, Reactions: reactions,
	}
	if l.media != "" {
		m.URL, m.MIME = MediaPath+l.media, mimeOf(l.media)
	}
	return m
}

// payload returns the event that announces the line, and its payload.
func (l *line) payload() (event string, payload any) {
	if l.room == Comments {
		return "new_comment", l.comment()
	}
	return "message", l.message(nil)
}

// parse reads the id of a comment (c…) or a message (m…).
func parse(name string) (id int64, comment bool, err error) {
	digits, comment := strings.CutPrefix(name, "c")
	if !comment {
		digits = strings.TrimPrefix(name, "m")
	}
	id, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || id < 0 || len(digits) == len(name) || digits[0] == '+' {
		return 0, false, fmt.Errorf("%q: must be the id of a message (m12) or a comment (c12): %w", clip(name), station.ErrInvalid)
	}
	return id, comment, nil
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 80)], "") }

// find reads a line by its name, deleted lines included. Errors: station.ErrInvalid,
// station.ErrNotFound.
func find(ctx context.Context, q querier, name string) (line, error) {
	id, comment, err := parse(name)
	if err != nil {
		return line{}, err
	}
	var l line
	err = l.scan(q.QueryRowContext(ctx, `SELECT `+lineColumns+` FROM chat_lines WHERE id = ?`, id))
	if isNone(err) || (err == nil && comment != (l.room == Comments)) {
		return line{}, fmt.Errorf("%s: %w", clip(name), station.ErrNotFound)
	}
	return l, err
}

func lines(ctx context.Context, q querier, where string, args ...any) (out []line, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+lineColumns+` FROM chat_lines WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var l line
		if err := l.scan(rows); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

// reactionsOf counts the reactions to lines.
func reactionsOf(ctx context.Context, q querier, all []line) (map[int64]map[string]int, error) {
	out := map[int64]map[string]int{}
	if len(all) == 0 {
		return out, nil
	}
	marks, args := make([]string, len(all)), make([]any, len(all))
	for i, l := range all {
		marks[i], args[i] = "?", l.id
	}
	rows, err := q.QueryContext(ctx, `SELECT line, emoji, count(*) FROM chat_reactions WHERE line IN (`+strings.Join(marks, ",")+`) GROUP BY line, emoji`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id int64
		var emoji string
		var n int
		if err := rows.Scan(&id, &emoji, &n); err != nil {
			return nil, err
		}
		if out[id] == nil {
			out[id] = map[string]int{}
		}
		out[id][emoji] = n
	}
	return out, rows.Err()
}
