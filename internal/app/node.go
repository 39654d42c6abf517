package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onmounts"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/rekey"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/strain"
	"github.com/athir-radio/athir/internal/node/bridge"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/output"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/front"
)

// The names of the supervised programs, as status and logs show them.
const (
	programRelay   = "relay"
	programBridge  = "bridge"
	programIngest  = "nginx"
	programPlayer  = "player"
	programChat    = "chat"
	programControl = "control"
)

// The sockets of a node.
const (
	nodeSocket    = doors.Node + ".sock"
	publishSocket = "publish.sock"
	hookSocket    = doors.Relay + ".sock"
	statSocket    = "stat.sock"
)

const (
	playoutWatchdog = 3 * time.Minute // mission: Supervision
	ingestWatchdog  = 5 * time.Minute // mission: Supervision
	bridgeWatchdog  = 10 * time.Second
	bridgePatience  = 20 * time.Second
	bridgeRate      = 44_100 // Hz, the playout engine's: no resampling
	// bootPatience is how long the engine's start waits for the control plane to
	// renew the list.
	bootPatience = 3 * time.Second
	playerDelay  = 3 * time.Second // mission: Limits, player restart delay
)

// node says what runs on the broadcast machine.
type node struct {
	role     role.Role
	cfg      *config.Config
	log      *slog.Logger
	sockets  string
	http     *http.Client
	mtxAPI   string // address of MediaMTX's API on loopback: it can change settings
	sources  string // address on loopback where Icecast asks about sources
	rtmp     string // address of nginx on loopback, behind the door for encoders
	gauge    *strain.Gauge
	versions role.Versions
	ear      *output.Ear // nil where nothing listens
	mounts   onmounts.Node
	id       string // file.Place of the node's lock: tells it from every other node
	part     atomic.Pointer[onnode.Part]
	bridged  atomic.Pointer[time.Time] // when the bridge was last started, by both clocks: the wall clock may be set back
}

func newNode(r role.Role) (*node, error) {
	cfg, log := r.Config, r.Log
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	n := &node{role: r, cfg: cfg, log: log, sockets: sockets, http: &http.Client{Timeout: 3 * time.Second}, gauge: strain.New()}
	if cfg.Guard.Enabled {
		n.ear = output.New(output.Options{
			Log: log, URL: "http://" + config.Local(cfg.Ports.Icecast) + "/" + station.MainChannel, Standby: standby.Mark,
			Listening: func() bool { return listening(cfg.Ports.Icecast) == nil }, Level: cfg.Guard.LevelDBFS,
		})
	}
	n.mounts = onmounts.Open(cfg, log, r.Handover, func(ctx context.Context) error { return icecast.OnAir(ctx, n.http, icecastOptions(cfg)) })
	behind := &n.rtmp
	if cfg.HLS.MediaMTX != "" {
		behind = &n.mtxAPI
	}
	if *behind, err = port.Free(config.Loopback); err != nil {
		return nil, err
	}
	n.sources, err = port.Free(config.Loopback)
	return n, err
}

// nameWait bounds how long a name server may take.
const nameWait = time.Second

// shownName is how people know this node: its machine, the address that it has towards
// the control plane, as copies of a machine share its name, and its data directory.
func (n *node) shownName(ctx context.Context) string {
	name, _ := os.Hostname()
	name = cmp.Or(name, "unknown")
	dialer := net.Dialer{Timeout: nameWait}
	if conn, err := dialer.DialContext(ctx, "udp", n.cfg.ControlAddress()); err == nil { // sends nothing
		host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
		name += " (" + host + ")"
		_ = conn.Close()
	}
	return name + ":" + n.cfg.DataDir
}

// programs lists what to keep running, in the order it is started.
func (n *node) programs(withControl bool) []supervise.Program {
	var out []supervise.Program
	if withControl {
		out = append(out, n.ownRole(programControl, n.cfg.Ports.Control, "/ping"))
	}
	out = append(out, n.icecast(), n.engine())
	if n.cfg.HLS.MediaMTX != "" {
		out = append(out, n.mediaMTX())
	} else {
		out = append(out, n.ownRole(programRelay, n.cfg.Ports.Paths, relay.PathListPath), n.ingest())
	}
	player := n.ownRole(programPlayer, n.cfg.Ports.Player, front.LivePath)
	player.Delay = playerDelay
	out = append(append(out, n.bridge()), n.mounts.Programs()...)
	return append(out, n.ownRole(programChat, n.cfg.Ports.Chat, front.LivePath), player, n.livePart(doors.Desk, n.playsRTMP()...), n.livePart(doors.WHIP))
}

