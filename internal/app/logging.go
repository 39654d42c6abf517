package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/logfile"
	"github.com/athir-radio/athir/internal/kit/systemd"
)

// The log files (mission: GET /api/station/log).
const (
	serverLog  = "server"  // what the station's own processes say
	contentLog = "content" // what the media library does, file by file
)

func logPath(cfg *config.Config, name string) string {
	return filepath.Join(cfg.DataDir, "log", name+".log")
}

// stationRoles are the roles that write the server log, all to the same file.
func stationRoles() []string { return []string{"station", "node", "control", "relay", "player"} }

// RoleLog writes to standard error: colours on a terminal, plain text or JSON
// elsewhere. The roles of a station write the server log as well.
func RoleLog(cfg *config.Config, role string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // validated
	log := NewLog(os.Stderr, cfg.Log.Format, level)
	if slices.Contains(stationRoles(), role) {
		log = alsoTo(log, cfg, serverLog, level)
	}
	return log.With("role", role)
}

// NewLog returns a logger to w in format, as in the settings; in colours on a
// terminal, without a time of its own in systemd's journal.
func NewLog(w *os.File, format string, level slog.Level) *slog.Logger {
	switch {
	case format == "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	case isatty.IsTerminal(w.Fd()):
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly}))
	case systemd.InJournal(w):
		return slog.New(systemd.NewJournalHandler(w, level))
	default:
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	}
}

// alsoTo returns a logger that also writes to a log file, which stays open until the
// process ends. If the file cannot be opened it logs that and returns log.
func alsoTo(log *slog.Logger, cfg *config.Config, name string, level slog.Level) *slog.Logger {
	file, err := logfile.Open(logfile.Options{
		Path:    logPath(cfg, name),
		Secrets: cfg.Secrets,
	})
	if err != nil {
		log.Warn("cannot open the log file, logging without it", "file", logPath(cfg, name), "err", err)
		return log
	}
	return slog.New(slog.NewMultiHandler(log.Handler(), slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})))
}

// logs reads the log files from their ends.
func logs(cfg *config.Config) map[string]func(lines int) ([]string, error) {
	out := map[string]func(lines int) ([]string, error){}
	for _, name := range []string{serverLog, contentLog} {
		out[name] = func(lines int) ([]string, error) { return logfile.Tail(logPath(cfg, name), lines) }
	}
	return out
}
