package bell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// mailbox is a receiver that notes what it takes, and when.
type mailbox struct {
	began time.Time
	mu    sync.Mutex
	got   []alarm.Message
	at    []time.Duration
	fail  error
	hold  chan struct{} // where it is not nil an attempt lasts until its context ends
}

func (m *mailbox) receiver(name string) alarm.Receiver {
	return alarm.Receiver{Name: name, Send: func(ctx context.Context, message alarm.Message) error {
		m.mu.Lock()
		hold, fail := m.hold, m.fail
		if hold == nil && fail == nil {
			m.got, m.at = append(m.got, message), append(m.at, time.Since(m.began))
		}
		m.mu.Unlock()
		if hold != nil {
			<-ctx.Done()
			return ctx.Err()
		}
		return fail
	}}
}

func (m *mailbox) set(hold chan struct{}, fail error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hold, m.fail = hold, fail
}

// subjects are those that came so far, in order.
func (m *mailbox) subjects() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, g := range m.got {
		all = append(all, strings.TrimPrefix(g.Subject, "[Athir] "))
	}
	return strings.Join(all, "; ")
}

// ring runs a bell over receivers until stop is called.
func ring(t *testing.T, file string, receivers ...alarm.Receiver) (b *Bell, lines *testkit.Lines, stop func()) {
	t.Helper()
	log, lines := testkit.Log(t)
	b = New(Options{Log: log, Receivers: receivers, File: file, PerHour: 10, Station: "Athir", Language: "en", Studio: "http://x/studio", Zone: time.UTC})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	synctest.Wait()
	return b, lines, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

const silent, sounds = "Alarm: The station is silent", "Alarm over: The station sounds again"

// An alarm reaches every receiver, its end too; one that takes nothing holds up no other, and
// gets the truth when it does again. What is wrong is logged once, and shown.
func TestEveryReceiverIsToldAndNoneWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well, ill, stuck := &mailbox{began: time.Now()}, &mailbox{began: time.Now()}, &mailbox{began: time.Now()}
		ill.set(nil, &alarm.Failure{Why: "535 wrong password", Remedy: "check it", Lasting: true})
		stuck.set(make(chan struct{}), nil)
		b, lines, stop := ring(t, filepath.Join(t.TempDir(), "alarms.json"), well.receiver("discord"), ill.receiver("email"), stuck.receiver("telegram"))
		defer stop()
		b.Raise(alarm.Silence, "x", time.Now())
		b.Raise(alarm.Silence, "y", time.Now()) // it is on already
		time.Sleep(5 * time.Minute)
		b.Clear(alarm.Silence)
		b.Clear(alarm.Bus) // it was not on
		time.Sleep(5 * time.Minute)
		if got := well.subjects(); got != silent+"; "+sounds {
			t.Errorf("the receiver that is well got %s", got)
		}
		if well.at[0] != gather || well.at[1] != 5*time.Minute+gather {
			t.Errorf("at %v", well.at)
		}
		if n := lines.Count("cannot send", "535 wrong password"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, lines)
		}
		s := b.Standing()
		if len(s.Receivers) != 3 || s.Receivers[0].Waiting || !s.Receivers[1].Waiting || !strings.Contains(s.Receivers[1].Error, "535") || len(s.On) != 0 || s.Receivers[0].LastSent == 0 {
			t.Errorf("%+v", s)
		}
		ill.set(nil, nil)
		stuck.set(nil, nil)
		time.Sleep(time.Hour)
		if ill.subjects() != sounds || stuck.subjects() != sounds {
			t.Errorf("later: %s; %s", ill.subjects(), stuck.subjects())
		}
	})
}

// A station that ends during an alarm tells its end once it has begun again, or not, if it goes
// on; a damaged file costs the memory of it, and nothing else.
func TestAnAlarmOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, to := filepath.Join(t.TempDir(), "alarms.json"), &mailbox{began: time.Now()}
		b, _, stop := ring(t, file, to.receiver("email"))
		b.Raise(alarm.Silence, "", time.Now())
		b.Raise(alarm.Bus, "", time.Now())
		time.Sleep(time.Minute)
		stop()
		b, _, stop = ring(t, file, to.receiver("email"))
		b.Raise(alarm.Bus, "", time.Now())
		time.Sleep(time.Hour)
		stop()
		if got := to.subjects(); got != silent+" (and 1 more); "+sounds {
			t.Errorf("told %s", got)
		}
		if err := os.WriteFile(file, []byte(`{"email":`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, lines, stop := ring(t, file, to.receiver("email"))
		time.Sleep(time.Hour)
		stop()
		if lines.Count("cannot read which alarms were told") != 1 || strings.Count(to.subjects(), ";") != 1 {
			t.Errorf("%s\n%s", to.subjects(), lines)
		}
	})
}