// livePart runs one of the live processes, which answers on a socket of its own.
func (n *node) livePart(part string, args ...string) supervise.Program {
	p := n.roleOf(part, proc.Air, role.PartReached(n.sockets, part), args...)
	p.Watchdog.Every = ingestWatchdog
	return p
}

// ownRole runs another role of this executable on the same data directory. It writes
// its own log lines to our standard error.
func (n *node) ownRole(part string, port int, probe string) supervise.Program {
	return n.roleOf(part, 0, role.Reached(port, probe))
}

func (n *node) roleOf(part string, nice int, answers func(context.Context) error, args ...string) supervise.Program {
	return supervise.Program{
		Name: part,
		Prepare: func(context.Context) (proc.Spec, error) {
			// This very program: another may have taken its path since it began.
			return proc.Spec{
				Name: part, Path: proc.Self, As: "athir", Args: append([]string{part, "--supervised", "--data", n.cfg.DataDir, "--media", n.cfg.MediaDir()}, args...),
				Stdout: os.Stderr, Stderr: os.Stderr, Nice: nice,
				Env: n.cfg.Env, // removed from our own environment: other programs must not see the keys
			}, nil
		},
		Ready:    answers,
		Watchdog: &supervise.Watchdog{Every: playoutWatchdog, Healthy: answers},
	}
}

func icecastOptions(cfg *config.Config) icecast.Options {
	return icecast.Options{
		Beside: onmounts.Beside(cfg),
		Dir:    cfg.NodeDir(), Bind: cfg.Bind, Port: cfg.Ports.Icecast, Valid: cfg.Secret(config.SourcePassword).Valid,
		MaxClients: cfg.Icecast.MaxClients, Station: cfg.Name,
	}
}

func (n *node) secrets() rekey.Node {
	return rekey.Node{Config: n.cfg, Log: n.log, Handover: n.role.Handover, At: n.sources, Server: icecastOptions(n.cfg), Engine: n.engineOptions}
}

func (n *node) icecast() supervise.Program {
	o := n.secrets().Icecast()
	ready := func(ctx context.Context) error { return icecast.Ready(ctx, n.http, o) }
	return supervise.Program{
		Name:    icecast.Program,
		Prepare: func(ctx context.Context) (proc.Spec, error) { return icecast.Prepare(ctx, o) },
		Adopt:   func() proc.Spec { return proc.Spec{Name: icecast.Program, Grace: icecast.Grace} },
		Ready:   ready,
		Watchdog: &supervise.Watchdog{
			Every: playoutWatchdog, Find: func() []int { return icecast.Find(o) },
			Healthy: ready, Flow: n.flow(false, icecast.OnAir), DryAfter: serverDry,
		},
	}
}

func (n *node) engineOptions() playout.Options {
	markers := "http://" + config.Local(n.cfg.Ports.Control) + "/metadata"
	if n.cfg.Node.Remote {
		markers = "http://" + n.cfg.ControlAddress() + "/metadata?node=" + n.id
	}
	return playout.Options{
		Dir: n.cfg.NodeDir(), SocketDir: n.sockets, Channel: station.MainChannel, Playlist: n.cfg.Playlist(),
		Password: n.cfg.Secret(config.SourcePassword).Current(), Logins: n.cfg.Secret(config.SourcePassword).Held(), IcecastPort: n.cfg.Ports.Icecast, HarborPort: n.cfg.Ports.Harbor, HarborBind: config.Loopback,
		MetadataURL: markers, Token: n.cfg.Secret(config.SyncToken).Current(),
		Station: n.cfg.Name, Emergency: n.cfg.Playout.Emergency, Verbose: n.cfg.Log.Level == "debug",
	}
}

