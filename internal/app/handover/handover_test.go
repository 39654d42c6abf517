package handover_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/handover"
	"github.com/athir-radio/athir/internal/audience/events"
)

type storage map[string]string

func (s storage) Newest(context.Context) (map[string]string, error) { return s, nil }

type sockets string

func (s sockets) Save() ([]byte, error) { return []byte(s), nil }

func TestAHandoverThatIsOldOrBrokenIsNotUsed(t *testing.T) {
	quiet, now := slog.New(slog.DiscardHandler), time.Now()
	disk := storage{"new_comment": "c1"}
	hub := events.NewHub(quiet, "one")
	hub.Tell("new_comment", map[string]string{"id": "c1"})
	good, err := handover.Save(hub, sockets(`{"my":"sockets"}`), now)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		saved []byte
		later time.Duration
		disk  storage
		used  bool
	}{
		"good":                    {good, 2 * time.Minute, disk, true},
		"nothing":                 {nil, 0, disk, false},
		"empty":                   {[]byte("{}"), 0, disk, false},
		"old":                     {good, 2*time.Minute + time.Millisecond, disk, false},
		"of the future":           {good, -time.Second, disk, false},
		"another version":         {bytes.Replace(good, []byte(`{"version":1`), []byte(`{"version":2`), 1), 0, disk, false},
		"cut":                     {good[:len(good)-9], 0, disk, false},
		"the database has more":   {good, 0, storage{"new_comment": "c2"}, false},
		"the database has less":   {good, 0, storage{"new_comment": "c0"}, false},
		"the database is another": {good, 0, storage{}, false},
	} {
		next := events.NewHub(quiet, "two")
		got, err := handover.Resume(t.Context(), quiet, next, c.disk, c.saved, now.Add(c.later))
		if err != nil {
			t.Fatal(err)
		}
		want, at := "", events.Mark{Epoch: "two"}
		if c.used {
			want, at = `{"my":"sockets"}`, events.Mark{Epoch: "one", Seq: 1}
		}
		if string(got) != want || next.Mark() != at {
			t.Errorf("%s: %q, and the hub is at %+v", name, got, next.Mark())
		}
	}
}

func TestAHandoverIsTakenOnce(t *testing.T) {
	quiet, path := slog.New(slog.DiscardHandler), handover.Path(t.TempDir())
	handover.Leave(quiet, path, sockets(`{}`), sockets(`{}`), time.Now())
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	for i, want := range []bool{true, false} {
		if got, err := handover.Take(path); (got != nil) != want || err != nil {
			t.Errorf("take %d: %q, %v", i, got, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
	}
}
