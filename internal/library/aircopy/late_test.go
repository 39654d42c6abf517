package aircopy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// A good file whose probing was cut off from outside, twice, is tried again and airs.
func TestFileTheMachineDidNotFinishIsNotRefused(t *testing.T) {
	g := newRig(t, nil, nil)
	s, err := newStudio(t.Context(), g.db)
	if err != nil {
		t.Fatal(err)
	}
	g.opt.Master = s
	sound(t, g.path("english/song.flac"), music(2, 0.1))
	g.reg.scan()
	real, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho x >> '%[1]s/runs'\n[ $(wc -l < '%[1]s/runs') -gt 2 ] || kill -9 $$\nexec '%[2]s' \"$@\"\n", bin, real)
	if err := os.WriteFile(filepath.Join(bin, "ffprobe"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	log, lines := testkit.Log(t)
	g.opt.Log = log
	g.open()
	g.run()
	g.until("it airs", func(s *Snapshot) bool { return len(s.Tracks) == 1 && idle(s) })
	if n := lines.Count("file put off"); n != 2 || strings.Contains(lines.String(), "file refused") {
		t.Errorf("put off %d times: %s", n, lines.String())
	}
}

// hanging is mastering on a machine whose disk never gives one file whole.
type hanging struct{ copier }

func (h *hanging) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	if strings.HasSuffix(job.In, "hangs.wav") {
		h.calls.Add(1)
		return mastering.Record{}, &ffmpeg.UnfinishedError{Path: job.In, Reason: "ffmpeg decoded nothing for 1m0s"}
	}
	return h.copier.Do(ctx, job, progress)
}

// One file on a bad part of a disk holds up no other, and is never given up.
func TestFileThatHangsHoldsUpNoOther(t *testing.T) {
	h := &hanging{}
	g := newRig(t, h, func(o *Options) { o.Workers = 1 })
	g.write("english/hangs.wav", "x")
	for i := range 8 {
		g.write(fmt.Sprintf("english/%d.wav", i), "longer than the first")
	}
	g.reg.scan()
	g.open()
	g.run()
	s := g.until("the others air", func(s *Snapshot) bool { return len(s.Tracks) == 8 && h.calls.Load() > 12 })
	if len(s.Refused) != 0 || s.Work.Waiting != 1 {
		t.Errorf("refused %+v, waiting %d", s.Refused, s.Work.Waiting)
	}
}

// A copy that stayed under the loudness airs, and is named, after a restart too.
func TestFileThatStaysQuieterIsNamed(t *testing.T) {
	g := newRig(t, &copier{}, nil)
	g.write("english/tabla.wav", "strokes")
	g.write("english/song.wav", "song")
	g.reg.scan()
	g.open()
	g.run()
	want := []Quieter{{"english/tabla.wav", -17, 3}}
	g.until("it airs and is named", func(s *Snapshot) bool {
		return len(s.Tracks) == 2 && slices.Equal(s.Quieter, want) && len(s.Refused) == 0
	})
	g.stop()
	g.open()
	if s := g.rack.Snapshot(); !slices.Equal(s.Quieter, want) {
		t.Errorf("after a restart: %+v", s.Quieter)
	}
}

// halves tells the progress of each file twice, and what it has got past.
type halves struct {
	copier
	under atomic.Bool // a song that is to be held up has begun
	past  chan string
}

func (h *halves) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	if strings.Contains(job.In, "late.wav") {
		h.under.Store(true)
	}
	progress(0.5)
	if strings.Contains(job.In, "late") {
		h.past <- filepath.Base(job.In)
	}
	return h.copier.Do(ctx, job, progress)
}

// Work that has begun is held up too, between two pieces of audio, and goes on where it
// was; a bulletin is not.
func TestWorkUnderWayIsHeldUpButForABulletin(t *testing.T) {
	open, asked := make(chan struct{}), make(chan struct{}, 1)
	h := &halves{past: make(chan string, 2)}
	g := newRig(t, h, func(o *Options) {
		o.Workers = 2
		o.Hold = func(ctx context.Context) error {
			if !h.under.Load() {
				return nil
			}
			select {
			case asked <- struct{}{}:
			default:
			}
			return testkit.Held(ctx, open)
		}
	})
	for i := range enough {
		g.write(fmt.Sprintf("english/%02d.wav", i), "a song")
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("enough airs", func(s *Snapshot) bool { return len(s.Tracks) == enough })
	g.write("english/late.wav", "a song")
	g.reg.scan()
	testkit.Receive(t, "the song is held up", asked)
	g.write("news/NEWS_late.mp3", "fit")
	g.reg.scan()
	if got := testkit.Receive(t, "one gets past", h.past); got != "NEWS_late.mp3" {
		t.Errorf("%s got past first", got)
	}
	close(open)
	if got := testkit.Receive(t, "the other gets past", h.past); got != "late.wav" {
		t.Errorf("%s got past then", got)
	}
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == enough+2 })
}

// While the machine is short, work on more files waits, on as many as there are workers: a
// bulletin takes the place of one of them, which is done later.
func TestABulletinIsNotBehindWorkThatIsHeldUp(t *testing.T) {
	var short atomic.Bool
	open, asked := make(chan struct{}), make(chan struct{}, 8)
	g := newRig(t, &copier{}, func(o *Options) {
		o.Workers = 2
		o.Hold = func(ctx context.Context) error {
			if !short.Load() {
				return nil
			}
			asked <- struct{}{}
			return testkit.Held(ctx, open)
		}
	})
	for i := range enough {
		g.write(fmt.Sprintf("english/%02d.wav", i), "a song")
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("enough airs", func(s *Snapshot) bool { return len(s.Tracks) == enough })
	short.Store(true)
	g.write("english/late.wav", "a song")
	g.write("english/later.wav", "a song")
	g.reg.scan()
	for range 2 {
		testkit.Receive(t, "a song is held up", asked)
	}
	g.write("news/NEWS_late.mp3", "fit")
	g.reg.scan()
	if s := g.until("the bulletin airs", func(s *Snapshot) bool { return len(s.Tracks) > enough }); !strings.Contains(paths(s), "NEWS_late") {
		t.Errorf("on air: %s", paths(s))
	}
	testkit.Receive(t, "the song that made way is held up again", asked)
	close(open)
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == enough+3 })
}

// While the machine is short, work on more files waits; on the first ones, which the air
// needs, it does not.
func TestWorkIsHeldUpOnceEnoughAirs(t *testing.T) {
	open := make(chan struct{})
	g := newRig(t, &copier{}, func(o *Options) {
		o.Workers = 1
		o.Hold = func(ctx context.Context) error {
			return testkit.Held(ctx, open)
		}
	})
	for i := range 2 * enough {
		g.write(fmt.Sprintf("english/%02d.wav", i), "a song")
	}
	g.reg.scan()
	g.open()
	g.run()
	s := g.until("enough airs", func(s *Snapshot) bool { return len(s.Tracks) >= enough })
	if len(s.Tracks) > enough {
		t.Errorf("%d air while work is held up", len(s.Tracks))
	}
	close(open)
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == 2*enough })
}
