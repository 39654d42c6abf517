// Package depot keeps the media of a broadcast node that shares no disk with the
// control plane: it pulls the files a playlist names over HTTP, whole and of the
// right size or not at all, and makes room by removing the files that were wanted
// longest ago. Package delivery writes the playlist and holds its rules.
//
// It does not choose the files, and never removes one that a recent playlist or
// the playout engine may still use.
package depot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// Options of a Depot; those without a default are required.
type Options struct {
	Log      *slog.Logger
	Playlist string         // the file the engine watches
	Dir      string         // media folder; nothing else writes there
	Control  string         // the control plane, http://host:port
	Token    *secret.Secret // the SYNC_TOKEN
	MaxBytes int64          // the most the folder may hold
	// Remedy is what a person can do where MaxBytes is too little; "raise node.cache_gb".
	Remedy   string
	Reserve  int64 // bytes of the disk that stay free; 256 MiB
	Parallel int   // files pulled at once, after the first songs; 3
	// Held returns files that the engine has open or prepared; may be nil.
	Held func(ctx context.Context) []string
	// Pause before a second attempt, twice as long before the third; 1 s.
	Pause time.Duration
	// Stall is how long a transfer may bring nothing before it ends; 30 s.
	Stall time.Duration
}

// connectWait is the mission's time to connect (Limits: sync transport).
const connectWait = 15 * time.Second

// listsKept is how many playlists before the current one keep their files.
const listsKept = 2

// Depot is the delivery.Node of a machine that shares no disk.
type Depot struct {
	*delivery.Local
	opt    Options
	shelf  delivery.Shelf
	client *http.Client
	busy   sync.Mutex // held by a Fetch

	mu    sync.Mutex
	lists []map[string]bool // newest first
}

