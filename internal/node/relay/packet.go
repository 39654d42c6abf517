package relay

const (
	packetSize = 188
	syncByte   = 0x47
)

// packet is one packet of MPEG-TS (ISO/IEC 13818-1, 2.4.3.2).
type packet []byte

func (p packet) pid() uint16 { return uint16(p[1]&0x1f)<<8 | uint16(p[2]) }

// starts reports whether a PES packet or a table begins here.
func (p packet) starts() bool { return p[1]&0x40 != 0 }

// damaged reports that whoever sent it on found it to be so.
func (p packet) damaged() bool { return p[1]&0x80 != 0 }

// carries reports whether it has a payload.
func (p packet) carries() bool { return p[3]&0x10 != 0 }

// payload is what is behind the header and the adaptation field.
func (p packet) payload() []byte {
	at := 4
	if p[3]&0x20 != 0 {
		at += 1 + int(p[4])
	}
	if !p.carries() || at >= packetSize {
		return nil
	}
	return p[at:]
}
