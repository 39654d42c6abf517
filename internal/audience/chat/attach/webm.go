package attach

// The elements of Matroska (RFC 9559) that describe a file's tracks.
const (
	ebmlHead    = 0x1A45DFA3
	ebmlDocType = 0x4282
	segment     = 0x18538067
	tracks      = 0x1654AE6B
	trackEntry  = 0xAE
	trackType   = 0x83
	codecID     = 0x86
	cluster     = 0x1F43B675
)

// described is what a file says of itself before its sound begins.
type described struct {
	doc   string
	audio int // tracks
	film  bool
}

// audioWebM refuses everything but WebM with Opus or Vorbis alone. It goes down as many
// levels as the format has, however deep a file nests its elements.
func audioWebM(b []byte) error {
	var d described
	elements(b, d.top)
	switch {
	case d.doc != "webm":
		return refused("this Matroska file is not WebM")
	case d.film || d.audio != 1:
		return refused("WebM must hold one track of Opus or Vorbis and nothing else")
	}
	return nil
}

func (d *described) top(id uint64, content []byte) bool {
	switch id {
	case ebmlHead:
		elements(content, d.head)
	case segment:
		elements(content, d.body)
	}
	return true
}

func (d *described) head(id uint64, content []byte) bool {
	if id == ebmlDocType {
		d.doc = string(content)
	}
	return true
}

func (d *described) body(id uint64, content []byte) bool {
	if id == tracks {
		elements(content, d.track)
	}
	return id != cluster // where sound begins
}

func (d *described) track(id uint64, content []byte) bool {
	if id == trackEntry {
		elements(content, d.entry)
	}
	return true
}

func (d *described) entry(id uint64, content []byte) bool {
	switch id {
	case trackType:
		if len(content) == 1 && content[0] == 2 {
			d.audio++
		} else {
			d.film = true
		}
	case codecID:
		codec := string(content)
		d.film = d.film || (codec != "A_OPUS" && codec != "A_VORBIS")
	}
	return true
}

// elements calls visit for each element until visit returns false. An element of
// unknown size, as recorders write them, reaches to the end.
func elements(b []byte, visit func(id uint64, content []byte) bool) {
	for len(b) > 0 {
		id, n := vint(b, true)
		if n == 0 {
			return
		}
		size, m := vint(b[n:], false)
		if m == 0 {
			return
		}
		b = b[n+m:]
		end := uint64(len(b))
		if unknown := uint64(1)<<(7*m) - 1; size != unknown && size < end {
			end = size
		}
		if !visit(id, b[:end]) {
			return
		}
		b = b[end:]
	}
}

// vint reads a number of variable length; ids keep their marker bit.
func vint(b []byte, id bool) (v uint64, n int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	for n = 1; b[0]&(0x80>>(n-1)) == 0; n++ {
	}
	if len(b) < n || (id && n > 4) {
		return 0, 0
	}
	v = uint64(b[0])
	if !id {
		v &= 0xFF >> n
	}
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	return v, n
}
