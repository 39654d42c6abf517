package turn

import (
	"net"
	"testing"

	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A peer that may use nothing but the relay reaches a server of media as the WHIP server is
// one: ICE-lite, all sessions on one UDP port, which knows the relay by what comes from it.
func TestARelayOnlyPeerReachesAnICELiteServer(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0") // only for its options
	for door, bind := range map[string]string{"udp": "127.0.0.1", "tcp": ownAddress(t)} {
		port, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(bind)})
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, m, func(o *Options) { o.Media = []Media{{Public: addrPort(port.LocalAddr())}} })
		turn := s.Servers(s.opts.Now(), "127.0.0.1", false)[0]
		url := turn.URLs[0]
		if door == "tcp" {
			url = turn.URLs[1]
		}

		settings := webrtc.SettingEngine{LoggerFactory: quiet{s.log}}
		settings.SetLite(true)
		settings.SetIncludeLoopbackCandidate(true)
		settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
		mux := webrtc.NewICEUDPMux(quiet{s.log}, port)
		settings.SetICEUDPMux(mux)
		server, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
		if err != nil {
			t.Fatal(err)
		}
		relayOnly := webrtc.SettingEngine{LoggerFactory: quiet{s.log}}
		relayOnly.SetRelayAcceptanceMinWait(0)
		client, err := webrtc.NewAPI(webrtc.WithSettingEngine(relayOnly)).NewPeerConnection(webrtc.Configuration{
			ICETransportPolicy: webrtc.ICETransportPolicyRelay,
			ICEServers:         []webrtc.ICEServer{{URLs: []string{url}, Username: turn.Username, Credential: turn.Credential}},
		})
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan string, 1)
		server.OnDataChannel(func(c *webrtc.DataChannel) {
			c.OnMessage(func(m webrtc.DataChannelMessage) { heard <- string(m.Data) })
		})
		words, err := client.CreateDataChannel("words", nil)
		if err != nil {
			t.Fatal(err)
		}
		words.OnOpen(func() { _ = words.SendText("by " + door) })
		connect(t, client, server)
		if got := testkit.Receive(t, "words by "+door, heard); got != "by "+door {
			t.Errorf("heard %q", got)
		}
		pair, err := client.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
		if err != nil || pair.Local.Typ != webrtc.ICECandidateTypeRelay {
			t.Errorf("%v, %v", pair, err)
		}
		if got := s.Stats(); got.Allocations != 1 || got.BytesUp == 0 || got.BytesDown == 0 {
			t.Errorf("%+v", got)
		}
		for _, peer := range []*webrtc.PeerConnection{client, server} {
			if err := peer.GracefulClose(); err != nil {
				t.Error(err)
			}
		}
		_ = mux.Close()
		_ = port.Close()
	}
}

// connect exchanges an offer and an answer with all their candidates.
func connect(t *testing.T, client, server *webrtc.PeerConnection) {
	t.Helper()
	describe := func(from, to *webrtc.PeerConnection, make func() (webrtc.SessionDescription, error)) {
		d, err := make()
		if err != nil {
			t.Fatal(err)
		}
		gathered := webrtc.GatheringCompletePromise(from)
		if err := from.SetLocalDescription(d); err != nil {
			t.Fatal(err)
		}
		testkit.Receive(t, "candidates", gathered)
		if err := to.SetRemoteDescription(*from.LocalDescription()); err != nil {
			t.Fatal(err)
		}
	}
	describe(client, server, func() (webrtc.SessionDescription, error) { return client.CreateOffer(nil) })
	describe(server, client, func() (webrtc.SessionDescription, error) { return server.CreateAnswer(nil) })
}
