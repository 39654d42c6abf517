package stream

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The ICY (SHOUTcast) metadata protocol: after every icyInterval bytes of audio
// comes one length byte and sixteen times as many bytes of text, zero padded.
const (
	icyInterval = 16000
	icyMaxText  = 255 * 16
)

// titleBlock is a title as the wire wants it, shared by all listeners.
type titleBlock struct {
	change uint64
	block  []byte
}

var noTitle = []byte{0}

// titleNow returns the present title's block, building it when it has changed.
func (f *Fanout) titleNow() titleBlock {
	if f.opt.Title == nil {
		return titleBlock{block: noTitle}
	}
	text, change := f.opt.Title()
	if have := f.title.Load(); have != nil && have.change == change {
		return *have
	}
	fresh := titleBlock{change: change, block: icyBlock(text)}
	f.title.Store(&fresh)
	return fresh
}

// icyBlock encodes StreamTitle. A quote in the title would end it in many
// players, and the protocol has no escape, so it becomes an apostrophe (U+2019).
func icyBlock(title string) []byte {
	const open, closing = "StreamTitle='", "';"
	text := clip(strings.ReplaceAll(oneLine(title), "'", "’"), icyMaxText-len(open)-len(closing))
	text = open + text + closing
	n := (len(text) + 15) / 16
	block := make([]byte, 1+16*n)
	block[0] = byte(n)
	copy(block[1:], text)
	return block
}

// oneLine makes text from outside fit for a header or a title: valid UTF-8,
// without control characters, without space around it.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

// clip cuts s to at most limit bytes without splitting a rune.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
