package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/node/mounts"
)

// Validate reports every wrong setting by name, with the remedy.
func (c *Config) Validate() error {
	wrong := append(c.Ports.validate(), c.Bus.validate()...)
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(strings.TrimSpace(c.Name) != "" && len(c.Name) <= 200 && oneLine(c.Name),
		"name: must be one line of 1 to 200 bytes")
	check(slices.Contains([]string{"ar", "en"}, c.Language), "language: %q is not known: use ar or en", c.Language)
	check(c.Media != "" && oneLine(c.Media), "media: must name a folder")
	// The station's own parts meet on loopback, so that must be served in any case.
	check(slices.Contains([]string{"0.0.0.0", "127.0.0.1"}, c.Bind),
		"bind: %q is neither 0.0.0.0 (everyone) nor 127.0.0.1 (this machine): use a firewall for anything between", c.Bind)
	// The message offers a random key to copy.
	check(len(c.SourcePassword) >= 8, "source_password: must have at least 8 characters, as encoders on the internet use it: add source_password: %q", newKey())
	check(c.SyncToken != "", "sync_token: must not be empty: add sync_token: %q", newKey())
	for name, key := range c.keys() {
		check(printable(key), "%s: must be printable ASCII without spaces, quotes or backslashes", name)
	}
	check(c.GeoIPFile == "" || filepath.IsAbs(c.GeoIPFile) && oneLine(c.GeoIPFile), "geoip_file: must be the absolute path of a database of countries (MMDB), or empty for none")
	check(c.Playout.Emergency == "" || filepath.IsAbs(c.Playout.Emergency), "playout.emergency: must be an absolute path")
	wrong = append(wrong, c.HLS.validateRelays()...)
	wrong = append(wrong, c.HLS.validateRenditions()...)
	check(c.HLS.Sessions || c.HLS.MediaMTX == "", "hls.sessions: must be true with hls.mediamtx, which has sessions always")
	check(c.HLS.MediaMTX == "" || filepath.IsAbs(c.HLS.MediaMTX), "hls.mediamtx: must be an absolute path")
	check(c.Icecast.MaxClients >= 10 && c.Icecast.MaxClients <= 100_000, "icecast.max_clients: must be 10 to 100000")
	_, err := c.Icecast.Beside()
	check(err == nil, "%v", err)
	check(c.Stream.MaxListeners >= 1 && c.Stream.MaxListeners <= 100_000, "stream.max_listeners: must be 1 to 100000")
	check(c.Stream.MaxPerAddress >= 0 && c.Stream.MaxPerAddress <= 100_000, "stream.max_per_address: must be 1 to 100000, or 0 for no limit")
	check(c.Stream.BurstSeconds >= 0 && c.Stream.BurstSeconds <= 30, "stream.burst_seconds: must be 0 to 30")
	check(c.HLS.SegmentSeconds >= 1 && c.HLS.SegmentSeconds <= 10, "hls.segment_seconds: must be 1 to 10")
	check(c.HLS.Segments >= 4 && c.HLS.Segments <= 30, "hls.segments: must be 4 to 30")
	check(c.Library.RescanMinutes >= 1 && c.Library.RescanMinutes <= 24*60, "library.rescan_minutes: must be 1 to 1440")
	check(c.Speech.Piper == "" || filepath.IsAbs(c.Speech.Piper), "speech.piper: must be an absolute path")
	check(oneLine(c.Speech.Name) && len(c.Speech.Name) <= 200, "speech.name: must be one line of at most 200 bytes")
	check(c.Bulletin.Hours >= 0 && c.Bulletin.Hours <= 24*7, "bulletin.hours: must be 0 (none) to 168")
	check(oneLine(c.Bulletin.Headlines), "bulletin.headlines: must name a file")
	wrong = append(wrong, validateRotated(c.Rotated)...)
	wrong = append(wrong, c.Content.validate()...)
	wrong = append(wrong, c.Node.validate()...)
	wrong = append(wrong, c.Guard.validate()...)
	wrong = append(wrong, c.Alarms.validate()...)
	wrong = append(wrong, c.Live.validate()...)
	wrong = append(wrong, c.Podcasts.validate()...)
	wrong = append(wrong, c.Backup.validate()...)
	wrong = append(wrong, c.Chat.validate()...)
	wrong = append(wrong, c.Requests.validate()...)
	wrong = append(wrong, c.Social.validate()...)
	wrong = append(wrong, c.Push.validate()...)
	wrong = append(wrong, c.Limits.validate()...)
	wrong = append(wrong, c.Connections.validate()...)
	wrong = append(wrong, validateOrigins(c.CORSOrigins)...)
	_, err = c.Library.ProfileOf()
	check(err == nil, "%v", err)
	check(slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level), "log.level: %q is not known: use debug, info, warn or error", c.Log.Level)
	check(slices.Contains([]string{"text", "json"}, c.Log.Format), "log.format: %q is not known: use text or json", c.Log.Format)
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// mostRenditions is as many as the relay serves.
const mostRenditions = 4