func (n *node) engine() supervise.Program {
	o := n.engineOptions()
	return supervise.Program{
		Name: playout.Program, PacedByWall: true, // Debian builds it without its monotonic clock
		// Level 2 of the engine's own log: an entry that cannot be played.
		Important: func(line string) bool { return strings.Contains(line, "[athir:2]") },
		Adopt:     func() proc.Spec { return proc.Spec{Name: playout.Program, Grace: playout.Grace} },
		Renew:     playout.Renewal{Options: o, Log: n.log, Settled: n.role.Handover.Settled()}.Wait,
		Prepare: func(ctx context.Context) (proc.Spec, error) {
			o := n.engineOptions() // with the secrets of now
			o.Password = n.secrets().EnginePassword()
			n.tellBoot(ctx, o)
			return playout.Prepare(ctx, o)
		},
		Ready: func(ctx context.Context) error { return playout.Ready(ctx, o) },
		Watchdog: &supervise.Watchdog{
			Every: playoutWatchdog, Find: func() []int { return playout.Find(o) },
			Healthy: func(ctx context.Context) error { return playout.Ready(ctx, o) }, Flow: n.flow(true, icecast.Ready), DryAfter: engineDry,
		},
	}
}

// tellBoot has the control plane renew the rotation while the engine boots: a started
// engine begins at the head of the list, and must not repeat what was heard. A
// control plane that does not answer rebuilds when it is back.
func (n *node) tellBoot(ctx context.Context, o playout.Options) {
	ctx, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	if err := retry.Until(ctx, func(ctx context.Context) error { return n.postBoot(ctx, o) }); err != nil {
		n.log.Warn("cannot tell the control plane that the engine started", "err", err)
	}
}

func (n *node) postBoot(ctx context.Context, o playout.Options) error {
	fence, spare, err := playout.StageOf(o)
	if err != nil || spare {
		return err // nobody hears the engine of a spare
	}
	body := `{"channel":"main","engine":"boot","seq":0,"file":"","kind":"boot","started_at":0`
	if fence > 0 {
		body += `,"fence":` + playout.StageBy(fence)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.MetadataURL, strings.NewReader(body+"}"))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-sync-token", o.Token)
	resp, err := n.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", o.MetadataURL, resp.Status)
	}
	return nil
}

func (n *node) unix(name string) string { return "unix:" + filepath.Join(n.sockets, name) }

func (n *node) relayOptions() relay.Options {
	return relay.Options{
		HLSAddress: n.cfg.Public(n.cfg.Ports.HLS), PathsAddress: net.JoinHostPort(n.cfg.Inner(), strconv.Itoa(n.cfg.Ports.Paths)),
		PublishAddress: n.unix(publishSocket), HookAddress: n.unix(hookSocket), StatAddress: n.unix(statSocket),
		SourcePassword: n.cfg.Secret(config.SourcePassword), StateDir: n.cfg.NodeDir(),
		Renditions:      n.cfg.HLS.Renditions,
		SegmentDuration: time.Duration(n.cfg.HLS.SegmentSeconds) * time.Second,
		SegmentCount:    n.cfg.HLS.Segments, Log: n.log, Uncounted: !n.cfg.HLS.Sessions, Edge: n.cfg.AdmitsEdge, Front: n.cfg.BusAdmitsToken,
		Bound: doors.NewBound(n.cfg, n.log).Listener,
	}
}

// playsRTMP tells the live desk where what encoders publish is played; MediaMTX lets this
// machine play where they publish.
func (n *node) playsRTMP() []string {
	if n.rtmp == "" {
		return nil
	}
	return []string{"--rtmp", n.ingestRTMP().PlayAt()}
}

func (n *node) ingestRTMP() relay.RTMP {
	return relay.RTMP{
		Address: n.rtmp, Dir: filepath.Join(n.cfg.NodeDir(), "rtmp"),
		HookAddress: n.unix(hookSocket), StatAddress: n.unix(statSocket),
	}
}

// ingest accepts encoders over RTMP.
func (n *node) ingest() supervise.Program {
	r := n.ingestRTMP()
	ready := func(ctx context.Context) error { return dial(ctx, n.rtmp) }
	return supervise.Program{
		Name: programIngest, After: []string{programRelay},
		Prepare:  func(context.Context) (proc.Spec, error) { return r.Prepare() },
		Ready:    ready,
		Watchdog: &supervise.Watchdog{Every: ingestWatchdog, Find: lookalikes("nginx", filepath.Join(r.Dir, "nginx.conf")), Healthy: ready, Mute: true},
	}
}

