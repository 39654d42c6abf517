// Package sdp judges what a publisher offers and writes what it is answered (RFC 9725,
// RFC 8840). Of an offer only what is understood goes on to the WebRTC stack, written
// anew: a stranger's text never reaches it.
package sdp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
)

// Kinds of refusal.
var (
	ErrMalformed = errors.New("malformed")   // 400
	ErrUnfit     = errors.New("unsupported") // 422: well-formed, and not what is taken here
)

const (
	// MostOffer and MostFragment bound bodies, in bytes.
	MostOffer    = 64 << 10
	MostFragment = 16 << 10
	// mostCandidates are those of one offer or fragment that are looked at.
	mostCandidates = 64
	mostLines      = 1024
	// mostBlocks are those of one packet of redundant audio.
	mostBlocks = 4
)

var (
	iceChars = regexp.MustCompile(`^[A-Za-z0-9+/]+$`)
	midChars = regexp.MustCompile(`^[A-Za-z0-9_.~-]{1,32}$`)
)

// Credentials are those of one ICE session.
type Credentials struct{ Ufrag, Password string }

// check holds them to RFC 8839, section 5.4.
func (c Credentials) check() error {
	if n := len(c.Ufrag); n < 4 || n > 256 || !iceChars.MatchString(c.Ufrag) {
		return fmt.Errorf("%w: ice-ufrag must be 4 to 256 of A-Z, a-z, 0-9, + and /", ErrMalformed)
	}
	if n := len(c.Password); n < 22 || n > 256 || !iceChars.MatchString(c.Password) {
		return fmt.Errorf("%w: ice-pwd must be 22 to 256 of A-Z, a-z, 0-9, + and /", ErrMalformed)
	}
	return nil
}

// Offer is what is understood of an offer.
type Offer struct {
	Credentials
	Mid string
	// Relays are the addresses of its candidates that go through a TURN server. No other
	// candidate is of use: an ICE-lite agent answers whoever knows the password.
	Relays []netip.AddrPort

	payloadType int
	red         int // payload type of redundant audio that is preferred to Opus; -1: none
	nack        bool
	redNack     bool // it is offered for the redundant audio by itself
	active      bool // it wants to be the DTLS client
	hash        string
	fingerprint string
	ssrc        uint32
}

// ReadOffer judges the body of a POST: one audio track in Opus, and nothing else
// (RFC 9725, sections 4.2, 4.4.2 and 4.4.3: whole or not at all).
func ReadOffer(body []byte) (Offer, error) {
	var o Offer
	if len(body) > MostOffer || strings.Count(string(body), "\n") > mostLines {
		return o, fmt.Errorf("%w: the offer is too long", ErrMalformed)
	}
	var d sdp.SessionDescription
	if !strings.HasPrefix(string(body), "v=0") {
		return o, fmt.Errorf("%w: the offer does not begin with v=0", ErrMalformed)
	}
	if err := unmarshal(&d, body); err != nil {
		return o, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(d.MediaDescriptions) == 0 {
		return o, fmt.Errorf("%w: the offer has no m= line", ErrUnfit)
	}
	m := d.MediaDescriptions[0]
	switch {
	case len(d.MediaDescriptions) > 1 || m.MediaName.Media != "audio":
		return o, fmt.Errorf("%w: offer one audio track and nothing else", ErrUnfit)
	case strings.Join(m.MediaName.Protos, "/") != "UDP/TLS/RTP/SAVPF":
		return o, fmt.Errorf("%w: the audio must be sent as UDP/TLS/RTP/SAVPF", ErrUnfit)
	case !has(m.Attributes, "rtcp-mux"):
		return o, fmt.Errorf("%w: rtcp-mux is needed", ErrUnfit)
	}
	both := append(slices.Clone(m.Attributes), d.Attributes...)
	for _, read := range []func(*Offer, []sdp.Attribute) error{readTransport, readDirection} {
		if err := read(&o, both); err != nil {
			return o, err
		}
	}
	if err := o.readCodec(m); err != nil {
		return o, err
	}
	o.readSource(m.Attributes)
	o.Relays = relays(m.Attributes)
	return o, nil
}

// unmarshal guards against faults of the parser: its input is a stranger's.
func unmarshal(d *sdp.SessionDescription, body []byte) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the parser says %v", fault)
		}
	}()
	return d.Unmarshal(body)
}

