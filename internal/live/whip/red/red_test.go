package red

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const opus = 111

// header is one of a redundant block.
func header(kind, offset, length int) []byte {
	return []byte{byte(0x80 | kind), byte(offset >> 6), byte(offset<<2 | length>>8), byte(length)}
}

func TestPayloadsAreSplitOrRefused(t *testing.T) {
	join := func(parts ...any) []byte {
		var out []byte
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				out = append(out, p...)
			case []byte:
				out = append(out, p...)
			case int:
				out = append(out, byte(p))
			}
		}
		return out
	}
	long := strings.Repeat("x", 1023)
	for _, c := range []struct {
		what    string
		payload []byte
		want    string // copies as back@offset=payload, then the primary block; empty: refused
	}{
		{"the first packet of a stream", join(opus, "now"), "now"},
		{"Chromium's", join(header(opus, 960, 4), opus, "then", "now"), "1@960=then now"},
		{"two copies, the oldest first", join(header(opus, 1920, 3), header(opus, 960, 4), opus, "old", "then", "now"), "1@960=then 2@1920=old now"},
		{"the widest fields", join(header(opus, 16383, 1023), opus, long, "now"), "1@16383=" + long + " now"},
		{"a pause before", join(header(opus, 14400, 1), opus, "p", "now"), "1@14400=p now"},
		{"an empty copy keeps its place", join(header(opus, 1920, 3), header(opus, 960, 0), opus, "old", "now"), "2@1920=old now"},
		{"an offset of 0 is for the jitter buffer to judge", join(header(opus, 0, 4), opus, "then", "now"), "1@0=then now"},
		{"four blocks", join(header(opus, 3, 1), header(opus, 2, 1), header(opus, 1, 1), opus, "abcd"), "1@1=c 2@2=b 3@3=a d"},

		{"nothing", nil, ""},
		{"plain Opus, whose first byte is a header of something else", join(0x78, "voice"), ""},
		{"five blocks", join(header(opus, 4, 1), header(opus, 3, 1), header(opus, 2, 1), header(opus, 1, 1), opus, "abcde"), ""},
		{"headers without an end", bytes.Repeat(header(opus, 960, 1), 300), ""},
		{"half a header", join(header(opus, 960, 4)[:3]), ""},
		{"no primary header", join(header(opus, 960, 4)), ""},
		{"no primary block", join(header(opus, 960, 4), opus, "then"), ""},
		{"a copy that is longer than the packet", join(header(opus, 960, 5), opus, "then"), ""},
		{"a copy of another payload type", join(header(0, 960, 4), opus, "then", "now"), ""},
		{"a primary block of another payload type", join(header(opus, 960, 4), 0, "then", "now"), ""},
		{"redundant audio within", join(header(63, 960, 4), opus, "then", "now"), ""},
	} {
		primary, copies, err := Parse(c.payload, opus)
		if c.want == "" {
			if !errors.Is(err, ErrMalformed) || primary != nil || copies != nil {
				t.Errorf("%s: %q, %v, %v", c.what, primary, copies, err)
			}
			continue
		}
		var got string
		for _, one := range copies {
			got += fmt.Sprintf("%d@%d=%s ", one.Back, one.Offset, one.Payload)
		}
		if got += string(primary); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, got, err, c.want)
		}
	}
}

// What is taken is bounded, and every byte of it is accounted for.
func FuzzParse(f *testing.F) {
	f.Add([]byte{111, 1}, uint8(111))
	f.Add(append(header(opus, 960, 2), opus, 1, 2, 3), uint8(111))
	f.Add(append(append(header(opus, 1920, 0), header(opus, 960, 2)...), opus, 1, 2, 3), uint8(111))
	f.Fuzz(func(t *testing.T, payload []byte, kind uint8) {
		primary, copies, err := Parse(payload, kind)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		total, last := len(primary), 0
		for _, c := range copies {
			if c.Back <= last || c.Back >= MostBlocks || c.Offset > 16383 || len(c.Payload) == 0 || len(c.Payload) > 1023 {
				t.Fatalf("%+v", copies)
			}
			last, total = c.Back, total+len(c.Payload)
		}
		if over := len(payload) - total - shortHeader; len(primary) == 0 || over < last*longHeader || over%longHeader != 0 || over > (MostBlocks-1)*longHeader {
			t.Fatalf("%d of %d bytes were read", total, len(payload))
		}
	})
}
