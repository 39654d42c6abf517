package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

// source is what is simulated, but for policy and seed.
type source struct {
	// library may invent another one for every seed; names may be nil.
	library func(seed uint64) (tracks []station.Track, names simulate.Names)
	rules   rotation.Config
	zone    *time.Location
	from    time.Time
}

// source reads what the flags name.
func (c simulateCmd) source(g globals) (source, error) {
	s := source{rules: rotation.DefaultConfig()}
	zone := c.Zone
	if c.Data != "" {
		cfg, err := c.stationSettings()
		if err != nil {
			return s, err
		}
		if s.rules, err = readRules("--data", cfg.StationFile()); err != nil {
			return s, err
		}
		if zone == "" {
			zone = cfg.Timezone.String()
		}
		if c.Library == "" {
			tracks, err := registered(g, cfg)
			if err != nil {
				return s, err
			}
			s.library = func(uint64) ([]station.Track, simulate.Names) { return tracks, nil }
		}
	}
	if c.Config != "" {
		var err error
		if _, err = os.Stat(c.Config); err != nil {
			return s, fmt.Errorf("--config: %w", err)
		}
		if s.rules, err = readRules("--config", c.Config); err != nil {
			return s, err
		}
	}
	if zone == "" {
		zone = "Africa/Cairo"
	}
	var err error
	if s.zone, err = time.LoadLocation(zone); err != nil {
		return s, fmt.Errorf("--zone=%s: must be a name such as Africa/Cairo: %w", zone, err)
	}
	if s.from, err = time.ParseInLocation(time.DateOnly, c.From, s.zone); err != nil {
		return s, fmt.Errorf("--from=%s: must be a day such as %s", c.From, simulate.FirstDay)
	}
	if c.Library != "" {
		s.library, err = c.shelves(g)
	}
	return s, err
}

// mostSynthetic bounds an invented library.
const mostSynthetic = 2_000_000

// shelves reads --library.
func (c simulateCmd) shelves(g globals) (func(uint64) ([]station.Track, simulate.Names), error) {
	if size, ok := strings.CutPrefix(c.Library, "synthetic:"); ok {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 || n > mostSynthetic {
			return nil, fmt.Errorf("--library=%s: must be synthetic:N with 1 to %d tracks", c.Library, mostSynthetic)
		}
		return func(seed uint64) ([]station.Track, simulate.Names) { return simulate.Synthetic(n, seed) }, nil
	}
	tracks, err := scanned(g, c.Library, !c.JSON)
	if err != nil {
		return nil, fmt.Errorf("--library=%s: name a folder that can be read, or synthetic:N: %w", c.Library, err)
	}
	if len(tracks) == 0 {
		return nil, fmt.Errorf("--library=%s: the folder has no audio that can air", c.Library)
	}
	return func(uint64) ([]station.Track, simulate.Names) { return tracks, nil }, nil
}

// scanned reads the tracks of a folder, through a temporary registry.
func scanned(g globals, dir string, show bool) ([]station.Track, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "athir-simulate-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	db, err := store.Open(g.ctx, filepath.Join(tmp, "registry.db"))
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it is thrown away
	lib, err := media.Open(g.ctx, db, media.Options{Root: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	progress, end := scanBar(g, !show)
	_, err = lib.Scan(g.ctx, progress)
	end(true)
	return lib.Snapshot().Tracks, err
}

// stationSettings reads the settings of an existing station.
func (c simulateCmd) stationSettings() (*config.Config, error) {
	if _, err := os.Stat(filepath.Join(c.Data, "athir.yaml")); err != nil {
		return nil, fmt.Errorf("--data=%s: no station there: name a data directory, which holds an athir.yaml", c.Data)
	}
	cfg, _, err := config.Load(config.Source{DataDir: c.Data, Env: os.Environ()})
	return cfg, err
}

// registered returns the tracks of a station, which may be running.
func registered(g globals, cfg *config.Config) ([]station.Track, error) {
	db, err := store.OpenReadOnly(g.ctx, cfg.Database())
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	defer db.Close() //nolint:errcheck // only read
	tracks, err := media.Registered(g.ctx, db)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if len(tracks) == 0 {
		return nil, fmt.Errorf("--data=%s: the registry is empty: run athir scan first", cfg.DataDir)
	}
	return tracks, nil
}

// readRules reads a station configuration; where there is no file, the defaults.
func readRules(flag, path string) (rotation.Config, error) {
	owner, err := policy.Open(path, nil)
	if err != nil {
		return rotation.Config{}, fmt.Errorf("%s: %w", flag, err)
	}
	return owner.Current().Config, nil
}

// airAll runs every seed, as many at a time as there are processors. Of the runs
// after the first only figures are kept.
func (c simulateCmd) airAll(g globals, src source) ([]simulate.Report, error) {
	reports := make([]simulate.Report, c.Seeds)
	tick, done := c.progress(g)
	defer done()
	group, ctx := errgroup.WithContext(g.ctx)
	group.SetLimit(runtime.NumCPU())
	for i := range reports {
		o := simulate.Options{
			Config: src.rules, Days: c.Days, Seed: c.Seed + uint64(i), Zone: src.zone, From: src.from, //nolint:gosec // small
			Trouble: c.Trouble, Listeners: c.listeners(src, c.Seed+uint64(i)), Clock: time.Now, Explain: c.Explain.on && i == 0,
		}
		group.Go(func() error {
			shown := 0.0
			o.Progress = func(share float64) error {
				tick(share - shown)
				shown = share
				return ctx.Err()
			}
			var names simulate.Names
			o.Library, names = src.library(o.Seed)
			result, err := simulate.Run(o)
			if err != nil {
				if errors.Is(err, simulate.ErrNothing) {
					err = fmt.Errorf("%w: --library has no music in any category of GENRE_SPLIT", err)
				}
				return err
			}
			reports[i] = simulate.Assess(o, result, names)
			if i > 0 {
				reports[i].Result.Log, reports[i].Days = reports[i].Result.Log[:0:0], nil
			}
			return nil
		})
	}
	return reports, group.Wait()
}

// progress draws a bar on a terminal; elsewhere nothing.
func (c simulateCmd) progress(g globals) (tick func(share float64), done func()) {
	name := fmt.Sprintf("simulate %d × %d days ", c.Seeds, c.Days)
	const grain = 1000
	b := g.bar(c.JSON, name, decor.Percentage(), decor.AverageETA(decor.ET_STYLE_MMSS, decor.WCSyncSpace))
	var micro atomic.Int64
	return func(share float64) { b.show(micro.Add(int64(share*1e6))*grain/1e6, int64(c.Seeds*grain), name, "") }, func() { b.end(true) }
}
