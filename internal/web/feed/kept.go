package feed

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/athir-radio/athir/internal/podcast"
)

const (
	// mostKept and mostKeptBytes bound the feeds in memory: whoever names a host gets one of its
	// own.
	mostKept      = 64
	mostKeptBytes = 16 << 20
	// mostMaking bounds the feeds that are made at once, and mostWaiting those that wait for it.
	mostMaking  = 2
	mostWaiting = 32
)

// document is a feed as it is sent.
type document struct {
	key         string
	mark        [sha256.Size]byte // of what it was made of
	plain, gzip []byte
	tag         string // unquoted
	changed     time.Time
}

func (d *document) size() int { return len(d.plain) + len(d.gzip) }

// kept are the feeds that were last asked for.
type kept struct {
	mu      sync.Mutex
	order   list.List // of *document, the last asked for in front
	all     map[string]*list.Element
	bytes   int
	seen    map[string]seen // by shows
	waiting int

	making singleflight.Group
	turns  chan struct{}
}

// seen is the content of a show's feed as it was last asked for.
type seen struct {
	mark [sha256.Size]byte
	at   time.Time // when it became so
}

// made returns the feed of a show for a request: it is made once for each content and host.
func (h *Handler) made(show *podcast.Show, r *http.Request) (*document, error) {
	at, err := origin(r)
	if err != nil {
		return nil, err
	}
	c, err := h.source(show)
	if err != nil {
		return nil, err
	}
	mark := c.mark()
	changed := h.kept.changed(&c, mark, h.opt.Now())
	key := at + " " + show.Slug // no host has a space
	if d := h.kept.get(key, mark); d != nil {
		return d, nil
	}
	got, err, _ := h.kept.making.Do(key+string(mark[:]), func() (any, error) {
		leave, err := h.kept.turn()
		if err != nil {
			return nil, err
		}
		defer leave()
		if d := h.kept.get(key, mark); d != nil {
			return d, nil
		}
		d := &document{key: key, mark: mark, plain: rss(c, at), changed: changed}
		sum := sha256.Sum256(d.plain)
		d.tag = hex.EncodeToString(sum[:8])
		d.gzip = zipped(d.plain)
		h.kept.put(d)
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	return got.(*document), nil //nolint:forcetypeassert,errcheck // as above
}

// mark tells a content from every other.
func (c *content) mark() (out [sha256.Size]byte) {
	sum := sha256.New()
	own, _ := json.Marshal(c.show.Own) // texts and numbers
	fmt.Fprintf(sum, "%s %q %q %q %d", own, c.show.GUID, c.show.Cover, c.station, c.show.Changed)
	if c.hasLive {
		l := &c.live
		fmt.Fprintf(sum, " live %q %q %q %q %d %d", l.Key, l.Title, l.Summary, l.Creator, l.Began.UnixMilli(), l.Ended.UnixMilli())
	}
	for i := range c.episodes {
		e := &c.episodes[i]
		fmt.Fprintf(sum, " %q %d %d %d %q", e.ID, e.Changed, e.Published, e.Bytes, e.File)
	}
	sum.Sum(out[:0])
	return out
}

// changed is when a show's feed became what it is: what its content tells, or, where it was another
// before and does not tell, as when a broadcast is no longer told of, now.
func (k *kept) changed(c *content, mark [sha256.Size]byte, now time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, known := k.seen[c.show.Slug]
	if known && before.mark == mark {
		return before.at
	}
	at := c.changed()
	if known && !at.Truncate(time.Second).After(before.at.Truncate(time.Second)) {
		at = now
	}
	if k.seen == nil {
		k.seen = map[string]seen{}
	}
	k.seen[c.show.Slug] = seen{mark, at}
	return at
}

// turn waits until a feed may be made. Error: errBusy.
func (k *kept) turn() (leave func(), err error) {
	k.mu.Lock()
	if k.waiting >= mostWaiting {
		k.mu.Unlock()
		return nil, errBusy
	}
	k.waiting++
	k.mu.Unlock()
	k.turns <- struct{}{}
	return func() {
		<-k.turns
		k.mu.Lock()
		defer k.mu.Unlock()
		k.waiting--
	}, nil
}

func (k *kept) get(key string, mark [sha256.Size]byte) *document {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.all[key]
	if e == nil {
		return nil
	}
	d := e.Value.(*document) //nolint:forcetypeassert,errcheck // nothing else is on it
	if d.mark != mark {
		return nil
	}
	k.order.MoveToFront(e)
	return d
}

// put keeps a feed in place of its predecessor, and puts away those that were not asked for the
// longest.
func (k *kept) put(d *document) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]*list.Element{}
	}
	if e := k.all[d.key]; e != nil {
		k.drop(e)
	}
	k.all[d.key] = k.order.PushFront(d)
	k.bytes += d.size()
	for k.order.Len() > 1 && (k.order.Len() > mostKept || k.bytes > mostKeptBytes) {
		k.drop(k.order.Back())
	}
}

func (k *kept) drop(e *list.Element) {
	d := k.order.Remove(e).(*document) //nolint:forcetypeassert,errcheck // nothing else is on it
	delete(k.all, d.key)
	k.bytes -= d.size()
}

// zipped is nil for what gains nothing by it.
func zipped(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(body) // a buffer takes all
	_ = z.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}
