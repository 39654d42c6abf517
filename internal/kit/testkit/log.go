package testkit

import (
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// Log returns a logger whose lines can be looked at, and are shown when the
// test fails.
func Log(t testing.TB) (*slog.Logger, *Lines) {
	t.Helper()
	lines := &Lines{also: t.Output()}
	return slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelDebug})), lines
}

// Lines are the log lines written so far.
type Lines struct {
	also io.Writer

	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer; each write is one line.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.also.Write(line)
	return l.text.Write(line)
}

// String returns all lines.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count counts the lines that hold all of the words.
func (l *Lines) Count(words ...string) int {
	n := 0
next:
	for line := range strings.Lines(l.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		n++
	}
	return n
}
