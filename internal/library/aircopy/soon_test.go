package aircopy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// done lists the files that a copier was given, in their order.
type done struct {
	mu    sync.Mutex
	names []string
}

func (d *done) add(in string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names = append(d.names, in[strings.LastIndex(in, "/")+1:])
}

func (d *done) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names)
}

// cutTo says of tracks that only a part of each airs.
func (f *folder) cutTo(cut station.Cut, rels ...string) {
	tracks := f.look()
	for i, t := range tracks {
		if slices.Contains(rels, t.Path) {
			tracks[i].Own = &station.Own{Cut: cut}
		}
	}
	f.tell(tracks)
}

// What somebody waits for is decided before all that waits already, also where an older
// version airs meanwhile; among themselves as they were asked for.
func TestWhatSomebodyWaitsForIsDecidedFirst(t *testing.T) {
	var order done
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	c := &copier{}
	g := newRig(t, c, func(o *Options) { o.Workers = 1 })
	g.write("english/aired.wav", "song")
	g.reg.scan()
	g.open()
	g.run()
	g.until("the first airs", func(s *Snapshot) bool { return s.Work.Waiting == 0 && len(s.Tracks) == 1 })
	g.stop()
	c.hold = func(in string) { order.add(in); <-gate }
	for i := range 30 {
		g.write(fmt.Sprintf("arabic_hits/%02d.wav", i), "song")
	}
	g.reg.scan()
	g.open()
	g.run()
	testkit.Eventually(t, "one is in work", func() bool { return len(order.list()) == 1 })
	g.write("jingles/new.wav", "jingle")
	g.write("news/NEWS_1.mp3", "bulletin")
	g.reg.cutTo(station.Cut{In: time.Second}, "english/aired.wav")
	g.rack.Soon("jingles/new.wav", "english/aired.wav", "english/no such.wav")
	g.until("all are known", func(s *Snapshot) bool { return s.Work.Waiting == 33 })
	open()
	g.until("all is done", func(s *Snapshot) bool { return s.Work.Waiting == 0 })
	got := order.list()
	if want := []string{"NEWS_1.mp3", "new.wav", "aired.wav"}; len(got) != 33 || !slices.Equal(got[1:4], want) {
		t.Errorf("done in the order %q, want %q after the one that was in work", got, want)
	}
	g.rack.mu.RLock()
	defer g.rack.mu.RUnlock()
	if len(g.rack.soon) != 0 {
		t.Errorf("still waited for: %v", g.rack.soon)
	}
}

