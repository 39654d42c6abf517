package sdp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// chromium is what Debian's Chromium 148 offers for a microphone, shortened to two
// candidates, with the line that asks for retransmission.
const chromium = "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS 7d\r\n" +
	"m=audio 51472 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126\r\nc=IN IP4 192.0.2.7\r\na=rtcp:9 IN IP4 0.0.0.0\r\n" +
	"a=candidate:1 1 udp 2122260223 192.0.2.7 51472 typ host generation 0 network-id 1\r\n" +
	"a=candidate:2 1 udp 41885695 127.0.0.1 50001 typ relay raddr 192.0.2.7 rport 51472 generation 0\r\n" +
	"a=candidate:3 1 udp 2122260223 0b1c2d3e-0000-4000-8000-000000000000.local 51472 typ host\r\n" +
	"a=ice-ufrag:Yk7x\r\na=ice-pwd:sYEqGHKT0/kOI8Vqg4pBpHIH\r\na=ice-options:trickle\r\n" +
	"a=fingerprint:sha-256 DA:7B:57:DC:28:CE:04:4F:31:79:85:C4:31:67:EB:27:58:29:ED:77:2A:0D:24:AE:ED:AD:30:BC:BD:F1:9C:02\r\n" +
	"a=setup:actpass\r\na=mid:0\r\na=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\na=sendonly\r\na=msid:7d 3f\r\na=rtcp-mux\r\na=rtcp-rsize\r\n" +
	"a=rtpmap:111 opus/48000/2\r\na=rtcp-fb:111 transport-cc\r\na=rtcp-fb:111 nack\r\na=fmtp:111 minptime=10;useinbandfec=1\r\na=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n" +
	"a=rtpmap:9 G722/8000\r\na=ssrc:3570614608 cname:4TOk42mSjXCkVIa6\r\na=ssrc:3570614608 msid:7d 3f\r\n"

