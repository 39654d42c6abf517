package stream

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/census"
)

// Handover is the way to the program that takes this one's place (kit/reexec).
type Handover interface {
	Leaving() bool // another program takes over when this one has stopped
	Leave(name string, f *os.File)
	Write(name string, value any) error
	Take(name string) *os.File
	Read(name string, into any) bool
}

// legacy is a fan-out as the next program gets it: the part of the stream that somebody
// has still to get, where each listener is in it, and what the upstream sent last, so that
// what it repeats on a new connection is recognised.
type legacy struct {
	Format    string
	First     uint64 // stream position of the first chunk
	Headers   [][]byte
	Chunks    []legacyChunk
	Join      int // index of the chunk at which a new listener starts
	Link      *legacyLink
	Upstream  *legacyUpstream // nil: the next program connects
	Listeners []legacyListener

	Peak                           int
	Served, Refused, In, Out, Slow uint64
}

type legacyChunk struct {
	Data     []byte
	Header   int // index in Headers; -1: none
	Joinable bool
}

// legacyLink is an Ogg link.
type legacyLink struct {
	Header  []byte
	Begun   bool
	Streams []legacyOgg
}

type legacyOgg struct {
	Serial, Last uint32
	Need         int
	Resumed      bool
	Sent         map[uint32]uint32
}

type legacyListener struct {
	At, Off             int // chunk by index, and how much of it was sent
	Lead, Prefix, Block []byte
	ICY                 bool
	Left                int
	Key                 string
	Device, Country     string // empty: the program before did not tell
}

func (f *Fanout) estate() string { return "stream " + f.opt.Name }

func (f *Fanout) socketName(i int) string { return fmt.Sprintf("%s %d", f.estate(), i) }

func (f *Fanout) leaving() bool { return f.opt.Handover != nil && f.opt.Handover.Leaving() }

