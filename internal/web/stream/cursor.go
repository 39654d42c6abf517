package stream

// cursor is a listener's position in the stream, with the response head, codec
// headers and metadata that it still has to get. It is a value: a copy walks
// ahead without moving the original.
type cursor struct {
	lead   []byte // the HTTP response head, which is not audio
	prefix []byte // codec headers, before at
	at     *chunk
	off    int // bytes of at that were sent

	icy    bool
	left   int    // audio bytes until the next metadata block
	block  []byte // the rest of a metadata block that is due
	titled bool   // a title was sent: that of change
	change uint64
}

// start places a cursor at a chunk.
func start(at *chunk, lead []byte, icy bool) cursor {
	return cursor{lead: lead, prefix: at.header, at: at, icy: icy, left: icyInterval}
}

// next returns the bytes to send now, empty when there are none yet.
func (c *cursor) next(title titleBlock) []byte {
	switch {
	case len(c.lead) > 0:
		return c.lead
	case len(c.block) > 0:
		return c.block
	case len(c.prefix) > 0:
		return c.audio(c.prefix, title)
	}
	for c.off == len(c.at.data) {
		after := c.at.next.Load()
		if after == nil {
			return nil
		}
		c.at, c.off = after, 0
	}
	return c.audio(c.at.data[c.off:], title)
}

// audio returns b up to the next metadata block, or that block when it is due.
func (c *cursor) audio(b []byte, title titleBlock) []byte {
	switch {
	case !c.icy:
		return b
	case c.left > 0:
		return b[:min(len(b), c.left)]
	}
	c.left = icyInterval
	c.block = noTitle
	if !c.titled || c.change != title.change {
		c.titled, c.change, c.block = true, title.change, title.block
	}
	return c.block
}

// took moves past n bytes of what next returned.
func (c *cursor) took(n int) {
	switch {
	case len(c.lead) > 0:
		c.lead = behind(c.lead, n)
		return
	case len(c.block) > 0:
		c.block = behind(c.block, n)
		return
	case len(c.prefix) > 0:
		c.prefix = behind(c.prefix, n)
	default:
		c.off += n
	}
	c.left -= n // nothing reads it without icy
}

// behind returns b without its first n bytes, and nil when nothing is left: an
// empty slice would keep its array in memory for as long as the listener stays.
func behind(b []byte, n int) []byte {
	if n == len(b) {
		return nil
	}
	return b[n:]
}

// gather appends the next pieces to send, at most room of them. It does not move
// the cursor.
func (c *cursor) gather(into [][]byte, room int, title titleBlock) [][]byte {
	ahead := *c
	for range room {
		b := ahead.next(title)
		if len(b) == 0 {
			break
		}
		into = append(into, b)
		ahead.took(len(b))
	}
	return into
}

// advance moves past n bytes of what gather returned for the same title.
func (c *cursor) advance(n int, title titleBlock) {
	for n > 0 {
		b := c.next(title)
		k := min(n, len(b))
		c.took(k)
		n -= k
	}
}

// position is how far into the stream the cursor is.
func (c *cursor) position() uint64 { return c.at.off + uint64(c.off) }

// ended reports whether the stream is over and all of it was sent.
func (c *cursor) ended() bool {
	return c.off == len(c.at.data) && c.at.ended.Load() && c.at.next.Load() == nil
}
