package chat_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the child that a test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CHAT_TEST_DIR"); dir != "" {
		chatForEver(dir)
		return
	}
	testkit.Main(m)
}

// house is a station whose clock and crowd a test sets.
type house struct {
	*chat.Chat
	db  *store.DB
	opt chat.Options

	mu      sync.Mutex
	now     time.Time
	told    []told
	members int
}

type told struct {
	event   string
	payload string
}

func (h *house) tell(event string, payload any) {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, told{event, string(data)})
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *house) heard(event string) (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.told {
		if e.event == event {
			out = append(out, e.payload)
		}
	}
	return out
}

func (h *house) reopen(t testing.TB) {
	t.Helper()
	c, err := chat.Open(context.Background(), h.opt)
	if err != nil {
		t.Fatal(err)
	}
	h.Chat = c
}

func open(t testing.TB, change ...func(*chat.Options)) *house {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h := &house{db: db, now: time.UnixMilli(1_700_000_000_000)}
	h.opt = chat.Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Dir: filepath.Join(dir, "media"), Station: "أثير",
		Rooms: []chat.Room{{ID: "main", Name: "الصالة"}, {ID: "cairo", Name: "القاهرة"}}, Reserved: []string{"منى الشاذلي"}, Welcome: "أهلا {name} في {room}",
		KeepDays: 30, MediaBytes: 64 << 20, Tell: h.tell, Now: h.clock,
		Members: func(string) int {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.members
		},
	}
	for _, c := range change {
		c(&h.opt)
	}
	h.reopen(t)
	return h
}

func listener(n int) chat.Client {
	return chat.Client{Address: fmt.Sprintf("198.51.100.%d", n), Device: fmt.Sprintf("device-%04d", n)}
}

var staff = chat.Client{Address: "203.0.113.1", Device: "studio-desk", Staff: true}

func is(t testing.TB, err error, kind error, what string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v", what, err)
	}
}

func limited(t testing.TB, err error, what string) *client.LimitError {
	t.Helper()
	var limit *client.LimitError
	if !errors.As(err, &limit) {
		t.Errorf("%s: %v", what, err)
		return &client.LimitError{}
	}
	return limit
}

