package remote

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// load is a list by the names that its media have on a node, with their sizes.
type load struct {
	items []playlist.Item
	sizes map[string]int64
}

// on gives each item its name on the node, which contains its version.
func (n names) on(items []playlist.Item) (there load, missing []string) {
	there.sizes = map[string]int64{}
	for _, item := range items {
		rel, ok := n.rack.Rel(item.Path)
		info, err := os.Stat(item.Path)
		known := n.rack.Size(item.Path)
		if !ok || err != nil || !info.Mode().IsRegular() || known >= 0 && known != info.Size() {
			missing = append(missing, item.Path)
			continue
		}
		item.Path = n.shelf.Path(rel, item.Path, delivery.Version(info))
		there.sizes[item.Path] = info.Size()
		there.items = append(there.items, item)
	}
	return there, missing
}

// song is how many items, from the first, hold one of music: the engine repeats what it has,
// and may have to play that for as long as the next is pulled.
func (l load) song() int {
	first := slices.IndexFunc(l.items, func(i playlist.Item) bool { return i.Type == "" })
	return min(max(first, 0)+1, len(l.items))
}

// fetch lets the node pull the media it lacks, and returns how many items, from the first,
// are there: all of them, or least once patience is over.
func (l load) fetch(ctx context.Context, node *delivery.Remote, least int, patience time.Duration) (int, error) {
	paths, sizes := make([]string, len(l.items)), make([]int64, len(l.items))
	for i, item := range l.items {
		paths[i], sizes[i] = item.Path, l.sizes[item.Path]
	}
	return node.FetchFirst(ctx, paths, sizes, least, patience)
}

// lacking is how many bytes of the media the node lacks: all that it does not tell of.
func (l load) lacking(ctx context.Context, node *delivery.Remote) (bytes int64) {
	paths := slices.Collect(maps.Keys(l.sizes))
	has, err := node.Sizes(ctx, paths)
	for i, path := range paths {
		if err != nil || has[i] != l.sizes[path] {
			bytes += l.sizes[path]
		}
	}
	return bytes
}

// push puts the first n items in place on the node.
func (l load) push(ctx context.Context, node *delivery.Remote, n int, log *slog.Logger) (delivery.Result, error) {
	return delivery.New(node, func(path string) int64 {
		if size, ok := l.sizes[path]; ok {
			return size
		}
		return -1
	}, log).Push(ctx, l.items[:n])
}