// New returns the depot of a node. Call Prepare before the engine starts.
func New(opt Options) *Depot {
	if opt.Parallel <= 0 {
		opt.Parallel = 3
	}
	if opt.Reserve <= 0 {
		opt.Reserve = 256 << 20
	}
	if opt.Remedy == "" {
		opt.Remedy = "raise node.cache_gb"
	}
	if opt.Pause <= 0 {
		opt.Pause = time.Second
	}
	if opt.Stall <= 0 {
		opt.Stall = 30 * time.Second
	}
	return &Depot{
		Local: delivery.NewLocal(opt.Playlist, opt.Log), opt: opt, shelf: delivery.Shelf{Root: opt.Dir},
		client: &http.Client{
			Transport: &http.Transport{
				DialContext:           dialLine(&net.Dialer{Timeout: connectWait, KeepAlive: connectWait}),
				ResponseHeaderTimeout: opt.Stall, MaxIdleConnsPerHost: opt.Parallel, IdleConnTimeout: time.Minute,
				DisableCompression: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes idle connections.
func (d *Depot) Close() { d.client.CloseIdleConnections() }

// Write implements delivery.Node. The files of the list, and of the ones before,
// stay.
func (d *Depot) Write(ctx context.Context, data []byte) error {
	err := d.Local.Write(ctx, data)
	if err == nil || errors.Is(err, delivery.ErrReplaced) {
		d.mu.Lock()
		d.lists = append([]map[string]bool{named(data)}, d.lists...)
		d.lists = d.lists[:min(len(d.lists), listsKept+1)]
		d.mu.Unlock()
	}
	return err
}

func named(data []byte) map[string]bool {
	out := map[string]bool{}
	items, err := playlist.Decode(data)
	if err != nil {
		return out
	}
	for _, item := range items {
		out[item.Path] = true
	}
	return out
}

// Sizes implements delivery.Node. A path outside the media folder has size -1.
func (d *Depot) Sizes(ctx context.Context, paths []string) ([]int64, error) {
	sizes, err := d.Local.Sizes(ctx, paths)
	for i := range sizes {
		if _, _, ok := d.shelf.Rel(paths[i]); !ok {
			sizes[i] = -1
		}
	}
	return sizes, err
}

// Fetch implements delivery.Node. An error means that no file can be pulled: the
// control plane cannot be reached or refuses us, or there is no room. It names
// the file that failed. A file that fails by itself is only logged.
func (d *Depot) Fetch(ctx context.Context, paths []string, expect []int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.busy.Lock()
	defer d.busy.Unlock()
	sizes, err := d.Local.Sizes(ctx, paths)
	if err != nil {
		return err
	}
	var missing []file
	known := map[string]bool{}
	now := time.Now()
	for i, path := range paths {
		rel, version, ok := d.shelf.Rel(path)
		switch {
		case !ok:
			return fmt.Errorf("%q: this node keeps its media in %s: node.cache must be the same on both machines: %w", path, d.opt.Dir, station.ErrInvalid)
		case known[path]:
		case sizes[i] >= 0 && (expect[i] < 0 || sizes[i] == expect[i]):
			_ = os.Chtimes(path, now, now) // wanted now; decides only what is removed first
		default:
			missing = append(missing, file{path: path, rel: rel, version: version, size: expect[i]})
		}
		known[path] = true
	}
	if len(missing) == 0 {
		return nil
	}
	return d.bring(ctx, missing, known)
}

// Pull brings one file in one attempt. Unlike Fetch it logs nothing: an error means that
// the file is not there, and says why. Errors: station.ErrNotFound, station.ErrTooLarge,
// and others.
func (d *Depot) Pull(ctx context.Context, path string) error {
	d.busy.Lock()
	defer d.busy.Unlock()
	sizes, err := d.Sizes(ctx, []string{path})
	if err != nil || sizes[0] >= 0 {
		return err
	}
	rel, version, ok := d.shelf.Rel(path)
	if !ok {
		return fmt.Errorf("%q is not in %s: %w", path, d.opt.Dir, station.ErrInvalid)
	}
	if err := os.MkdirAll(d.parts(), 0o755); err != nil {
		return fmt.Errorf("make media folder: %w", err)
	}
	f := file{path: path, rel: rel, version: version, size: -1}
	if version != delivery.AnyVersion {
		f.etag = `"` + version + `"`
	}
	room, err := d.room(d.keep(ctx, map[string]bool{path: true}))
	if err != nil {
		return err
	}
	_, err = d.once(ctx, &f, room)
	return err
}

// songSize is less than any song has, in bytes, and more than most of what is put between.
const songSize = 1 << 20

// bring pulls the files in the order given, one at a time up to the first song, and then two:
// over a slow line the others would hold up what is to be heard first.
func (d *Depot) bring(ctx context.Context, missing []file, wanted map[string]bool) error {
	if err := os.MkdirAll(d.parts(), 0o755); err != nil {
		return fmt.Errorf("make media folder: %w: node.cache must be a folder that the node can write", err)
	}
	room, err := d.room(d.keep(ctx, wanted))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	var all sync.WaitGroup
	var sum pulled
	places := make(chan struct{}, d.opt.Parallel)
	var held atomic.Int64 // places that are given one by one, with each song that is there
	for held.Load() < int64(d.opt.Parallel-1) {
		places <- struct{}{}
		held.Add(1)
	}
	for _, f := range missing {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() {
				if <-places; f.size >= songSize && held.Add(-1) >= 0 {
					<-places
				}
			}()
			if err := d.pull(ctx, f, room, &sum); err != nil {
				cancel(fmt.Errorf("pull %q: %w", f.rel, err))
			}
		})
	}
	all.Wait()
	files, bytes, failed := sum.counts()
	d.opt.Log.Info("media pulled", "files", files, "missing", len(missing), "failed", failed, "bytes", bytes, "took", time.Since(begun).Round(time.Millisecond))
	return context.Cause(ctx)
}

// keep lists the files that must not be removed.
func (d *Depot) keep(ctx context.Context, wanted map[string]bool) map[string]bool {
	keep := map[string]bool{}
	add := func(set map[string]bool) {
		for path := range set {
			keep[path] = true
		}
	}
	add(wanted)
	for path := range wanted {
		keep[d.part(path)] = true
	}
	d.mu.Lock()
	for _, l := range d.lists {
		add(l)
	}
	d.mu.Unlock()
	if data, err := d.Current(ctx); err == nil {
		add(named(data))
	} else if !errors.Is(err, fs.ErrNotExist) {
		d.opt.Log.Warn("cannot read the current playlist, its files may be removed", "err", err)
	}
	if d.opt.Held != nil {
		for _, path := range d.opt.Held(ctx) {
			keep[path] = true
		}
	}
	return keep
}

// pulled counts what a Fetch has done.
type pulled struct {
	mu            sync.Mutex
	files, failed int
	bytes         int64
}

func (p *pulled) got(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files, p.bytes = p.files+1, p.bytes+bytes
}

// lost counts a file that could not be pulled, and returns how many there are.
func (p *pulled) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	return p.failed
}

func (p *pulled) counts() (files int, bytes int64, failed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.bytes, p.failed
}
