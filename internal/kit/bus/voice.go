package bus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// linesAtOnce and lineEvery bound the log lines about one connection, or about
	// the server: a broken or hostile peer could fill the log.
	linesAtOnce = 10
	lineEvery   = 30 * time.Second
)

// voice is a log with a limited rate; the next line says how many were left out.
type voice struct {
	log *slog.Logger

	mu      sync.Mutex
	turns   *rate.Limiter
	leftOut int
}

func newVoice(log *slog.Logger) *voice {
	return &voice{log: log, turns: rate.NewLimiter(rate.Every(lineEvery), linesAtOnce)}
}

func (v *voice) say(level slog.Level, text string, args ...any) {
	v.mu.Lock()
	if !v.turns.Allow() {
		v.leftOut++
		v.mu.Unlock()
		return
	}
	if v.leftOut > 0 {
		args = append(args, "leftOut", v.leftOut)
		v.leftOut = 0
	}
	v.mu.Unlock()
	v.log.Log(context.Background(), level, text, args...)
}
