// Command mastering masters a few hundred real files and prints how close they
// come to the target, by our meter and by ffmpeg's, and how long that takes
// beside what one would use instead, on the same files in the same run: two
// passes of ffmpeg's loudnorm, and decoding and encoding alone.
//
//	go run ./test/bench/mastering -files 250 /usr/share/games /usr/share/hyperrogue
//
// Decoder, encoder, bit rate and number of files at a time are the same for
// all three, and they take turns on a few files at a time, so that a busy
// machine is busy for all.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

type options struct {
	files, jobs, kbps, batch int
	nice                     int
	turns, verbose           bool
	folders                  []string
}

func main() {
	var o options
	flag.IntVar(&o.files, "files", 250, "files at most")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "files at a time")
	flag.IntVar(&o.kbps, "kbps", 192, "bit rate")
	flag.IntVar(&o.nice, "nice", 10, "niceness of all three, 1 to 19: 10 is the station's")
	flag.IntVar(&o.batch, "batch", 6, "files in a turn")
	flag.BoolVar(&o.turns, "compare", true, "time loudnorm, and decoding and encoding alone, beside ours")
	flag.BoolVar(&o.verbose, "v", false, "tell of every attempt")
	flag.Parse()
	if o.folders = flag.Args(); len(o.folders) == 0 {
		o.folders = []string{"/usr/share/games", "/usr/share/hyperrogue", "/usr/share/sounds"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mastering:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, o options) error {
	paths, err := find(o)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "athir-mastering-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{o: o, dir: dir, master: mastering.New(mastering.Options{Kbps: o.kbps, Nice: o.nice, Log: logger(o)})}
	for at := 0; at < len(paths) && ctx.Err() == nil; at += o.batch {
		if err := b.turn(ctx, at, paths[at:min(at+o.batch, len(paths))]); err != nil && ctx.Err() == nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d files", min(at+o.batch, len(paths)), len(paths))
	}
	fmt.Fprintln(os.Stderr)
	b.print()
	return nil
}

// find lists sound files, those of different folders mixed.
func find(o options) ([]string, error) {
	var paths []string
	for _, folder := range o.folders {
		err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // a folder that is not there has no files
			}
			switch strings.ToLower(filepath.Ext(p)) {
			case ".ogg", ".oga", ".mp3", ".wav", ".flac", ".opus":
				if d.Type().IsRegular() {
					paths = append(paths, p)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no sound files in %s: 'apt-get install wesnoth-1.16-music hyperrogue-music singularity-music asc-music' brings some", o.folders)
	}
	// A fixed stride visits all of them, and long and short ones in turn.
	slices.Sort(paths)
	mixed := make([]string, 0, len(paths))
	stride := len(paths)*2/5 | 1
	for gcd(stride, len(paths)) != 1 {
		stride += 2
	}
	for i := range paths {
		mixed = append(mixed, paths[i*stride%len(paths)])
	}
	return mixed[:min(o.files, len(mixed))], nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// made is one file mastered by us.
type made struct {
	in           string
	rec          mastering.Record
	err          error
	lufs, dbtp   float64 // by ffmpeg's meter
	stayedLinear bool    // loudnorm
}

type bench struct {
	o      options
	dir    string
	master *mastering.Master
	mu     sync.Mutex
	done   []made
	ours   clock
	theirs clock
	plain  clock
}

// turn takes one batch through all three.
func (b *bench) turn(ctx context.Context, at int, paths []string) error {
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		return err
	}
	var jobs []mastering.Job
	for i, p := range paths {
		jobs = append(jobs, mastering.Job{In: p, Out: filepath.Join(b.dir, fmt.Sprintf("%04d.mp3", at+i)), Profile: profile})
	}
	results := map[string]mastering.Result{}
	var airable []string
	var ours, theirs, plain clock
	ours.measure(func() {
		err = b.master.All(ctx, jobs, b.o.jobs, func(r mastering.Result) { results[r.Job.In] = r }, nil)
	})
	if err != nil {
		return err
	}
	for _, p := range paths {
		if results[p].Err == nil {
			airable = append(airable, p)
		}
	}
	linear := map[string]bool{}
	if b.o.turns {
		theirs.measure(func() { err = b.each(airable, func(p string) error { return b.loudnorm(ctx, p, linear) }) })
		if err != nil {
			return err
		}
		plain.measure(func() { err = b.each(airable, func(p string) error { return b.transcode(ctx, p) }) })
		if err != nil {
			return err
		}
	}
	// Only whole turns count: an interrupted one is not the same for all three.
	b.ours.add(ours)
	b.theirs.add(theirs)
	b.plain.add(plain)
	return b.each(paths, func(p string) error {
		r := results[p]
		m := made{in: p, rec: r.Record, err: r.Err, stayedLinear: linear[p]}
		if r.Err == nil {
			var err error
			if m.lufs, m.dbtp, err = ebur128(ctx, b.o.nice, r.Job.Out); err != nil {
				return err
			}
			_ = os.Remove(r.Job.Out)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done = append(b.done, m)
		return nil
	})
}

// each runs fn on the paths, jobs at a time.
func (b *bench) each(paths []string, fn func(string) error) error {
	next := make(chan string, len(paths))
	for _, p := range paths {
		next <- p
	}
	close(next)
	errs := make(chan error, b.o.jobs)
	for range b.o.jobs {
		go func() {
			for p := range next {
				if err := fn(p); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range b.o.jobs {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// clock adds up wall and processor time, of this process and its children.
type clock struct{ wall, cpu time.Duration }

func (c *clock) measure(fn func()) {
	wall, cpu := time.Now(), spent()
	fn()
	c.wall += time.Since(wall)
	c.cpu += spent() - cpu
}

func (c *clock) add(d clock) { c.wall, c.cpu = c.wall+d.wall, c.cpu+d.cpu }

func spent() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// off is how far a file missed its target: -14 LUFS, or what the limiter's depth left.
func off(m made) float64 { return math.Abs(m.rec.Integrated + m.rec.Short + 14) }

func logger(o options) *slog.Logger {
	if !o.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