func readTransport(o *Offer, attributes []sdp.Attribute) error {
	o.Credentials = Credentials{value(attributes, "ice-ufrag"), value(attributes, "ice-pwd")}
	if err := o.check(); err != nil {
		return err
	}
	if has(attributes, "ice-lite") {
		return fmt.Errorf("%w: a publisher must be a full ICE agent", ErrUnfit)
	}
	switch setup := value(attributes, "setup"); setup {
	case "actpass":
	case "active":
		o.active = true
	default:
		return fmt.Errorf("%w: setup must be actpass or active", ErrUnfit)
	}
	if o.Mid = value(attributes, "mid"); !midChars.MatchString(o.Mid) {
		return fmt.Errorf("%w: the audio needs a mid", ErrUnfit)
	}
	for _, a := range attributes {
		hash, digits, _ := strings.Cut(a.Value, " ")
		if a.Key != "fingerprint" {
			continue
		}
		size := map[string]int{"sha-256": 32, "sha-384": 48, "sha-512": 64}[strings.ToLower(hash)]
		raw, err := hex.DecodeString(strings.ReplaceAll(digits, ":", ""))
		if size == 0 {
			continue
		}
		if err != nil || len(raw) != size {
			return fmt.Errorf("%w: fingerprint", ErrMalformed)
		}
		o.hash, o.fingerprint = strings.ToLower(hash), colons(raw)
		return nil
	}
	return fmt.Errorf("%w: a fingerprint by SHA-256, 384 or 512 is needed", ErrUnfit)
}

