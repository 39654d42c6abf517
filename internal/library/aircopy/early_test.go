package aircopy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// lasting scans the folder and gives files other lengths than 3 s. Nobody sees the one
// without the other.
func (f *folder) lasting(lengths map[string]time.Duration) {
	tracks := f.look()
	for i, t := range tracks {
		if l, ok := lengths[t.Path]; ok {
			tracks[i].Duration = l
		}
	}
	f.tell(tracks)
}

// ears stand for the preview. They need +3 dB for every file but those whose text says
// what is not right with it.
type ears struct {
	mu    sync.Mutex
	heard []string
}

func (e *ears) preview(_ context.Context, path string, _ mastering.Profile, _ time.Duration, _ int) (mastering.Preview, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return mastering.Preview{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, filepath.Base(path))
	out := mastering.Preview{Gain: 3}
	switch {
	case strings.HasPrefix(string(text), "lead"):
		out.Lead = 3 * time.Second
	case strings.HasPrefix(string(text), "tail"):
		out.Tail = 5 * time.Second
	case strings.HasPrefix(string(text), "offset"):
		out.Offset = -0.05
	case strings.HasPrefix(string(text), "bad"):
		err = &mastering.RefusedError{Text: "it is bad"}
	case strings.HasPrefix(string(text), "hangs"):
		err = errors.New("not in time")
	}
	return out, err
}

func (e *ears) order() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// Songs air from their own files, with their gain, before anything was mastered: the
// shortest first, and no imaging meanwhile. What a gain does not mend waits for its copy.
// A copy takes the place of the file, and of the gain.
func TestSongsAirBeforeTheirCopies(t *testing.T) {
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	heard := &ears{}
	c := &copier{}
	c.hold = func(in string) {
		if len(heard.order()) == 0 {
			t.Errorf("%s is mastered before the first song was measured", in)
		}
		<-gate
	}
	g := newRig(t, c, func(o *Options) { o.Preview, o.Workers = heard.preview, 2 })
	for name, text := range map[string]string{
		"english/long.wav": "song", "english/short.wav": "song", "arabic_hits/middle.wav": "song", "mashups/fit.mp3": "fit",
		"english/lead.wav": "lead", "english/tail.wav": "tail", "english/offset.wav": "offset", "mashups/bad.wav": "bad", "mashups/hangs.wav": "hangs",
		"jingles/a.wav": "jingle", "news/NEWS_1.mp3": "fit",
	} {
		g.write(name, text)
	}
	g.reg.lasting(map[string]time.Duration{"english/long.wav": time.Minute, "english/short.wav": time.Second, "arabic_hits/middle.wav": 10 * time.Second})
	g.open()
	g.run()
	s := g.until("the songs air", func(s *Snapshot) bool { return len(s.Tracks) == 4 })
	if got := paths(s); got != "arabic_hits/middle.wav english/long.wav english/short.wav mashups/fit.mp3" || len(s.Refused) != 0 {
		t.Errorf("on air: %s; refused %v", got, s.Refused)
	}
	testkit.Eventually(t, "every song is measured", func() bool { return len(heard.order()) == 9 })
	if order := heard.order(); slices.Index(order, "short.wav") > slices.Index(order, "lead.wav") || slices.Index(order, "long.wav") < slices.Index(order, "tail.wav") {
		t.Errorf("measured in the order %q", order)
	}
	s = g.until("the work is told", func(s *Snapshot) bool { return s.Work.Early == 4 && s.Work.Silent == 7 })
	if s.Work.Songs != 5 || s.Work.Waiting != 11 {
		t.Errorf("work %+v", s.Work)
	}
	track, _ := s.Find("english/short.wav")
	if path, gain := g.rack.Airs("english/short.wav"); path != g.path("english/short.wav") || gain != 3 || g.rack.Size(path) != track.Size || track.Size != 4 || track.Duration != time.Second {
		t.Errorf("airs %s at %+.1f dB, %d bytes, %+v", path, gain, g.rack.Size(path), track)
	}
	if rel, ok := g.rack.Rel(g.path("english/short.wav")); !ok || rel != "english/short.wav" {
		t.Errorf("%s", rel)
	}
	for _, rel := range []string{"english/lead.wav", "jingles/a.wav"} {
		if _, gain := g.rack.Airs(rel); gain != 0 {
			t.Errorf("%s has a gain of %.1f dB", rel, gain)
		}
	}
	open()
	s = g.until("everything is mastered", func(s *Snapshot) bool { return s.Work.Waiting == 0 })
	if len(s.Tracks) != 10 || len(s.Refused) != 1 || s.Work.Early != 0 {
		t.Errorf("on air: %s; refused %v; %+v", paths(s), s.Refused, s.Work)
	}
	for rel, want := range map[string]string{"english/short.wav": g.opt.Dir + "/english/short.wav.mp3", "mashups/fit.mp3": g.path("mashups/fit.mp3")} {
		if path, gain := g.rack.Airs(rel); path != want || gain != 0 {
			t.Errorf("%s airs as %s at %+.1f dB", rel, path, gain)
		}
	}
	if len(heard.order()) != 9 {
		t.Errorf("measured again: %q", heard.order())
	}
}

