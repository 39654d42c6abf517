package cli

import (
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"os"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/app"
)

// bar draws how far a command is on standard error; the outcome goes to standard
// output. A nil bar draws nothing. One goroutine shows at a time.
type bar struct {
	drawn  *mpb.Progress
	line   *mpb.Bar
	before atomic.Pointer[string]
	after  atomic.Pointer[string]
}

// bar returns a bar with the text before in front and after behind, or nil where
// standard error is no terminal or the output is JSON.
func (g globals) bar(asJSON bool, before string, after ...decor.Decorator) *bar {
	if asJSON || !isatty.IsTerminal(os.Stderr.Fd()) {
		return nil
	}
	b := &bar{drawn: mpb.NewWithContext(g.ctx, mpb.WithOutput(os.Stderr), mpb.WithRefreshRate(100*time.Millisecond))}
	b.before.Store(&before)
	b.after.Store(new(string))
	decorate := func(text *atomic.Pointer[string]) decor.Decorator {
		return decor.Any(func(decor.Statistics) string { return *text.Load() })
	}
	// With a total from the start it would wait to reach it.
	b.line = b.drawn.AddBar(0, mpb.PrependDecorators(decorate(&b.before)), mpb.AppendDecorators(append(after, decorate(&b.after))...))
	return b
}

// show says how much of a total is done; before and after are the texts beside it.
func (b *bar) show(done, total int64, before, after string) {
	if b == nil {
		return
	}
	b.before.Store(&before)
	b.after.Store(&after)
	b.line.SetTotal(max(1, total), false)
	b.line.SetCurrent(done)
}

// end leaves the bar full where the work was done, and as it is elsewhere.
func (b *bar) end(done bool) {
	switch {
	case b == nil:
		return
	case done:
		b.line.SetTotal(-1, true) // what was counted is the whole
	default:
		b.line.Abort(false)
	}
	b.drawn.Wait()
}

// jsonLine writes a value for scripts on one line, file names as they are spelt.
func jsonLine(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table aligns what fill writes in columns: a tab ends each cell.
func table(out io.Writer, flags uint, fill func(io.Writer)) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', flags)
	fill(w)
	return w.Flush()
}

// thousandths rounds to three decimals: what is finer was not measured.
func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }

// terminalLog writes lines of at least level to standard error, for commands that
// print their outcome themselves.
func terminalLog(level slog.Level) *slog.Logger { return app.NewLog(os.Stderr, "text", level) }
