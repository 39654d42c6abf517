package systemd

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// manager receives like systemd does.
func manager(t *testing.T, name string) func() string {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return func() string {
		b := make([]byte, 4096)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

func TestTheManagerHearsEachWordInOrder(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@athir-test-" + strconv.Itoa(os.Getpid())} {
		heard := manager(t, name)
		t.Setenv("NOTIFY_SOCKET", name)
		m := Find()
		for _, step := range []struct {
			tell func() error
			want string
		}{
			{m.Ready, "READY=1"}, {m.Alive, "WATCHDOG=1"},
			{func() error { return m.Status("على الأثير") }, "STATUS=على الأثير"},
		} {
			if err := step.tell(); err != nil {
				t.Fatal(err)
			}
			if got := heard(); got != step.want {
				t.Errorf("the manager heard %q, want %q", got, step.want)
			}
		}
	}
}

func TestWithoutAManagerNothingIsTold(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	m := Find()
	if m != nil {
		t.Fatal("found a manager where none is named")
	}
	if err := m.Ready(); err != nil {
		t.Fatal(err)
	}
}

func TestAManagerThatIsGoneIsAnErrorAndNoWait(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if Find().Ready() == nil {
		t.Error("nobody listens, and no error says so")
	}
}

func TestTheJournalGetsALevelAndNoSecondTime(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewJournalHandler(&out, slog.LevelDebug)).With("role", "station")
	log.Debug("a")
	log.Info("on air", "level", "loud", "time", "now")
	log.Warn("level=5 is no level")
	log.Error("b\nc")
	want := `<7>msg=a role=station
<6>msg="on air" role=station level=loud time=now
<4>msg="level=5 is no level" role=station
<3>msg="b\nc" role=station
`
	if out.String() != want {
		t.Errorf("the journal got\n%swant\n%s", out.String(), want)
	}
}

func TestOnlyTheJournalsOwnStreamIsTheJournal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	info, err := w.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino))
	if !InJournal(w) {
		t.Error("the journal's own stream is not known")
	}
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino+1))
	if InJournal(w) {
		t.Error("another stream is taken for the journal")
	}
}
