package whip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/logging"
	"github.com/pion/stun/v3"
	"github.com/pion/transport/v4/packetio"
	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
)

const (
	// replayWindow is how many packets back a retransmission is taken; 64, the usual one,
	// are 1.3 s.
	replayWindow = 512
	// tcpPerAddress bounds the media connections of one address.
	tcpPerAddress = 16
	// firstBind is for how long a media connection may say nothing.
	firstBind = 10 * time.Second
	// tcpBacklog bounds what waits to be written to one media connection; what is beyond
	// is dropped, so that no writer waits for a slow reader.
	tcpBacklog = 256 << 10
	// receiveMTU holds every packet of Opus that a browser sends.
	receiveMTU = 1500
	// mostBuffered bounds what waits to be read of one stream, in bytes: seconds of it.
	mostBuffered = 256 << 10
	// ICE: a pair is disconnected after 5 s without anything, failed 25 s later.
	iceDisconnected, iceFailed, iceKeepalive = 5 * time.Second, 25 * time.Second, time.Second
)

// media is the WebRTC stack and the ports it shares among all sessions.
type media struct {
	engine             webrtc.MediaEngine
	registry           interceptor.Registry
	setting            webrtc.SettingEngine
	udp                ice.UDPMux
	tcp                ice.TCPMux
	udpAddrs, tcpAddrs []netip.AddrPort
}

func newMedia(opt Options) (*media, error) {
	m := &media{}
	if err := m.bind(opt); err != nil {
		return nil, errors.Join(err, m.close())
	}
	// NACK is answered where it is offered. RED doubles the rate of a publisher whose link is
	// narrow, where a retransmission costs only what was lost: it is for the publisher to say
	// that it pays, and the stack is told of it where its offer prefers it (package sdp).
	again := []webrtc.RTCPFeedback{{Type: "nack"}}
	for _, codec := range []webrtc.RTPCodecParameters{
		{PayloadType: 111, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2, SDPFmtpLine: "minptime=10", RTCPFeedback: again}},
		{PayloadType: 63, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: "audio/red", ClockRate: 48_000, Channels: 2, RTCPFeedback: again}},
	} {
		if err := m.engine.RegisterCodec(codec, webrtc.RTPCodecTypeAudio); err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	reports, err := report.NewReceiverInterceptor()
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	m.registry.Add(reports)
	if m.setting, err = m.settings(opt); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// peer makes a peer connection. stream is called for each stream that it brings, of sound
// or of reports, and place for each connectivity check, with where it comes from: the stack
// keeps what it has of both until the connection ends.
func (m *media) peer(stream func(), place func(from string)) (*webrtc.PeerConnection, error) {
	setting := m.setting
	setting.SetICEBindingRequestHandler(func(_ *stun.Message, _, remote ice.Candidate, _ *ice.CandidatePair) bool {
		if remote != nil {
			place(net.JoinHostPort(remote.Address(), strconv.Itoa(remote.Port())))
		}
		return false // the stack chooses the pair
	})
	setting.BufferFactory = func(packetio.BufferPacketType, uint32) io.ReadWriteCloser {
		stream()
		buffer := packetio.NewBuffer()
		buffer.SetLimitSize(mostBuffered)
		return buffer
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(&m.engine), webrtc.WithInterceptorRegistry(&m.registry), webrtc.WithSettingEngine(setting))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, fmt.Errorf("make a peer connection: %w", err)
	}
	return pc, nil
}

