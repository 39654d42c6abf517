// Package role is what all processes of a station have in common: a socket at which each
// tells its version and is told to go on as another program, and the decision whether a new
// program is well.
package role

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// Role is one process of a station.
type Role struct {
	Name     string // "control"
	Version  string
	Config   *config.Config
	Log      *slog.Logger
	Handover *reexec.Handover // nil in tests that share a process
	Thread   *proc.Thread     // starts what outlives a program; may be nil
}

// Work is what a role does, and how its state is judged.
type Work struct {
	// Run runs until its context ends.
	Run func(ctx context.Context) error
	// Well returns nil once the role does its work. A new program that is not well within
	// SettleWithin gives way to the one before.
	Well func(ctx context.Context) error
	// SettleWithin is another time than SettleWithin; 0: that.
	SettleWithin time.Duration
	// Busy returns why the program must not be replaced now, in words; empty, or nil: it may.
	Busy func() string
	// Renew passes secrets that the role has just taken on to where they are not asked for
	// each time, and returns what that failed at; nil: there is no such place.
	Renew func(ctx context.Context) error
	// Reload has the roles beneath this one read their settings anew; nil: there are none.
	Reload func(ctx context.Context) error
}

// SettleWithin is how long a new program may take to be well.
const SettleWithin = time.Minute

// State is what a role tells of itself.
type State struct {
	Role    string    `json:"role"`
	Version string    `json:"version"`
	Step    int       `json:"step"` // reexec.Step
	Program string    `json:"program"`
	PID     int       `json:"pid"`
	Began   time.Time `json:"began"`          // of this program
	Settled bool      `json:"settled"`        // it is well, and there is no way back
	Busy    string    `json:"busy,omitempty"` // why it may not be replaced now
	// Restart are the settings that are in the file and wait for a restart of the station.
	Restart []string `json:"restart,omitempty"`
}

// Replace is the order to go on as another program.
type Replace struct {
	Program  string `json:"program"`            // path of the executable
	Identity string `json:"identity,omitempty"` // what it must be; empty: whatever is there
	Data     string `json:"data,omitempty"`     // the data directory whose settings it must be able to read
	Now      bool   `json:"now,omitempty"`      // even if the role is busy
}

// mostOrder bounds the order, in bytes.
const mostOrder = 8 << 10

// suffix ends the names of the roles' sockets.
const suffix = ".role"

// Socket is where a role of a station is asked.
func Socket(sockets, name string) string { return filepath.Join(sockets, name+suffix) }

// Sockets returns the names of the roles that have a socket in the folder; none where that is
// not there, as of a station that has not been started.
func Sockets(sockets string) (names []string, err error) {
	entries, err := os.ReadDir(sockets)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == suffix {
			names = append(names, e.Name()[:len(e.Name())-len(suffix)])
		}
	}
	return names, err
}

// Run does the role's work until ctx ends, and answers at its socket meanwhile.
func (r Role) Run(ctx context.Context, w Work) error {
	if r.Handover == nil {
		return w.Run(ctx)
	}
	sockets, err := doors.SocketDir(r.Config)
	if err != nil {
		return err
	}
	if err := doors.KeepOthersOut(sockets, os.Geteuid()); err != nil {
		r.Log.Warn("others of this machine may reach the station's sockets", "folder", sockets, "err", err)
	}
	r.Handover.Environ(r.Config.Env)
	pending := &waiting{}
	if names, err := r.Config.Pending(); err == nil {
		pending.set(names)
	}
	asked, stop := hangups() // before anybody can know that the role runs
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.Run(ctx) })
	g.Go(func() error { return r.settle(ctx, w) })
	g.Go(func() error { return r.reloads(ctx, w, pending, asked) })
	g.Go(func() error {
		return doors.Named("role socket", innerhttp.Serve(ctx, Socket(sockets, r.Name), r.handler(w, pending, time.Now()), r.Handover))
	})
	return errors.Join(g.Wait(), r.leave())
}

// settle waits until a program that took over is well. The one that took over from a program
// that failed has nothing to go back to: it may take as long as it does.
func (r Role) settle(ctx context.Context, w Work) error {
	if !r.Handover.TakesOver() {
		return nil
	}
	from, begin, within := r.Handover.From(), time.Now(), cmp.Or(w.SettleWithin, SettleWithin)
	try, cancel := ctx, context.CancelFunc(func() {})
	if r.Handover.CanGoBack() {
		try, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	err := retry.Until(try, w.Well)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("not well within %s: %w", within, err)
	}
	r.Handover.Settle()
	r.Log.Info("took over", "version", r.Version, "from", from, "after", time.Since(begin).Round(time.Millisecond))
	return nil
}

