package supervise

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

const (
	keptLines = 6
	lineLimit = 2000
)

// lines logs what a child prints, a line at a time, and keeps the last few so
// that an unexpected end can show them.
type lines struct {
	log       *slog.Logger
	important func(line string) bool

	mu      sync.Mutex
	partial []byte
	kept    []string
}

func newLines(log *slog.Logger, important func(string) bool) *lines {
	return &lines{log: log, important: important}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\n\r") // ffmpeg ends progress lines with \r
		if end < 0 {
			if room := lineLimit - len(l.partial); room > 0 {
				l.partial = append(l.partial, rest[:min(len(rest), room)]...)
			}
			break
		}
		l.add(string(append(l.partial, rest[:min(end, lineLimit)]...)))
		l.partial, rest = l.partial[:0], rest[end+1:]
	}
	return len(p), nil
}

func (l *lines) add(line string) {
	if line = strings.ToValidUTF8(strings.TrimSpace(line), "�"); line == "" {
		return
	}
	if l.important != nil && l.important(line) {
		l.log.Warn(line)
	} else {
		l.log.Debug(line)
	}
	if len(l.kept) == keptLines {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.kept = append(l.kept, line)
}

// last returns the kept lines, oldest first.
func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.kept, " | ")
}
