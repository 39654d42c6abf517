package chat

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/attach"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// CommentIn is what a client sends as send_comment.
type CommentIn struct {
	Name string `json:"name"`
	Text string `json:"text"`
	ID   string `json:"id,omitempty"` // of the write; may be empty
}

// SayIn is what a client sends as sendMessage.
type SayIn struct {
	User string `json:"user"` // as it joined
	Room string `json:"room,omitempty"`
	Type string `json:"type"` // text, voice or image; text when empty
	Text string `json:"text,omitempty"`
	Data string `json:"data,omitempty"` // data URL of a voice note or an image
	ID   string `json:"id,omitempty"`   // of the write; may be empty
}

// mostLines bounds the table against floods: about half a gigabyte of the longest
// texts.
const mostLines = 200_000

// Comment posts a comment. Errors: station.ErrInvalid, ErrForbidden (muted,
// closed), ErrConflict (the id was used for another), *client.LimitError.
//
// A shadow-muted author gets the usual answer, from which the page shows the comment,
// but no event is sent.
func (c *Chat) Comment(ctx context.Context, from Client, in CommentIn) (Comment, error) {
	mine := write{id: in.ID, device: from.Device, print: fingerprint(Comments, in.Name, "text", in.Text, ""), line: line{room: Comments, kind: "text"}}
	err := c.say(ctx, from, &mine, c.budgets.comments, func() (err error) {
		if mine.line.user, err = c.name(from, Comments, in.Name); err != nil {
			return err
		}
		mine.line.text, err = c.text(from, Comments, in.Text)
		if err == nil && mine.line.text == "" {
			err = invalid("text", "must not be empty")
		}
		return err
	})
	return mine.line.comment(), err
}

// Say sends a message to a room. Errors as Comment's, station.ErrNotFound for a
// room, ErrTooLarge, and ErrUnavailable when too many voice notes come at once.
func (c *Chat) Say(ctx context.Context, from Client, in SayIn) (_ Message, err error) {
	room, err := c.room(in.Room)
	if err != nil {
		return Message{}, err
	}
	if in.Type == "" {
		in.Type = "text"
	}
	mine := write{id: in.ID, device: from.Device, print: fingerprint(room.ID, in.User, in.Type, in.Text, in.Data), line: line{room: room.ID, kind: in.Type}}
	release := func() {}
	defer func() {
		release()
		if err != nil && mine.line.media != "" { // or refused messages fill the disk until the next sweep
			c.discard(context.WithoutCancel(ctx), []string{mine.line.media})
		}
	}()
	err = c.say(ctx, from, &mine, c.budgets.messages, func() (err error) {
		if mine.line.user, err = c.name(from, room.ID, in.User); err != nil {
			return err
		}
		if mine.line.text, err = c.text(from, room.ID, in.Text); err != nil {
			return err
		}
		switch {
		case in.Type == "text" && mine.line.text == "":
			return invalid("text", "must not be empty")
		case in.Type == "text" && in.Data != "":
			return invalid("data", "is only for voice and image")
		case in.Type == "voice", in.Type == "image":
			release, err = c.attach(ctx, from, &mine.line, in.Data)
			return err
		case in.Type != "text":
			return invalid("type", "must be text, voice or image")
		}
		return nil
	})
	if err != nil {
		return Message{}, err
	}
	return mine.line.message(nil), nil
}

// write is a line to be saved, with the client's id for the write.
type write struct {
	id     string
	device string // whose id it is
	print  []byte
	line   line
}

// key returns the id as it is stored. It includes the device: two devices that number
// their writes from 1 do not collide.
func (m *write) key(c *Chat) string { return hex.EncodeToString(c.hashed("id", m.device+"/"+m.id)) }

func fingerprint(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return h.Sum(nil)[:16]
}

// say saves a line, unless it is saved already. prepare fills the line in.
func (c *Chat) say(ctx context.Context, from Client, mine *write, b budget, prepare func() error) error {
	if err := checkIDs(from, mine.id); err != nil {
		return err
	}
	// A write that was accepted before gets its answer, whatever has changed since.
	if known, err := c.known(ctx, c.opt.DB.Read(), mine); known || err != nil {
		return err
	}
	if err := b.take(from); err != nil {
		return err
	}
	mine.line.staff, mine.line.author = from.Staff, c.author(from)
	rules := c.rules.Load()
	if err := c.allowed(rules, &mine.line); err != nil {
		return err // before the expensive part
	}
	if err := slow(ctx, c.opt.DB.Read(), rules, &mine.line, c.opt.Now().UnixMilli()); err != nil {
		return err
	}
	if err := prepare(); err != nil {
		return err
	}
	return c.write(ctx, func(w *writer) error {
		if known, err := c.known(w.ctx, w.tx, mine); known || err != nil {
			return err
		}
		if err := c.allowed(w.rules, &mine.line); err != nil {
			return err
		}
		if err := slow(w.ctx, w.tx, w.rules, &mine.line, w.now); err != nil {
			return err
		}
		return w.add(mine)
	})
}

