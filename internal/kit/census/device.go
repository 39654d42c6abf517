package census

import (
	"slices"
	"strings"
)

// Device is a kind of device or program that plays the station.
type Device uint8

// The kinds. A phone's or a tablet's is told wherever the program names it; Player is a
// program for listening elsewhere, Speaker a smart speaker or internet radio.
const (
	Other Device = iota
	Android
	IPhone
	IPad
	Windows
	Mac
	Linux
	Player
	Speaker
	Car
	Bot
	devices // how many
)

// String is the name by which a kind is stored and told.
func (d Device) String() string {
	if d >= devices {
		d = Other
	}
	return [devices]string{"other", "android", "iphone", "ipad", "windows", "mac", "linux", "player", "speaker", "car", "bot"}[d]
}

// Devices are all kinds.
func Devices() []Device {
	out := make([]Device, devices)
	for i := range out {
		out[i] = Device(i) //nolint:gosec // few
	}
	return out
}

// DeviceNamed is the kind of a name; false, and Other, for what is none.
func DeviceNamed(name string) (Device, bool) {
	i := slices.IndexFunc(Devices(), func(d Device) bool { return d.String() == name })
	return Device(max(i, 0)), i >= 0 //nolint:gosec // few
}

// longestAgent is how much of a User-Agent is looked at, in bytes: what names the device
// stands near its beginning, and a sender may write kilobytes.
const longestAgent = 512

// marks are parts of User-Agents in small letters, in the order in which they are looked for:
// a speaker that runs Android is a speaker, and VLC on Windows is a player. A mark that ends in
// a dollar sign must end a word.
var marks = []struct {
	device Device
	words  []string
}{
	{Bot, []string{
		"bot$", "spider", "crawl", "slurp", "curl/", "wget/", "python-", "aiohttp", "go-http-client", "apache-httpclient/4", "apache-httpclient/5", "libwww", "headless", "phantomjs",
		"monitor$", "monitoring", "uptime", "pingdom", "statuscake", "site24x7", "facebookexternalhit", "whatsapp/", "checker$", "axios/", "node-fetch", "undici",
		"icecast", "nagios", "zabbix", "prometheus", "streamripper", "scrapy",
	}},
	{Speaker, []string{
		"alexa", "echo/", "sonos", "smartspeaker", "homepod", "googlehome", "google-home", "bose", "soundtouch", "heos", "musiccast", "linkplay", "wiim",
		"libratone", "frontier silicon", "fsl-", "squeezebox", "squeezelite", "squeezenetwork", "airable", "vtuner", "sangean", "internet radio", "wifiradio",
	}},
	{Car, []string{"qtcarbrowser", "tesla/", "carplay", "android auto", "androidauto", "automotive"}},
	{Other, []string{"smart-tv", "smarttv", "tizen", "web0s", "webos", "roku", "crkey", "aftt", "bravia", "appletv", "playstation", "xbox", "nintendo", "kaios"}},
	{IPad, []string{"ipad"}},
	{IPhone, []string{"iphone", "ipod", "watchos"}},
	{Android, []string{"android", "exoplayer", "okhttp", "dalvik", "stagefright", "apache-httpclient/unavailable"}},
	{Player, []string{
		"vlc", "winamp", "foobar2000", "itunes", "quicktime", "nsplayer", "wmplayer", "windows-media-player", "mpv", "mplayer", "musicbee", "aimp", "bass/",
		"rhythmbox", "clementine", "strawberry", "audacious", "amarok", "xine", "kodi", "lavf/", "gstreamer", "radiosure", "screamer", "tapinradio",
		"mediamonkey", "jriver", "mpc-hc", "music player daemon", "moc/", "xmms", "kmplayer", "potplayer", "realplayer", "radiodroid", "swinsian",
	}},
	{Windows, []string{"windows"}},
	{Mac, []string{"macintosh", "mac os x", "macos"}},
	{Linux, []string{"linux", "x11", "(cros ", "; cros ", "freebsd", "openbsd"}},
}

// DeviceOf classifies a User-Agent. An iPad whose browser asks for the pages of a computer
// says that it is a Mac, and counts as one.
func DeviceOf(agent string) Device {
	agent = strings.ToLower(agent[:min(len(agent), longestAgent)])
	for _, m := range marks {
		for _, word := range m.words {
			if contains(agent, word) {
				return m.device
			}
		}
	}
	return Other
}

func contains(agent, word string) bool {
	stem, ends := strings.CutSuffix(word, "$")
	if !ends {
		return strings.Contains(agent, word)
	}
	for rest := agent; ; {
		before, after, found := strings.Cut(rest, stem)
		if !found {
			return false
		}
		// A phone by the maker of that name is no robot.
		if (after == "" || after[0] < 'a' || after[0] > 'z') && !strings.HasSuffix(before, "cu") {
			return true
		}
		rest = after
	}
}
