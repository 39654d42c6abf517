package mastering

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Progress is the state of a run. Work is counted in bytes of sources, which predict
// the time left better than a number of files.
type Progress struct {
	Files, Done int // Done includes refused files
	Bytes, Made int64
	Left        time.Duration // estimated; 0 while unknown
}

// Result is what came of one job; Err is nil when the file is in place.
type Result struct {
	Job    Job
	Record Record
	Err    error
}

// All masters jobs, workers at a time (0: one for each core), and calls each with
// every result as it comes, one call at a time. It first removes leftovers of killed
// runs beside the outputs. When ctx ends it stops at once; finished files stay, and a
// second run of the same jobs continues from there.
func (m *Master) All(ctx context.Context, jobs []Job, workers int, each func(Result), show func(Progress)) error {
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	for dir := range folders(jobs) {
		n, err := Sweep(dir)
		if err != nil {
			return err
		}
		if n > 0 {
			m.opt.Log.Info("removed leftovers of a killed run", "folder", dir, "files", n)
		}
	}
	run := &run{each: each, show: show, began: time.Now(), parts: make([]float64, len(jobs)), sizes: make([]int64, len(jobs))}
	run.now.Files = len(jobs)
	for i, job := range jobs {
		if stat, err := os.Stat(job.In); err == nil {
			run.sizes[i] = stat.Size()
		}
		run.now.Bytes += run.sizes[i]
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(jobs)) {
		wg.Go(func() {
			for i := range next {
				rec, err := m.Do(ctx, jobs[i], func(share float64) { run.part(i, share) })
				if ctx.Err() == nil {
					run.done(i, Result{jobs[i], rec, err})
				}
			}
		})
	}
	for i := range jobs {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

func folders(jobs []Job) map[string]bool {
	dirs := map[string]bool{}
	for _, job := range jobs {
		if !job.Measure {
			dirs[filepath.Dir(job.Out)] = true
		}
	}
	return dirs
}

// run counts the progress of one call of All.
type run struct {
	each  func(Result)
	show  func(Progress)
	began time.Time

	mu      sync.Mutex
	now     Progress
	parts   []float64
	sizes   []int64
	resumed int64 // bytes that took no time
}

func (r *run) part(i int, share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A file that is made again starts over; progress does not go back.
	r.parts[i] = max(r.parts[i], share)
	r.tell()
}

func (r *run) done(i int, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[i] = 1
	r.now.Done++
	var refused *RefusedError
	if result.Record.Resumed || errors.As(result.Err, &refused) && refused.Reason == NotAudio {
		r.resumed += r.sizes[i]
	}
	if r.each != nil {
		r.each(result)
	}
	r.tell()
}

func (r *run) tell() {
	if r.show == nil {
		return
	}
	made := 0.0
	for i, part := range r.parts {
		made += part * float64(r.sizes[i])
	}
	r.now.Made = int64(made)
	if worked := made - float64(r.resumed); worked > 0 {
		left := float64(r.now.Bytes) - made
		r.now.Left = time.Duration(float64(time.Since(r.began)) * left / worked)
	}
	r.show(r.now)
}
