package playout

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// Renewal starts an engine anew that an older version of this program started, or whose own
// program has been replaced. It waits until that is heard least: until nobody is live and one
// entry gives way to the next. Then what is cut is the end of the entry, which the cross
// would have faded, and the listeners' standby audio fills the start.
type Renewal struct {
	Options Options
	Log     *slog.Logger
	// Settled is closed once this version is well: before, it may give way to the older one.
	Settled <-chan struct{}
}

// lookEvery is how long after an entry began to give way that is seen, at most.
const lookEvery = 100 * time.Millisecond

// Wait returns when the engine of that process is to be started anew, and why; empty where
// it need not be, or ctx ended first.
func (r Renewal) Wait(ctx context.Context, pid int) (why string) {
	select {
	case <-r.Settled:
	case <-ctx.Done():
		return ""
	}
	if why = Outdated(r.Options, pid); why == "" {
		return ""
	}
	r.Log.Info("the engine is started anew between two entries, once nobody is live", "why", why)
	client := Client{Socket: r.Options.Socket()}
	began := Status{Entered: -1}
	for retry.Pause(ctx, lookEvery) == nil {
		st, err := client.Status(ctx)
		switch {
		case err != nil || st.LiveConnected || st.OverConnected || st.OnAir == KindLive:
			began.Entered = -1 // whatever is on the air afterwards has begun long ago
		case st.OnAir == KindEmergency:
			return why
		case began.Entered < 0:
			began = st
		case st.Entered != began.Entered:
			return why
		}
	}
	return ""
}

// Outdated says why a running engine is not the one that would be started now: another
// script, or another program in the place of its own. Empty where it is.
func Outdated(o Options, pid int) string {
	script, err := Render(o)
	if err != nil {
		return "" // the next start says what is wrong
	}
	if runs, err := os.ReadFile(o.Script()); err == nil && !bytes.Equal(runs, script) {
		return "this version has another script"
	}
	// The kernel says so of a program whose file was replaced.
	if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && strings.HasSuffix(program, " (deleted)") {
		return "another " + strings.TrimSuffix(program, " (deleted)") + " is installed"
	}
	return ""
}
