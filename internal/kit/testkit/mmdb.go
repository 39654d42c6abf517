package testkit

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
)

// Countries makes a small database in MaxMind's format (MMDB 2.0) of networks and their
// countries, as field has them: "iso_code" in "country", as in GeoLite2 and DB-IP, or
// "country_code" alone.
func Countries(networks map[string]string, field string) []byte {
	tree := [][2]int{{}} // a node's children: 0 nothing, >0 a node, <0 the record -n-1
	var data []byte
	records := map[string]int{}
	for _, network := range slices.Sorted(maps.Keys(networks)) {
		code := networks[network]
		if _, known := records[code]; !known {
			records[code] = len(data)
			switch field {
			case "iso_code":
				data = append(data, mapOf("country", append([]byte{7<<5 | 1}, append(text(field), text(code)...)...))...)
			default:
				data = append(data, mapOf(field, text(code))...)
			}
		}
		p := netip.MustParsePrefix(network)
		bits, skip := p.Addr().As16(), 0
		if p.Addr().Is4() { // ::/96 has IPv4
			four := p.Addr().As4()
			bits = [16]byte{12: four[0], 13: four[1], 14: four[2], 15: four[3]}
			skip = 96
		}
		node := 0
		for i := range skip + p.Bits() {
			side := bits[i/8] >> (7 - i%8) & 1
			if i == skip+p.Bits()-1 {
				tree[node][side] = -records[code] - 1
				break
			}
			if tree[node][side] <= 0 {
				tree = append(tree, [2]int{})
				tree[node][side] = len(tree) - 1
			}
			node = tree[node][side]
		}
	}
	var out []byte
	for _, children := range tree {
		for _, child := range children {
			value := len(tree) // nothing
			switch {
			case child > 0:
				value = child
			case child < 0:
				value = len(tree) + 16 + (-child - 1)
			}
			out = append(out, byte(value>>16), byte(value>>8), byte(value)) //nolint:gosec // small
		}
	}
	out = append(append(out, make([]byte, 16)...), data...)
	number := func(kind byte, n uint64) []byte { // 5: 16 bits, 6: 32
		raw := bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, n), "\x00")
		if kind > 7 {
			return append([]byte{byte(len(raw)), kind - 7}, raw...)
		}
		return append([]byte{kind<<5 | byte(len(raw))}, raw...) //nolint:gosec // eight at most
	}
	out = append(out, "\xab\xcd\xefMaxMind.com"...)
	return append(out, bytes.Join([][]byte{
		{7<<5 | 9},
		text("node_count"), number(6, uint64(len(tree))), text("record_size"), number(5, 24), text("ip_version"), number(5, 6),
		text("database_type"), text("Test-Country"), text("languages"), {0, 11 - 7}, text("description"), {7 << 5},
		text("binary_format_major_version"), number(5, 2), text("binary_format_minor_version"), number(5, 0),
		text("build_epoch"), number(9, 1_700_000_000),
	}, nil)...)
}

func text(s string) []byte { return append([]byte{2<<5 | byte(len(s))}, s...) } //nolint:gosec // under 29

func mapOf(key string, value []byte) []byte {
	return append(append([]byte{7<<5 | 1}, text(key)...), value...)
}
