package sdp

import (
	"fmt"
	"net/netip"
	"strings"
)

// Fragment is the body of a PATCH, application/trickle-ice-sdpfrag (RFC 8840, section 9).
type Fragment struct {
	Credentials // empty where it names none
	Mid         string
	Relays      []netip.AddrPort
	Candidates  int
	End         bool // end-of-candidates
}

// ReadFragment reads a PATCH's body. Candidates of transports that are not taken here, or
// with host names, are silently passed over (RFC 9725, section 4.3.2).
func ReadFragment(body []byte) (Fragment, error) {
	var f Fragment
	if len(body) > MostFragment {
		return f, fmt.Errorf("%w: the fragment is longer than %d bytes", ErrMalformed, MostFragment)
	}
	lines, media := 0, 0
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if lines++; lines > mostLines {
			return f, fmt.Errorf("%w: too many lines", ErrMalformed)
		}
		kind, rest, ok := strings.Cut(line, "=")
		switch {
		case !ok:
			return f, fmt.Errorf("%w: line %d is no a= or m= line", ErrMalformed, lines)
		case kind == "m":
			if media++; media > 1 {
				return f, fmt.Errorf("%w: there is one m= line, the audio's", ErrUnfit)
			}
			if len(strings.Fields(rest)) < 4 {
				return f, fmt.Errorf("%w: m= line", ErrMalformed)
			}
		case kind == "a":
			if err := f.attribute(rest); err != nil {
				return f, err
			}
		case kind == "c" && media > 0:
		default:
			return f, fmt.Errorf("%w: line %d is no a= or m= line", ErrMalformed, lines)
		}
	}
	if lines == 0 {
		return f, fmt.Errorf("%w: the fragment is empty", ErrMalformed)
	}
	if (f.Credentials != Credentials{}) {
		if err := f.check(); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *Fragment) attribute(text string) error {
	key, value, _ := strings.Cut(text, ":")
	switch key {
	case "ice-ufrag":
		f.Ufrag = value
	case "ice-pwd":
		f.Password = value
	case "mid":
		if f.Mid = value; !midChars.MatchString(value) {
			return fmt.Errorf("%w: mid", ErrMalformed)
		}
	case "end-of-candidates":
		f.End = true
	case "candidate":
		c, err := readCandidate(value)
		if err != nil {
			return err
		}
		if f.Candidates++; f.Candidates > mostCandidates {
			return fmt.Errorf("%w: more than %d candidates", ErrUnfit, mostCandidates)
		}
		if c.relay && c.at.IsValid() {
			f.Relays = append(f.Relays, c.at)
		}
	}
	return nil
}