// A library of which no song can air before it has a copy: mastering does not wait until
// all of it was measured.
func TestALibraryWithoutAFirstSongIsMastered(t *testing.T) {
	mastered, heard := make(chan struct{}), &ears{}
	began := sync.OnceFunc(func() { close(mastered) })
	defer began()
	g := newRig(t, &copier{hold: func(string) { began() }}, func(o *Options) {
		o.Preview = func(ctx context.Context, path string, p mastering.Profile, length time.Duration, nice int) (mastering.Preview, error) {
			if len(heard.order()) > enoughSongs { // one may have begun already
				<-mastered
			}
			return heard.preview(ctx, path, p, length, nice)
		}
	})
	for i := range 3 * enoughSongs {
		g.write(fmt.Sprintf("english/%02d.wav", i), "lead")
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("all air as copies", func(s *Snapshot) bool { return len(s.Tracks) == 3*enoughSongs })
}

// What changes while a song is being measured does not have it measured again.
func TestASongThatIsBeingMeasuredIsNotMeasuredAgain(t *testing.T) {
	gate, begun := make(chan struct{}), make(chan struct{}, 1)
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	heard := &ears{}
	g := newRig(t, &copier{}, func(o *Options) {
		o.Preview = func(ctx context.Context, path string, p mastering.Profile, length time.Duration, nice int) (mastering.Preview, error) {
			select {
			case begun <- struct{}{}:
			default:
			}
			<-gate
			return heard.preview(ctx, path, p, length, nice)
		}
	})
	g.write("english/one.wav", "song")
	g.reg.scan()
	g.open()
	g.run()
	<-begun
	g.write("english/two.wav", "song")
	g.reg.scan()
	g.until("the second is known", func(s *Snapshot) bool { return s.Work.Waiting == 2 })
	open()
	g.until("all are mastered", func(s *Snapshot) bool { return s.Work.Waiting == 0 && len(s.Tracks) == 2 })
	if songs := slices.Sorted(slices.Values(heard.order())); len(songs) != len(slices.Compact(slices.Clone(songs))) {
		t.Errorf("measured: %q", songs)
	}
}

// Half an hour of each deck is measured ahead, not a whole library; another song is
// measured for each that cannot air.
func TestOnlyTheFirstSongsAreMeasuredAhead(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	heard := &ears{}
	g := newRig(t, &copier{hold: func(string) { <-gate }}, func(o *Options) { o.Preview = heard.preview })
	for i := range 3 * enoughSongs {
		text := "song"
		if i < 3 {
			text = "lead"
		}
		g.write(fmt.Sprintf("english/%02d.wav", i), text)
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("enough songs air", func(s *Snapshot) bool { return len(s.Tracks) == enoughSongs })
	g.reg.subs.Tell()
	g.write("arabic_hits/one.wav", "song")
	g.reg.scan()
	g.until("the other deck has one", func(s *Snapshot) bool { return len(s.Tracks) == enoughSongs+1 })
	if n := len(heard.order()); n != enoughSongs+3+1 {
		t.Errorf("%d songs were measured", n)
	}
}

// A song that is replaced while it airs without a copy is measured again, and one that
// is gone is forgotten.
func TestAChangedSongIsMeasuredAgain(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	heard := &ears{}
	g := newRig(t, &copier{hold: func(string) { <-gate }}, func(o *Options) { o.Preview, o.Workers = heard.preview, 1 })
	g.write("arabic_hits/in work.wav", "song")
	g.write("english/one.wav", "song")
	g.write("english/two.wav", "song")
	g.reg.scan()
	g.open()
	g.run()
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == 3 })
	g.write("english/one.wav", "lead in")
	g.reg.scan()
	g.until("the new one waits for its copy", func(s *Snapshot) bool {
		return paths(s) == "arabic_hits/in work.wav english/two.wav" && len(heard.order()) == 4
	})
	if _, gain := g.rack.Airs("english/one.wav"); gain != 0 {
		t.Errorf("the gain of the old file stays: %+.1f dB", gain)
	}
	if err := os.Remove(g.path("english/two.wav")); err != nil {
		t.Fatal(err)
	}
	g.reg.scan()
	g.until("it is off the air", func(s *Snapshot) bool { return len(s.Tracks) == 1 })
}

