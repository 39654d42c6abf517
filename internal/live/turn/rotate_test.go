package turn

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/secret"
)

// TURN_SECRET is replaced while a phone is live: its credential opens and keeps allocations
// until the old secret's time, one of the new secret does from the beginning, and neither
// depends on when it was issued.
func TestALiveCredentialOutlivesItsSecret(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	begin := time.Now()
	clock := func() time.Time { return begin.Add(time.Duration(ahead.Load())) }
	held := secret.New("north", clock)
	s := start(t, echo(t, "127.0.0.1:0"), func(o *Options) { o.Secret, o.Now = held, clock })
	issued := func() (username, password string) {
		one := s.Servers(clock(), "127.0.0.1", true)[0]
		return one.Username, one.Credential
	}
	allocate := func(what, username, password string, want stun.ErrorCode) *raw {
		t.Helper()
		c := newRaw(t, s, username, password)
		if code := c.ask(stun.MethodAllocate, transport(protocolUDP)); code != want {
			t.Errorf("%s: an allocation: %d, want %d", what, code, want)
		}
		return c
	}
	oldName, oldPassword := issued()
	earlier, earlierPassword, _ := Credentials(north, "of-an-earlier-version", clock())
	phone := allocate("before", oldName, oldPassword, 0)
	before := allocate("of an earlier version", earlier, earlierPassword, 0)

	held.Take("south", secret.Old{Text: "north", Until: begin.Add(4 * time.Hour)})
	newName, newPassword := issued() // within the same second
	allocate("the new one", newName, newPassword, 0)
	allocate("the old one", oldName, oldPassword, 0)
	allocate("the old one under the new name", newName, oldPassword, stun.CodeBadRequest)
	for what, c := range map[string]*raw{"a phone": phone, "a phone of an earlier version": before} {
		if code := c.ask(stun.MethodRefresh); code != 0 {
			t.Errorf("%s keeps its allocation: %d", what, code)
		}
	}

	ahead.Store(int64(4 * time.Hour))
	if code := phone.ask(stun.MethodRefresh); code == 0 {
		t.Error("an expired secret keeps an allocation")
	}
	allocate("the old one, expired", oldName, oldPassword, stun.CodeBadRequest)
	allocate("of an earlier version, expired", earlier, earlierPassword, stun.CodeBadRequest)
	allocate("the new one, later", newName, newPassword, 0)
}
