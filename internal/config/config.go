// Package config reads the process settings: flags over environment over
// athir.yaml over the defaults, which are those of athir.example.yaml. It
// refuses what it does not know, and reports every wrong setting at once by
// name, with the remedy. It holds nothing that changes while the station runs:
// that is the station configuration, owned by the control plane.
package config

import (
	"path/filepath"
	"time"

	_ "time/tzdata" // DST rules travel with the binary
)

// Config is the whole of the process settings. Field order follows athir.example.yaml.
type Config struct {
	Name           string      `koanf:"name"`
	Language       string      `koanf:"language"`
	Timezone       Zone        `koanf:"timezone"`
	Media          string      `koanf:"media"`
	KeepEdits      bool        `koanf:"keep_edits"`
	Bind           string      `koanf:"bind"`
	StationKey     string      `koanf:"station_key"`
	Open           bool        `koanf:"open"`
	SyncToken      string      `koanf:"sync_token"`
	SocialAdminKey string      `koanf:"social_admin_key"`
	SourcePassword string      `koanf:"source_password"`
	TurnSecret     string      `koanf:"turn_secret"`
	Rotated        []string    `koanf:"rotated"` // see Rotation
	People         People      `koanf:"people"`
	CORSOrigins    []string    `koanf:"cors_origins"`
	GeoIPFile      string      `koanf:"geoip_file"`
	Limits         Limits      `koanf:"limits"`
	Connections    Connections `koanf:"connections"`
	Ports          Ports       `koanf:"ports"`
	Bus            Bus         `koanf:"bus"`
	Node           Node        `koanf:"node"`
	Playout        Playout     `koanf:"playout"`
	Icecast        Icecast     `koanf:"icecast"`
	Stream         Stream      `koanf:"stream"`
	HLS            HLS         `koanf:"hls"`
	Library        Library     `koanf:"library"`
	Speech         Speech      `koanf:"speech"`
	Bulletin       Bulletin    `koanf:"bulletin"`
	Content        Content     `koanf:"content"`
	Chat           Chat        `koanf:"chat"`
	Requests       Requests    `koanf:"requests"`
	Social         Social      `koanf:"social"`
	Push           Push        `koanf:"push"`
	Webhooks       Webhooks    `koanf:"webhooks"`
	Guard          Guard       `koanf:"guard"`
	Alarms         Alarms      `koanf:"alarms"`
	Live           Live        `koanf:"live"`
	Podcasts       Podcasts    `koanf:"podcasts"`
	Backup         Backup      `koanf:"backup"`
	Log            Log         `koanf:"log"`

	// Env holds the variables that carried settings, KEY=VALUE, for our own
	// roles on the same settings.
	Env []string `koanf:"-"`
	// Warnings are faults of the settings that keep nothing from working, for the log.
	Warnings []string `koanf:"-"`
	// Unusable is why the settings file was not used, and those that the supervisor was
	// started with hold instead; empty as a rule.
	Unusable string `koanf:"-"`
	// DataDir is where everything of this station lives; absolute.
	DataDir string `koanf:"-"`

	source   Source    // where they came from
	rotating *rotating // see Secret; nil where they came from nowhere
}

// People configures who may see the studio.
type People struct {
	// Look lets everybody see the studio, without orders.
	Look bool `koanf:"look"`
}

// Playout configures the playout engine.
type Playout struct {
	Emergency string `koanf:"emergency"`
}

// Icecast configures the streaming server.
type Icecast struct {
	MaxClients int `koanf:"max_clients"`
	// Mounts are those beside the main one, codec=kbit/s; see Beside.
	Mounts []string `koanf:"mounts"`
}

// Stream configures the /stream fan-out.
type Stream struct {
	MaxListeners  int     `koanf:"max_listeners"`
	MaxPerAddress int     `koanf:"max_per_address"`
	BurstSeconds  float64 `koanf:"burst_seconds"`
}