// leastRendition is in kbit/s. AAC-LC, which is all that there is an encoder of, needs it.
const leastRendition = 64

// Served are the renditions that listeners get: MediaMTX has the main one alone.
func (h *HLS) Served() []int {
	if h.MediaMTX != "" {
		return h.Renditions[:1]
	}
	return h.Renditions
}

func (h *HLS) validateRenditions() (wrong []error) {
	if n := len(h.Renditions); n == 0 || n > mostRenditions {
		wrong = append(wrong, fmt.Errorf("hls.renditions: must name 1 to %d bitrates in kbit/s, the main one first, as [256, 128, 64]", mostRenditions))
	}
	for i, kbps := range h.Renditions {
		switch {
		case kbps < leastRendition || kbps > 512:
			wrong = append(wrong, fmt.Errorf("hls.renditions: %d must be %d to 512 kbit/s: below that only HE-AAC sounds well, which Debian's ffmpeg cannot make", kbps, leastRendition))
		case slices.Contains(h.Renditions[:i], kbps):
			wrong = append(wrong, fmt.Errorf("hls.renditions: %d is named twice", kbps))
		}
	}
	return wrong
}

// Beside are the mounts of Icecast beside the main one.
func (i Icecast) Beside() (all []mounts.Mount, wrong error) {
	for _, text := range i.Mounts {
		codec, rate, _ := strings.Cut(strings.TrimSpace(text), "=")
		kbps, err := strconv.Atoi(rate)
		m := mounts.Mount{Codec: codec, Kbps: kbps}
		refuse := func(format string, args ...any) {
			wrong = errors.Join(wrong, fmt.Errorf("icecast.mounts: %q "+format, append([]any{text}, args...)...))
		}
		switch {
		case codec != mounts.MP3 && codec != mounts.AAC || err != nil:
			refuse("must be a codec, mp3 or aac, and its kbit/s, as in mp3=128")
		case kbps < mounts.Least || kbps > mounts.Most:
			refuse("must have %d to %d kbit/s", mounts.Least, mounts.Most)
		case codec == mounts.MP3 && !slices.Contains(mounts.Bitrates(), kbps):
			refuse("is no bitrate of MP3: use one of %s", strings.Trim(fmt.Sprint(mounts.Bitrates()), "[]"))
		case slices.ContainsFunc(all, func(other mounts.Mount) bool { return other.Codec == codec }):
			refuse("is a second %s: a mount is named by its codec, so there is one of each", codec)
		default:
			all = append(all, m)
		}
	}
	return all, wrong
}

// mostRelays is beyond any number of nodes: an edge asks each of them twice a second.
const mostRelays = 8

func (h *HLS) validateRelays() (wrong []error) {
	if len(h.Relay) > mostRelays {
		wrong = append(wrong, fmt.Errorf("hls.relay: must name %d relays at most", mostRelays))
	}
	for i, address := range h.Relay {
		host, port, err := net.SplitHostPort(address)
		number, _ := strconv.Atoi(port)
		switch {
		case err != nil || strings.ContainsAny(host, "/@ ") || number < 1 || number > 65535:
			wrong = append(wrong, fmt.Errorf("hls.relay: %q must be host:port, as node.example:19351; several as [a.example:19351, b.example:19351]", address))
		case slices.Contains(h.Relay[:i], address):
			wrong = append(wrong, fmt.Errorf("hls.relay: %q is named twice", address))
		}
	}
	return wrong
}

func (c *Config) keys() map[string]string {
	return map[string]string{
		"station_key": c.StationKey, "sync_token": c.SyncToken, "social_admin_key": c.SocialAdminKey,
		"source_password": c.SourcePassword, "turn_secret": c.TurnSecret,
	}
}

func oneLine(s string) bool { return !strings.ContainsAny(s, "\n\r\x00") }

// printable keeps keys to what survives a URL, an HTTP header and a command line.
func printable(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"'\`, r) {
			return false
		}
	}
	return true
}
