package onlive

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// trusting reaches what the station's certificate is good for, and nothing else.
type trusting struct {
	*tls.Config
	t *testing.T
}

func (d trusting) Dial(network, address string) (net.Conn, error) {
	return (&tls.Dialer{Config: d.Config}).DialContext(d.t.Context(), network, address)
}

// A phone that may use nothing but TURN over TLS publishes to a station behind a router with
// 1:1 NAT: its page and the relay show the station's certificate, the answer names the public
// address alone, which no machine here has, and the relay leads from there to the phones'
// server. Tone for tone what it says comes out of the pipe.
func TestAPhonePublishesByTURNOverTLSToAStationBehindARouter(t *testing.T) {
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/live/admit":
			_, _ = io.WriteString(w, `{"allowed":true,"publisher":{"id":"sara","name":"Sara"}}`)
		case "/api/live/arrived":
			_, _ = io.WriteString(w, `{"id":"LIVE00000001"}`)
		case "/api/live/facts":
			_, _ = io.WriteString(w, `{"allowed":true,"state":"waiting"}`)
		default:
			_, _ = io.WriteString(w, `{}`)
		}
	}))
	t.Cleanup(control.Close)
	_, port, _ := net.SplitHostPort(control.Listener.Addr().String())
	cert, key := testkit.Certificate(t, t.TempDir(), "radio.example")
	cfg := &config.Config{
		Bind: config.Loopback, DataDir: t.TempDir(), SyncToken: "sesame", TurnSecret: "north",
		Ports: config.Ports{WHIP: testkit.Port(t), Media: testkit.Port(t), TURN: testkit.Port(t), TURNS: testkit.Port(t)},
		Live:  config.Live{TLSCert: cert, TLSKey: key, PublicIPs: []string{"203.0.113.7"}, TURN: true, Sessions: 4},
	}
	cfg.Ports.Control, _ = strconv.Atoi(port)
	if err := os.MkdirAll(cfg.NodeDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	log, _ := testkit.Log(t)
	testkit.Background(t, func(ctx context.Context) error { return WHIP(ctx, role.Role{Name: "whip", Config: cfg, Log: log}) })

	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	trusted := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	trusted.RootCAs.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trusted}}
	t.Cleanup(client.CloseIdleConnections)
	base := "https://" + config.Local(cfg.Ports.WHIP)
	ask := func(method, path, body string) (*http.Response, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer sara.secret")
		req.Header.Set("Content-Type", "application/sdp")
		resp, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		text, err := io.ReadAll(resp.Body)
		return resp, string(text), err
	}
	var info struct {
		Turn []struct {
			URLs                 []string
			Username, Credential string
		}
	}
	testkit.EventuallyNil(t, "ICE servers", func() error {
		_, text, err := ask(http.MethodGet, "/whip-info", "")
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &info); err != nil || len(info.Turn) == 0 { // none until the relay listens
			return fmt.Errorf("%q, %v", text, err) //nolint:errorlint // shown
		}
		return nil
	})
	only := slices.IndexFunc(info.Turn[0].URLs, func(url string) bool { return strings.HasPrefix(url, "turns:") })
	if only < 0 {
		t.Fatalf("no TURN over TLS: %+v", info)
	}
	server := webrtc.ICEServer{URLs: info.Turn[0].URLs[only : only+1], Username: info.Turn[0].Username, Credential: info.Turn[0].Credential}

	var settings webrtc.SettingEngine
	settings.SetRelayAcceptanceMinWait(0)
	settings.SetICEProxyDialer(trusting{trusted, t}) // the stack itself knows only the roots of this machine
	phone, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{
		ICETransportPolicy: webrtc.ICETransportPolicyRelay, ICEServers: []webrtc.ICEServer{server},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.GracefulClose() })
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2}, "microphone", "live")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := phone.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}); err != nil {
		t.Fatal(err)
	}
	offer, err := phone.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(phone)
	if err := phone.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, "its relayed address", gathered)
	resp, text, err := ask(http.MethodPost, "/whip", phone.LocalDescription().SDP)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("publish: %v, %s", err, text)
	}
	named := 0
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); strings.HasPrefix(line, "a=candidate:") {
			if named++; f[4] != "203.0.113.7" || f[5] != strconv.Itoa(cfg.Ports.Media) && f[2] == "udp" {
				t.Errorf("the answer names %s", line)
			}
		}
	}
	if named == 0 {
		t.Errorf("the answer names no address:\n%s", text)
	}
	if err := phone.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: text}); err != nil {
		t.Fatal(err)
	}

	pipe, err := os.OpenFile(cfg.WHIPPipe(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	packets := whiptest.Packets(t, "sine=440:d=1")
	var heard bytes.Buffer
	n, due := 0, time.NewTicker(20*time.Millisecond)
	defer due.Stop()
	testkit.Eventually(t, "its tone in the pipe", func() bool {
		<-due.C
		// Lost while it connects.
		_ = track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(n), Timestamp: uint32(n * 960)}, Payload: packets[n%len(packets)]})
		n++
		buf := make([]byte, 64<<10)
		got, _ := pipe.Read(buf)
		heard.Write(buf[:got])
		newest := heard.Bytes()[max(0, heard.Len()-19200):] // 100 ms
		samples := make([]int16, len(newest)/2)
		for i := range samples {
			samples[i] = int16(uint16(newest[2*i]) | uint16(newest[2*i+1])<<8)
		}
		return len(samples) == 9600 && whiptest.Heard(samples, 440, 1000) == 0
	})
	pair, err := phone.GetSenders()[0].Transport().ICETransport().GetSelectedCandidatePair()
	if err != nil || pair.Local.Typ != webrtc.ICECandidateTypeRelay || pair.Remote.Address != "203.0.113.7" {
		t.Errorf("%v, %v", pair, err)
	}
}
