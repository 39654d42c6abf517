//go:build soak

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// First, do no harm. Each fault is put into two stations, one with the guard and one
// without: there nothing is killed or rewritten by the station's own judgement, and a
// program that ends is started again all the same. Twenty listeners at each door count what
// they lose. With the guard there is never more silence, and never one more dropped
// listener; and what the guard is there for is healed.
//
// ATHIR_HARM=short takes half a minute for what lasts ten by rights, and the same two
// stations for all that leaves nothing behind.
func TestSoakFirstDoNoHarm(t *testing.T) {
	page, stations := &page{}, &pool{t: t, free: map[string]*harmed{}}
	defer page.write(t)
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			if f.needs != nil {
				if missing := f.needs(); missing != "" {
					page.add(fmt.Sprintf("| %s | not put in: %s |||||", f.name, missing))
					t.Skip(missing)
				}
			}
			p := f.pair(t, stations)
			if worse := p.worse(); len(worse) > 0 && !t.Failed() {
				// One pair is one throw of the dice: an engine takes two seconds to start, or five.
				// The stations are new: none is to be killed twice in five minutes.
				t.Logf("once more, because: %v", worse)
				page.add(p.row(f) + " (once more:)")
				p = f.pair(t, &pool{})
			}
			page.add(p.row(f))
			for _, worse := range p.worse() {
				t.Error(worse)
			}
			if f.remit && !p[hasGuard].healed {
				t.Errorf("not healed with the guard: %s", p[hasGuard].why)
			}
		})
	}
}

// fault is what is put into a station.
type fault struct {
	name string
	// lasts is for how long, and short in the short form; both zero: it is put in once,
	// and nobody but the station takes it away.
	lasts, short time.Duration
	// put puts it in. What it returns takes it away.
	put func(h *harmed) (heal func())
	// with prepares the station, far starts control plane and node apart.
	with []option
	far  bool
	// alone: it is put in without the other station at its side: it wants the machine.
	alone bool
	// remit: it is the guard's or the watchdogs' to heal.
	remit bool
	// fit says what else must be in order again; nil: nothing.
	fit func(h *harmed) error
	// marks: it leaves something behind in the station, which no other fault may have.
	marks bool
	// needs says what this machine lacks for it.
	needs func() string
}

func shortForm() bool { return os.Getenv("ATHIR_HARM") == "short" }

func (f fault) length() time.Duration {
	if shortForm() {
		return f.short
	}
	return f.lasts
}

const (
	// watches is for how long a station is looked at after a fault, however well it is.
	watches = 15 * time.Second
	// healsIn is how long it has to be well again.
	healsIn = 40 * time.Second
	// noise is by how much two stations may differ that do the same: the start of an
	// engine takes from two seconds to five, and HLS comes in pieces of two.
	noise = 3 * time.Second
)

// The two stations of a pair.
const (
	hasGuard = iota
	plain
)

var sides = [...]struct {
	name string
	opt  option
}{
	{"with", withGuard},
	{"without", func(s *station) { s.env = append(s.env, "ATHIR_GUARD_KILLS=false") }},
}

// outcome is what became of one station.
type outcome struct {
	dropped          [len(doors)]int
	silence, longest [len(doors)]time.Duration
	again            time.Duration // from the end of the fault to the end of the last silence beyond a hiccup
	healed           bool
	why              string // it is not
	did              string
}

type pair [len(sides)]outcome

// pair puts the fault into both stations, side by side where that is no matter.
func (f fault) pair(t *testing.T, stations *pool) (p pair) {
	t.Run("pair", func(t *testing.T) {
		for i, side := range sides {
			t.Run(side.name, func(t *testing.T) {
				if !f.alone {
					t.Parallel()
				}
				p[i] = f.cell(t, stations, i)
			})
		}
	})
	return p
}

// cell puts the fault into one station.
func (f fault) cell(t *testing.T, stations *pool, side int) (o outcome) {
	h := stations.take(t, f, side)
	a := h.audience
	h.eventually("everybody hears and all is well", func() bool { return h.well() == nil && a.here() })
	h.seen = h.lines()
	put := time.Now()
	heal := f.put(h)
	if heal == nil {
		heal = func() {}
	}
	over := put
	if d := f.length(); d > 0 {
		pause(t.Context(), d)
		heal()
		over = time.Now()
	}
	until := over.Add(max(healsIn, watches))
	for {
		now := time.Now()
		err := h.well()
		for d, door := range doors {
			if err == nil && !a.well(d, now) {
				err = fmt.Errorf("nothing is heard by %s", door.name)
			}
		}
		if err == nil && f.fit != nil {
			err = f.fit(h)
		}
		o.healed, o.why = err == nil, ""
		if err != nil {
			o.why = err.Error()
		}
		if now.After(until) || o.healed && now.Sub(over) > watches {
			break
		}
		pause(t.Context(), time.Second)
	}
	end := time.Now()
	for d := range doors {
		o.dropped[d] = a.dropped(d)
		var last time.Time
		o.silence[d], o.longest[d], last = a.silence(d, put, end)
		o.again = max(o.again, last.Sub(over))
	}
	o.did = h.did()
	stations.put(h, f, side, o.healed)
	t.Logf("HARM %s: dropped %v, silence %v, longest %v, heard again after %s, healed %v %s, done: %s",
		f.name, o.dropped, o.silence, o.longest, o.again, o.healed, o.why, o.did)
	if os.Getenv("ATHIR_HARM_LOG") != "" {
		_ = os.WriteFile(filepath.Join(os.Getenv("ATHIR_HARM_LOG"), strings.ReplaceAll(t.Name(), "/", " ")+".log"), []byte(h.tail(1<<20)), 0o600)
	}
	return o
}

