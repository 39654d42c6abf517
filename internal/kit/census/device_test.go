package census_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/census"
)

func TestDevicesAreToldByWhatTheyCallThemselves(t *testing.T) {
	for want, agents := range map[census.Device][]string{
		census.Android: {
			"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
			"Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0",
			"Mozilla/5.0 (Linux; Android 13; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
			"Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/92.0.4515.159 Mobile Safari/537.36",
			"Dalvik/2.1.0 (Linux; U; Android 12; M2101K7AG Build/SKQ1.210908.001)",
			"stagefright/1.2 (Linux;Android 7.0)", "Apache-HttpClient/UNAVAILABLE (java 1.4)", "BabyMonitorRadio/1 (Android 12)", "okhttp/4.12.0", "MyRadio/3.2 (Linux;Android 11) ExoPlayerLib/2.18.7",
			"Mozilla/5.0 (Linux; Android 12; HUAWEI P40) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 HuaweiBrowser/14.0.5.303 Mobile Safari/537.36",
		},
		census.IPhone: {
			"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
			"AppleCoreMedia/1.0.0.21F79 (iPhone; U; CPU OS 17_5 like Mac OS X; ar)",
			"Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X) AppleWebKit/604.3.5 (KHTML, like Gecko) Version/12.0 Mobile/15A372 Safari/604.1",
			"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/125.0.6422.80 Mobile/15E148 Safari/604.1",
			"AppleCoreMedia/1.0.0.21S303 (Apple Watch; U; CPU OS 10_1 like Mac OS X; watchOS)",
		},
		census.IPad: {
			"Mozilla/5.0 (iPad; CPU OS 15_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Mobile/15E148 Safari/604.1",
			"AppleCoreMedia/1.0.0.20G75 (iPad; U; CPU OS 16_6 like Mac OS X; en_us)",
		},
		census.Windows: {
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36 Edg/125.0.0.0",
			"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
		},
		census.Mac: {
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0",
			"AppleCoreMedia/1.0.0.21G115 (Macintosh; U; Intel Mac OS X 11_6; en_us)",
		},
		census.Linux: {
			"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
			"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
			"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36",
		},
		census.Player: {
			"VLC/3.0.20 LibVLC/3.0.20", "foobar2000/1.6.16", "WinampMPEG/5.66, Ultravox/2.1", "Winamp 2.81", "iTunes/12.12.4 (Windows; Microsoft Windows 10 x64; x64)",
			"NSPlayer/12.00.19041.0001 WMFSDK/12.00.19041.0001", "Windows-Media-Player/12.0.19041.1288", "mpv 0.37.0", "MPlayer 1.5-12", "MusicBee/3.5", "AIMP/5.30",
			"Rhythmbox/3.4.7", "Clementine 1.4.0", "Audacious/4.3.1 neon/0.32.5", "Lavf/60.16.100", "GStreamer souphttpsrc 1.22.0 libsoup/3.4.2", "BASS/2.4",
			"Kodi/20.2 (Windows NT 10.0.19045; Win64; x64) App_Bitness/64 Version/20.2", "QuickTime/7.7.9 (qtver=7.7.9;os=Windows NT 6.1)", "Music Player Daemon 0.23.12",
			"RadioDroid2/0.86", "TapinRadio", "Swinsian/3.0",
		},
		census.Speaker: {
			"AlexaMediaPlayer/2.1.4676.0 (Linux;Android 5.1.1) ExoPlayerLib/1.5.9", "Echo/1.0(APNG)", "Linux UPnP/1.0 Sonos/79.1-52020 (ZPS38)",
			"AppleCoreMedia/1.0.0.21J354 (HomePod; U; CPU OS 17_0 like Mac OS X; en_us)",
			"Mozilla/5.0 (X11; Linux armv7l) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0.4430.225 Safari/537.36 CrKey/1.56.500000 DeviceType/SmartSpeaker",
			"Bose/SoundTouch", "MusicCast/3.22", "FSL-Radio/1.0", "Squeezebox iTunes/4.7.2", "Frontier Silicon/2.6",
		},
		census.Car: {
			"Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/601.1 (KHTML, like Gecko) Tesla QtCarBrowser Safari/601.1",
			"Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chromium/109.0.5414.119 Chrome/109.0.5414.119 Safari/537.36 Tesla/2023.20.9-fc7dfb5",
			"Radio/1.2 (Android Automotive 12; Polestar 2)",
		},
		census.Bot: {
			"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.5.0", "Wget/1.21.4", "python-requests/2.31.0", "Go-http-client/1.1",
			"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "TuneIn-Directory-Checker/1.0", "Icecast 2.4.4", "StreamRipper/1.64.6",
			"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36", "facebookexternalhit/1.1",
			"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "SomeBot", "libcurl-agent, curl/7.88", "StreamMonitor/1.2", "Site Monitoring",
		},
		census.Other: {
			"", "-", "Mozilla/5.0", "Microsoft NCSI", "Microsoft Office/16.0", "\xff\xfe\x00", "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/6.0 TV Safari/537.36",
			"Mozilla/5.0 (PlayStation 5) AppleWebKit/601.2 (KHTML, like Gecko)", "Roku/DVP-12.0 (12.0.0.4182-88)", "MyApp/1 CFNetwork/1494.0.7 Darwin/23.4.0",
			strings.Repeat("x", 600) + " Windows",
		},
	} {
		for _, agent := range agents {
			if got := census.DeviceOf(agent); got != want {
				t.Errorf("%q is %s, want %s", agent, got, want)
			}
		}
	}
}

func TestNamesOfDevicesAndCountriesAreFixed(t *testing.T) {
	for _, d := range census.Devices() {
		if back, ok := census.DeviceNamed(d.String()); !ok || back != d {
			t.Errorf("%v is %v by its name", d, back)
		}
	}
	if d, ok := census.DeviceNamed("fridge"); ok || d != census.Other || census.Device(200).String() != "other" {
		t.Error("a device of no kind has one")
	}
	for _, code := range census.Countries() {
		if census.CountryNamed(code).String() != code {
			t.Errorf("%s is %s", code, census.CountryNamed(code))
		}
	}
	if n := len(census.Countries()); n != 250 {
		t.Errorf("%d countries: ISO 3166-1 has 249, and Kosovo", n)
	}
	for _, code := range []string{"", "ZZ", "eg", "EGY", "E", " E", "E ", "A1", "XX", "EU", "D ", "  "} {
		if census.CountryNamed(code).String() != "ZZ" {
			t.Errorf("%q is a country", code)
		}
	}
}
