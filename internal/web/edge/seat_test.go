package edge_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/web/edge"
)

// The mission's sendMessage has a type and a text; who joined has given a name and a
// room before.
func TestAMessageIsInTheNameAndRoomOfTheJoin(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	hub := newDesk().hub
	talk, err := chat.Open(t.Context(), chat.Options{
		Log: quiet(), DB: db, Dir: filepath.Join(dir, "media"), Station: "أثير", KeepDays: 1, MediaBytes: 1 << 20, Now: time.Now,
		Rooms: []chat.Room{{ID: "main", Name: "main"}, {ID: "cairo", Name: "cairo"}}, Tell: func(event string, payload any) { hub.Tell(event, payload) },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv, _ := open(t, hub, edge.NewStation(edge.StationOptions{Hub: hub, Chat: talk, Refused: refused}))
	l := connect(t, srv, nil)
	for _, c := range []struct {
		event, body  string
		user, room   string // of the message; empty: the answer is refused, or no message
		refusedSince string
	}{
		{"sendMessage", `{"type":"text","text":"قبل"}`, "", "", "user: join the room first"},
		{"join", `{"name":"سلمى","room":"cairo"}`, "", "", ""},
		{"sendMessage", `{"type":"text","text":"أهلا"}`, "سلمى", "cairo", ""},
		{"sendMessage", `{"type":"text","text":"أهلا","room":"main"}`, "", "", "user: join the room first"},
		{"join", `{"name":"نور","room":"main"}`, "", "", ""},
		{"sendMessage", `{"type":"text","text":"مساء الخير"}`, "نور", "main", ""},
		{"sendMessage", `{"type":"text","text":"مساء النور","room":"cairo"}`, "سلمى", "cairo", ""},
		{"sendMessage", `{"type":"text","text":"باسم آخر","user":"ليلى"}`, "ليلى", "main", ""},
		{"join", `{"name":"نورا","room":"main"}`, "", "", ""},
		{"sendMessage", `{"text":"بلا نوع"}`, "نورا", "main", ""},
		{"leave", `{"room":"main"}`, "", "", ""},
		{"sendMessage", `{"type":"text","text":"بعد"}`, "سلمى", "cairo", ""},
	} {
		answer := l.ask(c.event, json.RawMessage(c.body))
		var got struct {
			OK      bool
			Message chat.Message
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if got.OK != (c.refusedSince == "") || !strings.Contains(string(answer), c.refusedSince) || got.Message.User != c.user || got.Message.Room != c.room {
			t.Errorf("%s %s: %s", c.event, c.body, answer)
		}
	}
}
