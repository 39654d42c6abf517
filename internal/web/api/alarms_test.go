package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/alarm/bell"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

// rung is a bell with one receiver that does not work.
type rung struct{}

func (rung) Standing() bell.Standing {
	return bell.Standing{On: []bell.On{{Kind: alarm.Bus, Since: 7}}, Receivers: []bell.State{{Receiver: "telegram", Waiting: true}}}
}

func (rung) Test(context.Context) []bell.Result {
	return []bell.Result{{Receiver: "telegram", Error: "401", Remedy: "check the token"}}
}

// Operators alone see the alarms and try their receivers; where there are none the answers
// are empty.
func TestAlarmsAreForOperators(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Alarms = secret.Of("open-sesame"), rung{} })
	for _, c := range []struct{ method, path, key, want string }{
		{"GET", "/api/station/alarms", "", "401"},
		{"POST", "/api/station/alarms/test", "", "401"},
		{"GET", "/api/station/alarms", "open-sesame", `"kind":"bus"`},
		{"POST", "/api/station/alarms/test", "open-sesame", `"remedy":"check the token"`},
	} {
		code, _, body := r.call(t, c.method, c.path, "", "X-Station-Key", c.key)
		if c.want == "401" && code != 401 || c.want != "401" && (code != 200 || !strings.Contains(body, c.want)) {
			t.Errorf("%s %s with key %q: %d %s", c.method, c.path, c.key, code, body)
		}
	}
	none := newRigWithKey(t, "open-sesame")
	if code, _, body := none.call(t, "POST", "/api/station/alarms/test", "", "X-Station-Key", "open-sesame"); code != 200 || !strings.Contains(body, `"results":[]`) {
		t.Errorf("without receivers: %d %s", code, body)
	}
}
