package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/station"
)

// feedLimit is the largest feed read, in bytes. The longest podcasts' feeds are
// of 2 to 4 MB.
const feedLimit = 6 << 20

// Feeds are podcasts and other RSS or Atom feeds the operator chose, each for one
// category. Their items are not searched for words: what a chosen feed publishes
// is wanted, the newest first.
type Feeds struct {
	Client *fetch.Client // required
	Feeds  []Feed
	Limit  int64 // largest sound in bytes; 200 MB when 0

	mu   sync.Mutex
	last map[string]feedState // by the feed's address
}

// Feed is one of them.
type Feed struct {
	URL      string
	Category station.Category
	// License is what the operator knows of it; used where the feed says nothing.
	License string
}

// feedState is a feed as it last was, so that it is only sent again when it
// changed.
type feedState struct {
	etag, lastModified string
	own                bool // it came from the operator's networks
	items              []Candidate
}

// Name is NameFeed.
func (f *Feeds) Name() string { return NameFeed }

// feedsAtOnce is how many feeds are read side by side: one that is slow does not
// keep the others waiting.
const feedsAtOnce = 4

// Search reads the feeds of w's category.
func (f *Feeds) Search(ctx context.Context, w Want) ([]Candidate, error) {
	if w.Target <= 0 || w.Category == "" {
		return nil, nil
	}
	var read sync.WaitGroup
	items, failed := make([][]Candidate, len(f.Feeds)), make([]error, len(f.Feeds))
	places := make(chan struct{}, feedsAtOnce)
	for i, feed := range f.Feeds {
		if feed.Category != w.Category {
			continue
		}
		read.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			var err error
			if items[i], err = f.read(ctx, feed); err != nil {
				failed[i] = fmt.Errorf("feed: %w", err)
			}
		})
	}
	read.Wait()
	var found []Candidate
	for _, c := range slices.Concat(items...) {
		if w.suits(c.Duration) && !w.known(NameFeed, c.ID) {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int { return cmp.Or(b.Published.Compare(a.Published), cmp.Compare(a.ID, b.ID)) })
	return found[:min(len(found), w.Target)], errors.Join(failed...)
}

// read returns a feed's items, from memory if it did not change.
func (f *Feeds) read(ctx context.Context, feed Feed) ([]Candidate, error) {
	f.mu.Lock()
	last := f.last[feed.URL]
	f.mu.Unlock()
	d, own, err := f.Client.OwnDocument(ctx, fetch.Request{
		URL: feed.URL, Limit: feedLimit, ETag: last.etag, LastModified: last.lastModified,
		Accept: "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1",
	})
	if err != nil {
		return nil, err
	}
	if d.NotModified {
		return last.items, nil
	}
	items, err := parseFeed(d, feed)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", fetch.Redact(feed.URL), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[string]feedState{}
	}
	f.last[feed.URL] = feedState{etag: d.ETag, lastModified: d.LastModified, own: own, items: items}
	return items, nil
}

// own reports whether an item is of a feed in the operator's networks. Only such a feed
// may name files there: the items of any other are written by strangers.
func (f *Feeds) own(c Candidate) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, feed := range f.last {
		if feed.own && slices.ContainsFunc(feed.items, func(item Candidate) bool { return item.ID == c.ID && item.URL == c.URL }) {
			return true
		}
	}
	return false
}

// Fetch downloads an item's sound.
func (f *Feeds) Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (Fetched, error) {
	get := f.Client.Public().File
	if f.own(c) {
		get = f.Client.OwnFile
	}
	_, file, err := bring(ctx, get, c, dir, f.Limit, progress)
	if err != nil {
		return Fetched{}, err
	}
	return Fetched{File: file, Candidate: c}, nil
}

// Settle does nothing: a feed's items stay where they are.
func (f *Feeds) Settle(context.Context, Candidate, Outcome) error { return nil }
