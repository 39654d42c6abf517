package streams

import (
	"net/http"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/stream"
)

// Streams serves /stream for the main channel and those beside it.
type Streams struct {
	Main   *stream.Fanout
	Beside *Beside
}

// Main makes the stream of the main channel; track returns the track on air there.
func Main(opt stream.Options, track func() station.Track) *stream.Fanout {
	opt.Name, opt.Title = station.MainChannel, titled(track)
	return stream.New(opt)
}

// New makes the streams of all channels, those beside the main one with the options given.
func New(opt stream.Options, main *stream.Fanout, others *channels.Channels) *Streams {
	return &Streams{main, &Beside{Channels: others, opt: opt, main: main, fans: map[string]channelFan{}}}
}

// Handler returns a channel's audio; false for an unknown one.
func (c *Streams) Handler(id string) (http.Handler, bool) {
	return c.Beside.Handler(id)
}

// Listeners counts the listeners of all channels.
func (c *Streams) Listeners() int { return c.Stats().Listeners }

// BytesOut counts the bytes sent to them.
func (c *Streams) BytesOut() uint64 { return c.Stats().BytesOut }

// Stats are the counters of all channels together.
func (c *Streams) Stats() (sum stream.Stats) {
	for _, f := range c.Beside.all() {
		s := f.Stats()
		sum.Listeners += s.Listeners
		sum.Served += s.Served
		sum.BytesOut += s.BytesOut
		sum.Crowd.Join(s.Crowd)
	}
	return sum
}

// titles gives each change of title a number.
type titles struct {
	track func() station.Track
	last  atomic.Pointer[numbered]
}

// titled returns the present title and its number, for stream.Options.Title.
func titled(track func() station.Track) func() (string, uint64) {
	t := &titles{track: track}
	return t.now
}

type numbered struct {
	text   string
	change uint64
}

func (t *titles) now() (string, uint64) {
	track := t.track()
	text := track.Title
	if track.Artist != "" {
		text = track.Artist + " - " + track.Title
	}
	for {
		last := t.last.Load()
		if last != nil && last.text == text {
			return text, last.change
		}
		next := &numbered{text: text}
		if last != nil {
			next.change = last.change + 1
		}
		if t.last.CompareAndSwap(last, next) {
			return text, next.change
		}
	}
}
