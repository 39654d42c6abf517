// Package strain tells whether this machine is short of something that a program needs to
// keep time: processors, memory, its disk. It measures; what is done about it, and
// whether a program suffers from it, is decided elsewhere.
package strain

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Reading is the strain of the last Window. Shares are from 0 to 1.
type Reading struct {
	// CPU is the share of time in which some task was ready and had no processor, IO and
	// Memory in which none could go on for want of the disk or of memory: "some" and
	// "full" of Linux's pressure stall information (Documentation/accounting/psi.rst). They
	// are 0 where the kernel does not have it.
	CPU, IO, Memory float64
	// Steal is the share of processor time that the hypervisor gave to others.
	Steal float64
	// Late is the most by which a timer of this process went off late.
	Late time.Duration
}

const (
	// Window is what a Reading looks back on.
	Window = 5 * time.Second
	step   = time.Second
	// pulse is how often a timer goes off to see by how much it is late.
	pulse = 50 * time.Millisecond

	// Above these no program can be expected to keep time. CPU is none of them: one idle
	// job beside a busy one raises it to 1, and harms nobody.
	muchSteal  = 0.25
	muchIO     = 0.5
	muchMemory = 0.2
	muchLate   = 500 * time.Millisecond
)

// Short returns in words what the machine is short of; empty when it is short of nothing.
func (r Reading) Short() string {
	switch {
	case r.Memory >= muchMemory:
		return fmt.Sprintf("no program could go on for want of memory in %.0f %% of the time", 100*r.Memory)
	case r.IO >= muchIO:
		return fmt.Sprintf("no program could go on for want of the disk in %.0f %% of the time", 100*r.IO)
	case r.Steal >= muchSteal:
		return fmt.Sprintf("the host took %.0f %% of the processor time", 100*r.Steal)
	case r.Late >= muchLate:
		return fmt.Sprintf("timers go off %s late", r.Late.Round(10*time.Millisecond))
	}
	return ""
}

// counts are sums since boot.
type counts struct {
	at              time.Time
	cpu, io, memory time.Duration
	steal, total    uint64 // ticks
	late            time.Duration
}

// Gauge measures while Run runs. Make one with New.
type Gauge struct {
	root string // of /proc

	mu   sync.Mutex
	past []counts // of the last Window, oldest first
	late time.Duration
}

// New makes a Gauge; it reads "no strain" until Run has run for a moment.
func New() *Gauge { return &Gauge{root: "/proc"} }

// Read returns the strain of the last Window.
func (g *Gauge) Read() Reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	var r Reading
	if len(g.past) < 2 {
		return r
	}
	first, last := g.past[0], g.past[len(g.past)-1]
	wall := last.at.Sub(first.at)
	share := func(d time.Duration) float64 { return min(1, max(0, d.Seconds()/wall.Seconds())) }
	r = Reading{CPU: share(last.cpu - first.cpu), IO: share(last.io - first.io), Memory: share(last.memory - first.memory), Late: g.late}
	if ticks := last.total - first.total; ticks > 0 {
		r.Steal = float64(last.steal-first.steal) / float64(ticks)
	}
	for _, c := range g.past[1:] {
		r.Late = max(r.Late, c.late)
	}
	return r
}

// Run measures until ctx ends.
func (g *Gauge) Run(ctx context.Context) error {
	beat := time.NewTimer(pulse)
	defer beat.Stop()
	g.sample(time.Now())
	due, next := time.Now().Add(pulse), time.Now().Add(step)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
		}
		now := time.Now()
		g.beat(now.Sub(due))
		if !now.Before(next) {
			g.sample(now)
			next = now.Add(step)
		}
		due = time.Now().Add(pulse)
		beat.Reset(pulse)
	}
}

func (g *Gauge) beat(late time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late = max(g.late, late)
}

// sample takes the counts. What cannot be read counts as no strain.
func (g *Gauge) sample(now time.Time) {
	c := counts{
		at: now, cpu: g.pressure("cpu", "some"), io: g.pressure("io", "full"), memory: g.pressure("memory", "full"),
	}
	if stat, err := os.ReadFile(g.root + "/stat"); err == nil {
		c.steal, c.total = parseSteal(stat)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c.late, g.late = g.late, 0
	g.past = append(g.past, c)
	for len(g.past) > 2 && now.Sub(g.past[1].at) >= Window {
		g.past = g.past[1:]
	}
}

func (g *Gauge) pressure(of, line string) time.Duration {
	text, err := os.ReadFile(g.root + "/pressure/" + of)
	if err != nil {
		return 0
	}
	return parsePressure(text, line)
}

// parsePressure returns the total of a line: "some avg10=0.00 … total=12" (µs).
func parsePressure(text []byte, line string) time.Duration {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != line {
			continue
		}
		total, ok := strings.CutPrefix(fields[len(fields)-1], "total=")
		us, err := strconv.ParseInt(total, 10, 64)
		if ok && err == nil {
			return time.Duration(us) * time.Microsecond
		}
	}
	return 0
}

// parseSteal returns the stolen ticks and all ticks of /proc/stat's first line (proc(5)):
// user nice system idle iowait irq softirq steal; guest time is part of user.
func parseSteal(stat []byte) (steal, total uint64) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := strings.Fields(string(line))
	const stolen = 8
	if len(fields) <= stolen || fields[0] != "cpu" {
		return 0, 0
	}
	for i, field := range fields[1 : stolen+1] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return 0, 0
		}
		total += n
		if i+1 == stolen {
			steal = n
		}
	}
	return steal, total
}
