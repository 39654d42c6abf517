// Package chat stores comments, and messages, voice notes and pictures in rooms,
// with their reactions, and offers the operator's moderation. A write is on disk
// before it is answered; repeated under the same id, it gets the same answer and
// counts once.
//
// It knows no sockets: edges know who is in a room. It converts neither sound nor
// pictures, and shows no addresses: they are stored as keyed hashes, as long as what
// was written from them.
package chat

import (
	"context"
	"embed"
	"fmt"
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

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("chat", migrations) }

// Comments is the room of the comments. Nobody joins it.
const Comments = "comments"

// MediaPath is where attachments are served.
const MediaPath = "/chat/media/"

// Room is one of the station's chat rooms.
type Room struct {
	ID   string // a-z, 0-9 and -, at most 32
	Name string // as it is shown
}

// Options of Open. All but Reserved, Welcome and Members are required.
type Options struct {
	Log     *slog.Logger
	DB      *store.DB
	Dir     string // folder of the attachments, used for nothing else
	Station string // its name, under which it welcomes
	Rooms   []Room // the first is where a message without a room goes
	// Reserved are further names that only the staff may use.
	Reserved []string
	// Welcome is shown to newcomers; {name} and {room} are filled in. Empty: no welcome.
	Welcome    string
	KeepDays   int // of messages and comments
	MediaBytes int64
	Tell       func(event string, payload any)
	// Members counts a room's members; nil when they are not known.
	Members func(room string) int
	Now     func() time.Time
}

// Client is the sender of a request.
type Client struct {
	Address string // by kit/client.Address; empty for this machine
	Device  string // random id that the browser keeps; may be empty
	Staff   bool   // showed the station key
}

// Chat is the station's chat. Make it with Open.
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
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
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

// room finds a room by its ID; an empty one means the first.
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

// name returns a listener's name as it is shown in a room. Errors:
// station.ErrInvalid.
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
	if !rules.state(room).Links && words.HasLink(clean) { // the welcome repeats the name
		return "", invalid("name", "contains a link: links are not allowed here")
	}
	return shown, nil
}

// text returns a listener's text as it is shown in a room. Errors:
// station.ErrInvalid.
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

// checkIDs checks the ids that a client chose.
func checkIDs(from Client, id string) error {
	if id != "" && !client.PlainID(id) {
		return invalid("id", client.IDRule)
	}
	if from.Device != "" && !client.PlainID(from.Device) {
		return invalid("device", client.IDRule)
	}
	return nil
}
