package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/people"
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
