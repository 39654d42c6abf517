package speech

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The service's protocol, version 1: one connection, one configuration, one
// request in SSML, and an answer in messages that each carry headers. Texts
// hold them before an empty line; sound holds them behind two bytes of length.
const (
	clientToken    = "6A5AA1D4EAFF4E9FB37E23D68491D6F4" // the browser's, the same on every machine
	browserVersion = "143.0.3650.75"
	soundFormat    = "audio-24khz-48kbitrate-mono-mp3"

	mostMessage = 1 << 20 // bytes of one message; theirs are some 1 to 20 KB
)

// gecToken is SHA-256 over the time in Windows ticks (100 ns since 1601),
// rounded down to five minutes, and the client token.
func gecToken(at time.Time) string {
	const epoch = 11644473600 // seconds from 1601 to 1970
	seconds := at.Unix() + epoch
	seconds -= seconds % 300
	return fmt.Sprintf("%X", sha256.Sum256(fmt.Appendf(nil, "%d%s", seconds*1e7, clientToken)))
}

func configMessage(at time.Time) string {
	return "X-Timestamp:" + stamp(at) + "\r\nContent-Type:application/json; charset=utf-8\r\nPath:speech.config\r\n\r\n" +
		`{"context":{"synthesis":{"audio":{"metadataoptions":{"sentenceBoundaryEnabled":"false","wordBoundaryEnabled":"false"},` +
		`"outputFormat":"` + soundFormat + `"}}}}` + "\r\n"
}

// ssmlMessage asks for a text. voice and rate are checked where they come in;
// the text is escaped.
func ssmlMessage(request string, at time.Time, voice, rate, text string) string {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(text)) // a buffer takes everything
	return "X-RequestId:" + request + "\r\nContent-Type:application/ssml+xml\r\nX-Timestamp:" + stamp(at) + "Z\r\nPath:ssml\r\n\r\n" +
		"<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='" + edgeVoice.FindStringSubmatch(voice)[1] + "'>" +
		"<voice name='" + voice + "'><prosody pitch='+0Hz' rate='" + rate + "' volume='+0%'>" + escaped.String() + "</prosody></voice></speak>"
}

// stamp is a time as a browser writes it.
func stamp(at time.Time) string {
	return at.UTC().Format("Mon Jan 02 2006 15:04:05") + " GMT+0000 (Coordinated Universal Time)"
}

// turn is the answer to one request as it comes in.
type turn struct {
	request string
	sound   []byte
	over    bool
}

// take reads one message. It skips messages of other requests and unknown kinds; a
// malformed one is an error.
func (t *turn) take(binary bool, data []byte) error {
	if binary {
		return t.takeSound(data)
	}
	text, _, ok := bytes.Cut(data, []byte("\r\n\r\n"))
	headers := headersOf(text)
	if !ok || headers["path"] == "" {
		return fmt.Errorf("a text of %d bytes has no path header", len(data))
	}
	t.over = headers["path"] == "turn.end" && t.ours(headers)
	return nil
}

func (t *turn) takeSound(data []byte) error {
	if len(data) < 2 {
		return errors.New("a sound message has no header")
	}
	size := int(binary.BigEndian.Uint16(data))
	if size > len(data)-2 {
		return fmt.Errorf("a sound message is truncated: %d bytes of header in %d", size, len(data))
	}
	headers, sound := headersOf(data[2:2+size]), data[2+size:]
	switch {
	case headers["path"] != "audio":
		return fmt.Errorf("a sound message has the path %.40q", headers["path"])
	case !t.ours(headers) || len(sound) == 0: // the last one is empty
		return nil
	case headers["content-type"] != "audio/mpeg":
		return fmt.Errorf("sound has the type %.40q, not audio/mpeg", headers["content-type"])
	case len(t.sound)+len(sound) > mostSound:
		return fmt.Errorf("more than %d bytes of sound", mostSound)
	}
	t.sound = append(t.sound, sound...)
	return nil
}

func (t *turn) ours(headers map[string]string) bool {
	return strings.EqualFold(headers["x-requestid"], t.request)
}

// headersOf reads lines of "Name:value"; names come out in lower case.
func headersOf(text []byte) map[string]string {
	headers := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			headers[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return headers
}
