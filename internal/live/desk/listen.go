package desk

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostListeners bounds who may pre-listen at once.
	mostListeners = 8
	// slowListener is how long a write to one may take.
	slowListener = 5 * time.Second
	// mostPiece bounds one piece of audio, in frames: with its header it fits one answer of
	// the bus.
	mostPiece = live.Rate
	// longestEar bounds the name of one who listens by pieces, in bytes.
	longestEar = 64
	// forgotten is how long one who listens by pieces may ask for none.
	forgotten = 2 * time.Second
)

// listened is a source that is pre-listened.
type listened struct {
	by  int         // how many
	src live.Source // as the first who listens names it; without a URL it is known otherwise
}

// ear is one who pre-listens, and how far it has come on the source's tape.
type ear struct {
	source string
	tape   *tape.Ring // nil: no audio has come
	at     uint64
	asked  time.Time // by pieces
}

// getListen sends a source's audio as it comes, until the client goes. With ?ear=NAME it
// answers at once with what has come since that ear asked last, for a way on which answers
// are bounded. ?url= opens one that no order names: while nothing is live none is named.
func (d *Desk) getListen(w http.ResponseWriter, r *http.Request) {
	id, q := r.PathValue("id"), r.URL.Query()
	src := live.Source{ID: id, URL: q.Get("url")}
	if name := q.Get("ear"); name != "" {
		piece, err := d.piece(src, name, time.Now())
		if err != nil {
			innerhttp.Refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(piece) // the client asks again
		return
	}
	d.mu.Lock()
	err := d.listens(src)
	d.mu.Unlock()
	if err != nil {
		innerhttp.Refuse(w, err)
		return
	}
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.leaves(id)
		d.open()
	}()
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	if _, err := w.Write(wavHead()); err != nil {
		return
	}
	_ = out.Flush() // audio may be long in coming, and the client is to know that it is heard
	e := &ear{source: id}
	for {
		d.mu.Lock()
		pcm := d.news(e)
		d.mu.Unlock()
		if len(pcm) > 0 {
			_ = out.SetWriteDeadline(time.Now().Add(slowListener))
			if _, err := w.Write(bytesOf(pcm)); err != nil {
				return
			}
			_ = out.Flush()
		}
		if retry.Pause(r.Context(), 3*live.Tick) != nil {
			return
		}
	}
}

// piece is what an ear has not heard yet; the first begins with the header.
func (d *Desk) piece(src live.Source, name string, now time.Time) (out []byte, err error) {
	if len(name) > longestEar {
		return nil, fmt.Errorf("ear: longer than %d bytes: %w", longestEar, station.ErrInvalid)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.ears[name]
	if e != nil && e.source != src.ID {
		return nil, fmt.Errorf("ear: it listens to %.40q: %w", e.source, station.ErrConflict)
	}
	if e == nil {
		if err := d.listens(src); err != nil {
			return nil, err
		}
		e = &ear{source: src.ID}
		d.ears[name] = e
		out = wavHead()
	}
	e.asked = now
	return append(out, bytesOf(d.news(e))...), nil
}

// forget lets go those who have not asked for long. The caller holds mu.
func (d *Desk) forget(now time.Time) {
	for name, e := range d.ears {
		if now.Sub(e.asked) > forgotten {
			delete(d.ears, name)
			d.leaves(e.source)
		}
	}
}

// news is the audio that an ear has not heard yet, so much at once. The caller holds mu.
func (d *Desk) news(e *ear) []int16 {
	if now := d.mix.Tape(e.source); now != nil && now != e.tape {
		e.tape = now
		_, e.at = now.Span()
	}
	if e.tape == nil {
		return nil
	}
	from, end := e.tape.Span()
	e.at = max(e.at, from)
	pcm := make([]int16, min(end-e.at, mostPiece)*live.Channels)
	e.tape.Copy(e.at, pcm)
	e.at += uint64(len(pcm)) / live.Channels
	return pcm
}

// listens counts one more who pre-listens to a source: it is opened meanwhile. The caller
// holds mu.
func (d *Desk) listens(src live.Source) error {
	all := 0
	for _, l := range d.listen {
		all += l.by
	}
	if all >= mostListeners {
		return fmt.Errorf("%d listen already: %w", all, station.ErrFull)
	}
	if strings.HasPrefix(src.URL, live.SourceScheme) {
		src.URL = "" // an encoder's comes by itself
	}
	if src.URL == "" && !d.known(src.ID) {
		return fmt.Errorf("source %.40q is not at the desk: %w", src.ID, station.ErrNotFound)
	}
	if d.listen[src.ID] == nil {
		d.listen[src.ID] = &listened{src: src}
	}
	d.listen[src.ID].by++
	d.open()
	return nil
}

// leaves counts one fewer. The caller holds mu.
func (d *Desk) leaves(id string) {
	if d.listen[id].by--; d.listen[id].by == 0 {
		delete(d.listen, id)
	}
}

func (d *Desk) known(id string) bool {
	if d.mix.Tape(id) != nil || d.order.Air != nil && d.order.Air.ID == id {
		return true
	}
	for _, s := range d.order.Next {
		if s.ID == id {
			return true
		}
	}
	return false
}

// wavHead is the header of a WAV file whose end is not known.
func wavHead() []byte {
	h := []byte("RIFF\xff\xff\xff\xffWAVEfmt ")
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, 1)
	h = binary.LittleEndian.AppendUint16(h, live.Channels)
	h = binary.LittleEndian.AppendUint32(h, live.Rate)
	h = binary.LittleEndian.AppendUint32(h, live.Rate*live.Channels*2)
	h = binary.LittleEndian.AppendUint16(h, live.Channels*2)
	h = binary.LittleEndian.AppendUint16(h, 16)
	return append(h, "data\xff\xff\xff\xff"...)
}
