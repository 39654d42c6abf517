package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/people"
	kinds "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// The edge sees where a session comes from, the station knows whether that matters.
func TestTheStationHearsThatAnotherSiteLedADeskHere(t *testing.T) {
	hub := newDesk().hub
	problem := func(err error) json.RawMessage {
		return fmt.Appendf(nil, `{"ok":false,"error":{"detail":%q}}`, err)
	}
	station := edge.NewStation(edge.StationOptions{Hub: hub, Refused: problem, Operator: func(_, _ string, foreign bool) (people.Caller, error) {
		if foreign {
			return people.Caller{}, errors.New("another site")
		}
		return people.Caller{Rights: people.All}, nil
	}})
	for _, foreign := range []bool{false, true} {
		e := edge.New(edge.Options{
			Log: quiet(), Source: hub, Desk: station, Refused: refused, Present: func(edge.Presence) {},
			Staff:  edge.AskOperator(t.Context(), station),
			Socket: socket.Options{Foreign: func(*http.Request) bool { return foreign }},
		})
		srv := httptest.NewServer(e.Handler())
		stop := testkit.Background(t, e.Run)
		connect(t, srv, nil) // a listener may come from anywhere
		desk, err := sockettest.Dial(context.WithoutCancel(t.Context()), srv.URL, auth{"key": "any"})
		if away := err != nil && strings.Contains(err.Error(), "another site"); away != foreign {
			t.Errorf("foreign: %t, a desk is answered: %v", foreign, err)
		}
		if err == nil {
			desk.Close()
		}
		stop()
		srv.Close()
	}
}

// A presenter who is locked while connected speaks no more and writes no more as the station;
// what began on the air can still be ended, and the log of orders has who began it.
func TestWhoIsLockedSpeaksNoMoreOnAnOpenConnection(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	staff, err := people.Open(t.Context(), people.Options{Log: quiet(), DB: db, Cost: people.Cost{Passes: 1, Memory: 1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := staff.Add(t.Context(), people.User{Login: "sara", Role: people.Presenter})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := staff.Begin(t.Context(), in.User.ID, "Firefox")
	if err != nil {
		t.Fatal(err)
	}
	var refused error
	station := edge.NewStation(edge.StationOptions{
		Hub: newDesk().hub, People: staff, Live: injection.New(injection.Options{Log: quiet()}),
		Refused: func(err error) json.RawMessage { refused = err; return json.RawMessage(`{"ok":false}`) },
	})
	ask := func(event string) error {
		refused = nil
		station.Do(t.Context(), edge.Ask{Event: event, From: edge.Client{Socket: "one", Speaks: true, Of: begun.ID}})
		return refused
	}
	if err := ask("start_stream"); errors.Is(err, kinds.ErrUnauthentic) {
		t.Errorf("a presenter: %v", err)
	}
	yes := true
	if _, err := staff.Update(t.Context(), in.User.ID, people.Patch{Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]bool{"start_stream": true, "audio_data": true, "stop_stream": false} {
		if err := ask(event); errors.Is(err, kinds.ErrUnauthentic) != want {
			t.Errorf("%s after the lock: %v", event, err)
		}
	}
	list, err := staff.Orders(t.Context(), in.User.ID, 0, 10)
	if err != nil || len(list) == 0 || list[len(list)-1].Order != "event start_stream" || list[len(list)-1].Name != "sara" {
		t.Errorf("%+v, %v", list, err)
	}
}

// What stations of either age answer is understood by edges of either age.
func TestAnEdgeUnderstandsAnOlderStation(t *testing.T) {
	for answer, want := range map[string]people.Right{
		`{"ok":true,"staff":true}`:                                people.Moderate | people.Air,
		`{"ok":true,"staff":false}`:                               0,
		`{"ok":true,"staff":false,"writes":true,"speaks":false}`:  people.Moderate,
		`{"ok":true,"staff":false,"writes":false,"speaks":true}`:  people.Air,
		`{"ok":true,"staff":true,"writes":true,"speaks":true}`:    people.Moderate | people.Air,
		`{"ok":true,"staff":false,"writes":false,"speaks":false}`: 0,
	} {
		who, err := edge.AskOperator(t.Context(), answering(answer))("key", "", false)
		if err != nil || who.Rights != want {
			t.Errorf("%s: %+v, %v", answer, who, err)
		}
	}
}

// answering is a desk that answers one thing.
type answering string

func (a answering) Do(context.Context, edge.Ask) json.RawMessage { return json.RawMessage(a) }
