package whip_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

func readerOf(s string) io.Reader { return strings.NewReader(s) }

// phone is a publisher: pion as a full ICE agent and a WHIP client by hand.
type phone struct {
	t     testing.TB
	house *house
	pc    *webrtc.PeerConnection
	track *webrtc.TrackLocalStaticRTP
	key   string
	proxy *whiptest.Proxy // nil: directly
	tcp   bool
	asks  string // more of the endpoint's query
	many  bool   // each packet is of a stream of its own, and the offer names none
	red   bool   // it prefers redundant audio, and sends it
	thin  bool   // the network loses every second packet

	asked atomic.Int64 // requests to send something again

	url, etag, answer string

	mu     sync.Mutex
	stop   chan struct{}
	silent bool
	wg     sync.WaitGroup
}

func newPhone(t testing.TB, h *house, user string) *phone {
	t.Helper()
	return makePhone(&phone{t: t, house: h, key: user + ".secret", stop: make(chan struct{})})
}

// newREDPhone prefers redundant audio.
func newREDPhone(t testing.TB, h *house, user string) *phone {
	t.Helper()
	return makePhone(&phone{t: t, house: h, key: user + ".secret", stop: make(chan struct{}), red: true})
}

func makePhone(p *phone) *phone {
	t := p.t
	t.Helper()
	var engine webrtc.MediaEngine
	sound := webrtc.RTPCodecCapability{MimeType: "audio/red", ClockRate: 48_000, Channels: 2, SDPFmtpLine: "111/111", RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}}}
	if p.red {
		if err := engine.RegisterCodec(webrtc.RTPCodecParameters{PayloadType: 63, RTPCodecCapability: sound}, webrtc.RTPCodecTypeAudio); err != nil {
			t.Fatal(err)
		}
	}
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}}}
	if err := engine.RegisterCodec(webrtc.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: opus}, webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	var registry interceptor.Registry
	responder, err := nack.NewResponderInterceptor()
	if err != nil {
		t.Fatal(err)
	}
	registry.Add(responder)
	registry.Add(&streams{phone: p})
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeTCP4})
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	api := webrtc.NewAPI(webrtc.WithMediaEngine(&engine), webrtc.WithInterceptorRegistry(&registry), webrtc.WithSettingEngine(settings))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.red {
		sound = opus
	}
	track, err := webrtc.NewTrackLocalStaticRTP(sound, "microphone", "live")
	if err != nil {
		t.Fatal(err)
	}
	sender, err := pc.AddTrack(track)
	if err != nil {
		t.Fatal(err)
	}
	p.pc, p.track = pc, track
	p.wg.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, _, err := sender.Read(buf)
			if err != nil {
				return
			}
			reports, _ := rtcp.Unmarshal(buf[:n])
			for _, one := range reports {
				if _, ok := one.(*rtcp.TransportLayerNack); ok {
					p.asked.Add(1)
				}
			}
		}
	})
	t.Cleanup(p.close)
	return p
}

// streams gives each packet of a phone a stream of its own, where it has many.
type streams struct {
	interceptor.NoOp

	phone *phone
}

func (s *streams) NewInterceptor(string) (interceptor.Interceptor, error) { return s, nil }

func (s *streams) BindLocalStream(_ *interceptor.StreamInfo, to interceptor.RTPWriter) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, a interceptor.Attributes) (int, error) {
		if s.phone.many {
			other := *h
			other.SSRC = 1000 + uint32(h.SequenceNumber)
			h = &other
		}
		return to.Write(h, payload, a)
	})
}

// close takes the phone away, as a page that is closed does.
func (p *phone) close() {
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.mu.Unlock()
	_ = p.pc.GracefulClose()
	p.wg.Wait()
}

func (p *phone) header(kind string) http.Header {
	return http.Header{"Authorization": {"Bearer " + p.key}, "Content-Type": {kind}}
}

