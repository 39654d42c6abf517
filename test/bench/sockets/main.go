// Command sockets measures our Socket.IO server beside the npm one, in one run
// with the same clients: memory per socket, processor time per delivery, how
// late a delivery is, and how many a second there can be.
//
//	go run ./test/bench/sockets -sockets 10000 -seconds 10
//
// The servers are processes of their own, one after the other, kept to one
// processor; the clients are this process, kept to the others. Clients and
// server share the machine, so that what a delivery costs the kernel on either
// side of the loopback shows in the figures of both servers alike.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/test/npm"
)

type options struct {
	role    string
	only    string
	profile string
	sockets int
	seconds int
	rounds  int
	size    int
	pin     bool
	more    bool
}

func main() {
	var o options
	flag.IntVar(&o.sockets, "sockets", 10_000, "clients of each server")
	flag.IntVar(&o.seconds, "seconds", 10, "length of each measurement")
	flag.IntVar(&o.rounds, "rounds", 1, "rounds; the median of each figure is printed")
	flag.IntVar(&o.size, "size", 200, "bytes of an event on the wire, nearly")
	flag.BoolVar(&o.pin, "pin", true, "keep the server to one processor and the clients to the others")
	flag.BoolVar(&o.more, "more", true, "measure clients that poll, and slow ones, too")
	flag.StringVar(&o.only, "only", "", "ours or npm: measure one server")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of our server")
	flag.StringVar(&o.role, "role", "", "for the processes this one starts")
	flag.Parse()
	run := measure
	if o.role == "server" {
		run = serve
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "sockets:", err)
		os.Exit(1)
	}
}

// figures are one server's.
type figures struct {
	memory    float64 // KB a socket, connected and at rest
	loaded    float64 // KB a socket, after all
	paced     phase
	one, four phase
	connects  float64 // a second
	lost      int
	closed    int
}

func measure(ctx context.Context, o options) error {
	folder := filepath.Join(root(), "test", "bench", "sockets", "peer")
	if o.only != "ours" {
		if err := npm.Install(ctx, folder); err != nil {
			return err
		}
	}
	if err := raiseFiles(o.sockets + 500); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	servers := []peer{
		{"ours", func(size int) []string {
			return []string{self, "-role", "server", "-size", fmt.Sprint(size), "-sockets", fmt.Sprint(o.sockets), "-profile", o.profile}
		}},
		{"npm", func(size int) []string {
			return []string{"node", filepath.Join(folder, "server.mjs"), fmt.Sprint(size - len(`42["tick",1000000,""]`))}
		}},
	}
	all := map[string][]figures{}
	for round := range o.rounds {
		for _, s := range servers {
			if o.only != "" && o.only != s.name {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, o.rounds, s.name)
			f, err := measureServer(ctx, o, s.command(o.size))
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			all[s.name] = append(all[s.name], f)
		}
	}
	print(o, all)
	if !o.more {
		return nil
	}
	return more(ctx, o, servers)
}

// peer is a server to measure, by the size of the events that it sends.
type peer struct {
	name    string
	command func(size int) []string
}

// root is the repository's, from wherever the command is run in it.
func root() string {
	dir, _ := os.Getwd()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
	}
	return dir
}

// raiseFiles lets this process, and those it starts, hold n files open.
func raiseFiles(n int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	want := max(limit.Cur, uint64(n))
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: max(limit.Max, want)}); err != nil {
		return fmt.Errorf("raise the limit of open files to %d: %w (try ulimit -n %d)", n, err, n)
	}
	return nil
}

// child is a server under test.
type child struct {
	command *exec.Cmd
	orders  io.WriteCloser
	addr    string
	next    int // number of the next event
}

func start(ctx context.Context, o options, args []string) (*child, error) {
	if o.pin && runtime.NumCPU() > 1 {
		args = append([]string{"taskset", "-c", "0"}, args...)
	}
	c := &child{command: exec.CommandContext(ctx, args[0], args[1:]...), next: 1_000_000}
	c.command.Stderr = os.Stderr
	c.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if c.orders, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read its address: %w", err)
	}
	c.addr = strings.TrimSpace(line)
	return c, nil
}

// stop lets it end by itself.
func (c *child) stop() {
	_ = c.orders.Close()
	done := make(chan struct{})
	go func() { _ = c.command.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = c.command.Process.Kill()
		<-done
	}
}

