package chat_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/kit/store"
)

// onDisk opens the chat that a child writes to.
func onDisk(dir string) (*chat.Chat, *store.DB, error) {
	db, err := store.Open(context.Background(), filepath.Join(dir, "athir.db"))
	if err != nil {
		return nil, nil, err
	}
	c, err := chat.Open(context.Background(), chat.Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Dir: filepath.Join(dir, "media"), Station: "أثير", Rooms: []chat.Room{{ID: "main", Name: "main"}},
		KeepDays: 30, MediaBytes: 1 << 30, Tell: func(string, any) {}, Now: time.Now,
	})
	return c, db, err
}

// note is a voice note of its own.
func note(n int) string {
	b := []byte("RIFF\x64\x0c\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x0c\x00\x00" + strings.Repeat("\x80", 3136))
	copy(b[60:], fmt.Sprint(n))
	return "data:audio/wav;base64," + base64.StdEncoding.EncodeToString(b)
}

func input(n int) chat.SayIn {
	in := chat.SayIn{User: "x", Room: "main", Text: fmt.Sprint("text ", n), ID: fmt.Sprintf("write-%06d", n)}
	if n%4 == 0 {
		in.Type, in.Data = "voice", note(n)
	}
	return in
}

// chatForEver is the child: many write at once, and say what was answered.
func chatForEver(dir string) {
	c, _, err := onDisk(dir)
	if err != nil {
		panic(err)
	}
	from := 0
	_, _ = fmt.Sscan(os.Getenv("CHAT_TEST_FROM"), &from)
	var say sync.Mutex
	for worker := range 8 {
		go func() {
			for i := from + worker; ; i += 8 {
				m, err := c.Say(context.Background(), chat.Client{}, input(i))
				if err != nil {
					panic(err)
				}
				say.Lock()
				fmt.Println(i, m.ID)
				say.Unlock()
			}
		}()
	}
	select {}
}

func TestNoAnsweredMessageIsLostOrDoubledAcrossKills(t *testing.T) { killedChat(t, 2) }

// killedChat kills so many children that write to one chat, each after more
// answers than the one before.
func killedChat(t *testing.T, kills int) {
	t.Helper()
	dir := t.TempDir()
	answered := map[int]string{}
	for round := range kills {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		// Each round sends the last ones of the round before once more.
		cmd.Env = append(os.Environ(), "CHAT_TEST_DIR="+dir, fmt.Sprint("CHAT_TEST_FROM=", max(0, len(answered)-16)/8*8))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		take := func() bool {
			if !in.Scan() {
				return false
			}
			var n int
			var id string
			if k, _ := fmt.Sscan(in.Text(), &n, &id); k == 2 && strings.HasPrefix(id, "m") {
				if was, ok := answered[n]; ok && was != id {
					t.Errorf("write %d was %s, then %s", n, was, id)
				}
				answered[n] = id
			}
			return true
		}
		for before := len(answered); len(answered) < before+60+13*round && take(); {
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		for take() {
		}
		_ = cmd.Wait()
	}
	if len(answered) < 50*kills {
		t.Fatalf("only %d answers", len(answered))
	}

	c, db, err := onDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	if err := c.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := c.Since(t.Context(), "message", "m0")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for _, payload := range all {
		m := payload.(chat.Message)
		if was, twice := at[m.Text]; twice {
			t.Errorf("%q is there twice, as %s and %s", m.Text, was, m.ID)
		}
		at[m.Text] = m.ID
		if m.URL == "" {
			continue
		}
		name := filepath.Base(m.URL)
		if _, err := os.Stat(filepath.Join(dir, "media", name[:2], name[2:4], name)); err != nil {
			t.Errorf("%s shows a file that is not there: %v", m.ID, err)
		}
	}
	for n, id := range answered {
		if got := at[fmt.Sprint("text ", n)]; got != id {
			t.Errorf("write %d was answered %s, and is %q", n, id, got)
		}
		if again, err := c.Say(t.Context(), chat.Client{}, input(n)); err != nil || again.ID != id {
			t.Errorf("write %d once more: %s, %v", n, again.ID, err)
		}
	}
	if more, err := c.Since(t.Context(), "message", "m0"); err != nil || len(more) != len(all) {
		t.Errorf("%d messages, %d after all were sent again: %v", len(all), len(more), err)
	}
}

func BenchmarkMessagesOfManyAtOnce(b *testing.B) {
	c, db, err := onDisk(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a temporary one
	b.SetParallelism(100)
	var mu sync.Mutex
	n := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			n++
			in := chat.SayIn{User: "سلمى", Room: "main", Text: fmt.Sprint("مساء الخير من القاهرة ", n), ID: fmt.Sprintf("write-%08d", n)}
			mu.Unlock()
			if _, err := c.Say(context.Background(), chat.Client{}, in); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}
