package app

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/handover"
	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// listened is as much of a control plane as has listeners.
type listened struct {
	*audience
	srv *httptest.Server
	end func()
}

func listenTo(t *testing.T, cfg *config.Config, db *store.DB) *listened {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a := &audience{cfg: cfg, log: log, hub: newHub(log)}
	var err error
	a.chat, err = openChat(t.Context(), cfg, log, db, a.hub.Tell, func(string) int { return 0 })
	must(t, err)
	a.sockets, err = handover.Return(t.Context(), log, handover.Path(cfg.DataDir), a.hub, a.chat, time.Now())
	must(t, err)
	a.edge = edge.New(edge.Options{
		Log: log, Source: a.hub, Refused: api.Refused, Present: func(edge.Presence) {}, Socket: onedge.SocketOptions(cfg, log), Saved: a.sockets,
		Desk:  edge.NewStation(edge.StationOptions{Hub: a.hub, Chat: a.chat, Refused: api.Refused}),
		Staff: func(string, string, bool) (people.Caller, error) { return people.Caller{}, nil },
	})
	srv := httptest.NewServer(a.edge.Handler())
	stop := testkit.Background(t, a.edge.Run)
	l := &listened{a, srv, func() { stop(); srv.CloseClientConnections(); srv.Close() }}
	t.Cleanup(l.end)
	return l
}

func (l *listened) says(t *testing.T, text string) {
	t.Helper()
	_, err := l.chat.Comment(t.Context(), chat.Client{Staff: true}, chat.CommentIn{Name: "المذيع", Text: text})
	must(t, err)
}

func (l *listened) come(t *testing.T, auth map[string]any) *sockettest.Client {
	t.Helper()
	var c *sockettest.Client
	testkit.Eventually(t, "a connection", func() (ok bool) {
		var err error
		if c, err = sockettest.Dial(t.Context(), l.srv.URL, auth); err != nil && !strings.Contains(err.Error(), "503") {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Cleanup(c.Close)
	return c
}

// back is what a client shows that has heard its last event.
func back(c *sockettest.Client) map[string]any {
	auth := map[string]any{"recover": true, "pid": c.PID}
	if all := c.All(); len(all) > 0 {
		auth["offset"] = all[len(all)-1].Offset
	}
	return auth
}

// A restart of the control plane loses nothing: who was connected is the same, and the
// numbers go on. After a crash, or where the database knows of more than was told, both
// begin anew.
func TestListenersAreTheSameAfterARestartOfTheControlPlane(t *testing.T) {
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir()})
	must(t, err)
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	path := handover.Path(cfg.DataDir)

	l := listenTo(t, cfg, db)
	epoch := l.hub.Mark().Epoch
	c := l.come(t, map[string]any{"recover": true})
	for i := range 3 { // one after another
		l.says(t, fmt.Sprint("said ", i))
		testkit.Eventually(t, "the comment", func() bool { return len(c.Heard("new_comment")) == 1 })
		l.end()
		handover.Leave(l.log, path, l.hub, l.edge, time.Now())
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		before := c
		l = listenTo(t, cfg, db)
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("the file is still there: %v", err)
		}
		if c = l.come(t, back(before)); c.PID != before.PID || c.ID != before.ID || l.hub.Mark().Epoch != epoch || l.hub.Mark().Seq != uint64(i+1) {
			t.Errorf("restart %d: came back as %s, was %s; the hub is at %+v", i, c.ID, before.ID, l.hub.Mark())
		}
		if len(c.All()) != 0 {
			t.Errorf("heard again: %v", c.All())
		}
	}

	// A ban is told like what is said.
	spam, err := l.chat.Comment(t.Context(), chat.Client{Device: "a-device-of-spam"}, chat.CommentIn{Name: "x", Text: "buy"})
	must(t, err)
	_, err = l.chat.Ban(t.Context(), chat.By{}, chat.SanctionIn{Of: spam.ID})
	must(t, err)
	l.end()
	handover.Leave(l.log, path, l.hub, l.edge, time.Now())

	// Killed: what it was told is used up.
	l = listenTo(t, cfg, db)
	if l.hub.Mark().Epoch != epoch {
		t.Error("began anew")
	}
	l.says(t, "before the kill")
	l.end()
	before := c
	l = listenTo(t, cfg, db)
	if c = l.come(t, back(before)); c.PID == before.PID || l.hub.Mark().Epoch == epoch || l.hub.Mark().Seq != 0 {
		t.Errorf("after a kill the hub is at %+v", l.hub.Mark())
	}

	// Something was put on disk, and never told.
	epoch = l.hub.Mark().Epoch
	l.end()
	handover.Leave(l.log, path, l.hub, l.edge, time.Now())
	quiet, err := openChat(t.Context(), cfg, l.log, db, func(string, any) {}, nil)
	must(t, err)
	_, err = quiet.Comment(t.Context(), chat.Client{Staff: true}, chat.CommentIn{Name: "x", Text: "not told"})
	must(t, err)
	if l = listenTo(t, cfg, db); l.hub.Mark().Epoch == epoch {
		t.Error("the hub goes on though the database has more")
	}
}
