package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

func (b *bench) print() {
	var good, refused []made
	for _, m := range b.done {
		if m.err != nil {
			refused = append(refused, m)
		} else {
			good = append(good, m)
		}
	}
	for _, m := range refused {
		fmt.Printf("refused   %s: %v\n", filepath.Base(m.in), m.err)
	}
	if len(good) == 0 {
		return
	}
	b.quality(good)
	if b.o.turns {
		b.speed(good)
	}
}

func (b *bench) quality(good []made) {
	var audio time.Duration
	within, limited, held, attempts := 0, 0, 0, map[int]int{}
	worst, peak, theirWorst, theirPeak, gap := 0.0, math.Inf(-1), 0.0, math.Inf(-1), 0.0
	var from, reductions []float64
	var peaked made
	for _, m := range good {
		audio += m.rec.Duration
		attempts[m.rec.Attempts]++
		from = append(from, m.rec.SourceIntegrated)
		if off(m) <= 0.2 {
			within++
		}
		if m.rec.Short > 0 {
			held++
		}
		if m.rec.Method == mastering.Limited {
			limited++
			reductions = append(reductions, m.rec.Reduction)
		}
		worst, peak = max(worst, off(m)), max(peak, m.rec.TruePeak)
		if m.rec.Gated {
			theirWorst = max(theirWorst, math.Abs(m.lufs+m.rec.Short+14))
			gap = max(gap, math.Abs(m.lufs-m.rec.Integrated))
		}
		if m.dbtp > theirPeak {
			theirPeak, peaked = m.dbtp, m
		}
	}
	slices.Sort(from)
	slices.Sort(reductions)
	fmt.Printf("%d files, %.1f hours; sources from %.1f to %.1f LUFS; %d refused\n", len(good), audio.Hours(), from[0], from[len(from)-1], len(b.done)-len(good))
	fmt.Printf("loudness of the decoded MP3, our meter:   worst %.2f LU off, %.1f %% within 0.2 LU; highest true peak %.2f dBTP\n",
		worst, 100*float64(within)/float64(len(good)), peak)
	fmt.Printf("the same by ffmpeg's meter (to a tenth):  worst %.1f LU off; highest true peak %.1f dBTP (%s, ours %.2f); the two differ by %.2f LU at most\n",
		theirWorst, theirPeak, filepath.Base(peaked.in), peaked.rec.TruePeak, gap)
	fmt.Printf("method: %d linear, %d limited", len(good)-limited, limited)
	if limited > 0 {
		fmt.Printf(" (deepest reduction: median %.1f dB, most %.1f dB)", reductions[limited/2], reductions[limited-1])
	}
	fmt.Printf("; encodings it took: %v; %d held below the target by the limiter's depth, and judged by what was left\n", attempts, held)
}

func (b *bench) speed(good []made) {
	linear := 0
	for _, m := range good {
		if m.stayedLinear {
			linear++
		}
	}
	row := func(name string, c clock) {
		fmt.Printf("%-28s %8.1f s   %8.1f s of processor   %5.2f   %5.2f\n", name, c.wall.Seconds(), c.cpu.Seconds(),
			c.wall.Seconds()/b.ours.wall.Seconds(), c.cpu.Seconds()/b.ours.cpu.Seconds())
	}
	fmt.Printf("time at %d files at a time; the last columns: times ours, by the clock and by the processor\n", b.o.jobs)
	row("athir master", b.ours)
	row("loudnorm, two passes", b.theirs)
	row("decode and encode alone", b.plain)
	fmt.Printf("(loudnorm stayed linear on %d of %d files)\n", linear, len(good))
}
