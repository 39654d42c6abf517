// Command rotation prints the proof of the rotation: many seeds of many days on
// libraries of several sizes, the real planner on a virtual clock, held against
// the rules by a judge that shares no code with it, with the baselines on the
// same libraries beside it. docs/rotation.md explains the columns.
//
//	go run ./test/bench/rotation -seeds 20 -days 30 -tracks 300,1000,10000
//	go run ./test/bench/rotation -seeds 1 -tracks 300 -html report.html
//	go run ./test/bench/rotation -seeds 3 -tracks ""      # only the edges
//
// It fails when something unbreakable was broken by ours.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the station's zone, wherever this runs

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/simulate"
)

// newsHour is the clock of the runs with timed events: news on the hour, spots
// at the half hour, songs and imaging between.
const newsHour = `[{"name": "music hour", "hour": [
	{"category": "news", "at": "00:00"}, {"category": "jingles"}, {"category": "music", "count": 3}, {"category": "break"},
	{"category": "music", "count": 3}, {"category": "break"},
	{"category": "ads", "at": "30:00"}, {"category": "music", "count": 3}, {"category": "break"}, {"category": "music", "count": 3}, {"category": "sweepers"}]}]`

func main() {
	seeds := flag.Int("seeds", 20, "seeds")
	days := flag.Int("days", 30, "days of each seed")
	sizes := flag.String("tracks", "300,1000,10000", "tracks of the libraries")
	baselines := flag.Bool("baselines", true, "run the baselines too")
	atEdges := flag.Bool("edges", true, "print what comes out at the edges, with at most 3 seeds")
	html := flag.String("html", "", "write a page with plots about the first seed of the first library")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options{*seeds, *days, *sizes, *baselines, *atEdges, *html}); err != nil {
		fmt.Fprintln(os.Stderr, "rotation:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

var errBroken = errors.New("unbreakable rules were broken: see the column")

type options struct {
	seeds, days int
	sizes       string // of libraries, with commas between
	baselines   bool
	edges       bool
	html        string // file of the page; empty is none
}

func run(ctx context.Context, opt options) error {
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		return err
	}
	plain, clocks := rotation.DefaultConfig(), rotation.DefaultConfig()
	if err := json.Unmarshal([]byte(newsHour), &clocks.Clocks); err != nil {
		return err
	}
	began, broken := time.Now(), 0
	fmt.Printf("%d seeds × %d days from %s, Africa/Cairo, %d processors\n\n", opt.seeds, opt.days, simulate.FirstDay, runtime.NumCPU())
	if opt.edges {
		if broken, err = printEdges(ctx, min(opt.seeds, 3), opt.days, cairo); err != nil {
			return err
		}
	}
	for _, size := range strings.Split(opt.sizes, ",") {
		if size == "" {
			continue
		}
		tracks, err := strconv.Atoi(size)
		if err != nil || tracks < 1 {
			return fmt.Errorf("-tracks %s: must be numbers with commas between", opt.sizes)
		}
		fmt.Printf("%d tracks\n%s\n", tracks, head)
		rows := []row{
			{name: "athir", opt: simulate.Options{Policy: simulate.Athir, Config: plain}},
			{name: "athir, clock", opt: simulate.Options{Policy: simulate.Athir, Config: clocks}},
		}
		for _, p := range policies() {
			if opt.baselines && p != simulate.Athir {
				rows = append(rows, row{name: p, opt: simulate.Options{Policy: p, Config: plain}})
			}
		}
		for i := range rows {
			r := &rows[i]
			r.opt.Days, r.opt.Zone, r.opt.Clock = opt.days, cairo, time.Now
			if err := r.air(ctx, tracks, opt.seeds); err != nil {
				return err
			}
			fmt.Println(r)
			if r.opt.Policy == simulate.Athir {
				broken += r.unbreakable
			}
		}
		fmt.Println()
		if opt.html != "" {
			if err := writePage(opt.html, rows); err != nil {
				return err
			}
			opt.html = ""
		}
	}
	fmt.Printf("took %s\n", time.Since(began).Round(time.Second))
	if broken > 0 {
		return errBroken
	}
	return nil
}

// writePage writes the page about the first seed, of ours and of the baselines.
func writePage(path string, rows []row) error {
	var reports []simulate.Report
	for i := range rows {
		if len(rows[i].opt.Config.Clocks) == 0 {
			reports = append(reports, rows[i].first)
		}
	}
	file, err := os.Create(path) //nolint:gosec // the reader's own choice
	if err != nil {
		return err
	}
	return errors.Join(writeHTML(file, reports, time.Now()), file.Close())
}

// air runs all seeds of one row, as many at a time as there are processors.
func (r *row) air(ctx context.Context, tracks, seeds int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for seed := range seeds {
		group.Go(func() error {
			o := r.opt
			o.Seed = uint64(seed) + 1 //nolint:gosec // small
			o.Progress = func(float64) error { return ctx.Err() }
			var names simulate.Names
			o.Library, names = simulate.Synthetic(tracks, o.Seed)
			result, err := airDays(o)
			if err != nil {
				return fmt.Errorf("%s, %d tracks, seed %d: %w", r.name, tracks, o.Seed, err)
			}
			rep := simulate.Assess(o, result, names)
			if seed == 0 {
				r.first = rep // its log is what the page draws; the others are let go
			}
			r.add(rep)
			return nil
		})
	}
	return group.Wait()
}
