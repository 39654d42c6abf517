package turn

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// quiet passes what the TURN library logs on at level debug: most of it is what clients
// did wrong, at levels that would let anybody fill the log.
type quiet struct{ log *slog.Logger }

// NewLogger implements logging.LoggerFactory.
func (q quiet) NewLogger(string) logging.LeveledLogger { return q }

func (q quiet) say(message string) { q.log.Debug("TURN library", "says", message) }

func (q quiet) sayf(format string, args []any) {
	if q.log.Enabled(context.Background(), slog.LevelDebug) {
		q.say(fmt.Sprintf(format, args...))
	}
}

// Trace and Debug messages come with every datagram.

func (q quiet) Trace(string)          {}
func (q quiet) Tracef(string, ...any) {}
func (q quiet) Debug(string)          {}
func (q quiet) Debugf(string, ...any) {}

func (q quiet) Info(message string)               { q.say(message) }
func (q quiet) Infof(format string, args ...any)  { q.sayf(format, args) }
func (q quiet) Warn(message string)               { q.say(message) }
func (q quiet) Warnf(format string, args ...any)  { q.sayf(format, args) }
func (q quiet) Error(message string)              { q.say(message) }
func (q quiet) Errorf(format string, args ...any) { q.sayf(format, args) }
