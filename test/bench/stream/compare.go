package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

type server struct {
	name, addr, path string
	pid              int
	child            *child // ours only
}

// reading is a process's memory and processor time at one moment.
type reading struct {
	rss, own int64 // bytes; own is what no file backs
	cpu      time.Duration
	threads  int
}

// result is one measurement of one server.
type result struct {
	before, with reading // memory without and with the listeners
	cpu          time.Duration
	bytes        uint64
	least        uint64 // bytes of the listener that got the least
	closed       int
	goroutines   int
	heap         uint64
}

// compare measures both in turn and prints them side by side.
func compare(ctx context.Context, o options, all *running, servers ...server) error {
	// One listener first, on each: whatever is set up once is not the listeners'.
	for _, s := range servers {
		if _, err := once(ctx, options{listeners: 1, seconds: 2}, all, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	results := map[string][]result{}
	var late delays
	for round := range o.rounds {
		for _, s := range servers {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s, %d listeners, %d s\n", round+1, o.rounds, s.name, o.listeners, o.seconds)
			var probed chan delays
			if s.child != nil {
				probed = make(chan delays, 1)
				go func() { probed <- probe(ctx, time.Duration(o.seconds)*time.Second, servers[1], s) }()
			}
			r, err := once(ctx, o, all, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			results[s.name] = append(results[s.name], r)
			if probed != nil {
				late = append(late, <-probed...)
			}
		}
	}
	report(o, results[servers[0].name], results[servers[1].name], late)
	return nil
}

// once measures one server with listeners that come and go for it.
func once(ctx context.Context, o options, all *running, s server) (r result, err error) {
	if r.before, err = read(s.pid); err != nil {
		return r, err
	}
	crowd, err := all.startSelf(ctx, "listeners", "-listeners", strconv.Itoa(o.listeners), "-addr", s.addr, "-upstream", s.path)
	if err != nil {
		return r, err
	}
	defer crowd.end()
	if _, err := crowd.line(); err != nil {
		return r, err
	}
	if err := retry.Pause(ctx, 3*time.Second); err != nil { // the bursts are not part of it
		return r, err
	}
	var first, last listenersReport
	begin, err := read(s.pid)
	if err != nil {
		return r, err
	}
	if err := crowd.report(&first); err != nil {
		return r, err
	}
	if err := retry.Pause(ctx, time.Duration(o.seconds)*time.Second); err != nil {
		return r, err
	}
	if r.with, err = read(s.pid); err != nil {
		return r, err
	}
	if err := crowd.report(&last); err != nil {
		return r, err
	}
	if s.child != nil {
		var own serverReport
		if err := s.child.report(&own); err != nil {
			return r, err
		}
		r.goroutines, r.heap = own.Goroutines, own.LiveHeap
	}
	r.cpu, r.bytes, r.least, r.closed = r.with.cpu-begin.cpu, last.Bytes-first.Bytes, last.Least, last.Closed
	return r, nil
}

func report(o options, ours, theirs []result, late delays) {
	perListener := func(r []result, of func(reading) int64) float64 {
		// The first round's: later ones reuse the memory of those who left.
		return float64(of(r[0].with)-of(r[0].before)) / float64(o.listeners)
	}
	cpu := func(r []result) float64 { // seconds per GB
		var s, b float64
		for _, r := range r {
			s, b = s+r.cpu.Seconds(), b+float64(r.bytes)
		}
		return s / b * 1e9
	}
	percent := func(r []result) float64 {
		var s float64
		for _, r := range r {
			s += r.cpu.Seconds()
		}
		return 100 * s / float64(len(r)*o.seconds)
	}
	delivered := func(r []result) (b, least, closed float64) {
		least = float64(r[0].least)
		for _, r := range r {
			b, least, closed = b+float64(r.bytes)/1e6, min(least, float64(r.least)), closed+float64(r.closed)
		}
		return b, least / 1e3, closed
	}
	rss, own := func(r reading) int64 { return r.rss }, func(r reading) int64 { return r.own }
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name, format string, a, b float64, ratio bool) {
		last := ""
		if ratio {
			last = fmt.Sprintf("%.2f", a/b)
		}
		fmt.Fprintf(w, "%s\t"+format+"\t"+format+"\t%s\t\n", name, a, b, last)
	}
	fmt.Fprintf(w, "%d listeners, %d rounds of %d s\tathir\ticecast\tratio\t\n", o.listeners, o.rounds, o.seconds)
	row("memory per listener, RSS bytes", "%.0f", perListener(ours, rss), perListener(theirs, rss), true)
	row("memory per listener, anonymous bytes", "%.0f", perListener(ours, own), perListener(theirs, own), true)
	row("whole process with them, RSS MB", "%.1f", float64(ours[0].with.rss)/1e6, float64(theirs[0].with.rss)/1e6, true)
	row("processor seconds per GB delivered", "%.2f", cpu(ours), cpu(theirs), true)
	row("processor, % of one core", "%.1f", percent(ours), percent(theirs), true)
	a, aLeast, aClosed := delivered(ours)
	b, bLeast, bClosed := delivered(theirs)
	row("delivered, MB", "%.1f", a, b, true)
	row("least to any listener, burst included, kB", "%.0f", aLeast, bLeast, true)
	row("listeners disconnected", "%.0f", aClosed, bClosed, false)
	row("threads", "%.0f", float64(ours[0].with.threads), float64(theirs[0].with.threads), false)
	_ = w.Flush()
	fmt.Printf("athir: %d goroutines, %.0f live heap bytes per listener\n", ours[0].goroutines, float64(ours[0].heap)/float64(o.listeners))
	for i := range ours {
		fmt.Printf("round %d: %.2f s and %.2f s of processor time\n", i+1, ours[i].cpu.Seconds(), theirs[i].cpu.Seconds())
	}
	if len(late) > 0 {
		slices.Sort(late)
		fmt.Printf("a page comes later through athir than from icecast directly by: median %s, 95%% %s, most %s (%d pages)\n",
			late[len(late)/2].Round(time.Millisecond), late[len(late)*95/100].Round(time.Millisecond), late[len(late)-1].Round(time.Millisecond), len(late))
	}
}

type delays []time.Duration

// probe listens to both servers and compares when each page arrives.
func probe(ctx context.Context, d time.Duration, direct, through server) delays {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	seen := make(chan map[string]time.Time, 1)
	go func() { seen <- arrivals(ctx, direct) }()
	after := arrivals(ctx, through)
	before := <-seen
	var late delays
	for page, at := range after {
		if first, ok := before[page]; ok {
			late = append(late, at.Sub(first))
		}
	}
	return late
}

// arrivals notes when each Ogg page begins to arrive, after the burst.
func arrivals(ctx context.Context, s server) map[string]time.Time {
	seen := map[string]time.Time{}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return seen
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	fmt.Fprintf(conn, "GET %s HTTP/1.0\r\n\r\n", s.path)
	begin := time.Now()
	var held []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return seen
		}
		now := time.Now()
		held = append(held, buf[:n]...)
		for {
			i := bytes.Index(held, []byte("OggS\x00"))
			if i < 0 || len(held) < i+26 {
				break
			}
			// Serial number, sequence number and checksum say which page it is.
			if key := string(held[i+14 : i+26]); now.Sub(begin) > 2*time.Second {
				seen[key] = now
			}
			held = held[i+5:]
		}
		held = held[max(0, len(held)-64):]
	}
}

// read takes a process's figures from /proc.
func read(pid int) (reading, error) {
	var r reading
	smaps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(string(smaps)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[2] == "kB" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			switch f[0] {
			case "Rss:":
				r.rss = n << 10
			case "Anonymous:":
				r.own = n << 10
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return r, err
	}
	// The second field is the name in brackets, whatever it holds.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	r.threads, _ = strconv.Atoi(f[17])
	r.cpu = time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
	return r, nil
}