// tenSeconds is a library of tracks that are short and long enough.
func tenSeconds(s *station) {
	rules(shortRules)(s)
	fill(s.t, s.media, []deck{{"music/arabic_hits", 0, 12, 10 * time.Second}})
}

// well says what is wrong with the station, within seconds even where nothing answers.
func (h *harmed) well() error {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	body, err := h.getWithin(ctx, "control", "/api/status", h.key())
	if err != nil {
		return err
	}
	var st status
	if err := json.Unmarshal(body, &st); err != nil {
		return err
	}
	if st.State != "music" {
		return fmt.Errorf("state %s %s", st.State, st.Reason)
	}
	for _, p := range st.Processes {
		if p.State != "running" || p.Condition == "wedged" {
			return fmt.Errorf("%s: %s %s", p.Name, p.State, p.Condition)
		}
	}
	for port, path := range map[string]string{"chat": "/livez", "player": "/livez", "paths": "/v3/paths/list"} {
		if _, err := h.getWithin(ctx, port, path, ""); err != nil {
			return err
		}
	}
	return nil
}

// did counts what the station did by its own judgement.
func (h *harmed) did() string {
	var out []string
	h.mu.Lock()
	defer h.mu.Unlock()
	count := map[string]int{}
	for _, line := range h.log[h.seen:] {
		for what, words := range map[string][]string{
			"killed": {"watchdog kills process"}, "late": {"program not ready in time"},
			"step": {"dead-air guard: taking a step"},
		} {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				_, rest, _ := strings.Cut(line, map[string]string{"killed": "program=", "late": "program=", "step": "step="}[what])
				name, _, _ := strings.Cut(rest, " ")
				count[what+" "+strings.Trim(name, `"`)]++
			}
		}
	}
	for what, n := range count {
		out = append(out, fmt.Sprintf("%s %d×", what, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// worse says where the guard did harm.
func (p pair) worse() (out []string) {
	with, without := p[hasGuard], p[plain]
	for d, door := range doors {
		if with.dropped[d] > without.dropped[d] {
			out = append(out, fmt.Sprintf("%s: %d listeners dropped with the guard, %d without", door.name, with.dropped[d], without.dropped[d]))
		}
		if with.silence[d] > without.silence[d]+noise {
			out = append(out, fmt.Sprintf("%s: %s of silence with the guard, %s without", door.name, with.silence[d], without.silence[d]))
		}
	}
	if without.healed && !with.healed {
		out = append(out, "healed only without the guard: "+with.why)
	}
	return out
}

// row is a line of the table.
func (p pair) row(f fault) string {
	var b strings.Builder
	lasts := "once"
	if d := f.length(); d > 0 {
		lasts = d.String()
	}
	fmt.Fprintf(&b, "| %s | %s |", f.name, lasts)
	each := func(show func(o outcome) string) {
		fmt.Fprintf(&b, " %s / %s |", show(p[hasGuard]), show(p[plain]))
	}
	each(func(o outcome) string { return fmt.Sprintf("%d·%d·%d", o.dropped[0], o.dropped[1], o.dropped[2]) })
	seconds := func(ds [len(doors)]time.Duration) string {
		return fmt.Sprintf("%.0f·%.0f·%.0f", ds[0].Seconds(), ds[1].Seconds(), ds[2].Seconds())
	}
	each(func(o outcome) string { return seconds(o.silence) })
	each(func(o outcome) string { return fmt.Sprintf("%.0f", slices.Max(o.longest[:]).Seconds()) })
	each(func(o outcome) string {
		if !o.healed {
			return "no"
		}
		return fmt.Sprintf("%.0f s", max(0, o.again.Seconds()))
	})
	fmt.Fprintf(&b, " %s |", p[hasGuard].did)
	return b.String()
}

// page is the table.
type page struct{ rows []string }

func (p *page) add(row string) { p.rows = append(p.rows, row) }

func (p *page) write(t *testing.T) {
	load, _ := os.ReadFile("/proc/loadavg")
	text := fmt.Sprintf("\n%s, load at the end %s\n\n| fault | for | dropped of 20·20·20 (Icecast·/stream·HLS), with / without | silence, s | longest, s | heard again after | done |\n|---|---|---|---|---|---|---|\n%s\n",
		time.Now().UTC().Format(time.DateTime), strings.TrimSpace(string(load)), strings.Join(p.rows, "\n"))
	t.Log(text)
	const results = "../../test-results"
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Error(err)
		return
	}
	f, err := os.OpenFile(filepath.Join(results, "faults.md"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close() //nolint:errcheck // a report
	if _, err := f.WriteString(text); err != nil {
		t.Error(err)
	}
}