// known reads the answer to an earlier write with the same id.
func (c *Chat) known(ctx context.Context, q querier, mine *write) (bool, error) {
	if mine.id == "" {
		return false, nil
	}
	var print []byte
	var id int64
	err := q.QueryRowContext(ctx, `SELECT print, line FROM chat_once WHERE id = ?`, mine.key(c)).Scan(&print, &id)
	switch {
	case isNone(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up write id: %w", err)
	case string(print) != string(mine.print):
		return false, fmt.Errorf("id: already used for another request: %w", station.ErrConflict)
	}
	was, err := find(ctx, q, nameOf(mine.line.room, id))
	if errors.Is(err, station.ErrNotFound) { // deleted since
		mine.line.id = id
		return true, nil
	}
	if err == nil {
		mine.line = was
	}
	return true, err
}

func nameOf(room string, id int64) string { return (&line{room: room, id: id}).name() }

// allowed returns why a line may not be written. A shadow-muted author's line becomes
// hidden instead.
func (c *Chat) allowed(r *rules, l *line) error {
	l.state = shown
	if l.staff {
		return nil
	}
	if s, found := r.against(l.author, c.opt.Now().UnixMilli()); found {
		if s.Kind != shadow {
			return s.refusal()
		}
		l.state = hidden
	}
	if r.state(l.room).Closed {
		return fmt.Errorf("this room is closed: %w", station.ErrForbidden)
	}
	return nil
}

// slowShare is how many messages all devices of one address together may write in a
// room's pause: a client can claim any device.
const slowShare = 10

// slow refuses an author who writes faster than the room allows.
func slow(ctx context.Context, q querier, r *rules, l *line, now int64) error {
	pause := int64(r.state(l.room).Slow) * 1000
	if l.staff || pause == 0 {
		return nil
	}
	share := slowShare
	if l.author.device == nil {
		share = 1
	}
	for _, by := range []struct {
		column string
		who    []byte
		most   int
	}{{"device", l.author.device, 1}, {"address", l.author.address, share}} {
		if by.who == nil {
			continue
		}
		var at int64 // of the oldest message that counts; messages from the future do not, should the clock be set back
		err := q.QueryRowContext(ctx, `SELECT at FROM chat_lines WHERE `+by.column+` = ? AND room = ? AND at > ? AND at <= ?
			ORDER BY at DESC LIMIT 1 OFFSET ?`, by.who, l.room, now-pause, now, by.most-1).Scan(&at)
		switch {
		case err == nil:
			return &client.LimitError{RetryAfter: time.Duration(at+pause-now) * time.Millisecond}
		case !isNone(err):
			return fmt.Errorf("look up earlier messages: %w", err)
		}
	}
	return nil
}

// add saves a line and the client's id for it.
func (w *writer) add(mine *write) error {
	l := &mine.line
	l.at = w.now
	var media any
	if l.media != "" {
		media = l.media
		if err := w.chat.mediaBudget(w.ctx, w.tx, l.author, l.bytes); err != nil && !l.staff {
			return err
		}
		w.exec(`INSERT INTO chat_media (name, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING`, l.media, l.bytes)
	}
	res := w.exec(`INSERT INTO chat_lines (room, at, user, kind, text, media, duration, width, height, staff, state, device, address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		l.room, l.at, l.user, l.kind, l.text, media, l.duration, l.width, l.height, l.staff, l.state, l.author.device, l.author.address)
	l.id, _ = res.LastInsertId()
	if mine.id != "" {
		w.exec(`INSERT INTO chat_once (id, print, line, at) VALUES (?, ?, ?, ?)`, mine.key(w.chat), mine.print, l.id, w.now)
	}
	if l.media != "" {
		w.fit(l.media)
	}
	if l.id%64 == 0 {
		w.forget(`id <= ?`, l.id-mostLines)
	}
	if l.state == shown {
		w.later(l.payload())
	}
	return w.failed()
}

// attach checks an attachment and saves it.
func (c *Chat) attach(ctx context.Context, from Client, l *line, url string) (release func(), err error) {
	release = func() {}
	data, err := attach.Decode(url)
	if err != nil {
		return release, err
	}
	if !from.Staff {
		if err := c.mediaBudget(ctx, c.opt.DB.Read(), l.author, len(data)); err != nil {
			return release, err
		}
	}
	var kind attach.Kind
	if l.kind == "image" {
		p, err := attach.ReadPicture(data)
		if err != nil {
			return release, err
		}
		kind, data, l.width, l.height = p.Kind, p.Data, p.Width, p.Height
	} else {
		v, err := c.ear.Read(ctx, data)
		if err != nil {
			return release, err
		}
		kind, data, l.duration = v.Kind, v.Data, v.Duration.Milliseconds()
	}
	name := attach.Name(kind, data)
	if release, err = c.files.Put(name, data); err != nil {
		return func() {}, err
	}
	l.media, l.bytes = name, len(data)
	return release, nil
}