// That a message is sent is on disk before it is: a kill meanwhile counts it.
func TestAnAttemptIsKeptBeforeItIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "alarms.json")
		var kept string
		to := alarm.Receiver{Name: "email", Send: func(context.Context, alarm.Message) error {
			text, err := os.ReadFile(file)
			kept = string(text)
			return err
		}}
		b, _, stop := ring(t, file, to)
		b.Raise(alarm.Gone, "", time.Now())
		time.Sleep(time.Minute)
		stop()
		if !strings.Contains(kept, `"sent":["`) {
			t.Errorf("kept %s", kept)
		}
	})
}

// Where nothing can be written the alarm of the full disk is told all the same.
func TestAFullDiskKeepsNoAlarmBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &mailbox{began: time.Now()}
		b, lines, stop := ring(t, filepath.Join(t.TempDir(), "gone", "alarms.json"), to.receiver("email"))
		defer stop()
		b.Raise(alarm.DiskFull, "", time.Now())
		time.Sleep(time.Minute)
		if to.subjects() == "" || lines.Count("cannot keep which alarms were told") == 0 {
			t.Errorf("%q\n%s", to.subjects(), lines)
		}
	})
}

// A test is sent at once to all, and says what came of each.
func TestATestSaysWhatCameOfEach(t *testing.T) {
	well, ill, strange := &mailbox{}, &mailbox{}, &mailbox{}
	ill.set(nil, &alarm.Failure{Why: "401", Remedy: "check the token"})
	strange.set(nil, errors.New("odd"))
	log, _ := testkit.Log(t)
	b := New(Options{Log: log, Receivers: []alarm.Receiver{well.receiver("a"), ill.receiver("b"), strange.receiver("c")}, File: filepath.Join(t.TempDir(), "x"), PerHour: 4, Station: "أثير", Language: "ar", Studio: "http://x", Zone: time.UTC})
	got := b.Test(t.Context())
	for i := range got {
		got[i].TookMS = 0
	}
	want := []Result{{Receiver: "a", Sent: true}, {Receiver: "b", Error: "401", Remedy: "check the token"}, {Receiver: "c", Error: "odd"}}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v", got)
	}
	if len(well.got) != 1 || !strings.Contains(well.got[0].Subject, "تجربة") {
		t.Errorf("%+v", well.got)
	}
}

// A condition is an alarm once it has held, and over once it has been well for as long; what
// cannot be known changes nothing.
func TestConditionsHoldBeforeTheyCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, to := time.Now(), &mailbox{began: time.Now()}
		b, lines, stop := ring(t, filepath.Join(t.TempDir(), "x"), to.receiver("email"))
		defer stop()
		wrong := func(ctx context.Context) (string, bool) {
			switch at := time.Since(began); {
			case at < 20*time.Second: // not for long enough
				return "chat", true
			case at < 5*time.Minute:
				return "", true
			case at < 10*time.Minute:
				return "chat: exit status 1", true
			case at < 20*time.Minute: // the node does not answer
				return "", false
			}
			return "", true
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		if err := b.Watch(ctx, []Condition{{Kind: alarm.Program, Holds: time.Minute, Read: wrong}}); err != nil {
			t.Fatal(err)
		}
		const on, off = "Alarm: A part of the station does not run", "Alarm over: All parts of the station run again"
		if got := to.subjects(); got != on+"; "+off {
			t.Errorf("told %s", got)
		}
		if to.at[0] != 6*time.Minute+gather || to.at[1] != 21*time.Minute+gather || !strings.Contains(to.got[0].Text, "for 70 seconds") {
			t.Errorf("at %v:\n%s", to.at, to.got[0].Text)
		}
		if lines.Count("level=ERROR", "alarm", "chat: exit status 1") != 1 {
			t.Errorf("the log:\n%s", lines)
		}
	})
}
