package desk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// registrar is a control plane that hears rolls.
type registrar struct {
	Control
	mu     sync.Mutex
	rolls  []string
	answer live.RollAnswer
	away   bool
}

func (r *registrar) Roll(_ context.Context, roll live.Roll) (live.RollAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return live.RollAnswer{}, errors.New("connection refused")
	}
	var all []string
	for _, a := range roll.Senders {
		all = append(all, a.Session)
	}
	slices.Sort(all)
	r.rolls = append(r.rolls, string(roll.Protocol)+" "+strings.Join(all, " "))
	return r.answer, nil
}

// A control plane that was started anew learns of the encoders that were told of before,
// and the desk under which id it has them now: under another its orders would bring no
// audio. One that is still to be told of has its own way, by which it may take the air.
func TestTheRollIsCalledAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		control := &registrar{away: true}
		log, lines := testkit.Log(t)
		d := New(Options{Log: log, Control: control})
		push := func(mount, id string) *push {
			return &push{
				src: live.Source{ID: id, URL: "source:" + mount}, tape: tape.New(),
				arrival: live.Arrival{Protocol: live.Icecast, URL: "source:" + mount, Session: mount[1:]},
			}
		}
		sara, omar := push("/sara", "LIVE1"), push("/omar", "")
		d.mu.Lock()
		d.pushes["/sara"], d.pushes["/omar"], d.pushes["/studio"] = sara, omar, push("/studio", "LIVE3")
		d.attachPushes()
		d.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.callRoll(ctx)
		}()
		time.Sleep(3 * rollEvery)
		synctest.Wait()
		control.mu.Lock()
		control.away, control.answer.Streams = false, map[string]string{"sara": "LIVE2", "omar": "LIVE9", "nobody": "LIVE4"}
		control.mu.Unlock()
		time.Sleep(2 * rollEvery)
		cancel()
		<-done
		if got := strings.Join(control.rolls, ", "); got != "source sara studio, source sara studio" || lines.Count("cannot tell") != 1 {
			t.Errorf("rolls %q, the log:\n%s", got, lines)
		}
		if d.mix.Tape("LIVE2") != sara.tape || d.mix.Tape("LIVE1") != nil || d.mix.Tape("LIVE3") == nil {
			t.Error("sara is at the bus under the id of before")
		}
		if omar.src.ID != "" {
			t.Errorf("omar is %q before it was told of", omar.src.ID)
		}
	})
}