// A new song is measured ahead of its copy though its deck has enough: it airs while the
// machine is busy with others. One that is cut waits for its copy, as nothing else is cut.
func TestANewSongAirsThoughTheDeckHasEnough(t *testing.T) {
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	heard := &ears{}
	g := newRig(t, &copier{hold: func(string) { <-gate }}, func(o *Options) { o.Preview, o.Workers = heard.preview, 1 })
	for i := range enoughSongs + 3 {
		g.write(fmt.Sprintf("english/%02d.wav", i), "song")
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("enough air", func(s *Snapshot) bool { return s.Work.Early == enoughSongs })
	g.write("english/new.wav", "song")
	g.write("english/cut.wav", "song")
	g.reg.cutTo(station.Cut{Out: time.Second}, "english/cut.wav")
	g.rack.Soon("english/cut.wav", "english/new.wav")
	s := g.until("the new one airs", func(s *Snapshot) bool { return s.Work.Early == enoughSongs+1 })
	if _, airs := s.Find("english/new.wav"); !airs {
		t.Errorf("on air: %s", paths(s))
	}
	g.reg.cutTo(station.Cut{Out: time.Second}, "english/cut.wav", "english/new.wav")
	s = g.until("it is off the air, uncut as it was", func(s *Snapshot) bool { return s.Work.Early == enoughSongs })
	if _, airs := s.Find("english/new.wav"); airs {
		t.Errorf("on air: %s", paths(s))
	}
	g.write("jingles/new.wav", "jingle")
	g.reg.cutTo(station.Cut{Out: time.Second}, "english/cut.wav", "english/new.wav")
	g.rack.Soon("jingles/new.wav")
	g.until("a jingle does not wait either", func(s *Snapshot) bool { _, airs := s.Find("jingles/new.wav"); return airs })
	open()
	g.until("all have copies", func(s *Snapshot) bool { return s.Work.Waiting == 0 && len(s.Tracks) == enoughSongs+6 })
	if slices.Contains(heard.order(), "cut.wav") {
		t.Error("the cut one was measured ahead")
	}
}

// Long work makes way for what somebody waits for, though nothing airs of it either.
func TestLongWorkMakesWayForWhatSomebodyWaitsFor(t *testing.T) {
	d := &desk{let: make(chan struct{}), begins: make(chan struct{}, 1)}
	g := newRig(t, d, func(o *Options) { o.Workers = 1 })
	g.write("english/festival.wav", "song")
	length := map[string]time.Duration{"english/festival.wav": 8 * time.Hour}
	g.reg.lasting(length)
	g.open()
	g.run()
	testkit.Receive(t, "work on the recording", d.begins)
	g.write("sfx/door.wav", "fit")
	g.reg.lasting(length)
	g.rack.Soon("sfx/door.wav")
	g.until("the effect airs", func(s *Snapshot) bool { return paths(s) == "sfx/door.wav" })
	testkit.Receive(t, "work on the recording, again", d.begins)
	close(d.let)
	g.until("all is mastered", func(s *Snapshot) bool { return s.Work.Waiting == 0 && len(s.Tracks) == 2 })
}

// Whoever sends or changes a thousand waits for none of them, and keeps nobody waiting: of
// what is sent one by one the newest are ahead.
func TestAThousandWaitForTheirTurn(t *testing.T) {
	g := newRig(t, &copier{}, nil)
	g.open()
	rels := make([]string, 1000)
	for i := range rels {
		rels[i] = fmt.Sprintf("english/%d.wav", i)
	}
	if g.rack.Soon(rels...); len(g.rack.soon) != 0 {
		t.Errorf("%d are put ahead", len(g.rack.soon))
	}
	for _, rel := range rels {
		g.rack.Soon(rel)
	}
	if len(g.rack.soon) != mostSoon || g.rack.soon[rels[999]] == 0 || g.rack.soon[rels[0]] != 0 {
		t.Errorf("%d are put ahead", len(g.rack.soon))
	}
}

// lagging is a registry that changes, and has what changed waited for, just after it was read.
type lagging struct {
	*folder
	once func()
}

func (l *lagging) Tracks() []station.Track {
	all := l.folder.Tracks()
	if once := l.once; once != nil {
		l.once = nil
		once()
	}
	return all
}

// What is asked for between a look at the registry and the plan is not forgotten.
func TestWhatIsAskedForMeanwhileIsNotForgotten(t *testing.T) {
	var order done
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	l := &lagging{}
	g := newRig(t, &copier{hold: func(in string) { order.add(in); <-gate }}, func(o *Options) { o.Workers = 1 })
	l.folder, g.opt.Registry = g.reg, l
	for i := range 20 {
		g.write(fmt.Sprintf("arabic_hits/%02d.wav", i), "song")
	}
	g.reg.scan()
	g.open()
	l.once = func() {
		g.write("sfx/new.wav", "fit")
		g.write("arabic_hits/zz.wav", "song")
		g.reg.lasting(map[string]time.Duration{"arabic_hits/zz.wav": time.Hour}) // the last of its deck
		g.rack.Soon("arabic_hits/zz.wav")
	}
	g.run()
	g.until("all are known", func(s *Snapshot) bool { return s.Work.Waiting == 22 })
	open()
	g.until("all is done", func(s *Snapshot) bool { return s.Work.Waiting == 0 })
	if got := order.list(); slices.Index(got, "zz.wav") > 2 {
		t.Errorf("done in the order %q", got)
	}
}