func (r Role) handler(w Work, pending *waiting, began time.Time) http.Handler {
	mux := http.NewServeMux()
	var ordering sync.Mutex
	mux.HandleFunc("GET /role", func(rw http.ResponseWriter, _ *http.Request) {
		innerhttp.Answer(rw, r.state(w, pending, began))
	})
	mux.HandleFunc("POST /replace", func(rw http.ResponseWriter, req *http.Request) {
		var order Replace
		if !innerhttp.Read(rw, req, mostOrder, &order) {
			return
		}
		// Of two orders at once only one can be taken, and is told so.
		if !ordering.TryLock() {
			innerhttp.Refuse(rw, r.taken())
			return
		}
		defer ordering.Unlock()
		program, err := r.examine(req.Context(), w, order)
		if err != nil {
			innerhttp.Refuse(rw, err)
			return
		}
		// The answer is on its way as a whole before this server ends.
		if answer, err := json.Marshal(r.state(w, pending, began)); err == nil {
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = rw.Write(answer)
			_ = http.NewResponseController(rw).Flush()
		}
		if err := r.Handover.Order(program); err != nil {
			r.Log.Error("another program cannot take over", "err", err)
		}
	})
	mux.Handle("/secrets", r.Secrets(w))
	return mux
}

func (r Role) state(w Work, pending *waiting, began time.Time) State {
	s := State{
		Role: r.Name, Version: r.Version, Step: reexec.Step, Program: Identity(r.Handover.Self()), PID: os.Getpid(),
		Began: began, Settled: !r.Handover.TakesOver(), Restart: pending.get(),
	}
	if w.Busy != nil {
		s.Busy = w.Busy()
	}
	return s
}

// Identity tells one executable from every other.
func Identity(program *os.File) string {
	info, err := program.Stat()
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", st.Dev, st.Ino, info.ModTime().UnixNano())
}

func (r Role) taken() error {
	return fmt.Errorf("%s: another program is taking over: %w", r.Name, station.ErrConflict)
}

// examine opens the program of an order, if this process can go on as it now.
func (r Role) examine(ctx context.Context, w Work, order Replace) (*os.File, error) {
	if r.Handover.TakesOver() || r.Handover.Leaving() {
		return nil, r.taken()
	}
	if w.Busy != nil && !order.Now {
		if why := w.Busy(); why != "" {
			return nil, fmt.Errorf("%s: %s: %w", r.Name, why, station.ErrConflict)
		}
	}
	program, err := os.Open(order.Program) //nolint:gosec // only this user can order
	if err != nil {
		return nil, fmt.Errorf("program: %w: %w", err, station.ErrInvalid)
	}
	next, err := Examine(ctx, program, order.Data, r.Config.Env)
	if err == nil && order.Identity != "" && Identity(program) != order.Identity {
		err = errors.New("another program has taken its path: begin again")
	}
	if err == nil && !reexec.Near(next.Step) {
		err = fmt.Errorf("%s is %s, and %s is more than one step away: upgrade to a version between them first", r.Name, r.Version, next.Version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("program: %w: %w", err, station.ErrInvalid), program.Close())
	}
	r.Log.Info("another program takes over", "version", r.Version, "next", next.Version)
	return program, nil
}

// Program is what an executable of ours says of itself ('athir version --json').
type Program struct {
	Version string `json:"version"`
	Step    int    `json:"step"` // reexec.Step
}

// examineWithin bounds how long an executable may take to say what it is.
const examineWithin = 20 * time.Second

// Examine runs an executable to learn what it is, and has it read the settings of a data
// directory, if one is given, with these variables in its environment.
func Examine(ctx context.Context, program *os.File, data string, environ []string) (Program, error) {
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	if info, err := program.Stat(); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Program{}, errors.Join(errors.New("it is no file that can be run"), err)
	}
	args := []string{"version", "--json"}
	if data != "" {
		args = append(args, "--settings", data)
	}
	var out, said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "athir version", Path: proc.FilePath(program), As: "athir", Args: args, Env: environ, Stdout: &out, Stderr: &said, Drain: proc.DrainWhole,
	}, nil)
	var p Program
	switch {
	case err != nil:
		return p, fmt.Errorf("run it: %w", err)
	case !exit.OK():
		return p, fmt.Errorf("it cannot begin: %s: %s", exit, bytes.TrimSpace(said.Bytes()))
	case json.Unmarshal(out.Bytes(), &p) != nil || p.Step == 0:
		return p, errors.New("it is no program of this station: it does not say its version as JSON")
	}
	return p, nil
}
