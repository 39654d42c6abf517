package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/aircheck"
)

// Two nodes with links of their own. While the control plane alone has lost the first one
// nobody takes the air. When its machine dies the other one has the air, with the song that
// comes next: nothing is heard twice, and whoever listens at an edge, to /stream or HLS, goes
// on. When it comes back it stands by.
func TestASpareNodeTakesTheAirOfADeadOne(t *testing.T) {
	p := withSpare(t)
	p.seesWell("c", p.control, "node", "spare", "spare copy", "node clocks", "node sight")
	p.seesWell("a", p.nodes["a"], "node", "node sight")
	p.seesWell("b", p.nodes["b"], "node", "node sight")
	p.seesWell("c", p.edge, "hls.relay")
	p.net.deaf("a", "c", true)
	p.eventually("the first node does not ask", func() bool { return p.logged("control:", "stream upstream lost") > 0 })
	direct := listen(t, "the first node", "http://"+p.net.address("a")+p.port("icecast")+"/main")
	p.eventually("fifteen seconds of its music", func() bool { return direct.rec.PCM().Duration() > 15*time.Second })
	if st := p.stood(); st.Fence != 1 || st.Host != p.net.address("a") {
		t.Errorf("the spare sees the first node, and the air is %+v", st)
	}
	p.net.deaf("a", "c", false)
	p.ready("mended", "a")
	p.heard("music again", 2*time.Second)

	p.once(p.takeover("its machine dies", "b", func() { p.net.dies("a") }))
	if n := p.hls.losses(); n > 0 {
		t.Errorf("the edge did not give the playlist to its listener %d times", n)
	}
	<-p.nodes["a"].ended
	testkit.EventuallyNil(t, "the spare has the air and the first node is dead, in the doctor's eyes", func() error {
		seen := p.doctor("c", p.control)
		if node, spare := seen["node"], seen["spare"]; node.Verdict != doctor.Warning || spare.Verdict != doctor.Wrong || !strings.Contains(spare.Remedy, p.net.address("a")) {
			return fmt.Errorf("%+v, %+v", node, spare)
		}
		return nil
	})
	p.nodes["a"].start()
	p.ready("the first one is back", "b")
	if st := p.stood(); st.Fence != 2 {
		t.Errorf("the first one is back: %+v", st)
	}
	p.heard("music of the second", 2*time.Second)
}

// fragment is longer than what is heard of a spare's own programme as it takes the air, and
// shorter than a song.
const fragment = 3300 * time.Millisecond

// once fails where a song was heard twice, or the one that was cut was begun again.
func (p *spared) once(cut int) {
	p.t.Helper()
	heard := aircheck.Fine.Analyse(p.stream.rec.PCM()).Segments
	p.t.Logf("heard at the edge: %v; %d was cut", aircheck.Report{Segments: heard}.Order(), cut)
	before, seen := map[int]int{}, false
	for i, seg := range heard {
		if seg.End-seg.Start < fragment && seg.ID != cut {
			continue
		}
		if last, ok := before[seg.ID]; ok && i-last < 6 || seen && seg.ID == cut && seg.End-seg.Start >= fragment {
			p.t.Errorf("tone %d is heard twice", seg.ID)
		}
		if before[seg.ID] = i; seg.ID == cut {
			seen = true
		}
	}
}
