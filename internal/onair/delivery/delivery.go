// Package delivery puts the rotation in place on the broadcast node and proves
// it: the playlist file written by one write, every media file it names there
// and of the right size. It decides nothing about what is in the list, and it
// never writes an empty one.
//
// Delivery holds the rules; a Node is the machine: Local here, and the remote
// form that asks the node's own Local over the bus.
package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/athir-radio/athir/internal/onair/playlist"
)

// The mission's log lines (Rotation rebuild), to the letter.
const (
	logUnchanged = "m3u unchanged - skipping remote push"
	logVerified  = "Rotation verified on remote"
)

// Node is the broadcast machine as delivery needs it. Every implementation
// passes deliverytest.Run. All methods wrap station.ErrUnavailable when the
// machine cannot be reached.
type Node interface {
	// ReadBack returns the playlist file's bytes as they are now, whatever they
	// are: torn, foreign, or of a wrong size. No file is no bytes and no error.
	ReadBack(ctx context.Context) ([]byte, error)
	// Write replaces the content of the playlist file by one write into the
	// same inode, so that the engine sees one change, and returns once it is on
	// disk. It refuses anything but a whole list with entries. An error that
	// is ErrReplaced means: written, but the engine must be told.
	Write(ctx context.Context, data []byte) error
	// Fetch brings those media files that the node lacks or has in another
	// size; expect holds the bytes of each, negative when unknown. A remote
	// node tries each file three times and logs the one that fails. A file that
	// stays away is no error here: Sizes tells.
	Fetch(ctx context.Context, paths []string, expect []int64) error
	// Sizes returns the size in bytes of each media file, -1 where there is no
	// readable regular file. Paths are absolute on the node.
	Sizes(ctx context.Context, paths []string) ([]int64, error)
}

// Delivery pushes rotations to one node. It is for one caller at a time: the
// scheduler.
type Delivery struct {
	node   Node
	expect func(path string) int64
	log    *slog.Logger
}

// New returns a Delivery to node. expect returns the bytes that the registry
// knows for a file, by its absolute path on the node; negative when unknown,
// then only its existence is checked.
func New(node Node, expect func(path string) int64, log *slog.Logger) *Delivery {
	return &Delivery{node: node, expect: expect, log: log}
}

// Result is what a push did.
type Result struct {
	// Kept is how many items, from the first, the file holds. The rest did not
	// fit: the rotation ends there too.
	Kept int
	// Unchanged: the node had these very bytes; nothing was done.
	Unchanged bool
	// Replaced: the file had been deleted or replaced behind our back. The list
	// is in place, but an engine started before watches a dead inode: it must be
	// restarted (a reload is not enough, later pushes would go unseen).
	Replaced bool
}

// Push puts items in place and verifies them. An error leaves the old list in
// place, unless it says that the verification after the write failed.
//
// Errors: playlist.ErrEmpty for no items. *UnusableError names every item that
// cannot air: its path fits no list, or its file is missing or of another size;
// drop those and build again. Others say what to repair.
func (d *Delivery) Push(ctx context.Context, items []playlist.Item) (Result, error) {
	data, kept, err := playlist.Encode(items)
	if err != nil {
		return Result{}, fmt.Errorf("push playlist: %w", unusable(err))
	}
	result := Result{Kept: kept}
	now, err := d.node.ReadBack(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("push playlist: %w", err)
	}
	if bytes.Equal(now, data) {
		d.log.Info(logUnchanged)
		result.Unchanged = true
		return result, nil
	}
	if kept < len(items) {
		d.log.Warn("playlist is too long, tail left out", "kept", kept, "left_out", len(items)-kept)
	}
	if err := d.provide(ctx, items[:kept]); err != nil {
		return Result{}, fmt.Errorf("push playlist: %w", err)
	}
	err = d.node.Write(ctx, data)
	if errors.Is(err, ErrReplaced) {
		result.Replaced = true
		d.log.Error("playlist file was replaced by another program: restart the playout engine, which still watches the old file", "err", err)
	} else if err != nil {
		return Result{}, fmt.Errorf("push playlist: %w", err)
	}
	if err := d.verify(ctx, items[:kept], data); err != nil {
		return result, fmt.Errorf("verify playlist: %w", err)
	}
	d.log.Info(logVerified, "entries", kept)
	return result, nil
}

// InPlace returns the items of the list that the node has now; none when it has
// no whole list of ours.
func (d *Delivery) InPlace(ctx context.Context) ([]playlist.Item, error) {
	data, err := d.node.ReadBack(ctx)
	if err != nil {
		return nil, fmt.Errorf("read playlist file: %w", err)
	}
	items, err := playlist.Decode(data)
	if err != nil {
		d.log.Warn("playlist file holds no valid list", "err", err)
		return nil, nil
	}
	return items, nil
}

// provide sees to the media before the list names them: a list with a missing
// file would cost the engine a second reload when it is built again.
func (d *Delivery) provide(ctx context.Context, items []playlist.Item) error {
	paths, expect := d.wanted(items)
	if err := d.node.Fetch(ctx, paths, expect); err != nil {
		return fmt.Errorf("fetch media: %w", err)
	}
	return d.check(ctx, items)
}

func (d *Delivery) verify(ctx context.Context, items []playlist.Item, data []byte) error {
	now, err := d.node.ReadBack(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, data) {
		return fmt.Errorf("%w: %d bytes, want %d", ErrUnverified, len(now), len(data))
	}
	return d.check(ctx, items)
}

// check compares every file with what the registry knows of it.
func (d *Delivery) check(ctx context.Context, items []playlist.Item) error {
	paths, expect := d.wanted(items)
	sizes, err := d.node.Sizes(ctx, paths)
	if err != nil {
		return fmt.Errorf("check media: %w", err)
	}
	if len(sizes) != len(paths) {
		return fmt.Errorf("check media: the node reported %d sizes for %d files", len(sizes), len(paths))
	}
	var bad []Unusable
	for i, size := range sizes {
		if size < 0 || expect[i] >= 0 && size != expect[i] {
			bad = append(bad, Unusable{Index: i, Path: paths[i], Want: expect[i], Got: size})
		}
	}
	if len(bad) > 0 {
		return &UnusableError{Items: bad}
	}
	return nil
}

func (d *Delivery) wanted(items []playlist.Item) (paths []string, expect []int64) {
	for _, item := range items {
		paths = append(paths, item.Path)
		expect = append(expect, d.expect(item.Path))
	}
	return paths, expect
}