// offer makes an offer with all candidates.
func (p *phone) offer(restart bool) string {
	p.t.Helper()
	offer, err := p.pc.CreateOffer(&webrtc.OfferOptions{ICERestart: restart})
	if err != nil {
		p.t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(offer); err != nil {
		p.t.Fatal(err)
	}
	<-gathered
	text := p.pc.LocalDescription().SDP
	if p.many {
		text = regexp.MustCompile(`a=(ssrc|msid).*\r\n`).ReplaceAllString(text, "")
	}
	return text
}

// publish goes live.
func (p *phone) publish() *phone {
	p.t.Helper()
	resp := p.house.ask(http.MethodPost, p.house.public.URL+"/whip?title=Morning"+p.asks, p.header("application/sdp"), p.offer(false))
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusCreated {
		p.t.Fatalf("%s: %s", resp.Status, body)
	}
	p.url, p.etag, p.answer = p.house.public.URL+resp.Header.Get("Location"), resp.Header.Get("ETag"), string(body)
	p.accept(p.answer)
	return p
}

// accept takes an answer, with the candidates that this phone is to use.
func (p *phone) accept(answer string) {
	p.t.Helper()
	var lines []string
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "a=candidate:") {
			tcp := strings.Contains(line, " tcp ")
			if tcp != p.tcp {
				continue
			}
			if p.proxy != nil {
				line = through(line, p.proxy.Addr)
			}
		}
		lines = append(lines, line)
	}
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: strings.Join(lines, "")}); err != nil {
		p.t.Fatalf("%v\n%s", err, answer)
	}
}

func through(line string, proxy netip.AddrPort) string {
	f := strings.Fields(line)
	f[4], f[5] = proxy.Addr().String(), netip.AddrPortFrom(proxy.Addr(), proxy.Port()).String()[len(proxy.Addr().String())+1:]
	return strings.Join(f, " ") + "\r\n"
}

// speak sends packets over and over, one each 20 ms.
func (p *phone) speak(packets [][]byte) *phone {
	p.wg.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		start := time.Now()
		sent := 0
		for {
			select {
			case <-p.stop:
				return
			case <-ticker.C:
			}
			for due := int(time.Since(start) / (20 * time.Millisecond)); sent < due; sent++ {
				p.mu.Lock()
				silent := p.silent
				p.mu.Unlock()
				if silent || p.thin && sent%2 == 1 {
					continue
				}
				payload := packets[sent%len(packets)]
				if p.red {
					payload = whiptest.Redundant(111, packets[max(0, sent-1)%len(packets)], payload)
				}
				_ = p.track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(sent), Timestamp: uint32(sent * 960)}, Payload: payload})
			}
		}
	})
	return p
}

func (p *phone) hush(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
}

// follow returns what the page is told, until the server ends it.
func (p *phone) follow() <-chan page {
	out := make(chan page, 256)
	resp := p.house.ask(http.MethodGet, p.url+"/facts", p.header(""), "")
	if resp.StatusCode != http.StatusOK {
		p.t.Fatal(resp.Status)
	}
	go func() {
		defer close(out)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var one page
				if json.Unmarshal([]byte(data), &one) == nil {
					out <- one
				}
			}
		}
	}()
	return out
}

// page is what a page is told.
type page struct {
	Allowed bool
	State   string
	Session string
	Holds   bool
	Ended   string
	Why     string
}

// end waits for the last word.
func last(t testing.TB, told <-chan page) page {
	t.Helper()
	var one page
	for {
		next, ok := testkitReceive(t, told)
		if !ok {
			return one
		}
		one = next
	}
}

func testkitReceive(t testing.TB, told <-chan page) (page, bool) {
	t.Helper()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	select {
	case one, ok := <-told:
		return one, ok
	case <-late.C:
		t.Fatal("the page was never told")
		return page{}, false
	}
}

func (p *phone) connected() *phone {
	p.t.Helper()
	testkit.Eventually(p.t, "the phone connects", func() bool { return p.pc.ConnectionState() == webrtc.PeerConnectionStateConnected })
	return p
}
