package stream

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// readICY is the player's side of the protocol: audio and titles apart. blocks
// counts metadata blocks, empty ones included.
func readICY(t *testing.T, r io.Reader, interval int) (audio []byte, titles []string, blocks int) {
	t.Helper()
	for {
		part := make([]byte, interval)
		n, err := io.ReadFull(r, part)
		audio = append(audio, part[:n]...)
		if err != nil {
			return audio, titles, blocks
		}
		length := make([]byte, 1)
		if _, err := io.ReadFull(r, length); err != nil {
			return audio, titles, blocks
		}
		text := make([]byte, 16*int(length[0]))
		if _, err := io.ReadFull(r, text); err != nil {
			return audio, titles, blocks
		}
		blocks++
		if len(text) > 0 {
			titles = append(titles, streamTitle(t, text))
		}
	}
}

// streamTitle reads StreamTitle as the strictest players do: up to the next quote.
func streamTitle(t *testing.T, block []byte) string {
	t.Helper()
	s, ok := strings.CutPrefix(strings.TrimRight(string(block), "\x00"), "StreamTitle='")
	title, after, found := strings.Cut(s, "'")
	if !ok || !found || after != ";" || !utf8.ValidString(title) {
		t.Errorf("bad metadata block %q", block)
	}
	return title
}

func TestTitleBlocksHoldAnyTitle(t *testing.T) {
	long := strings.Repeat("أغنية ", 900)
	for title, want := range map[string]string{
		"عمرو دياب - تملي معاك":          "عمرو دياب - تملي معاك",
		"Guns N' Roses - Don't Cry';x='": "Guns N’ Roses - Don’t Cry’;x=’",
		"line\r\nbreak\x00":              "line  break",
		"bad \xff\xfe bytes":             "bad  bytes",
		"":                               "",
	} {
		block := icyBlock(title)
		if got := streamTitle(t, block[1:]); got != want || len(block) != 1+16*int(block[0]) {
			t.Errorf("%q came out as %q (%d bytes)", title, got, len(block))
		}
	}
	block := icyBlock(long)
	if got := streamTitle(t, block[1:]); len(block) > 1+4080 || !strings.HasPrefix(long, got) || len(got) < 4000 {
		t.Errorf("long title: block of %d bytes, title of %d", len(block), len(got))
	}
}

// However little the kernel takes at a time, and whenever the title changes,
// the audio is whole and each title is told once.
func TestICYAudioIsByteIdenticalUnderAnyWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := ring{burst: 1 << 20} // so that join stays at the first chunk
		header := bytes.Repeat([]byte{99}, 4000)
		want := bytes.Clone(header)
		for i := range rapid.IntRange(2, 12).Draw(rt, "chunks") {
			data := bytes.Repeat([]byte{byte(i)}, rapid.IntRange(1, 9000).Draw(rt, "size"))
			want = append(want, data...)
			r.add(unit{data: data, header: header, joinable: true})
		}
		c := start(r.join, []byte("HTTP head"), true)
		r.end()
		var wire []byte
		title := titleBlock{change: 1, block: icyBlock("one")}
		for {
			out := c.gather(nil, 4, title)
			if len(out) == 0 {
				break
			}
			whole := bytes.Join(out, nil)
			n := rapid.IntRange(0, len(whole)).Draw(rt, "taken")
			wire = append(wire, whole[:n]...)
			c.advance(n, title)
			if rapid.IntRange(0, 9).Draw(rt, "new title") == 0 {
				title = titleBlock{change: title.change + 1, block: icyBlock(fmt.Sprint("title ", title.change+1))}
			}
		}
		if !c.ended() {
			rt.Fatal("not at the end")
		}
		wire = bytes.TrimPrefix(wire, []byte("HTTP head"))
		audio, titles, _ := readICY(t, bytes.NewReader(wire), icyInterval)
		if !bytes.Equal(audio, want) {
			rt.Fatalf("%d bytes of audio, want %d", len(audio), len(want))
		}
		for i := 1; i < len(titles); i++ {
			if titles[i] == titles[i-1] {
				rt.Fatalf("title %q told twice", titles[i])
			}
		}
	})
}
