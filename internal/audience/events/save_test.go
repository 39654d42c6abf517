package events_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The control plane's program is replaced: who follows has every event once, moments
// and states included, and is told nothing again.
func TestWhoFollowsDoesNotNoticeThatTheStationIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wireless{lose: func() bool { return false }}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		hub := events.NewHub(quiet(), "one")
		hub.Tell("status", comment{Text: "begin"})
		w.serve = func(ask []byte) []byte { return hub.Sync(ctx, ask, &shelf{}) }
		f := events.NewFollower(quiet(), w)
		all.Go(func() { _ = f.Run(ctx) })
		testkit.Eventually(t, "the mirror has begun", func() bool { return f.Reached(hub.Mark()) })
		for i := range 5 {
			one := hub
			w.mu.Lock()
			w.serve = func(ask []byte) []byte { return one.Sync(ctx, ask, &shelf{}) }
			w.mu.Unlock()
			life, end := context.WithCancel(ctx)
			var gone sync.WaitGroup
			gone.Go(func() { one.Publish(life, w) })
			hub.Tell("status", comment{Text: fmt.Sprint("status ", i)})
			hub.Tell("stream_error", comment{Text: fmt.Sprint("moment ", i)})
			testkit.Eventually(t, "the mirror is in step", func() bool { return f.Reached(one.Mark()) })
			end()
			gone.Wait()
			data, err := hub.Save()
			if err != nil {
				t.Fatal(err)
			}
			hub.Tell("stream_error", comment{Text: "after the end"})
			if mark := hub.Mark(); mark.Seq != uint64(2*i+3) {
				t.Errorf("what is told after Save gets a number: %+v", mark)
			}
			hub = events.NewHub(quiet(), "two")
			if err := hub.Load(data); err != nil {
				t.Fatal(err)
			}
		}
		if mark := hub.Mark(); mark != (events.Mark{Epoch: "one", Seq: 11}) {
			t.Errorf("the hub is at %+v", mark)
		}
		got, ok := f.After(0)
		var heard []string
		for _, e := range got {
			heard = append(heard, string(e.Payload))
		}
		if all := strings.Join(heard, " "); !ok || len(got) != 11 || strings.Count(all, "status") != 5 || strings.Count(all, "moment") != 5 {
			t.Errorf("the mirror heard %v", heard)
		}
	})
}

func TestWhatIsNoSavedHubIsRefusedAndChangesNothing(t *testing.T) {
	from := events.NewHub(quiet(), "one")
	for i := range 3 {
		from.Tell("status", comment{Text: fmt.Sprint(i)})
	}
	good, err := from.Save()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("{"), "an object": []byte("{}"), "half": good[:len(good)/2],
		"another version":        bytes.Replace(good, []byte(`"version":1`), []byte(`"version":2`), 1),
		"no epoch":               bytes.Replace(good, []byte(`"epoch":"one"`), []byte(`"epoch":""`), 1),
		"a hole":                 bytes.Replace(good, []byte(`"seq":2`), []byte(`"seq":1`), 1),
		"a state of the future":  bytes.Replace(good, []byte(`"seq":3,"recent"`), []byte(`"seq":2,"recent"`), 1),
		"an event of tomorrow's": bytes.ReplaceAll(good, []byte(`"name":"status"`), []byte(`"name":"smell"`)),
	} {
		h := events.NewHub(quiet(), "mine")
		h.Tell("status", comment{Text: "kept"})
		if err := h.Load(data); err == nil {
			t.Errorf("%s is taken", name)
		}
		if e, ok := h.State("status", "", ""); !ok || h.Mark() != (events.Mark{Epoch: "mine", Seq: 1}) || !strings.Contains(string(e.Payload), "kept") {
			t.Errorf("%s: the hub has changed", name)
		}
	}
	if h := events.NewHub(quiet(), "mine"); h.Load(good) != nil || h.Mark().Seq != 3 {
		t.Error("what was saved is not taken")
	}
}

func TestRecordsThatWereNeverToldShowThatTheStorageIsAhead(t *testing.T) {
	h := events.NewHub(quiet(), "one")
	h.Begin(map[string]string{"new_comment": "c4", "message": "m9"})
	h.Tell("new_comment", comment{ID: "c5"})
	data, err := h.Save()
	if err != nil {
		t.Fatal(err)
	}
	if !events.Current(data, map[string]string{"new_comment": "c5", "message": "m9"}) {
		t.Error("what was told is what the storage has")
	}
	for _, newest := range []map[string]string{{"new_comment": "c5", "message": "m10"}, {"new_comment": "c4", "message": "m9"}, {}} {
		if events.Current(data, newest) {
			t.Errorf("the storage has %v", newest)
		}
	}
}

func TestAnOffsetIsReadOnlyByItsEpochAndUpToItsMark(t *testing.T) {
	m := events.Mark{Epoch: "ABCDEFGHIJKLMNOP", Seq: 1000}
	for _, seq := range []uint64{0, 1, 35, 36, 1000} {
		if got, ok := m.Read(events.Mark{Epoch: m.Epoch, Seq: seq}.Offset()); !ok || got != seq {
			t.Errorf("%d is read as %d, %v", seq, got, ok)
		}
	}
	for _, offset := range []string{"", ".", "ABCDEFGHIJ", "ABCDEFGHIJ.", "ABCDEFGHIJ.-1", "ABCDEFGHIJ.+1", "ABCDEFGHIJ.01", "ABCDEFGHIJ.A", "ABCDEFGHIK.1", "1", "ABCDEFGHIJ.rt", "ABCDEFGHIJ.zzzzzzzzzzzzzz"} {
		if got, ok := m.Read(offset); ok {
			t.Errorf("%q is read as %d", offset, got)
		}
	}
}
