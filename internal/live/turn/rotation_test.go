package turn

import (
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A long show over a turn of the secret: the phone that is on refreshes what it has past its
// credential's expiry, a new one comes in with the next secret, and who shows a credential
// of the epoch before the last does not.
func TestAShowLivesThroughRotations(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	turn := noon.Add(Rotation)
	c := &clock{now: turn.Add(-time.Minute)}
	s := start(t, m, func(o *Options) { o.Quotas.Quiet, o.Now = 2*Lifetime+2*Grace, c.Now })
	username, password, _ := Credentials(north, "show", c.Now())
	sara := phone(t, s, "udp", username, password) // the library's own client
	relayed := allocate(t, sara)
	speak(t, relayed, m.at(), "before the turn")
	keeper := newRaw(t, s, username, password) // one that says what it is answered
	if code := keeper.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
		t.Fatal(code)
	}

	enter := func(what string, issued time.Time, want stun.ErrorCode) {
		t.Helper()
		username, password, _ := Credentials(north, "new", issued)
		one := newRaw(t, s, username, password)
		if code := one.ask(stun.MethodAllocate, transport(protocolUDP)); code != want {
			t.Errorf("%s: %d, want %d", what, code, want)
		} else if code == 0 {
			if code := one.ask(stun.MethodRefresh, lifetime(0)); code != 0 {
				t.Errorf("%s: giving back gets %d", what, code)
			}
		}
	}
	keep := func(what string, want stun.ErrorCode) {
		t.Helper()
		for method, attribute := range map[stun.Method]stun.Setter{
			stun.MethodRefresh: lifetime(250), stun.MethodCreatePermission: peer(m.at()), stun.MethodChannelBind: channel(0x4000),
		} {
			attributes := []stun.Setter{attribute}
			if method == stun.MethodChannelBind {
				attributes = append(attributes, peer(m.at()))
			}
			if code := keeper.ask(method, attributes...); code != want {
				t.Errorf("%s: %s gets %d, want %d", what, method, code, want)
			}
		}
	}

	c.set(turn.Add(time.Minute))
	enter("a credential of the new epoch", c.Now(), 0)
	enter("one of the epoch before", turn.Add(-time.Minute), 0)
	enter("one of two epochs before", turn.Add(-Rotation-time.Minute), stun.CodeBadRequest)
	keep("after the turn", 0)
	speak(t, relayed, m.at(), "after the turn")

	c.set(turn.Add(Lifetime + time.Hour)) // past its expiry
	enter("an expired credential", turn.Add(-time.Minute), stun.CodeBadRequest)
	enter("a new one", c.Now(), 0)
	keep("past the expiry", 0)
	if err := sara.CreatePermission(m.LocalAddr()); err != nil {
		t.Errorf("the library's client, past the expiry: %v", err)
	}
	speak(t, relayed, m.at(), "past the expiry")
	if got := s.Stats(); got.Kept < 4 {
		t.Errorf("%+v", got)
	}
	// The user name alone keeps nothing: another phone that has it has no allocation.
	other := newRaw(t, s, username, password)
	if code := other.ask(stun.MethodRefresh, lifetime(60)); code != stun.CodeBadRequest {
		t.Errorf("a refresh of nothing gets %d", code)
	}

	c.set(turn.Add(-time.Minute + Lifetime + Grace)) // and after two turns no more
	keep("twelve hours past the expiry", stun.CodeBadRequest)
	if err := sara.CreatePermission(m.LocalAddr()); err == nil {
		t.Error("the library's client is kept for ever")
	}
	s.book.sweep()
	testkit.Eventually(t, "the end of what is too old", func() bool { return s.Stats().Allocations == 0 })
	heard := len(m.heard())
	_, _ = relayed.WriteTo([]byte("too late"), m.LocalAddr())
	late := newRaw(t, s, "", "")
	if answer := late.exchange(late.build(stun.ClassRequest, stun.MethodBinding)); answer.Type != stun.BindingSuccess {
		t.Error(answer)
	}
	if len(m.heard()) != heard {
		t.Error("it is still relayed")
	}
}
