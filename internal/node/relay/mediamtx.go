package relay

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// MediaMTX describes the operator's own MediaMTX binary in the place of this
// relay and of nginx: same ports, same path list. The configuration is written
// for v1.20 and checked against that version's setting names; the binary is in
// no Debian package, so no test here has run it.
type MediaMTX struct {
	Binary      string // the operator's
	Dir         string // for its configuration
	HLSAddress  string // ":19351"
	RTMPAddress string // ":19350"
	// APIAddress is MediaMTX's own API on loopback, which can change things:
	// listeners' statistics go through PathsProxy.
	APIAddress     string
	SourcePassword string // of user "source"
	SampleRate     int    // of the bridge, Hz
}

// SourceUser is the user encoders and the bridge give to MediaMTX.
const SourceUser = "source"

// Prepare writes the configuration and returns the program to run.
func (m MediaMTX) Prepare() (proc.Spec, error) {
	if m.SourcePassword == "" {
		return proc.Spec{}, fmt.Errorf("configure MediaMTX: without source_password anyone could publish: set it")
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return proc.Spec{}, fmt.Errorf("make MediaMTX directory: %w", err)
	}
	name := filepath.Join(m.Dir, "mediamtx.yml")
	stale, err := file.Refresh(name, m.Config(), 0o600)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write MediaMTX configuration: %w", err)
	}
	return proc.Spec{Name: "mediamtx", Note: staleNote(stale, m.Dir), Path: m.Binary, Args: []string{name}, Dir: m.Dir}, nil
}

// Config is MediaMTX's configuration.
func (m MediaMTX) Config() []byte {
	// A hash: MediaMTX refuses some characters in a plain password.
	sum := sha256.Sum256([]byte(m.SourcePassword))
	hash := "sha256:" + base64.StdEncoding.EncodeToString(sum[:])
	return fmt.Appendf(nil, `# Written by athir before every start; changes are lost.
logLevel: info
logDestinations: [stdout]

api: true
apiAddress: %s
apiAllowOrigins: []
metrics: false
pprof: false
playback: false
rtsp: false
webrtc: false
srt: false
moq: false

rtmp: true
rtmpAddress: %s

hls: true
hlsAddress: %s
# Segments are made before the first listener asks.
hlsAlwaysRemux: true
# Every native player reads it, and _HLS_msn is refused.
hlsVariant: mpegts
hlsSegmentCount: 8
hlsSegmentDuration: 2s
# The page and the stream share one origin.
hlsAllowOrigins: []
hlsTrustedProxies: [127.0.0.1, "::1"]

authMethod: internal
authInternalUsers:
  - user: %s
    pass: %s
    permissions:
      - action: publish
        path: main
      - action: publish
        path: "~^live/"
  - user: any
    pass:
    permissions:
      - action: read
        path: main
  - user: any
    pass:
    ips: [127.0.0.1, "::1"]
    permissions:
      - action: api
      - action: read
        path: "~^live/"

paths:
  main:
    source: publisher
    overridePublisher: true
    # While the bridge restarts, silence keeps the HLS muxer and with it every
    # player alive.
    alwaysAvailable: true
    alwaysAvailableTracks:
      - codec: MPEG4Audio
        sampleRate: %d
        channelCount: 2
  "~^live/":
    source: publisher
    overridePublisher: false
`, strconv.Quote(m.APIAddress), strconv.Quote(m.RTMPAddress), strconv.Quote(m.HLSAddress),
		SourceUser, strconv.Quote(hash), m.SampleRate)
}

// PathsProxy serves GET /v3/paths/list on address, read from MediaMTX's API at
// upstream, and nothing else of it, until ctx ends.
func PathsProxy(ctx context.Context, address, upstream string) error {
	l, err := listen(ctx, none(), "tcp:"+address)
	if err != nil {
		return fmt.Errorf("open address of the path list: %w", err)
	}
	return servePathsProxy(ctx, l, upstream)
}

func servePathsProxy(ctx context.Context, l net.Listener, upstream string) error {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: upstream})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	proxy.Transport = transport
	mux := http.NewServeMux()
	mux.Handle("GET /v3/paths/list", proxy)
	if err := serve(ctx, l, mux); ctx.Err() == nil {
		return err
	}
	return nil
}
