package onpodcast

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/web/feed"
)

// toldAfter is for how long after its end feeds tell of a broadcast.
const toldAfter = 24 * time.Hour

// onAir knows which show is on the air, and which was. What was before the program started is not
// told of any more: by then its episode tells, and no feed reader needs both.
type onAir struct {
	show  func(slug string) (*podcast.Show, error)
	now   func() takeover.Status
	clock func() time.Time

	mu    sync.Mutex
	began map[string]int64 // of streams on the air, epoch milliseconds
	past  []broadcastOf    // the newest last
}

type broadcastOf struct {
	stream string
	feed.Live
}

// told takes a change of what is live.
func (o *onAir) told(e takeover.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began == nil {
		o.began = map[string]int64{}
	}
	o.past = slices.DeleteFunc(o.past, func(b broadcastOf) bool { return o.clock().Sub(b.Ended) > toldAfter })
	switch e.Kind {
	case takeover.Started, takeover.Handed, takeover.Follows:
		for id := range o.began { // one is on the air at a time
			if id != e.Stream.ID {
				delete(o.began, id)
			}
		}
		o.began[e.Stream.ID] = e.At
	case takeover.Ended, takeover.Failed:
		began, known := o.began[e.Stream.ID]
		if !known {
			began = e.Since
		}
		delete(o.began, e.Stream.ID)
		if began > 0 {
			o.past = append(o.past, broadcastOf{e.Stream.ID, broadcast(e.Stream.ID, e.Stream.Title, e.Stream.Creator, began, e.At)})
		}
	}
}

func broadcast(stream, title, creator string, began, ended int64) feed.Live {
	b := feed.Live{Key: fmt.Sprintf("%s-%d", stream, began), Title: title, Creator: creator, Began: time.UnixMilli(began)}
	if ended != 0 {
		b.Ended = time.UnixMilli(ended)
	}
	return b
}

// item is the broadcast of a show that is on the air, else the last of the day.
func (o *onAir) item(slug string) (feed.Live, bool) {
	show, err := o.show(slug)
	if err != nil || !show.Public() || show.From.Kind != podcast.Live {
		return feed.Live{}, false
	}
	fits := func(stream string) bool {
		return len(show.From.Streams) == 0 || slices.Contains(show.From.Streams, stream)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.now().Active; a != nil && a.OnAir && fits(a.ID) {
		began, known := o.began[a.ID]
		if !known {
			began = a.Since
		}
		return broadcast(a.ID, a.Title, a.Creator, began, 0), true
	}
	for _, b := range slices.Backward(o.past) {
		if fits(b.stream) && o.clock().Sub(b.Ended) <= toldAfter {
			return b.Live, true
		}
	}
	return feed.Live{}, false
}
