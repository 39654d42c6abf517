package relay

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// What nginx's statistics do not tell is known to the next program: the secret that an
// encoder came with, who is refused, wrong passwords; and what is listed until they are read.
func TestTheIngestIsKnownToAnotherProgram(t *testing.T) {
	now := noon
	opts := Options{SourcePassword: secret.Of("secret"), Log: testLog(t), Admit: func(_ context.Context, e Encoder) (bool, string, error) {
		return e.Password == "of-sara", "wrong", nil
	}}
	before := newIngest(opts, &counters{})
	sara := Encoder{Name: "sara", Password: "of-sara", From: "198.51.100.1", ID: "7"}
	if got := before.decide(t.Context(), sara, now); got != http.StatusNoContent {
		t.Fatalf("sara: status %d", got)
	}
	for range wrongAtOnce - 1 {
		before.decide(t.Context(), Encoder{Name: "eve", Password: "guess", From: "198.51.100.2", ID: "8"}, now)
	}
	before.refused.rolled(nil, map[Encoder]string{{Name: "omar", ID: "9"}: "revoked"}, now)
	live := []pathItem{{Name: "live/sara", Tracks: []string{}, Readers: []pathPeer{}, Source: &pathPeer{Type: "rtmpConn", ID: "7"}, from: "198.51.100.1"}}
	before.teller.begins(nil)
	before.see(live)

	after := newIngest(opts, &counters{})
	after.resume(gobbed(t, before.estate(now)), now)
	publishing, known := after.teller.state()
	if guests := after.guests.publishing(publishing); !known || len(guests) != 1 || guests[0] != sara {
		t.Errorf("asked about %+v of %+v", guests, publishing)
	}
	if got := after.decide(t.Context(), Encoder{Name: "omar", Password: "secret", From: "198.51.100.3", ID: "10"}, now); got != http.StatusForbidden {
		t.Errorf("one that the roll refused: status %d", got)
	}
	last := after.suspect("198.51.100.2", now)
	if _, spent := last.pay(false, now); spent {
		t.Error("the last try was taken from who has spent four")
	}
	if _, spent := last.pay(false, now); !spent {
		t.Error("who has spent five tries has another")
	}
	want, _ := json.Marshal(live)
	if got, _ := json.Marshal(after.items()); string(got) != string(want) {
		t.Errorf("listed %s, want %s", got, want)
	}
}

// An encoder is told of once, whichever program it met: one that was told of, one that came
// while nobody looked, and one that has gone meanwhile.
func TestEncodersAreToldOfOnceOverPrograms(t *testing.T) {
	p := &presenters{}
	opts := Options{Log: testLog(t), Published: p.say("published"), Ended: p.say("ended")}
	stays, goes, comes := Encoder{Name: "stays", ID: "1", From: "127.0.0.1"}, Encoder{Name: "goes", ID: "2", From: "127.0.0.1"}, Encoder{Name: "comes", ID: "3", From: "127.0.0.1"}
	run := func(teller *teller, want ...string) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- teller.run(ctx) }()
		testkit.Eventually(t, "what is told", func() bool { return slices.Equal(p.heard(), want) })
		cancel()
		<-ended
	}
	before := newTeller(opts)
	before.begins(nil)
	before.set([]Encoder{stays, goes})
	run(before, "published stays", "published goes")
	var left legacyIngest
	before.estate(&left)

	after := newTeller(opts)
	after.resume(gobbed(t, left))
	after.begins([]Encoder{stays, comes}) // the first statistics
	after.set([]Encoder{stays, comes})
	run(after, "published stays", "published goes", "ended goes", "published comes")
}

// What an earlier program left lacks what a later one has.
func TestAnEstateWithLessIsTaken(t *testing.T) {
	var count counters
	count.resume([]uint64{5, 6})
	after := newIngest(Options{Log: testLog(t)}, &count)
	after.resume(legacyIngest{}, time.Now())
	if count.bytesReceived.Load() != 5 || count.bytesSent.Load() != 6 || count.rtmpLimit.Load() != 0 || after.items() != nil {
		t.Error("other figures")
	}
}