func (h *house) say(t testing.TB, from chat.Client, text string) chat.Message {
	t.Helper()
	m, err := h.Say(t.Context(), from, chat.SayIn{User: "سلمى", Room: "main", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (h *house) texts(t testing.TB, from chat.Client) (out []string) {
	t.Helper()
	h.pass(time.Minute)
	in, err := h.Join(t.Context(), from, chat.JoinIn{Name: "قارئ", Room: "main"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range in.History {
		out = append(out, m.Text)
	}
	return out
}

func picture(t testing.TB, n int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 10+n, 10))); err != nil {
		t.Fatal(err)
	}
	return "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestACommentIsKeptToldAndCountsOnce(t *testing.T) {
	h := open(t)
	in := chat.CommentIn{Name: "  سلمى  محمد ", Text: "أجمل إذاعة\u202e\n\n\n\nفعلا", ID: "my-first-comment"}
	first, err := h.Comment(t.Context(), listener(1), in)
	if err != nil || first.ID != "c1" || first.Name != "سلمى محمد" || first.Text != "أجمل إذاعة\n\nفعلا" || first.Staff {
		t.Fatalf("%+v %v", first, err)
	}
	for range 3 { // another edge, another address, after a restart
		h.reopen(t)
		again, err := h.Comment(t.Context(), chat.Client{Address: "192.0.2.7", Device: listener(1).Device}, in)
		if err != nil || again != first {
			t.Errorf("%+v %v", again, err)
		}
	}
	in.Text = "شيء آخر"
	_, err = h.Comment(t.Context(), listener(1), in)
	is(t, err, station.ErrConflict, "another comment under the same id")
	in.ID = ""
	for range 2 {
		if _, err := h.Comment(t.Context(), listener(1), in); err != nil {
			t.Fatal(err)
		}
	}
	all, err := h.CommentsAfter(t.Context(), "", 50)
	if err != nil || len(all) != 3 || all[0] != first {
		t.Errorf("%+v %v", all, err)
	}
	if after, err := h.CommentsAfter(t.Context(), "c1", 50); err != nil || len(after) != 2 || after[0].ID != "c2" {
		t.Errorf("%+v %v", after, err)
	}
	if events := h.heard("new_comment"); len(events) != 3 || !strings.Contains(events[0], `"id":"c1","name":"سلمى محمد"`) {
		t.Errorf("told: %v", events)
	}
	for _, wrong := range []chat.CommentIn{
		{Name: "", Text: "x"}, {Name: "x", Text: ""}, {Name: "x", Text: " \u200b "}, {Name: "x", Text: strings.Repeat("x", 1001)}, {Name: "إدارة", Text: "x"}, {Name: "Аdmin", Text: "x"},
		{Name: "أثـير", Text: "x"}, {Name: "منى الشاذلى", Text: "x"}, {Name: "x", Text: "x", ID: "short"}, {Name: "x", Text: "x", ID: "has a space in it"},
	} {
		_, err := h.Comment(t.Context(), listener(9), wrong)
		is(t, err, station.ErrInvalid, fmt.Sprintf("%+v", wrong))
		h.pass(time.Minute)
	}
	if c, err := h.Comment(t.Context(), staff, chat.CommentIn{Name: "الإدارة", Text: "مرحبا"}); err != nil || !c.Staff {
		t.Errorf("the staff: %+v %v", c, err)
	}
	newest, err := h.Newest(t.Context())
	if err != nil || newest["new_comment"] != "c4" || newest["message"] != "m0" {
		t.Errorf("%v %v", newest, err)
	}
	if missed, err := h.Since(t.Context(), "new_comment", "c2"); err != nil || len(missed) != 2 || missed[0].(chat.Comment).ID != "c3" {
		t.Errorf("%v %v", missed, err)
	}
}

// Programs that count their writes from 1 do not answer for one another.
func TestTheSameIDOfTwoDevicesIsTwoWrites(t *testing.T) {
	h := open(t)
	ids := map[string]bool{}
	for n := range 3 {
		for range 2 {
			c, err := h.Comment(t.Context(), listener(n), chat.CommentIn{Name: "x", Text: "مرحبا", ID: "00000001"})
			if err != nil {
				t.Fatal(err)
			}
			ids[c.ID] = true
		}
	}
	if len(ids) != 3 || len(h.heard("new_comment")) != 3 {
		t.Errorf("kept as %v", ids)
	}
}

func TestRoomsWelcomeAndShowWhatWasSaid(t *testing.T) {
	h := open(t)
	for i := range 60 {
		h.say(t, staff, fmt.Sprint("رسالة ", i))
	}
	if _, err := h.Say(t.Context(), staff, chat.SayIn{User: "x", Room: "cairo", Text: "elsewhere"}); err != nil {
		t.Fatal(err)
	}
	out, err := h.Join(t.Context(), listener(1), chat.JoinIn{Name: " هدى ", Room: "main"})
	if err != nil || len(out.History) != 50 || out.History[49].Text != "رسالة 59" || out.History[0].Text != "رسالة 10" || out.Name != "هدى" || !out.State.Links || out.Welcome != nil {
		t.Fatalf("%d %+v %v", len(out.History), out.State, err)
	}
	if told := h.heard("message"); !strings.Contains(told[len(told)-1], `"user":"أثير","text":"أهلا هدى في الصالة","room":"main","type":"admin"`) || strings.Contains(told[len(told)-1], `"id"`) {
		t.Errorf("the welcome: %s", told[len(told)-1])
	}
	older, err := h.Messages(t.Context(), "main", out.History[0].ID, 5)
	if err != nil || len(older) != 5 || older[4].Text != "رسالة 9" {
		t.Errorf("%+v %v", older, err)
	}
	for _, in := range []chat.JoinIn{{Name: "x", Room: "nowhere"}, {Name: "x", Room: chat.Comments}, {Name: "x", Room: "MAIN"}} {
		_, err := h.Join(t.Context(), listener(2), in)
		is(t, err, station.ErrNotFound, in.Room)
	}
	_, err = h.Say(t.Context(), listener(2), chat.SayIn{User: "x", Room: chat.Comments, Text: "x"})
	is(t, err, station.ErrNotFound, "a message among the comments")
	_, err = h.Join(t.Context(), listener(2), chat.JoinIn{Name: "admin", Room: "main"})
	is(t, err, station.ErrInvalid, "a name of the staff")

	// A crowd, or a storm of joins, is welcomed one by one.
	before := len(h.heard("message"))
	quiet := 0
	for i := range 30 {
		out, err := h.Join(t.Context(), listener(10+i), chat.JoinIn{Name: "زائر", Room: "main"})
		if err != nil {
			t.Fatal(err)
		}
		if out.Welcome != nil && out.Welcome.Type == "admin" {
			quiet++
		}
	}
	if told := len(h.heard("message")) - before; told > 5 || told+quiet != 30 {
		t.Errorf("%d welcomes before everybody, %d alone", told, quiet)
	}
	h.pass(time.Hour)
	h.members = chat.CrowdedRoom + 1
	if out, err := h.Join(t.Context(), listener(1), chat.JoinIn{Name: "زائر", Room: "main"}); err != nil || out.Welcome == nil || out.Members != 51 {
		t.Errorf("%+v %v", out.Welcome, err)
	}
	if rooms := h.Rooms(); len(rooms) != 2 || rooms[1].Name != "القاهرة" || rooms[1].Room != "cairo" || rooms[0].Members != 51 {
		t.Errorf("%+v", rooms)
	}
}

func TestAttachmentsAreKeptOnceAndGoWithTheirLastMessage(t *testing.T) {
	h := open(t)
	files := func() (n int) {
		_ = filepath.WalkDir(h.opt.Dir, func(_ string, d os.DirEntry, _ error) error {
			if d != nil && d.Type().IsRegular() {
				n++
			}
			return nil
		})
		return n
	}
	var sent []chat.Message
	for i := range 3 {
		m, err := h.Say(t.Context(), listener(i), chat.SayIn{User: "سلمى", Room: "main", Type: "image", Data: picture(t, 0), Text: "صورة"})
		if err != nil || m.MIME != "image/png" || m.Width != 10 || !strings.HasPrefix(m.URL, "/chat/media/") {
			t.Fatalf("%+v %v", m, err)
		}
		sent = append(sent, m)
	}
	if sent[0].URL != sent[2].URL || files() != 1 {
		t.Errorf("%d files, %s and %s", files(), sent[0].URL, sent[2].URL)
	}
	if told := h.heard("message"); strings.Contains(told[0], "base64") {
		t.Error("everybody is sent the picture itself")
	}
	for i, m := range sent {
		if files() != 1 {
			t.Errorf("the picture is gone before its last message, %d", i)
		}
		if err := h.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Delete(t.Context(), chat.By{}, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	if files() != 0 {
		t.Error("the picture outlives its messages")
	}
	for _, wrong := range []chat.SayIn{
		{Type: "image", Data: "data:image/png;base64,PHN2Zz4="}, {Type: "image", Data: "https://example.org/a.png"}, {Type: "image"}, {Type: "voice", Data: picture(t, 0)}, {Type: "text", Text: "x", Data: picture(t, 0)},
		{Type: "admin", Text: "x"}, {Type: "video", Text: "x"}, {Type: "text"},
	} {
		wrong.User, wrong.Room = "x", "main"
		_, err := h.Say(t.Context(), listener(9), wrong)
		is(t, err, station.ErrInvalid, fmt.Sprintf("%.60v", wrong))
		h.pass(time.Minute)
	}

	// A file that a kill left without its message is swept, and no other.
	kept, err := h.Say(t.Context(), listener(1), chat.SayIn{User: "x", Room: "main", Type: "image", Data: picture(t, 5)})
	if err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(h.opt.Dir, "ab", "cd", "abcd"+strings.Repeat("0", 60)+".png")
	if err := errors.Join(os.MkdirAll(filepath.Dir(stray), 0o755), os.WriteFile(stray, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := h.Tidy(t.Context()); err != nil || files() != 1 {
		t.Errorf("%d files: %v", files(), err)
	}
	// Retention takes message and file.
	for range 31 {
		h.pass(24 * time.Hour)
		if err := h.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Tidy(t.Context()); err != nil || files() != 0 || len(h.texts(t, listener(2))) != 0 {
		t.Errorf("%d files after 31 days: %v", files(), err)
	}
	_ = kept
}

func TestVoiceNotesAreMeasuredAndAttachmentsFitTheirSpace(t *testing.T) {
	note := make([]byte, 44+8000*2)
	copy(note, "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x80\x3e\x00\x00")
	note[4], note[5] = byte(len(note)-8), byte((len(note)-8)>>8)
	h := open(t, func(o *chat.Options) { o.MediaBytes = 100_000 })
	var last chat.Message
	for i := range 10 {
		note[60] = byte(i + 1)
		m, err := h.Say(t.Context(), listener(i), chat.SayIn{User: "x", Room: "main", Type: "voice", Data: "data:audio/wav;base64," + base64.StdEncoding.EncodeToString(note)})
		if err != nil || m.DurationMS != 2000 || m.MIME != "audio/wav" {
			t.Fatalf("%+v %v", m, err)
		}
		last = m
	}
	all, err := h.Messages(t.Context(), "main", "", 50)
	if err != nil || len(all) != 6 || all[5].ID != last.ID {
		t.Errorf("%d notes of 16 KB in 100 KB: %v", len(all), err)
	}
	if gone := h.heard("message_deleted"); len(gone) != 4 {
		t.Errorf("told of %d", len(gone))
	}
}

func TestOneClientHasABudgetAndIsToldWhenToComeBack(t *testing.T) {
	h := open(t)
	for what, try := range map[string]func(from chat.Client) error{
		"comments": func(from chat.Client) error {
			_, err := h.Comment(t.Context(), from, chat.CommentIn{Name: "x", Text: "x"})
			return err
		},
		"messages": func(from chat.Client) error {
			_, err := h.Say(t.Context(), from, chat.SayIn{User: "x", Text: "x"})
			return err
		},
		"joins": func(from chat.Client) error {
			_, err := h.Join(t.Context(), from, chat.JoinIn{Name: "x"})
			return err
		},
		"reactions": func(from chat.Client) error {
			_, err := h.React(t.Context(), from, chat.ReactIn{MsgID: "m999", Emoji: "👍"})
			if errors.Is(err, station.ErrNotFound) {
				return nil
			}
			return err
		},
	} {
		one, done := chat.Client{Address: "192.0.2.1", Device: "one-device"}, 0
		var err error
		for ; err == nil && done < 1000; done++ {
			err = try(one)
		}
		if limit := limited(t, err, what); limit.Seconds() < 1 || limit.Seconds() > 60 || done > 40 {
			t.Errorf("%s: %d at once, then %d s", what, done, limit.Seconds())
		}
		if err := try(chat.Client{Address: "192.0.2.1", Device: "its-neighbour"}); err != nil {
			t.Errorf("%s: another at the same address: %v", what, err)
		}
		err, done = nil, 0 // a new device each time
		for ; err == nil && done < 1000; done++ {
			err = try(chat.Client{Address: "192.0.2.9", Device: fmt.Sprintf("device-of-%d", done)})
		}
		if limited(t, err, what+" of many devices"); done > 200 {
			t.Errorf("%s: %d from one address", what, done)
		}
		for range 50 {
			if err := try(staff); err != nil {
				t.Fatalf("%s of the staff: %v", what, err)
			}
		}
	}
	big := bytes.Repeat([]byte{0x80}, 1<<20)
	copy(big, "RIFF\x00\x00\x10\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x80\x3e\x00\x00\x01\x00\x08\x00data\xd4\xff\x0f\x00")
	sent, err := 0, error(nil)
	for ; err == nil && sent < 40; sent++ {
		h.pass(time.Minute)
		big[100] = byte(sent)
		_, err = h.Say(t.Context(), listener(77), chat.SayIn{User: "x", Type: "voice", Data: "data:;base64," + base64.StdEncoding.EncodeToString(big)})
	}
	if limit := limited(t, err, "voice notes of one device"); sent != 17 || limit.Seconds() < 60 {
		t.Errorf("%d MiB in an hour, then %d s", sent-1, limit.Seconds())
	}
}

func TestReactionsAreOnePerClientAndEmoji(t *testing.T) {
	h := open(t)
	m := h.say(t, staff, "مساء الخير")
	off := false
	react := func(n int, face string, on *bool) map[string]int {
		t.Helper()
		out, err := h.React(t.Context(), listener(n), chat.ReactIn{MsgID: m.ID, Emoji: face, User: "x", On: on})
		if err != nil {
			t.Fatal(err)
		}
		return out.Counts
	}
	for range 3 {
		react(1, "❤️", nil)
	}
	react(2, "❤", nil) // the same, from a keyboard without selectors
	react(1, "👍", nil)
	if got := react(3, "🔥", nil); fmt.Sprint(got) != fmt.Sprint(map[string]int{"❤️": 2, "👍": 1, "🔥": 1}) {
		t.Errorf("%v", got)
	}
	react(1, "👍", &off)
	react(1, "👍", &off)
	h.reopen(t)
	all, err := h.Messages(t.Context(), "main", "", 1)
	if err != nil || fmt.Sprint(all[0].Reactions) != fmt.Sprint(map[string]int{"❤️": 2, "🔥": 1}) {
		t.Errorf("%v %v", all[0].Reactions, err)
	}
	if told := h.heard("message_reaction"); len(told) != 5 || !strings.Contains(told[4], `"room":"main","emoji":"👍","count":0`) {
		t.Errorf("%d told: %v", len(told), told)
	}
	for _, wrong := range []chat.ReactIn{{MsgID: m.ID, Emoji: "a"}, {MsgID: m.ID, Emoji: ""}, {MsgID: m.ID, Emoji: "👍👍"}, {MsgID: "x", Emoji: "👍"}, {MsgID: "c1", Emoji: "👍"}, {MsgID: "m-1", Emoji: "👍"}, {MsgID: "m+1", Emoji: "👍"}} {
		_, err := h.React(t.Context(), listener(4), wrong)
		is(t, err, station.ErrInvalid, fmt.Sprintf("%+v", wrong))
	}
	_, err = h.React(t.Context(), listener(4), chat.ReactIn{MsgID: "m999", Emoji: "👍"})
	is(t, err, station.ErrNotFound, "a message that is not there")
	for i, face := range strings.Fields("😀 😁 😂 😃 😄 😅 😆 😇 😈 😉 😊 😋 😌 😍 😎 😏 😐 😑 😒 😓 😔") {
		h.pass(time.Minute)
		if _, err = h.React(t.Context(), listener(10+i), chat.ReactIn{MsgID: m.ID, Emoji: face}); err != nil {
			break
		}
	}
	is(t, err, station.ErrConflict, "more emoji than a message holds")
}

// Many at once, some of it twice under one id: all of it is there, once.
func TestNothingIsLostOrDoubledAmongMany(t *testing.T) {
	h := open(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]string{}
	for i := range 20 {
		all.Go(func() {
			for j := range 6 {
				in := chat.SayIn{User: "x", Room: "main", Text: fmt.Sprintf("%d-%d", i, j), ID: fmt.Sprintf("write-%d-%d", i, j)}
				var twice sync.WaitGroup
				for range 2 {
					twice.Go(func() {
						m, err := h.Say(context.Background(), chat.Client{}, in)
						mu.Lock()
						defer mu.Unlock()
						if was, ok := ids[in.Text]; err != nil || (ok && was != m.ID) {
							t.Errorf("%s is %s, then %s: %v", in.Text, was, m.ID, err)
						}
						ids[in.Text] = m.ID
					})
				}
				twice.Wait()
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	missed, err := h.Since(t.Context(), "message", "m0")
	for _, m := range missed {
		seen[m.(chat.Message).Text]++
	}
	if err != nil || len(seen) != 120 || len(missed) != 120 || len(h.heard("message")) != 120 {
		t.Errorf("%d texts, %d rows, %d told: %v", len(seen), len(missed), len(h.heard("message")), err)
	}
	// What was told came in the order of the ids.
	var order []int
	for _, payload := range h.heard("message") {
		var m struct{ ID string }
		_ = json.Unmarshal([]byte(payload), &m)
		var n int
		_, _ = fmt.Sscanf(m.ID, "m%d", &n)
		order = append(order, n)
	}
	if !slices.IsSorted(order) {
		t.Error("told out of order")
	}
}

func TestWhatCouldNotBeKeptIsNotTold(t *testing.T) {
	h := open(t)
	h.say(t, staff, "kept")
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Say(t.Context(), staff, chat.SayIn{User: "x", Text: "lost"}); err == nil {
		t.Error("a message without a database is answered")
	}
	if told := h.heard("message"); len(told) != 1 {
		t.Errorf("%v", told)
	}
}

func TestAddressesAreInNoTable(t *testing.T) {
	h := open(t)
	m := h.say(t, chat.Client{Address: "198.51.100.77", Device: "secret-device"}, "x")
	if _, err := h.Mute(t.Context(), chat.By{Address: "203.0.113.1"}, chat.SanctionIn{Of: m.ID, Address: true}); err != nil {
		t.Fatal(err)
	}
	if err := h.PutWords(t.Context(), chat.By{}, []words.Word{{Word: "x", Action: "block"}}); err != nil {
		t.Fatal(err)
	}
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(h.db.Path())
	if err != nil || len(b) < 4096 {
		t.Fatal(err)
	}
	for _, secret := range []string{"198.51.100.77", "secret-device"} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s stands in the database", secret)
		}
	}
}
