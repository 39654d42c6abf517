package app

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/logfile"
)

// The log files (mission: GET /api/station/log).
const (
	serverLog  = "server"  // what the station's own processes say
	contentLog = "content" // what the media library does, file by file
)

func logPath(cfg *config.Config, name string) string {
	return filepath.Join(cfg.DataDir, "log", name+".log")
}

// stationRoles are those that write the server log: the ones that run. All of
// them write the same file.
func stationRoles() []string { return []string{"station", "node", "control", "relay", "player"} }

// newLogger writes to standard error: colours on a terminal, plain text or JSON
// elsewhere. The roles of a station write the server log as well.
func newLogger(cfg *config.Config, role string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // validated
	log := slog.New(handler(os.Stderr, cfg.Log.Format, level))
	if slices.Contains(stationRoles(), role) {
		log = alsoTo(log, cfg, serverLog, level)
	}
	return log.With("role", role)
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

// alsoTo is a logger that writes to a log file besides. It stays open until the
// process ends; a station without the file is worth more than none.
func alsoTo(log *slog.Logger, cfg *config.Config, name string, level slog.Level) *slog.Logger {
	file, err := logfile.Open(logfile.Options{
		Path:    logPath(cfg, name),
		Secrets: []string{cfg.StationKey, cfg.SyncToken, cfg.SocialAdminKey, cfg.SourcePassword, cfg.TurnSecret},
	})
	if err != nil {
		log.Warn("no log file", "log", name, "err", err)
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
