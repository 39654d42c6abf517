package sdp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
)

// opusWanted is what the publisher's encoder is asked for (RFC 7587, section 6.1): both
// channels if it has them, no transmission with pauses. In-band correction is declined:
// nothing here decodes it, and its bits are better spent on the voice.
const opusWanted = "minptime=10;stereo=1;sprop-stereo=1;useinbandfec=0;usedtx=0"

// Answer is the WebRTC stack's answer as the publisher gets it: with what RFC 9725 asks
// for beside (sections 4.2 and 4.4.1), and all candidates. Redundant audio stands first
// where it is taken: a browser sends what stands first.
func Answer(o Offer, text string) (string, error) {
	var d sdp.SessionDescription
	if err := d.UnmarshalString(text); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if len(d.MediaDescriptions) != 1 {
		return "", fmt.Errorf("the answer has %d m= lines", len(d.MediaDescriptions))
	}
	m := d.MediaDescriptions[0]
	pt := strconv.Itoa(o.payloadType)
	m.Attributes = slices.DeleteFunc(m.Attributes, func(a sdp.Attribute) bool {
		return a.Key == "fmtp" || a.Key == "end-of-candidates" || a.Key == "rtcp-mux-only" || a.Key == "ice-options"
	})
	if o.red >= 0 {
		m.WithValueAttribute("fmtp", fmt.Sprintf("%d %s", o.red, o.blocks()))
	}
	m.WithValueAttribute("fmtp", pt+" "+opusWanted)
	m.WithPropertyAttribute("rtcp-mux-only")
	m.WithValueAttribute("ice-options", "trickle ice2")
	m.WithPropertyAttribute("end-of-candidates")
	out, err := d.Marshal()
	return string(out), err
}

// Restarted is the body of the answer to an ICE restart, out of the stack's new answer
// (RFC 9725, section 4.3.3).
func Restarted(o Offer, text string) (string, error) {
	var d sdp.SessionDescription
	if err := d.UnmarshalString(text); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if len(d.MediaDescriptions) != 1 {
		return "", fmt.Errorf("the answer has %d m= lines", len(d.MediaDescriptions))
	}
	m := d.MediaDescriptions[0]
	both := append(slices.Clone(m.Attributes), d.Attributes...)
	var b strings.Builder
	fmt.Fprintf(&b, "a=ice-lite\r\na=ice-options:trickle ice2\r\na=group:BUNDLE %s\r\n", o.Mid)
	fmt.Fprintf(&b, "m=audio 9 UDP/TLS/RTP/SAVPF %s\r\na=mid:%s\r\n", o.formats(), o.Mid)
	fmt.Fprintf(&b, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\n", value(both, "ice-ufrag"), value(both, "ice-pwd"))
	for _, a := range m.Attributes {
		if a.Key == "candidate" {
			fmt.Fprintf(&b, "a=candidate:%s\r\n", a.Value)
		}
	}
	b.WriteString("a=end-of-candidates\r\n")
	return b.String(), nil
}