func TestAnOfferIsTakenOrRefusedForWhatIsWrongWithIt(t *testing.T) {
	swap := func(old, now string) string {
		if !strings.Contains(chromium, old) {
			t.Fatalf("the offer has no %q", old)
		}
		return strings.ReplaceAll(chromium, old, now)
	}
	for _, c := range []struct {
		what, offer string
		want        error
	}{
		{"Chromium's", chromium, nil},
		{"lines end in LF", strings.ReplaceAll(chromium, "\r\n", "\n"), nil},
		{"both directions", swap("a=sendonly", "a=sendrecv"), nil},
		{"a DTLS client", swap("actpass", "active"), nil},
		{"another payload type", strings.ReplaceAll(swap("111", "96"), "96/96", "96"), nil},
		{"credentials for the session as a whole", strings.Replace(strings.Replace(chromium, "a=ice-ufrag:Yk7x\r\n", "", 1), "a=group", "a=ice-ufrag:Yk7x\r\na=group", 1), nil},

		{"nothing", "", ErrMalformed},
		{"no SDP", "hello", ErrMalformed},
		{"JSON", `{"type":"offer","sdp":"v=0"}`, ErrMalformed},
		{"a short password", swap("sYEqGHKT0/kOI8Vqg4pBpHIH", "short"), ErrMalformed},
		{"a password with a line of its own", swap("sYEqGHKT0/kOI8Vqg4pBpHIH", "sYEqGHKT0 kOI8Vqg4pBpHIH"), ErrMalformed},
		{"no user name", swap("a=ice-ufrag:Yk7x\r\n", ""), ErrMalformed},
		{"a broken fingerprint", swap("DA:7B", "DA7"), ErrMalformed},
		{"too long", chromium + strings.Repeat("a=x\r\n", 2000), ErrMalformed},

		{"no media", chromium[:strings.Index(chromium, "m=audio")], ErrUnfit},
		{"video beside", chromium + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\na=sendonly\r\na=rtpmap:96 VP8/90000\r\n", ErrUnfit},
		{"two audio tracks", chromium + chromium[strings.Index(chromium, "m=audio"):], ErrUnfit},
		{"video alone", swap("m=audio", "m=video"), ErrUnfit},
		{"data beside", chromium + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n", ErrUnfit},
		{"no Opus", swap("opus/48000/2", "speex/48000/2"), ErrUnfit},
		{"plain RTP", swap("UDP/TLS/RTP/SAVPF", "RTP/AVP"), ErrUnfit},
		{"receives only", swap("a=sendonly", "a=recvonly"), ErrUnfit},
		{"inactive", swap("a=sendonly", "a=inactive"), ErrUnfit},
		{"a DTLS server", swap("actpass", "passive"), ErrUnfit},
		{"no fingerprint", swap("a=fingerprint", "a=nofingerprint"), ErrUnfit},
		{"SHA-1", swap("sha-256", "sha-1"), ErrUnfit},
		{"no mux", swap("a=rtcp-mux\r\n", ""), ErrUnfit},
		{"no mid", swap("a=mid:0\r\n", ""), ErrUnfit},
		{"lite as we are", swap("a=extmap-allow-mixed", "a=ice-lite"), ErrUnfit},
	} {
		_, err := ReadOffer([]byte(c.offer))
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

func TestOnlyWhatIsUnderstoodGoesOn(t *testing.T) {
	o, err := ReadOffer([]byte(chromium))
	if err != nil {
		t.Fatal(err)
	}
	text := o.Text(3)
	for _, has := range []string{"a=ice-ufrag:Yk7x\r\n", "a=mid:0\r\n", "o=- 1 3 IN", "a=rtpmap:111 opus/48000/2\r\n", "a=rtcp-fb:111 nack\r\n", "a=ssrc:3570614608 ", "a=setup:actpass\r\n", "DA:7B:57"} {
		if !strings.Contains(text, has) {
			t.Errorf("%q is missing in\n%s", has, text)
		}
	}
	for _, hasNot := range []string{"candidate", "192.0.2.7", "G722", "red/", "transport-cc", "extmap", "4TOk42mSjXCkVIa6"} {
		if strings.Contains(text, hasNot) {
			t.Errorf("%q went on in\n%s", hasNot, text)
		}
	}
	if len(o.Relays) != 1 || o.Relays[0].String() != "127.0.0.1:50001" || !o.Nack() {
		t.Errorf("relays %v, nack %v", o.Relays, o.Nack())
	}
	if opus, red := o.PayloadTypes(); opus != 111 || red != -1 {
		t.Errorf("Opus is %d, and redundant audio %d, which the offer does not prefer", opus, red)
	}
	if again, err := ReadOffer([]byte(text)); err != nil || again.Credentials != o.Credentials || again.fingerprint != o.fingerprint {
		t.Errorf("%+v, %v", again, err)
	}
}

// Redundant audio doubles the rate: without a wish of the publisher's, or of anything else
// than the Opus that is taken, it must not be answered.
func TestRedundantAudioIsTakenWhereItIsPreferred(t *testing.T) {
	preferred := strings.Replace(chromium, "SAVPF 111 63", "SAVPF 63 111", 1)
	for _, c := range []struct {
		what, offer string
		want        int
	}{
		{"Chromium's own order", chromium, -1},
		{"redundant audio first", preferred, 63},
		{"another codec between", strings.Replace(preferred, "63 111 9", "63 9 111", 1), 63},
		{"other payload types", strings.NewReplacer("111", "63", "63", "111").Replace(chromium), -1},
		{"other payload types, redundant audio first", strings.NewReplacer("111", "63", "63", "111").Replace(preferred), 111},
		{"more blocks", strings.Replace(preferred, "111/111", "111/111/111/111", 1), 63},
		{"too many blocks", strings.Replace(preferred, "111/111", "111/111/111/111/111", 1), -1},
		{"one block", strings.Replace(preferred, "111/111", "111", 1), -1},
		{"blocks of something else", strings.Replace(preferred, "111/111", "111/0", 1), -1},
		{"blocks within blocks", strings.Replace(preferred, "111/111", "63/111", 1), -1},
		{"blocks of what nobody says", strings.Replace(preferred, "a=fmtp:63 111/111\r\n", "", 1), -1},
		{"of one channel", strings.Replace(preferred, "red/48000/2", "red/48000", 1), -1},
		{"of text", strings.Replace(preferred, "red/48000/2", "red/1000", 1), -1},
		{"Opus by a number that is written otherwise", strings.Replace(strings.ReplaceAll(preferred, "111", "0111"), "0111/0111", "111/111", 1), -1},
	} {
		o, err := ReadOffer([]byte(c.offer))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		opus, got := o.PayloadTypes()
		if got != c.want {
			t.Errorf("%s: it is %d, want %d", c.what, got, c.want)
		}
		for _, text := range []string{o.Text(1), must(Restarted(o, o.Text(1)))} {
			want := fmt.Sprintf("SAVPF %d %d\r\n", got, opus)
			if got < 0 {
				want = fmt.Sprintf("SAVPF %d\r\n", opus)
			}
			if !strings.Contains(text, want) || strings.Contains(text, "red/") && got < 0 {
				t.Errorf("%s: no %q in\n%s", c.what, want, text)
			}
		}
	}
}

func must(text string, err error) string {
	if err != nil {
		return err.Error()
	}
	return text
}

func TestAFragmentIsTakenOrRefused(t *testing.T) {
	const good = "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n" +
		"a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r\n" +
		"a=candidate:473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active\r\n" +
		"a=candidate:9 1 udp 41885695 198.51.100.2 50001 typ relay raddr 0.0.0.0 rport 0\r\na=end-of-candidates\r\n"
	f, err := ReadFragment([]byte(good))
	if err != nil || f.Ufrag != "EsAw" || f.Mid != "0" || f.Candidates != 3 || len(f.Relays) != 1 || !f.End {
		t.Errorf("%+v, %v", f, err)
	}
	for _, c := range []struct {
		what, body string
		want       error
	}{
		{"RFC 9725's own restart", "a=ice-options:trickle ice2\na=group:BUNDLE 0 1\nm=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:0\na=ice-ufrag:ysXw\na=ice-pwd:vw5LmwG4y/e6dPP/zAP9Gp5k\n", nil},
		{"no credentials", "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=end-of-candidates\r\n", nil},
		{"a host name", "a=candidate:1 1 udp 1 x.local 9 typ host\r\n", nil},
		{"nothing", "", ErrMalformed},
		{"no lines of SDP", "hello", ErrMalformed},
		{"a whole description", "v=0\r\n" + good, ErrMalformed},
		{"a user name alone", "a=ice-ufrag:EsAw\r\n", ErrMalformed},
		{"a short password", "a=ice-ufrag:EsAw\r\na=ice-pwd:x\r\n", ErrMalformed},
		{"a broken candidate", "a=candidate:1 1 udp\r\n", ErrMalformed},
		{"a port out of range", "a=candidate:1 1 udp 1 192.0.2.1 99999 typ host\r\n", ErrMalformed},
		{"a broken mid", "a=mid:a b\r\n", ErrMalformed},
		{"too long", good + strings.Repeat("a=x\r\n", 5000), ErrMalformed},
		{"two media", good + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n", ErrUnfit},
		{"a flood of candidates", strings.Repeat("a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n", 65), ErrUnfit},
	} {
		if _, err := ReadFragment([]byte(c.body)); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

// Of any offer that is taken, what goes on is an offer again, of the same meaning.
func FuzzOffer(f *testing.F) {
	f.Add([]byte(chromium))
	f.Add([]byte(strings.Replace(chromium, "SAVPF 111 63", "SAVPF 63 111", 1)))
	f.Add([]byte("v=0\r\no=- 1 1 IN IP4 0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := ReadOffer(body)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnfit) {
				t.Fatal(err)
			}
			return
		}
		again, err := ReadOffer([]byte(o.Text(1)))
		if err != nil {
			t.Fatalf("%v\n%s", err, o.Text(1))
		}
		again.Relays = o.Relays
		if again.Credentials != o.Credentials || again.Mid != o.Mid || again.payloadType != o.payloadType || again.red != o.red || again.nack != o.nack || again.redNack != o.redNack ||
			again.active != o.active || again.fingerprint != o.fingerprint || again.ssrc != o.ssrc {
			t.Fatalf("%+v became %+v", o, again)
		}
	})
}

func FuzzFragment(f *testing.F) {
	f.Add([]byte("a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ relay\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		fragment, err := ReadFragment(body)
		if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnfit) {
			t.Fatal(err)
		}
		if err == nil && (fragment.Candidates > mostCandidates || strings.ContainsAny(fragment.Ufrag+fragment.Password+fragment.Mid, " \r\n")) {
			t.Fatalf("%+v", fragment)
		}
	})
}
