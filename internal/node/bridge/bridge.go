// Package bridge describes the ffmpeg that turns the master stream (Ogg on
// Icecast) into AAC for the HLS relay, and tells from its progress whether it
// is still at work.
//
// It does not run or restart ffmpeg: node/supervise does.
package bridge

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// Options configures the bridge.
type Options struct {
	Source string // the master stream, "http://127.0.0.1:8005/main"
	// Target is the relay: unix:PATH, tcp:HOST:PORT (MPEG-TS), or an rtmp://
	// address when the relay is MediaMTX (see RTMPTarget).
	Target string
	// Login is the file that Prepare writes for an rtmp:// target, with User and Password;
	// other targets need none.
	Login          string
	User, Password string
	// Renditions are the bitrates in kbit/s in which the same sound is sent, the main one first;
	// 256 when empty. MediaMTX is sent the main one alone: RTMP has room for one.
	Renditions []int
	SampleRate int // Hz; 44,100 when zero, Liquidsoap's own rate: no resampling
	// Stall is how long the source may send nothing before the connection is
	// given up and made anew; 5 s when zero.
	Stall time.Duration
	// Progress, when not nil, receives ffmpeg's progress.
	Progress *Progress
}

// RTMPTarget is where the bridge publishes to MediaMTX on this machine. User and
// password are in the file that Options.Login names.
func RTMPTarget(address string) string { return "rtmp://" + address + "/" }

// Prepare writes the login, where the target needs one, and returns the program to run. Call
// it before every start. On a full disk the login that is there serves.
func Prepare(o Options) (proc.Spec, error) {
	spec, err := Spec(o)
	if err != nil || o.Login == "" {
		return spec, err
	}
	stale, err := file.Refresh(o.Login, login(o), 0o600)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write the bridge's login: %w", err)
	}
	if stale != nil {
		spec.Note = fmt.Sprintf("cannot write the login: %v: free some space on the disk that holds %s", stale, o.Login)
	}
	return spec, nil
}

// login is an ffmpeg preset with the application "main" and the user's password. In the
// address, where ffmpeg usually has them, every user of the machine could read them.
func login(o Options) []byte {
	query := url.Values{"user": {o.User}, "pass": {o.Password}} // escaped: no byte that means something in a preset
	return []byte("format_opts=" + rtmpOptions + ":rtmp_app=main?" + query.Encode() + "\n")
}

// Spec is the program to run, its login written: see Prepare.
func Spec(o Options) (proc.Spec, error) {
	if len(o.Renditions) == 0 {
		o.Renditions = []int{256}
	}
	if o.Login != "" {
		o.Renditions = o.Renditions[:1]
	}
	if o.SampleRate == 0 {
		o.SampleRate = 44_100
	}
	if o.Stall == 0 {
		o.Stall = 5 * time.Second
	}
	output, err := output(o)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("configure bridge: %w", err)
	}
	args := []string{"-hide_banner", "-nostdin", "-loglevel", "warning", "-nostats"}
	if o.Progress != nil {
		args = append(args, "-progress", "pipe:1", "-stats_period", "1")
	}
	args = append(args, Input(o.Source, "athir-bridge", o.Stall)...)
	for range o.Renditions {
		args = append(args, "-map", "0:a:0")
	}
	args = append(args,
		"-vn", "-sn", "-dn",
		// Titles are the now-playing API's business.
		"-map_metadata", "-1",
		// Every track is a new logical Ogg stream whose timestamps start
		// anew. Time is therefore the count of samples, nothing else: no
		// jump, no hole, no overlap can reach the encoder.
		"-af", "asetpts=N/SR/TB",
		"-c:a", "aac", "-ac", "2", "-ar", strconv.Itoa(o.SampleRate),
	)
	for i, kbps := range o.Renditions {
		args = append(args, fmt.Sprintf("-b:a:%d", i), strconv.Itoa(kbps*1000))
	}
	args = append(args, output...)
	spec := proc.Spec{Name: "hls bridge", Path: "ffmpeg", Args: args, Nice: proc.Air, Grace: 2 * time.Second}
	if o.Progress != nil {
		spec.Stdout = o.Progress
	}
	return spec, nil
}

