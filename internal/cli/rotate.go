package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/rekey"
	"github.com/athir-radio/athir/internal/config"
)

type rotateCmd struct {
	Secret string        `arg:"" optional:"" help:"What to replace: station_key, sync_token, source_password or turn_secret. None: print the state of each."`
	Data   string        `help:"Data directory of the station, which need not run." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Keep   time.Duration `help:"How long the old one holds beside the new one." default:"24h" placeholder:"TIME"`
	Now    bool          `help:"End the old one at once, and those before it: it has leaked."`
	Value  bool          `name:"value-stdin" help:"Read the new one from standard input, one line: another machine of the station has it already."`
	JSON   bool          `name:"json" help:"Print one JSON object."`
}

// Run replaces a secret, or prints what is known of all.
func (c rotateCmd) Run(g globals) error {
	cfg, err := settingsIn(c.Data)
	if err != nil {
		return err
	}
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return err
	}
	if c.Secret == "" {
		return c.list(g, rekey.States(g.ctx, cfg, sockets, time.Now()))
	}
	n := config.NewSecret{Name: c.Secret, Keep: c.Keep, Now: time.Now()}
	if c.Now {
		n.Keep = 0
	}
	if c.Value {
		if n.Value, err = oneLine(os.Stdin); err != nil {
			return fmt.Errorf("--value-stdin: %w", err)
		}
	}
	o := rekey.Options{Config: cfg, Sockets: sockets, New: n}
	if !c.JSON {
		o.Show = func(s rekey.Step) {
			_, _ = fmt.Fprintln(g.out, strings.TrimRight(fmt.Sprintf("  %-8s %s  %s", s.Role, s.Outcome, s.Detail), " "))
		}
	}
	res, err := rekey.Run(g.ctx, o)
	if c.JSON && res.Roles != nil || c.JSON && err == nil {
		return errors.Join(err, jsonLine(g.out, res))
	}
	if err != nil {
		return err
	}
	return told(g.out, res, time.Now())
}

// oneLine reads a secret from a pipe, and none that is cut off.
func oneLine(in io.Reader) (string, error) {
	text, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return "", errors.New("it is empty: give the new secret on one line")
	}
	return text, nil
}

// told says what was done, and what is left to do.
func told(out io.Writer, res rekey.Result, now time.Time) error {
	var b strings.Builder
	switch {
	case res.Same:
		fmt.Fprintf(&b, "%s: this one is in force already.\n", res.Secret)
	case res.Until.IsZero():
		fmt.Fprintf(&b, "%s: a new one is in force. No older one is valid.\n", res.Secret)
	default:
		fmt.Fprintf(&b, "%s: a new one is in force. The old one is valid until %s (%s).\n", res.Secret, res.Until.Local().Format("2006-01-02 15:04:05 MST"), about(res.Until.Sub(now)))
	}
	fmt.Fprintf(&b, "The new one is in %s.\n", res.File)
	if len(res.Roles) == 0 {
		b.WriteString("No role of the station runs here: it is taken at the next start.\n")
	}
	for i, what := range res.ByHand {
		if i == 0 {
			b.WriteString("By hand:\n")
		}
		fmt.Fprintf(&b, "  - %s\n", what)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// list prints the state of each secret.
func (c rotateCmd) list(g globals, all []rekey.State) error {
	if c.JSON {
		return jsonLine(g.out, map[string]any{"secrets": all})
	}
	now := time.Now()
	return table(g.out, 0, func(w io.Writer) {
		for _, s := range all {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", s.Secret, inWords(s, now))
		}
	})
}

func inWords(s rekey.State, now time.Time) string {
	var parts []string
	switch {
	case s.Environment != "":
		parts = append(parts, "from the variable "+s.Environment+", which this command does not change")
	case !s.Set:
		parts = append(parts, "none")
	case s.Rotated.IsZero():
		parts = append(parts, "not replaced by this command yet")
	default:
		parts = append(parts, "replaced "+about(now.Sub(s.Rotated))+" ago")
	}
	if !s.OldUntil.IsZero() {
		parts = append(parts, "an old one is valid for "+about(s.OldUntil.Sub(now))+", until "+s.OldUntil.Local().Format("2006-01-02 15:04:05 MST"))
	}
	if len(s.Behind) > 0 {
		parts = append(parts, "NOT what "+strings.Join(s.Behind, ", ")+" go by: send SIGHUP to the station")
	}
	return strings.Join(parts, "; ")
}

// about is a time in its largest whole unit.
func about(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
}