// HLS configures bridge and relay.
type HLS struct {
	// Renditions are bitrates in kbit/s, the main one first.
	Renditions     []int `koanf:"renditions"`
	SegmentSeconds int   `koanf:"segment_seconds"`
	Segments       int   `koanf:"segments"`
	// Sessions counts listeners; without, all get the same and nobody is counted.
	Sessions bool `koanf:"sessions"`
	// Relay is host:port of the station's relays, for an edge on another machine.
	Relay    []string `koanf:"relay"`
	MediaMTX string   `koanf:"mediamtx"`
}

// Library configures the media library.
type Library struct {
	RescanMinutes int      `koanf:"rescan_minutes"`
	Mastering     bool     `koanf:"mastering"`
	Profiles      []string `koanf:"profiles"` // category=profile
}

// Speech configures the voices.
type Speech struct {
	Voice   string `koanf:"voice"`
	Offline bool   `koanf:"offline"`
	Piper   string `koanf:"piper"`
	Name    string `koanf:"name"`
}

// Bulletin configures the spoken bulletin.
type Bulletin struct {
	Hours     float64 `koanf:"hours"`
	Headlines string  `koanf:"headlines"`
	Weather   bool    `koanf:"weather"`
}

// Content configures the content pipeline.
type Content struct {
	RefreshHours     float64  `koanf:"refresh_hours"`
	Inbox            string   `koanf:"inbox"`
	Feeds            []string `koanf:"feeds"` // category, space, address
	InternetArchive  bool     `koanf:"internet_archive"`
	YTDLP            string   `koanf:"yt_dlp"`
	Networks         []string `koanf:"networks"`
	Speech           string   `koanf:"speech"`
	Imaging          bool     `koanf:"imaging"`
	ArchiveDays      float64  `koanf:"archive_days"`
	ArchiveGigabytes float64  `koanf:"archive_gigabytes"`
}

// Log configures logging.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Zone is a time zone that parses itself from its IANA name.
type Zone struct{ *time.Location }

// UnmarshalText refuses a name the zone database does not know.
func (z *Zone) UnmarshalText(text []byte) error {
	loc, err := time.LoadLocation(string(text))
	z.Location = loc
	return err
}

// The files and folders of a data directory.

// File is the settings file.
func (c *Config) File() string { return filepath.Join(c.DataDir, FileName) }

// FileName is the name of the settings file within the data directory.
const FileName = "athir.yaml"

// Database holds everything with rows.
func (c *Config) Database() string { return filepath.Join(c.DataDir, "athir.db") }

// AlarmsFile keeps what receivers were told of alarms.
func (c *Config) AlarmsFile() string { return filepath.Join(c.DataDir, "alarms.json") }

// NodeDir holds what the broadcast node needs: playlist, scripts, sockets.
func (c *Config) NodeDir() string { return filepath.Join(c.DataDir, "node") }

// Playlist is the file the playout engine watches.
func (c *Config) Playlist() string { return filepath.Join(c.NodeDir(), "main.m3u") }

// MediaDir is the absolute media root.
func (c *Config) MediaDir() string { return c.inData(c.Media) }

// MasteredDir holds the copies that air in place of files of the media root.
func (c *Config) MasteredDir() string { return filepath.Join(c.DataDir, "mastered") }

// IntakeDir holds what staff upload until it is in the media root.
func (c *Config) IntakeDir() string { return filepath.Join(c.DataDir, "intake") }

// CoversDir holds the pictures that an operator gave to tracks.
func (c *Config) CoversDir() string { return filepath.Join(c.DataDir, "covers") }

// ArchiveDir holds what has left the media root.
func (c *Config) ArchiveDir() string { return filepath.Join(c.DataDir, "archive") }

// WorkDir holds files that are being made.
func (c *Config) WorkDir() string { return filepath.Join(c.DataDir, "work") }

// InboxDir is where an operator puts files to take in.
func (c *Config) InboxDir() string { return c.inData(c.Content.Inbox) }

// HeadlinesFile is the text file of headlines; empty when there is none.
func (c *Config) HeadlinesFile() string {
	if c.Bulletin.Headlines == "" {
		return ""
	}
	return c.inData(c.Bulletin.Headlines)
}

// inData is a path that may start at the data directory.
func (c *Config) inData(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.DataDir, path)
}