// desk masters what is short at once, and all else only when it is let.
type desk struct {
	copier
	let    chan struct{}
	mu     sync.Mutex
	cut    int // how often long work was interrupted
	begins chan struct{}
}

func (d *desk) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	if strings.Contains(job.In, "festival") {
		select {
		case d.begins <- struct{}{}:
		default:
		}
		select {
		case <-d.let:
		case <-ctx.Done():
			d.mu.Lock()
			d.cut++
			d.mu.Unlock()
			return mastering.Record{}, context.Cause(ctx)
		}
	}
	return d.copier.Do(ctx, job, progress)
}

// Work on a long recording that airs already makes way for a bulletin, a few times, and is
// done in the end.
func TestLongWorkMakesWayForABulletin(t *testing.T) {
	d := &desk{let: make(chan struct{}), begins: make(chan struct{}, 1)}
	g := newRig(t, d, func(o *Options) { o.Preview, o.Workers = (&ears{}).preview, 1 })
	g.write("english/festival.wav", "song")
	length := map[string]time.Duration{"english/festival.wav": 8 * time.Hour}
	g.reg.lasting(length)
	g.open()
	g.run()
	for i := range mostInterruptions {
		testkit.Receive(t, "work on the recording", d.begins)
		g.write(fmt.Sprintf("news/NEWS_%d.mp3", i), "fit")
		g.reg.lasting(length)
		g.until("the bulletin airs", func(s *Snapshot) bool { return len(s.Tracks) == i+2 })
	}
	testkit.Receive(t, "work on the recording", d.begins)
	g.write("news/NEWS_last.mp3", "fit")
	g.reg.lasting(length)
	g.until("the bulletin waits", func(s *Snapshot) bool { return s.Work.Silent == 1 })
	close(d.let)
	s := g.until("all is mastered", func(s *Snapshot) bool { return s.Work.Waiting == 0 })
	d.mu.Lock()
	defer d.mu.Unlock()
	if path, _ := g.rack.Airs("english/festival.wav"); d.cut != mostInterruptions || len(s.Tracks) != mostInterruptions+2 || !strings.HasPrefix(path, g.opt.Dir) || s.Problem != "" {
		t.Errorf("interrupted %d times, %s airs, problem %q", d.cut, paths(s), s.Problem)
	}
}

// The real thing: a song airs at its own file's gain, which is that of its copy, and real
// work that is interrupted refuses nothing.
func TestARealSongAirsAtOnceAndIsMasteredAfterAnInterruption(t *testing.T) {
	g, s := realRig(t)
	g.opt.Preview, g.opt.Workers = s.Preview, 1
	sound(t, g.path("english/long.flac"), music(40, 0.02))
	length := map[string]time.Duration{"english/long.flac": 40 * time.Second}
	under := make(chan struct{})
	began := sync.OnceFunc(func() { close(under) })
	s.during = func(in string, share float64) {
		if strings.HasSuffix(in, "long.flac") && share > 0.2 {
			began()
		}
	}
	g.reg.lasting(length)
	g.open()
	g.run()
	first := g.until("the song airs", func(s *Snapshot) bool { return len(s.Tracks) == 1 })
	path, gain := g.rack.Airs("english/long.flac")
	early := first.Work.Early == 1
	<-under
	sound(t, g.path("jingles/short.flac"), music(1, 0.1))
	g.reg.lasting(length)
	done := g.until("both are mastered", func(s *Snapshot) bool { return len(s.Tracks) == 2 && idle(s) })
	if len(done.Refused) != 0 {
		t.Fatalf("refused: %+v", done.Refused)
	}
	g.rack.mu.RLock()
	defer g.rack.mu.RUnlock()
	row := g.rack.rows["english/long.flac"]
	if early && (path != g.path("english/long.flac") || math.Abs(gain-row.Gain) > 0.3) {
		t.Errorf("%s aired at %+.2f dB; its copy took %+.2f dB", path, gain, row.Gain)
	}
	if !early {
		t.Log("the copy was there before the first look")
	}
}
