// Package handover carries over what a process with listeners that ends in order leaves to
// the next one: the events' numbers, and who was connected. With it listeners take up where
// their connections broke, and edges elsewhere go on in the same epoch. Without it both
// begin anew, as after a crash.
//
// The database is the truth: where it has records beyond those that were told, what was
// handed over is not used.
package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/file"
)

// Path is the file of the control plane, in the data directory.
func Path(dir string) string { return filepath.Join(dir, "handover.json") }

// EdgePath is the file of the edge that serves a port.
func EdgePath(dir string, port int) string {
	return filepath.Join(dir, fmt.Sprintf("handover-%d.json", port))
}

const (
	version = 1
	// lasts is how long it is of use: as long as an edge keeps a client that is away.
	lasts = 2 * time.Minute
	most  = 64 << 20 // bytes
)

// parts is what is handed over.
type parts struct {
	Version int             `json:"version"`
	At      int64           `json:"at"` // epoch ms
	Events  json.RawMessage `json:"events"`
	Sockets json.RawMessage `json:"sockets"`
}

// Saver gives what Load of its successor takes.
type Saver interface{ Save() ([]byte, error) }

// Save returns what the next process needs of the hub and of the edge that reads it. It
// ends the hub: records that are told from now on are in the database, which shows the next
// process that it must begin anew.
func Save(hub, edge Saver, now time.Time) ([]byte, error) {
	sockets, err := edge.Save()
	if err != nil {
		return nil, fmt.Errorf("save connections: %w", err)
	}
	told, err := hub.Save()
	if err != nil {
		return nil, fmt.Errorf("save events: %w", err)
	}
	return json.Marshal(parts{version, now.UnixMilli(), told, sockets})
}

// Leave saves it in a file for the next start.
func Leave(log *slog.Logger, path string, hub, edge Saver, now time.Time) {
	data, err := Save(hub, edge, now)
	if err == nil {
		err = file.WriteAtomic(path, data, 0o600)
	}
	if err != nil {
		log.Warn("listeners will connect anew: who they are cannot be saved", "err", err)
	}
}

// Return is Resume with what Leave left in a file.
func Return(ctx context.Context, log *slog.Logger, path string, hub *events.Hub, storage Storage, now time.Time) (sockets []byte, err error) {
	return Resume(ctx, log, hub, storage, taken(log, path), now)
}

// ReturnMirror is Return for an edge's mirror, which asks the station for what it missed.
func ReturnMirror(log *slog.Logger, path string, mirror *events.Follower, now time.Time) (sockets []byte) {
	saved := taken(log, path)
	if len(saved) == 0 {
		return nil
	}
	p, err := read(saved, now)
	if err == nil {
		err = mirror.Load(p.Events)
	}
	if err != nil {
		anew(log, err)
		return nil
	}
	return p.Sockets
}

func taken(log *slog.Logger, path string) []byte {
	saved, err := Take(path)
	if err != nil {
		log.Warn("what the last process left to this one cannot be read", "err", err)
	}
	return saved
}

func anew(log *slog.Logger, err error) {
	log.Info("listeners connect anew: what the last process left cannot be used", "err", err)
}

// Take returns what was left in a file, nil where there is nothing of use. It
// removes the file before anything is made of it: what it holds is good for one start, or
// a number would be given to two events.
func Take(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's own directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	_ = f.Close()
	if gone := errors.Join(os.Remove(path), file.SyncDir(filepath.Dir(path))); gone != nil {
		return nil, fmt.Errorf("remove %s, which must not be used twice: %w", path, gone)
	}
	if len(data) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// read returns what was saved; it fails where that cannot be used.
func read(saved []byte, now time.Time) (p parts, err error) {
	if err := json.Unmarshal(saved, &p); err != nil {
		return p, err
	}
	if p.Version != version {
		return p, fmt.Errorf("it is of version %d, not %d", p.Version, version)
	}
	if age := now.UnixMilli() - p.At; age < 0 || age > lasts.Milliseconds() {
		return p, fmt.Errorf("it was saved at %s, and lasts %s", time.UnixMilli(p.At).UTC().Format(time.RFC3339), lasts)
	}
	return p, nil
}

// Storage knows the newest records.
type Storage interface {
	Newest(ctx context.Context) (map[string]string, error)
}

// Resume has a new hub go on where the last one ended, and returns the connections for the
// edge. Where nothing was saved, or not the whole truth, the hub begins anew and there are
// none. Call it before anything is told.
func Resume(ctx context.Context, log *slog.Logger, hub *events.Hub, storage Storage, saved []byte, now time.Time) (sockets []byte, err error) {
	newest, err := storage.Newest(ctx)
	if err != nil {
		return nil, err
	}
	hub.Begin(newest)
	if len(saved) == 0 {
		return nil, nil
	}
	p, err := read(saved, now)
	switch {
	case err != nil:
	case !events.Current(p.Events, newest):
		err = errors.New("the database has records that were never told, or lacks some that were")
	default:
		err = hub.Load(p.Events)
	}
	if err != nil {
		anew(log, err)
		return nil, nil
	}
	return p.Sockets, nil
}
