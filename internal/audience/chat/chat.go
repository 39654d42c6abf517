// Package chat keeps what listeners write: comments, and messages, voice notes
// and pictures in rooms; who reacted to what; and the operator's means against
// those who spoil it. What it answers is on disk; the same write sent again
// under the same id gives the same answer and counts once.
//
// It knows no sockets: who is in a room is the edges' business. It converts no
// sound and no picture, and shows nobody's address, which it keeps as a keyed
// hash for as long as what was written from there.
package chat

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/attach"
	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Comments is the room of the comments. Nobody joins it.
const Comments = "comments"

// MediaPath is where attachments are served.
const MediaPath = "/chat/media/"

// Room is one room of the station's.
type Room struct {
	ID   string // a-z, 0-9 and -, at most 32
	Name string // as it is shown
}

// Options of Open. All but Reserved, Welcome and Members are required.
type Options struct {
	Log     *slog.Logger
	DB      *store.DB
	Dir     string // of the attachments, all ours
	Station string // its name, under which it welcomes
	Rooms   []Room // the first is where a message without a room goes
	// Reserved are names for the staff beside the words of office.
	Reserved []string
	// Welcome is said to who joins; {name} and {room} are filled in. Empty: nothing is.
	Welcome    string
	KeepDays   int // of messages and comments
	MediaBytes int64
	Tell       func(event string, payload any)
	// Members counts who is in a room; nil: nobody knows.
	Members func(room string) int
	Now     func() time.Time
}

// Client is who asks.
type Client struct {
	Address string // by kit/client.Address; empty for this machine
	Device  string // random id that the browser keeps; may be empty
	Staff   bool   // showed the station key
}

// Chat is all of it. Make it with Open.
type Chat struct {
	opt      Options
	salt     []byte
	files    *attach.Store
	ear      *attach.Ear
	reserved *words.Reserved
	budgets  budgets
	welcomes *client.Limits
	rules    atomic.Pointer[rules] // never changed once published
	turns    turns.Turns[*order]
}

var roomID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Open opens the tables and the folder of attachments.
func Open(ctx context.Context, opt Options) (*Chat, error) {
	if len(opt.Rooms) == 0 {
		return nil, fmt.Errorf("chat: name at least one room")
	}
	for _, r := range opt.Rooms {
		if !roomID.MatchString(r.ID) || r.ID == Comments {
			return nil, fmt.Errorf("chat: room %q: must be at most 32 of a-z, 0-9 and -, and not %q", r.ID, Comments)
		}
	}
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if err := opt.DB.Migrate(ctx, "chat", sub); err != nil {
		return nil, fmt.Errorf("migrate chat tables: %w", err)
	}
	files, err := attach.OpenStore(opt.Dir)
	if err != nil {
		return nil, err
	}
	c := &Chat{
		opt: opt, files: files, ear: attach.NewEar(opt.Dir), reserved: words.NewReserved(opt.Station, opt.Reserved),
		budgets: newBudgets(opt.Now), welcomes: client.NewLimits(welcomesAtOnce, welcomeEvery, opt.Now),
	}
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT salt FROM chat_state`).Scan(&c.salt); err != nil {
		return nil, fmt.Errorf("read chat salt: %w", err)
	}
	rules, err := readRules(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read chat rules: %w", err)
	}
	c.rules.Store(rules)
	return c, nil
}

// room finds a room of the station's; the first for an empty name.
func (c *Chat) room(id string) (Room, error) {
	if id == "" {
		return c.opt.Rooms[0], nil
	}
	for _, r := range c.opt.Rooms {
		if r.ID == id {
			return r, nil
		}
	}
	return Room{}, fmt.Errorf("room %q: %w", clip(id), station.ErrNotFound)
}

// name cleans a listener's name in a room, or says what is wrong with it.
func (c *Chat) name(from Client, room, given string) (string, error) {
	clean, ok := words.Name(given)
	if !ok {
		return "", invalid("name", fmt.Sprintf("must be 1 to %d visible characters", words.LongestName))
	}
	if from.Staff {
		return clean, nil
	}
	if c.reserved.Taken(clean) {
		return "", invalid("name", "is reserved for the station's staff: choose another")
	}
	rules := c.rules.Load()
	shown, blocked := rules.list.Apply(clean)
	if blocked {
		return "", invalid("name", "contains a word that is not allowed here")
	}
	if !rules.state(room).Links && words.HasLink(clean) { // the station itself says it in its welcome
		return "", invalid("name", "contains a link: links are not allowed here")
	}
	return shown, nil
}

// text cleans what a listener writes in a room, or says what is wrong with it.
func (c *Chat) text(from Client, room, given string) (string, error) {
	clean, ok := words.Text(given)
	if !ok {
		return "", invalid("text", fmt.Sprintf("must be at most %d characters", words.LongestText))
	}
	if from.Staff {
		return clean, nil
	}
	rules := c.rules.Load()
	shown, blocked := rules.list.Apply(clean)
	if blocked {
		return "", invalid("text", "contains a word that is not allowed here")
	}
	if !rules.state(room).Links && words.HasLink(clean) {
		return "", invalid("text", "contains a link: links are not allowed here")
	}
	return shown, nil
}

func invalid(field, what string) error {
	return fmt.Errorf("%s: %s: %w", field, what, station.ErrInvalid)
}

// checkIDs looks at the ids that a client makes up.
func checkIDs(from Client, id string) error {
	if id != "" && !client.PlainID(id) {
		return invalid("id", client.IDRule)
	}
	if from.Device != "" && !client.PlainID(from.Device) {
		return invalid("device", client.IDRule)
	}
	return nil
}
