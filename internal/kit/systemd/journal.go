package systemd

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
)

// InJournal reports whether what is written to f goes to the journal. A service whose
// output is a file or a pipe has the same environment.
func InJournal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// NewJournalHandler writes records as the journal wants them: it has a time of its own,
// and takes the level from a number before the line, so that journalctl -p warning works.
func NewJournalHandler(w io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewTextHandler(numbered{w}, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
			return slog.Attr{}
		case len(groups) == 0 && a.Key == slog.LevelKey:
			if l, ok := a.Value.Any().(slog.Level); ok {
				return slog.Int(slog.LevelKey, priority(l))
			}
		}
		return a
	}})
}

// priority is that of syslog(3).
func priority(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}

// numbered turns "level=N " at the head of a line into "<N>". A TextHandler writes each
// record at once.
type numbered struct{ w io.Writer }

func (n numbered) Write(p []byte) (int, error) {
	head := []byte(slog.LevelKey + "=")
	line := p
	if rest, ok := bytes.CutPrefix(p, head); ok && len(rest) > 2 && rest[1] == ' ' {
		line = append([]byte{'<', rest[0], '>'}, rest[2:]...)
	}
	if _, err := n.w.Write(line); err != nil {
		return 0, err
	}
	return len(p), nil
}