func colons(raw []byte) string {
	parts := make([]string, len(raw))
	for i, b := range raw {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

func readDirection(_ *Offer, attributes []sdp.Attribute) error {
	for _, a := range attributes {
		switch a.Key {
		case "sendonly", "sendrecv":
			return nil
		case "recvonly", "inactive":
			return fmt.Errorf("%w: the audio is %s, and must be sendonly", ErrUnfit, a.Key)
		}
	}
	return nil // sendrecv, by default
}

// readCodec finds Opus (RFC 7587, section 7).
func (o *Offer) readCodec(m *sdp.MediaDescription) error {
	o.payloadType = -1
	for _, format := range m.MediaName.Formats {
		for _, a := range m.Attributes {
			pt, codec, _ := strings.Cut(a.Value, " ")
			if a.Key == "rtpmap" && pt == format && strings.EqualFold(codec, "opus/48000/2") {
				if n, err := strconv.Atoi(pt); err == nil && n >= 0 && n <= 127 && o.payloadType < 0 {
					o.payloadType = n
				}
			}
		}
	}
	if o.payloadType < 0 {
		return fmt.Errorf("%w: the audio must be Opus (opus/48000/2)", ErrUnfit)
	}
	o.readRED(m)
	for _, a := range m.Attributes {
		pt, feedback, _ := strings.Cut(a.Value, " ")
		if a.Key != "rtcp-fb" || feedback != "nack" {
			continue
		}
		o.nack = o.nack || pt == "*" || pt == strconv.Itoa(o.payloadType)
		o.redNack = o.redNack || o.red >= 0 && (pt == "*" || pt == strconv.Itoa(o.red))
	}
	return nil
}

// readRED finds redundant audio (RFC 2198, section 5) of Opus alone, where it stands before
// Opus: the order of formats is that of preference (RFC 8866, section 5.14), and whoever
// only can send it, as browsers can, does not want twice the rate for it.
func (o *Offer) readRED(m *sdp.MediaDescription) {
	o.red = -1
	opus := strconv.Itoa(o.payloadType)
	before := slices.Index(m.MediaName.Formats, opus)
	for _, format := range m.MediaName.Formats[:max(0, before)] { // "0111" is not found
		n, err := strconv.Atoi(format)
		if err != nil || n < 0 || n > 127 || strconv.Itoa(n) != format {
			continue
		}
		red, opusAlone := false, false
		for _, a := range m.Attributes {
			pt, text, _ := strings.Cut(a.Value, " ")
			if pt != format {
				continue
			}
			switch a.Key {
			case "rtpmap":
				red = strings.EqualFold(strings.TrimSpace(text), "red/48000/2")
			case "fmtp":
				blocks := strings.Split(strings.TrimSpace(text), "/")
				opusAlone = len(blocks) >= 2 && len(blocks) <= mostBlocks && !slices.ContainsFunc(blocks, func(b string) bool { return b != opus })
			}
		}
		if red && opusAlone {
			o.red = n
			return
		}
	}
}

func (o *Offer) readSource(attributes []sdp.Attribute) {
	for _, a := range attributes {
		if a.Key == "ssrc" {
			id, _, _ := strings.Cut(a.Value, " ")
			if n, err := strconv.ParseUint(id, 10, 32); err == nil {
				o.ssrc = uint32(n)
				return
			}
		}
	}
}

// relays are the addresses of candidates of type relay.
func relays(attributes []sdp.Attribute) []netip.AddrPort {
	var out []netip.AddrPort
	n := 0
	for _, a := range attributes {
		if a.Key != "candidate" {
			continue
		}
		if n++; n > mostCandidates {
			break
		}
		if c, err := readCandidate(a.Value); err == nil && c.relay && c.at.IsValid() {
			out = append(out, c.at)
		}
	}
	return out
}

type candidate struct {
	relay bool
	at    netip.AddrPort // invalid for a host name, which is discarded
}

// readCandidate reads a=candidate (RFC 8839, section 5.1).
func readCandidate(text string) (candidate, error) {
	f := strings.Fields(text)
	if len(f) < 8 || f[6] != "typ" {
		return candidate{}, fmt.Errorf("%w: candidate", ErrMalformed)
	}
	port, err := strconv.ParseUint(f[5], 10, 16)
	if err != nil {
		return candidate{}, fmt.Errorf("%w: port of a candidate", ErrMalformed)
	}
	if _, err := strconv.ParseUint(f[3], 10, 32); err != nil {
		return candidate{}, fmt.Errorf("%w: priority of a candidate", ErrMalformed)
	}
	c := candidate{relay: f[7] == "relay"}
	if ip, err := netip.ParseAddr(f[4]); err == nil {
		c.at = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return c, nil
}

func value(attributes []sdp.Attribute, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

func has(attributes []sdp.Attribute, key string) bool {
	return slices.ContainsFunc(attributes, func(a sdp.Attribute) bool { return a.Key == key })
}

// Text is the offer as the WebRTC stack gets it. Version grows with each ICE restart.
func (o Offer) Text(version int) string {
	setup := "actpass"
	if o.active {
		setup = "active"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "v=0\r\no=- 1 %d IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE %s\r\n", version, o.Mid)
	fmt.Fprintf(&b, "m=audio 9 UDP/TLS/RTP/SAVPF %s\r\nc=IN IP4 0.0.0.0\r\na=mid:%s\r\n", o.formats(), o.Mid)
	fmt.Fprintf(&b, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=ice-options:trickle\r\n", o.Ufrag, o.Password)
	fmt.Fprintf(&b, "a=fingerprint:%s %s\r\na=setup:%s\r\na=sendonly\r\na=rtcp-mux\r\n", o.hash, o.fingerprint, setup)
	fmt.Fprintf(&b, "a=rtpmap:%d opus/48000/2\r\na=fmtp:%d minptime=10\r\n", o.payloadType, o.payloadType)
	if o.nack {
		fmt.Fprintf(&b, "a=rtcp-fb:%d nack\r\n", o.payloadType)
	}
	if o.red >= 0 {
		fmt.Fprintf(&b, "a=rtpmap:%d red/48000/2\r\na=fmtp:%d %s\r\n", o.red, o.red, o.blocks())
		if o.redNack {
			fmt.Fprintf(&b, "a=rtcp-fb:%d nack\r\n", o.red)
		}
	}
	if o.ssrc != 0 {
		fmt.Fprintf(&b, "a=msid:live microphone\r\na=ssrc:%d cname:live\r\na=ssrc:%d msid:live microphone\r\n", o.ssrc, o.ssrc)
	}
	return b.String()
}

// formats are those of the m= line, the preferred one first.
func (o Offer) formats() string {
	if o.red < 0 {
		return strconv.Itoa(o.payloadType)
	}
	return fmt.Sprintf("%d %d", o.red, o.payloadType)
}

// blocks is what a packet of redundant audio may hold, as browsers write it.
func (o Offer) blocks() string { return fmt.Sprintf("%d/%d", o.payloadType, o.payloadType) }

// Nack reports whether the publisher resends what it is asked for (RFC 4585).
func (o Offer) Nack() bool { return o.nack || o.redNack }

// PayloadTypes are those of Opus and of redundant audio that holds it; red is -1 where the
// publisher is not to send any.
func (o Offer) PayloadTypes() (opus, red int) { return o.payloadType, o.red }