// door is where encoders connect.
func (n *node) door() *relay.Door {
	return &relay.Door{Address: n.cfg.Public(n.cfg.Ports.RTMP), Inner: n.rtmp, Log: n.log}
}

// mediaMTX replaces relay and ingest if the operator has it.
func (n *node) mediaMTX() supervise.Program {
	m := relay.MediaMTX{
		Binary: n.cfg.HLS.MediaMTX, Dir: filepath.Join(n.cfg.NodeDir(), "mediamtx"),
		HLSAddress: n.cfg.Public(n.cfg.Ports.HLS), RTMPAddress: n.cfg.Public(n.cfg.Ports.RTMP),
		APIAddress: n.mtxAPI, SourcePassword: n.cfg.SourcePassword, SampleRate: bridgeRate,
	}
	ready := func(ctx context.Context) error { return dial(ctx, config.Local(n.cfg.Ports.HLS)) }
	return supervise.Program{
		Name:     programRelay,
		Prepare:  func(context.Context) (proc.Spec, error) { return m.Prepare() },
		Ready:    ready,
		Watchdog: &supervise.Watchdog{Every: ingestWatchdog, Find: lookalikes(filepath.Base(m.Binary), filepath.Join(m.Dir, "mediamtx.yml")), Healthy: ready, Mute: true},
	}
}

func (n *node) bridge() supervise.Program {
	progress := &bridge.Progress{}
	o := bridge.Options{
		Source: "http://" + config.Local(n.cfg.Ports.Icecast) + "/" + station.MainChannel,
		Target: n.unix(publishSocket), Progress: progress, SampleRate: bridgeRate, Renditions: n.cfg.HLS.Renditions,
	}
	known := o.Target
	if n.cfg.HLS.MediaMTX != "" {
		o.Target, o.Login = bridge.RTMPTarget(config.Local(n.cfg.Ports.RTMP)), filepath.Join(n.cfg.NodeDir(), "bridge.ffpreset")
		o.User, o.Password = relay.SourceUser, n.cfg.SourcePassword
		known = o.Login
	}
	return supervise.Program{
		Name: programBridge, After: []string{icecast.Program, playout.Program, programRelay},
		Prepare: func(ctx context.Context) (proc.Spec, error) {
			// Without a source the bridge would only exit and be restarted.
			if err := retry.Until(ctx, func(ctx context.Context) error { return icecast.OnAir(ctx, n.http, icecastOptions(n.cfg)) }); err != nil {
				return proc.Spec{}, err
			}
			n.bridged.Store(new(time.Now()))
			return bridge.Prepare(o)
		},
		Adopt: func() proc.Spec {
			spec, _ := bridge.Spec(o) // it was fine when the bridge began
			return spec
		},
		Renew: func(ctx context.Context, pid int) string {
			select {
			case <-n.role.Handover.Settled(): // before, this version may give way to the older one
				spec, _ := bridge.Spec(o) // see Adopt
				return bridge.Renew(pid, spec)
			case <-ctx.Done():
				return ""
			}
		},
		Watchdog: &supervise.Watchdog{
			Every: bridgeWatchdog, Find: lookalikes("ffmpeg", known), Mute: true,
			Healthy: func(ctx context.Context) error {
				up := icecast.OnAir(ctx, n.http, icecastOptions(n.cfg)) == nil
				arrived := n.lastArrival(ctx, progress)
				if bridge.Wedged(time.Now(), *n.bridged.Load(), progress.Moved(), arrived, up, bridgePatience) {
					return fmt.Errorf("no audio for %s", bridgePatience)
				}
				return nil
			},
		},
	}
}

// lastArrival returns when the relay last received audio; if it does not say, when
// the bridge last made progress.
func (n *node) lastArrival(ctx context.Context, progress *bridge.Progress) time.Time {
	p, err := relay.ReadMainPath(ctx, n.http, config.Local(n.cfg.Ports.Paths))
	if err != nil || p.LastData.IsZero() {
		return progress.Moved()
	}
	return p.LastData
}

// lookalikes finds the copies of a program by an argument that only this station uses.
func lookalikes(program, arg string) func() []int {
	return func() []int { return proc.Find(program, arg) }
}
