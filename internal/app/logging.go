package app

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/logfile"
)

// newLogger writes to standard error: colours on a terminal, plain text or JSON elsewhere.
func newLogger(cfg config.Log, role string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Level)) // validated
	return slog.New(handler(os.Stderr, cfg.Format, level)).With("role", role)
}

func handler(w io.Writer, format string, level slog.Level) slog.Handler {
	switch {
	case format == "json":
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	case terminal(os.Stderr):
		return tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly})
	default:
		return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
	}
}

func terminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// logs reads the two log files of a data directory from their ends.
func logs(dir string) map[string]func(lines int) ([]string, error) {
	out := map[string]func(lines int) ([]string, error){}
	for _, name := range []string{"server", "content"} {
		path := filepath.Join(dir, "logs", name+".log")
		out[name] = func(lines int) ([]string, error) { return logfile.Tail(path, lines) }
	}
	return out
}