// bind takes the two ports.
func (m *media) bind(opt Options) error {
	host, port, err := net.SplitHostPort(opt.UDP)
	if err != nil {
		return fmt.Errorf("whip media address %q: must be host:port: %w", opt.UDP, err)
	}
	if ip, _ := netip.ParseAddr(host); host == "" || ip.IsUnspecified() {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("whip media address %q: the port must be 1 to 65535", opt.UDP)
		}
		// A socket for each address: one for all would answer from whichever address the
		// kernel likes, which is not the one that was asked.
		mux, err := ice.NewMultiUDPMuxFromPort(n, ice.UDPMuxFromPortWithLogger(logger{opt.Log}))
		if err != nil {
			return fmt.Errorf("listen for media at UDP %q: %w", opt.UDP, err)
		}
		m.udp = mux
	} else {
		conn, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", opt.UDP)
		if err != nil {
			return fmt.Errorf("listen for media at UDP %q: %w", opt.UDP, err)
		}
		m.udp = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: conn, Logger: logger{opt.Log}})
	}
	for _, a := range m.udp.GetListenAddresses() {
		m.udpAddrs = append(m.udpAddrs, addrPort(a))
	}
	if opt.TCP == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", opt.TCP)
	if err != nil {
		return fmt.Errorf("listen for media at TCP %q: %w", opt.TCP, err)
	}
	m.tcpAddrs = []netip.AddrPort{addrPort(l.Addr())}
	bound := crowd.New(crowd.Options{Most: tcpPerAddress, Key: client.Peer, Wider: client.Wider, Log: opt.Log})
	m.tcp = ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener: &steady{Listener: bound.Listener(l), log: opt.Log}, Logger: logger{opt.Log}, ReadBufferSize: 64, WriteBufferSize: tcpBacklog,
		FirstStunBindTimeout: firstBind, AliveDurationForConnFromStun: firstBind,
	})
	return nil
}

func (m *media) settings(opt Options) (webrtc.SettingEngine, error) {
	var e webrtc.SettingEngine
	e.LoggerFactory = factory{opt.Log}
	// Lite: it is reached by an address that everybody can reach, answers whoever knows the
	// password, and sends nothing to addresses that an offer names.
	e.SetLite(true)
	e.SetICEUDPMux(m.udp)
	e.DisableActiveTCP(true)
	kinds := []webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6}
	if m.tcp != nil {
		e.SetICETCPMux(m.tcp)
		kinds = append(kinds, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6)
	}
	e.SetNetworkTypes(kinds)
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetICETimeouts(iceDisconnected, iceFailed, iceKeepalive)
	e.SetSRTPReplayProtectionWindow(replayWindow)
	e.SetReceiveMTU(receiveMTU)
	// The publisher is the DTLS client: it begins, and no packet waits for our handshake.
	if err := e.SetAnsweringDTLSRole(webrtc.DTLSRoleServer); err != nil {
		return e, err
	}
	if len(m.udpAddrs) > 0 && m.udpAddrs[0].Addr().IsLoopback() {
		e.SetIncludeLoopbackCandidate(true)
	}
	if len(opt.Public) > 0 {
		external := make([]string, len(opt.Public))
		for i, a := range opt.Public {
			external[i] = a.String()
		}
		if err := e.SetICEAddressRewriteRules(webrtc.ICEAddressRewriteRule{External: external, AsCandidateType: webrtc.ICECandidateTypeHost}); err != nil {
			return e, fmt.Errorf("public addresses of whip media: %w", err)
		}
	}
	return e, nil
}

func (m *media) close() error {
	var errs []error
	if m.udp != nil {
		errs = append(errs, m.udp.Close())
	}
	if m.tcp != nil {
		errs = append(errs, m.tcp.Close())
	}
	return errors.Join(errs...)
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.UDPAddr:
		return unmapped(a.AddrPort())
	case *net.TCPAddr:
		return unmapped(a.AddrPort())
	}
	return netip.AddrPort{}
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// logger passes on what the WebRTC stack logs. Strangers can make it complain as often
// as they like, so all of it is for debugging.
type logger struct{ log *slog.Logger }

type factory struct{ log *slog.Logger }

func (f factory) NewLogger(scope string) logging.LeveledLogger {
	return logger{f.log.With("scope", scope)}
}

func (l logger) Trace(string)          {}
func (l logger) Tracef(string, ...any) {}
func (l logger) Debug(string)          {}
func (l logger) Debugf(string, ...any) {}
func (l logger) Info(string)           {}
func (l logger) Infof(string, ...any)  {}
func (l logger) Warn(msg string)       { l.log.Debug(msg) }
func (l logger) Error(msg string)      { l.log.Debug(msg) }
func (l logger) Warnf(format string, args ...any) {
	l.log.Debug("webrtc", "warning", fmt.Sprintf(format, args...))
}

func (l logger) Errorf(format string, args ...any) {
	l.log.Debug("webrtc", "error", fmt.Sprintf(format, args...))
}