// Renew says why an encoder of the station that another version of this program started, or that
// was started by other settings, is to be started anew as spec has it: it would encode at other
// bitrates than are said of it for as long as it lives. Empty: it goes on.
func Renew(pid int, spec proc.Spec) (why string) {
	runs, wanted := bitrates(proc.Arguments(pid)), bitrates(spec.Args)
	if len(runs) > 0 && len(wanted) > 0 && !slices.Equal(runs, wanted) {
		return fmt.Sprintf("it encodes at %s bit/s, and %s are set", strings.Join(runs, ", "), strings.Join(wanted, ", "))
	}
	return ""
}

// bitrates are those that arguments ask for, of any version.
func bitrates(args []string) (out []string) {
	for i, arg := range args[:max(0, len(args)-1)] {
		if arg == "-b:a" || strings.HasPrefix(arg, "-b:a:") {
			out = append(out, args[i+1])
		}
	}
	return out
}

// Input are the arguments by which ffmpeg reads the master stream at an address and reconnects
// by itself after passing faults. Icecast's list of listeners shows the agent, by which our own
// parts are known.
func Input(source, agent string, stall time.Duration) []string {
	return []string{
		// End of file is what ffmpeg sees when the mount goes or Icecast
		// stops; a live stream has no other end.
		"-reconnect", "1", "-reconnect_at_eof", "1", "-reconnect_streamed", "1",
		// Icecast is not up yet, or up without the mount (404), or full (5xx).
		"-reconnect_on_network_error", "1", "-reconnect_on_http_error", "4xx,5xx",
		// ffmpeg waits 0, 1, 3, 7… s between attempts and ends, for good, when
		// the next pause would be longer than this.
		"-reconnect_delay_max", "4",
		// A source that sends nothing is as good as gone.
		"-rw_timeout", strconv.FormatInt(stall.Microseconds(), 10),
		"-user_agent", agent,
		// The Ogg headers tell all there is to know: no probing of seconds.
		"-probesize", "65536", "-analyzeduration", "0", "-fflags", "+nobuffer",
		"-f", "ogg", "-i", source,
	}
}

// output sends to the relay through ffmpeg's fifo: the encoder goes on while
// the relay is away, and sends what it made meanwhile afterwards.
func output(o Options) ([]string, error) {
	format, options, err := format(o)
	if err != nil {
		return nil, err
	}
	address := o.Target
	if rest, ok := strings.CutPrefix(o.Target, "tcp:"); ok {
		address = "tcp://" + rest
	}
	return slices.Concat([]string{"-f", "fifo", "-fifo_format", format}, options, []string{
		"-attempt_recovery", "1", "-recover_any_error", "1", "-recovery_wait_time", "0.2",
		// About 20 s of frames; after that the oldest audio is lost, not the bridge.
		"-queue_size", strconv.Itoa(1000 * len(o.Renditions)), "-drop_pkts_on_overflow", "1",
		address,
	}), nil
}

// rtmpOptions are those of the FLV muxer.
const rtmpOptions = "flvflags=no_duration_filesize"

func format(o Options) (name string, options []string, err error) {
	switch {
	case strings.HasPrefix(o.Target, "unix:"), strings.HasPrefix(o.Target, "tcp:"):
		// Sent at once, without the muxer's 0.7 s of delay.
		return "mpegts", []string{"-format_opts", "flush_packets=1:max_delay=0"}, nil
	case strings.HasPrefix(o.Target, "rtmp://") && o.Login == "":
		return "", nil, errors.New("login: an rtmp:// target needs one")
	case strings.HasPrefix(o.Target, "rtmp://"):
		return "flv", []string{"-fpre", o.Login}, nil
	}
	return "", nil, errors.New("target: want unix:PATH, tcp:HOST:PORT or rtmp://…")
}
