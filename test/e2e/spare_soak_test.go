//go:build soak

package e2e

import (
	"path/filepath"
	"testing"
	"time"
)

// slowly is how much audio is heard over the slow line.
const slowly = 30 * time.Second

// The links between the machines are cut whole, one way, and slow with losses: the air goes
// where somebody hears it, to one node at a time, and back to nobody by itself. A slow line
// moves nothing, and a takeover over it is no other.
func TestSoakASpareNodeTakesTheAirBehindBadLinks(t *testing.T) {
	p := withSpare(t)
	p.once(p.takeover("its cable is pulled", "b", func() { p.net.plug("a", false) }))
	p.net.plug("a", true)
	p.ready("the cable is in again", "b")

	p.once(p.takeover("what it sends is lost", "a", func() { p.net.deafToAll("b", true) }))
	p.net.deafToAll("b", false)
	p.ready("what it sends comes through", "a")

	fence := p.stood().Fence
	for _, m := range []string{"a", "b"} {
		p.net.slow(m, true)
	}
	p.heard("half a minute over a slow line", slowly)
	if st := p.stood(); st.Fence != fence {
		t.Errorf("a slow line moved the air: %+v", st)
	}
	p.once(p.takeover("it dies behind a slow line", "b", func() { p.net.dies("a") }))
	<-p.nodes["a"].ended
	p.nodes["a"].start()
	p.ready("it is back behind a slow line", "b")
	for _, m := range []string{"a", "b"} {
		p.net.slow(m, false)
	}
}

// The clocks of the three machines are 5 s apart each way, and one leaps while its node has
// the air: nobody takes over for it, and a takeover is no other.
func TestSoakASpareNodeOnAnotherClock(t *testing.T) {
	clocks := map[string]time.Duration{"c": 0, "a": 5 * time.Second, "b": -5 * time.Second}
	data := map[string]string{}
	for m := range clocks {
		data[m] = filepath.Join(t.TempDir(), m)
	}
	p := withSpareOf(t, func(m string) (string, []string) { return clockOf(t, data[m], clocks[m]) })
	unmoved := func(what string, fence uint64) {
		p.heard(what, slowly)
		if st := p.stood(); st.Fence != fence {
			t.Errorf("%s moved the air: %+v", what, st)
		}
	}
	unmoved("half a minute with clocks 5 s apart", 1)
	p.once(p.takeover("it dies, and the spare is 10 s behind it", "b", func() { p.net.dies("a") }))
	<-p.nodes["a"].ended
	p.nodes["a"].start()
	p.ready("it is back", "b")

	setClock(t, data["b"], 5*time.Second)
	unmoved("a leap of the clock of whoever has the air", 2)
	setClock(t, data["a"], -5*time.Second)
	setClock(t, data["c"], 5*time.Second)
	unmoved("a leap of the others' clocks", 2)
	p.once(p.takeover("it dies, and the spare is 10 s behind it again", "a", func() { p.net.dies("b") }))
}

// deafToAll loses all that a machine sends to the others, or no longer.
func (n *network) deafToAll(from string, lost bool) {
	n.t.Helper()
	for to := range n.at {
		if to != from {
			n.deaf(from, to, lost)
		}
	}
}

// plug pulls a machine's cable, or puts it in.
func (n *network) plug(m string, in bool) {
	n.t.Helper()
	n.do("ip", "link", "set", n.cable(m), map[bool]string{true: "up", false: "down"}[in])
}

// slow has a machine's link pass 150 kB/s each way and lose one packet of fifty, or no longer.
// The losses are where packets arrive: a sender is not told.
func (n *network) slow(m string, is bool) {
	n.t.Helper()
	n.narrow(m, is)
	add := "-A"
	if !is {
		add = "-D"
	}
	lost := []string{"-m", "statistic", "--mode", "random", "--probability", "0.02", "-j", "DROP"}
	n.in(m, append([]string{"iptables", add, "INPUT", "-i", "eth0"}, lost...)...)
	for to := range n.at {
		if to != m {
			n.in(to, append([]string{"iptables", add, "INPUT", "-s", n.address(m)}, lost...)...)
		}
	}
}