// leave gives the stream and its listeners to the next program. Nothing runs any more.
func (f *Fanout) leave() {
	var all []*listener
	for _, w := range f.writers {
		all = append(all, w.keep()...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := legacy{Format: f.format, Join: -1, Link: linkOf(f.intake.framer), Upstream: f.leaveUpstream()}
	index := f.copyChunks(&out, all)
	for _, l := range all {
		at, known := index[l.at]
		if !known {
			l.close()
			continue
		}
		f.opt.Handover.Leave(f.socketName(len(out.Listeners)), os.NewFile(uintptr(l.fd), "listener")) //nolint:gosec // a descriptor
		out.Listeners = append(out.Listeners, legacyListener{
			At: at, Off: l.off, Lead: l.lead, Prefix: l.prefix, Block: l.block, ICY: l.icy, Left: l.left, Key: l.key,
			Device: l.who.Device.String(), Country: l.who.Country.String(),
		})
	}
	f.door.mu.Lock()
	out.Peak, out.Served, out.Refused = f.door.peak, f.door.served, f.door.refused
	f.door.mu.Unlock()
	out.In, out.Out, out.Slow = f.count.in.Load(), f.count.out.Load(), f.count.slow.Load()
	if err := f.opt.Handover.Write(f.estate(), out); err != nil {
		f.log.Error("cannot hand the stream over, its listeners are disconnected", "err", err)
	}
	f.log.Info("stream handed over", "listeners", len(out.Listeners))
}

// copyChunks copies the stream from the first chunk that a listener or a newcomer needs,
// and returns the index of each.
func (f *Fanout) copyChunks(out *legacy, all []*listener) map[*chunk]int {
	index := map[*chunk]int{}
	first := f.ring.join
	for _, l := range all {
		if first == nil || l.at.off < first.off {
			first = l.at
		}
	}
	if first != nil {
		out.First = first.off
	}
	header := -1
	for c := first; c != nil; c = c.next.Load() {
		switch {
		case c.header == nil:
		case header >= 0 && &out.Headers[header][0] == &c.header[0]: // the same, not merely equal
		default:
			out.Headers, header = append(out.Headers, c.header), len(out.Headers)
		}
		kept := legacyChunk{Data: c.data, Header: -1, Joinable: c.joinable}
		if c.header != nil {
			kept.Header = header
		}
		if c == f.ring.join {
			out.Join = len(out.Chunks)
		}
		index[c] = len(out.Chunks)
		out.Chunks = append(out.Chunks, kept)
	}
	return index
}

// resume takes over what the program before left, if it left anything.
func (f *Fanout) resume() {
	if f.opt.Handover == nil {
		return
	}
	var in legacy
	if !f.opt.Handover.Read(f.estate(), &in) || len(in.Chunks) == 0 || in.Join < 0 || in.Join >= len(in.Chunks) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	chunks := f.relink(in)
	f.format, f.state, f.since = in.Format, Away, time.Now()
	f.intake.format, f.intake.framer = in.Format, framerFor(in.Format)
	if ogg, is := f.intake.framer.(*oggFramer); is {
		if ogg.link = in.Link.revive(); ogg.link != nil {
			ogg.link.begun = true // it is on air; the version before this one did not say so
		}
	}
	f.takeUpstream(in.Upstream)
	f.count.in.Store(in.In)
	f.count.out.Store(in.Out)
	f.count.slow.Store(in.Slow)
	f.door.mu.Lock()
	f.door.peak, f.door.served, f.door.refused = in.Peak, in.Served-uint64(len(in.Listeners)), in.Refused
	f.door.mu.Unlock()
	for i, l := range in.Listeners {
		if l.At < len(chunks) && l.Off <= len(chunks[l.At].data) {
			f.seat(f.socketName(i), chunks[l.At], l)
		}
	}
	f.log.Info("stream taken over", "listeners", f.door.now)
}

// relink makes the chunks again and puts the ring's ends in place.
func (f *Fanout) relink(in legacy) []*chunk {
	f.ring.size = in.First
	chunks := make([]*chunk, len(in.Chunks))
	for i, c := range in.Chunks {
		u := unit{data: c.Data, joinable: c.Joinable}
		if c.Header >= 0 && c.Header < len(in.Headers) {
			u.header = in.Headers[c.Header]
		}
		chunks[i] = &chunk{unit: u, off: f.ring.size, more: make(chan struct{})}
		f.ring.size += uint64(len(c.Data))
		if i > 0 {
			chunks[i-1].next.Store(chunks[i])
			close(chunks[i-1].more)
		}
	}
	f.ring.head, f.ring.join = chunks[len(chunks)-1], chunks[in.Join]
	if f.ring.size > uint64(f.opt.Window) {
		f.floor.Store(f.ring.size - uint64(f.opt.Window))
	}
	return chunks
}

// seat gives a listener its place again.
func (f *Fanout) seat(name string, at *chunk, in legacyListener) {
	file := f.opt.Handover.Take(name)
	if file == nil {
		return
	}
	defer file.Close() //nolint:errcheck // the listener has a copy
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = unix.SetNonblock(fd, true)
	from := caller{key: in.Key}
	from.who.Device, _ = census.DeviceNamed(in.Device)
	from.who.Country = census.CountryNamed(in.Country)
	if f.door.enter(from, 0, 0) != "" {
		_ = unix.Close(fd)
		return
	}
	l := &listener{socket: socket{fd: fd, leave: f.counted(fd)}, caller: from, progress: time.Now(), cursor: cursor{
		lead: in.Lead, prefix: in.Prefix, block: in.Block, at: at, off: in.Off, icy: in.ICY, left: in.Left,
	}}
	w := f.writers[f.turn.Add(1)%uint64(len(f.writers))]
	w.set = append(w.set, l) // it does not run yet
}

// counted counts a connection where its listener port counts them.
func (f *Fanout) counted(fd int) (leave func()) {
	if f.opt.Counted == nil {
		return nil
	}
	from, err := unix.Getpeername(fd)
	if err != nil {
		return nil
	}
	switch a := from.(type) {
	case *unix.SockaddrInet4:
		return f.opt.Counted(&net.TCPAddr{IP: a.Addr[:], Port: a.Port})
	case *unix.SockaddrInet6:
		return f.opt.Counted(&net.TCPAddr{IP: a.Addr[:], Port: a.Port})
	}
	return nil
}

// linkOf is the Ogg link on air; nil for other formats, and before the first.
func linkOf(from framer) *legacyLink {
	if ogg, is := from.(*oggFramer); is {
		return legacyOf(ogg.link)
	}
	return nil
}

func legacyOf(l *oggLink) *legacyLink {
	if l == nil {
		return nil
	}
	out := &legacyLink{Header: l.header, Begun: l.begun}
	for _, s := range l.streams {
		out.Streams = append(out.Streams, legacyOgg{Serial: s.serial, Last: s.last, Need: s.need, Resumed: s.resumed, Sent: s.sent})
	}
	return out
}

func (l *legacyLink) revive() *oggLink {
	if l == nil {
		return nil
	}
	out := &oggLink{header: l.Header, begun: l.Begun}
	for _, s := range l.Streams {
		if s.Sent == nil { // gob leaves out what is empty
			s.Sent = map[uint32]uint32{}
		}
		out.streams = append(out.streams, &oggStream{serial: s.Serial, last: s.Last, need: s.Need, resumed: s.Resumed, sent: s.Sent})
	}
	return out
}

// keep returns the writer's listeners, which it serves no longer.
func (w *writer) keep() []*listener {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.set, w.incoming...)
	w.set, w.incoming = nil, nil
	return all
}