func measureServer(ctx context.Context, o options, args []string) (f figures, err error) {
	server, err := start(ctx, o, args)
	if err != nil {
		return f, err
	}
	defer server.stop()
	if o.pin && runtime.NumCPU() > 1 {
		if err := pinSelf(); err != nil {
			return f, err
		}
	}
	pid := server.command.Process.Pid
	time.Sleep(time.Second) // what starting took is over
	before := int(proc.RSS(pid) >> 10)
	began := time.Now()
	crowd, err := connect(ctx, server.addr, o.sockets)
	if err != nil {
		return f, err
	}
	defer crowd.close()
	f.connects = float64(o.sockets) / time.Since(began).Seconds()
	time.Sleep(3 * time.Second)
	f.memory = float64(int(proc.RSS(pid)>>10)-before) / float64(o.sockets)

	span := time.Duration(o.seconds) * time.Second
	if f.paced, err = crowd.run(server, pid, 1, 250*time.Millisecond, span); err != nil {
		return f, err
	}
	if f.one, err = crowd.run(server, pid, 1, 0, span); err != nil {
		return f, err
	}
	if f.four, err = crowd.run(server, pid, 4, 0, span); err != nil {
		return f, err
	}
	f.loaded = float64(int(proc.RSS(pid)>>10)-before) / float64(o.sockets)
	f.lost, f.closed = crowd.lost, crowd.closed
	return f, nil
}

func print(o options, all map[string][]figures) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Printf("%d sockets over WebSocket, events of %d bytes, %d s each, %d round(s); server on one processor: %v\n\n", o.sockets, o.size, o.seconds, o.rounds, o.pin)
	rows := []struct {
		name, format string
		less         bool // is better
		value        func(figures) float64
	}{
		{"KB memory a socket, at rest", "%.1f", true, func(f figures) float64 { return f.memory }},
		{"KB memory a socket, after all", "%.1f", true, func(f figures) float64 { return f.loaded }},
		{"connections a second", "%.0f", false, func(f figures) float64 { return f.connects }},
		{"4 a second: µs CPU a delivery", "%.2f", true, func(f figures) float64 { return f.paced.cpu }},
		{"4 a second: deliveries a second", "%.0f", false, func(f figures) float64 { return f.paced.rate }},
		{"4 a second: ms late, p50", "%.1f", true, func(f figures) float64 { return f.paced.p50 }},
		{"4 a second: ms late, p99", "%.1f", true, func(f figures) float64 { return f.paced.p99 }},
		{"1 in flight: deliveries a second", "%.0f", false, func(f figures) float64 { return f.one.rate }},
		{"1 in flight: µs CPU a delivery", "%.2f", true, func(f figures) float64 { return f.one.cpu }},
		{"1 in flight: ms late, p99", "%.1f", true, func(f figures) float64 { return f.one.p99 }},
		{"bursts of 4: deliveries a second", "%.0f", false, func(f figures) float64 { return f.four.rate }},
		{"bursts of 4: µs CPU a delivery", "%.2f", true, func(f figures) float64 { return f.four.cpu }},
		{"bursts of 4: ms late, p99", "%.1f", true, func(f figures) float64 { return f.four.p99 }},
		{"events lost", "%.0f", true, func(f figures) float64 { return float64(f.lost) }},
		{"connections closed by the server", "%.0f", true, func(f figures) float64 { return float64(f.closed) }},
	}
	_, _ = fmt.Fprintln(out, "\tours\tnpm socket.io 4.8.4\tours is better by")
	for _, row := range rows {
		line, values := row.name, []float64{}
		for _, name := range []string{"ours", "npm"} {
			if len(all[name]) == 0 {
				line += "\t-"
				continue
			}
			v := median(all[name], row.value)
			values = append(values, v)
			line += fmt.Sprintf("\t"+row.format, v)
		}
		if len(values) == 2 && values[0] > 0 && values[1] > 0 {
			ratio := values[0] / values[1]
			if row.less {
				ratio = 1 / ratio
			}
			line += fmt.Sprintf("\t%.2f ×", ratio)
		}
		_, _ = fmt.Fprintln(out, line)
	}
	_ = out.Flush()
}

func median(all []figures, value func(figures) float64) float64 {
	var values []float64
	for _, f := range all {
		values = append(values, value(f))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
