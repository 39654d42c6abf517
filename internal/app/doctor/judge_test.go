package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Each verdict of each check, with words of what is seen and of the remedy. What is wrong
// always has a remedy; what is well or skipped has none.
func TestEveryVerdict(t *testing.T) {
	port := Port{"hls", 19351, "node"}
	held := holding{listens: true, pid: 7, command: "apache2"}
	ours := holding{listens: true, pid: 7, command: "athir", ours: true}
	foreign := holding{listens: true}
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	leaf := func(from, to time.Duration) *x509.Certificate {
		return &x509.Certificate{DNSNames: []string{"live.radio.example"}, NotBefore: now.Add(from), NotAfter: now.Add(to)}
	}
	const day = 24 * time.Hour
	needed, optional := program{name: "liquidsoap", needed: true}, program{name: "fpcalc", without: "nothing is recognised"}
	const codecs = " V..... libx264 x\n A..... libmp3lame y\n A....D aac z\n A..... libvorbis v\n"
	const limits = "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 %s                 files\nMax nice priority         0                    %s                    \n"
	at := netip.MustParseAddr
	turn := func(address string) netip.AddrPort { return netip.MustParseAddrPort(address) }
	gone := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	ms := time.Millisecond
	for i, c := range []struct {
		got          Result
		verdict      Verdict
		seen, remedy string
	}{
		{judgeSettings(&config.Config{DataDir: "/d"}, nil), OK, "/d/athir.yaml", ""},
		{judgeSettings(&config.Config{Warnings: []string{"environment ATHIR_X: no such setting"}}, nil), Warning, "ATHIR_X", ""},
		{judgeSettings(nil, errors.New("nmae: no such setting\nports.hls: 0 is not a port")), Wrong, "nmae: no such setting; ports.hls", "athir.yaml"},

		{judgePort(port, holding{}, false, false), OK, "is free", ""},
		{judgePort(port, ours, true, true), OK, "held by the station: athir (process 7)", ""},
		{judgePort(port, foreign, true, true), OK, "another user", ""},
		{judgePort(port, holding{}, true, true), Wrong, "nobody listens on 19351", "log"},
		{judgePort(port, held, true, true), Wrong, "apache2 (process 7), which is not of this station", "ports.hls"},
		{judgePort(port, held, false, false), Wrong, "apache2", "ports.hls"},
		{judgePort(port, foreign, false, false), Wrong, "another user", "ports.hls"},

		{judgeMissing(needed, &proc.MissingError{Program: "liquidsoap"}), Wrong, "not installed", "apt-get install liquidsoap"},
		{judgeMissing(optional, &proc.MissingError{Program: "fpcalc"}), Warning, "nothing is recognised", "apt-get install libchromaprint-tools"},
		{judgeVersion(needed, "Liquidsoap 2.1.3\nCopyright", nil), OK, "2.1.3", ""},
		{judgeVersion(needed, "", errors.New("liquidsoap: exit status 127: no library")), Wrong, "no library", "--reinstall"},
		{judgeVersion(optional, "hello", nil), Warning, "names no version", "--reinstall"},
		{judgeCodecs(codecs, " A..... libopus o\n", nil), OK, "libmp3lame", ""},
		{judgeCodecs(" A....D aac z\n A..... libvorbis v\n A....D libmp3lame2 x\n", "", nil), Wrong, "lacks libmp3lame (mastering, recordings, live), libopus", "apt-get install ffmpeg"},
		{judgeCodecs("", "", errors.New("hung")), Wrong, "hung", "ffmpeg"},
		{judgeModule(nil), OK, rtmpModule, ""},
		{judgeModule(gone), Wrong, "RTMP", "libnginx-mod-rtmp"},

		{judgeClock(clock{synced: true, offset: 3 * ms}), OK, "off by 3ms", ""},
		{judgeClock(clock{synced: true, offline: "not asked"}), OK, "not asked", ""},
		{judgeClock(clock{offset: 3 * ms}), Warning, "nothing keeps the clock", "set-ntp"},
		{judgeClock(clock{offline: "not asked"}), Warning, "nothing keeps the clock", "set-ntp"},
		{judgeClock(clock{synced: true, offset: -2 * time.Second}), Warning, "off by -2s", "set-ntp"},
		{judgeClock(clock{synced: true, offset: -time.Hour}), Wrong, "off by -1h", "set-ntp"},
		{judgeClock(clock{err: unix.EPERM, offline: "not asked"}), Skipped, "does not say", ""},
		{judgeMemory("MemTotal: 4000000 kB\nMemAvailable: 2000000 kB\n", nil), OK, "1953 of 3906 MB", ""},
		{judgeMemory("MemTotal: 4000000 kB\nMemAvailable: 200000 kB\n", nil), Warning, "195 of", "memory"},
		{judgeMemory("MemTotal: 4000000 kB\nMemAvailable: 20000 kB\n", nil), Wrong, "will be ended", "memory"},
		{judgeMemory("", gone), Skipped, "does not say", ""},
		{judgeFiles(fmt.Sprintf(limits, "65536", "0"), 5000, 5000, nil), OK, "65536 may be open, 6000", ""},
		{judgeFiles(fmt.Sprintf(limits, "unlimited", "0"), 5000, 5000, nil), OK, "may be open", ""},
		{judgeFiles(fmt.Sprintf(limits, "4096", "0"), 5000, 9000, nil), Warning, "want 10000", "LimitNOFILE=65536"},
		{judgeFiles("", 5000, 5000, gone), Skipped, "station's user", ""},
		{judgePriority(fmt.Sprintf(limits, "1", "30"), false, nil), OK, "before all others", ""},
		{judgePriority(fmt.Sprintf(limits, "1", "0"), false, nil), Warning, "busy machine", "LimitNICE"},
		{judgePriority("", true, gone), OK, "root", ""},
		{judgePriority("", false, gone), Skipped, "station's user", ""},
		{judgeDisk("/d", 10<<30, 100<<30, 1000, 2000, nil), OK, "10240 of 102400 MB", ""},
		{judgeDisk("/d", 200<<20, 100<<30, 1000, 2000, nil), Warning, "200 of", "recordings"},
		{judgeDisk("/d", 1000, 100<<30, 1000, 2000, nil), Wrong, "nothing can be written", "recordings"},
		{judgeDisk("/d", 10<<30, 100<<30, 0, 2000, nil), Wrong, "inodes", "delete"},
		{judgeDisk("/d", 10<<30, 100<<30, 10, 2000, nil), Warning, "inodes", "delete"},
		{judgeDisk("/d", 10<<30, 100<<30, 0, 0, nil), OK, "MB are free", ""}, // btrfs counts none
		{judgeDisk("/d", 0, 0, 0, 0, gone), Wrong, "does not exist", "make it"},
		{judgeDisk("/d", 0, 0, 0, 0, unix.EACCES), Wrong, "permission", "station's user"},
		{judgeSpeed([]time.Duration{9 * ms, ms, 2 * ms}, nil), OK, "takes 2ms, the longest of 3 9ms", ""},
		{judgeSpeed([]time.Duration{80 * ms, 90 * ms, 70 * ms}, nil), Warning, "80ms", "disk"},
		{judgeSpeed([]time.Duration{2 * ms, ms, 2 * time.Second}, nil), Warning, "2s", "disk"},
		{judgeSpeed([]time.Duration{2 * time.Second}, nil), Wrong, "2s", "disk"},
		{judgeSpeed(nil, nil), Wrong, "no write", "disk"},
		{judgeSpeed(nil, unix.ENOSPC), Wrong, "cannot be written", "disk"},
		{judgeSpeed(nil, unix.EOPNOTSUPP), Skipped, "file system", ""},
		{judgeSpeed(nil, unix.EACCES), Skipped, "station's user", ""},

		{judgeName("x.example", []netip.Addr{at("203.0.113.7")}, []netip.Addr{at("10.0.0.1"), at("203.0.113.7")}, nil), OK, "leads to this machine", ""},
		{judgeName("x.example", []netip.Addr{at("203.0.113.9")}, []netip.Addr{at("203.0.113.7")}, nil), Warning, "leads to 203.0.113.9", "live.public_ips"},
		{judgeName("x.example", []netip.Addr{at("203.0.113.7"), at("203.0.113.9")}, []netip.Addr{at("203.0.113.7")}, nil), Warning, "also to 203.0.113.9", "remove"},
		{judgeName("x.example", nil, nil, errors.New("no such host")), Wrong, "no such host", "record"},
		{judgeCertificate(leaf(-day, 60*day), "live.radio.example", now, nil), OK, "valid until 2027-01-25", ""},
		{judgeCertificate(leaf(-day, 60*day), "", now, nil), OK, "valid until", ""},
		{judgeCertificate(leaf(-day, 5*day), "", now, nil), Warning, "2026-12-01", "renew"},
		{judgeCertificate(leaf(-9*day, -day), "", now, nil), Wrong, "not valid since 2026-11-25", "renew"},
		{judgeCertificate(leaf(day, 60*day), "", now, nil), Wrong, "from 2026-11-27 on", "clock"},
		{judgeCertificate(leaf(-day, 60*day), "other.example", now, nil), Wrong, "not for other.example", "that name"},
		{judgeCertificate(nil, "", now, gone), Wrong, "not exist", "live.tls_cert"},
		{judgeServed(leaf(-day, 60*day), "x.example", now, nil), OK, "valid until", ""},
		{judgeServed(nil, "x.example", now, x509.UnknownAuthorityError{}), Wrong, "unknown authority", "whole chain"},
		{judgeServed(nil, "x.example", now, errors.New("connection refused")), Warning, "cannot be reached from here", "proxy"},
		{judgeTURN("t:3478", turn("127.0.0.1:5"), false, true, nil), OK, "for phones", ""},
		{judgeTURN("t:3478", turn("1.1.1.1:5"), true, false, nil), OK, "relays at 1.1.1.1:5", ""},
		{judgeTURN("t:3478", turn("10.0.0.1:5"), true, false, nil), Warning, "no public address", "external-ip"},
		{judgeTURN("t:3478", netip.AddrPort{}, true, false, errors.New("401")), Wrong, "401", "static-auth-secret"},
		{judgeTURN("t:3478", netip.AddrPort{}, false, false, errors.New("timeout")), Wrong, "timeout", "ports.turn"},
		{judgeBus(nil), OK, "lets the station in", ""},
		{judgeBus(errors.New("the bus refuses our password")), Wrong, "password", "sync_token"},

		{judgeDoor(door{url: "http://x"}, 3*ms, nil), OK, "after 3ms", ""},
		{judgeDoor(door{url: "http://x"}, 2*time.Second, nil), Warning, "after 2s", "busy"},
		{judgeDoor(door{url: "http://x", setting: "ports.chat"}, 0, errors.New("refused")), Wrong, "refused", "ports.chat"},
		{judgeDoor(door{url: "http://x"}, 0, context.DeadlineExceeded), Wrong, "does not answer", "log"},

		{judgeDatabase("/db", true, "", nil), OK, "is whole", ""},
		{judgeDatabase("/db", true, "row 7 missing from index", nil), Wrong, "row 7", "backup"},
		{judgeDatabase("/db", true, "", gone), Wrong, "gone under the running station", "do not stop"},
		{judgeDatabase("/db", false, "", gone), Skipped, "first start", ""},
		{judgeDatabase("/db", false, "", store.ErrUnfinished), Skipped, "next start", ""},
		{judgeDatabase("/db", true, "", context.DeadlineExceeded), Warning, "too large", "less busy"},
		{judgeDatabase("/db", true, "", errors.New("file is not a database")), Wrong, "not a database", "backup"},
		{judgePlaylist("/m3u", 120, nil), OK, "120 entries", ""},
		{judgePlaylist("/m3u", 0, nil), Warning, "is empty", "media folder"},
		{judgePlaylist("/m3u", 0, gone), Skipped, "first start", ""},
		{judgePlaylist("/m3u", 0, playlist.ErrForeign), Wrong, "/m3u", "anew"},
		{judgeRestart(nil, nil), OK, "no setting waits", ""},
		{judgeRestart([]string{"icecast.max_clients", "name"}, nil), Warning, "icecast.max_clients (node), name (every role)", "restart the station"},
		{judgeRestart(nil, os.ErrPermission), Skipped, "permission", ""},
		{judgeKeys(&config.Config{Rotated: []string{"turn_secret 2026-03-01T10:00:00Z", "sync_token 2026-11-25T12:00:00Z until 2026-11-26T11:00:00Z s3cret"}}, now), OK, "no secret has an older one", ""},
		{judgeKeys(&config.Config{Rotated: []string{"sync_token 2026-11-25T12:00:00Z until 2026-11-26T13:00:00Z s3cret"}}, now), OK, "sync_token until 2026-11-26 13:00 UTC", ""},
		{judgeHolder(&api.NodeStanding{}), Wrong, "no node has the air", "athir node"},
		{judgeHolder(&api.NodeStanding{Name: "vm", Host: "a.example", Fence: 3}), OK, "vm, at a.example, has the air by fence 3", ""},
		{judgeHolder(&api.NodeStanding{Name: "vm", Fence: 3, OnSpare: true, TookWhy: "it died"}), Warning, "node.spare, has the air by fence 3: it died", "mend"},
		{judgeSpare(&api.NodeStanding{}, "a.example", "b.example"), Wrong, "no node stands by", "at b.example"},
		{judgeSpare(&api.NodeStanding{OnSpare: true}, "a.example", "b.example"), Wrong, "no node stands by", "at a.example"},
		{judgeSpare(standsBy(api.SpareStanding{Name: "vm2", Host: "b.example"}), "a.example", "b.example"), OK, "vm2 stands by at b.example", ""},
		{judgeSpareCopy(&api.NodeStanding{}), Skipped, "no node stands by", ""},
		{judgeSpareCopy(standsBy(api.SpareStanding{Entries: 40, InPlace: true})), OK, "all 40 entries", ""},
		{judgeSpareCopy(standsBy(api.SpareStanding{Entries: 40, Missing: 7, Bytes: 21_500_000, InPlace: true})), Warning, "7 of 40 entries (21.5 MB", "wait"},
		{judgeSpareCopy(standsBy(api.SpareStanding{Entries: 40, Missing: 40, Problem: "no room"})), Warning, "no room", "node.cache_gb"},
		{judgeSpareCopy(standsBy(api.SpareStanding{Entries: 40})), Warning, "not hold the list", "wait"},
		{judgeClocks(&api.NodeStanding{ClockMS: -3}), OK, "by -3ms", ""},
		{judgeClocks(standsBy(api.SpareStanding{ClockMS: -2500})), Warning, "the spare's by -2.5s", "set-ntp"},
		{judgeSight(&api.NodeStanding{Host: "a.example"}, 8005, nil), OK, "sees the Icecast of a.example", ""},
		{judgeSight(&api.NodeStanding{Host: "a.example", Unseen: 900}, 8005, nil), Warning, "the control plane does not see that of the node with the air, a.example", "port 8005"},
		{judgeSight(standsBy(api.SpareStanding{Host: "b.example", Unseen: 900}), 8005, gone), Warning, "the spare does not see", "port 8005"},
		{judgeSight(standsBy(api.SpareStanding{Host: "b.example"}), 8005, gone), Warning, "this machine does not see that of the spare, b.example", "port 8005"},
		{judgeSight(standsBy(api.SpareStanding{Host: "b.example"}), 8005, nil), OK, "and spare see", ""},
		{judgePart(nil, gone), Wrong, "not exist", "log"},
		{judgePart(nil, nil), Wrong, "neither", "sync_token"},
		{judgePart(&part{Spare: true, Fence: 4}, nil), OK, "stands by; the node with the air has fence 4", ""},
		{judgePart(&part{Fence: 4}, nil), OK, "has the air by fence 4", ""},
		{judgeLook(nil, nil, nil), Skipped, "not know", ""},
		{judgeLook(&part{}, nil, nil), Skipped, "node.spare", ""},
		{judgeLook(&part{Other: "b.example"}, nil, nil), OK, "b.example", ""},
		{judgeLook(&part{Other: "b.example"}, nil, gone), Warning, "does not see the Icecast of the other node, b.example", "ports.icecast"},
		{judgeRelays(relayed("", "a:1"), nil), OK, "both belong into hls.relay", ""},
		{judgeRelays(relayed("", "a:1", "b:1"), nil), OK, "a:1, b:1 answer", ""},
		{judgeRelays(relayed("", "a:1", "b:1"), []string{"b:1"}), Warning, "do not answer: b:1", "ports.hls"},
		{judgeRelays(relayed("b", "a:1"), nil), Wrong, "not the node at b", "set hls.relay: [a:1, b:1]"},
		{judgeRelays(relayed("b", "a:1", "b:1"), nil), OK, "answer", ""},
		{judgeCountries(census.State{}, now), Skipped, "geoip_file", ""},
		{judgeCountries(census.State{File: "c.mmdb", Problem: "there is no such file"}, now), Warning, "c.mmdb: there is no such file", "docs/telemetry.md"},
		{judgeCountries(census.State{File: "c.mmdb", On: true, BuiltAt: now.AddDate(0, -7, 0)}, now), Warning, "c.mmdb is of", "anew"},
		{judgeCountries(census.State{File: "c.mmdb", On: true, BuiltAt: now.AddDate(0, -1, 0)}, now), OK, "c.mmdb is of", ""},

		{judgeBackup("/b", now.Add(-5*time.Hour), now, nil), OK, "5 hours", ""},
		{judgeBackup("/b", now.Add(-80*time.Hour), now, nil), Warning, "80 hours", "log"},
		{judgeBackup("/b", time.Time{}, now, nil), Warning, "no backup", "log"},
		{judgeBackup("/b", time.Time{}, now, gone), Skipped, "there is no /b", ""},
		{judgeBackup("/b", time.Time{}, now, os.ErrPermission), Skipped, "station's user", ""},
		{judgeCopy("", copied{}, true), Skipped, "backup.continuous", ""},
		{judgeCopy("/c", copied{until: now, behind: 3 * time.Second}, true), OK, "3 seconds", ""},
		{judgeCopy("/c", copied{until: now, behind: time.Minute}, true), Wrong, "60 seconds behind", "log"},
		{judgeCopy("/c", copied{until: now, beside: true}, true), Warning, "goes with it", "another disk"},
		{judgeCopy("/c", copied{err: gone}, true), Wrong, "/c is not there", "mount"},
		{judgeCopy("/c", copied{err: context.DeadlineExceeded}, true), Wrong, "does not answer", "mount"},
		{judgeCopy("/c", copied{err: os.ErrPermission}, true), Skipped, "station's user", ""},
		{judgeCopy("/c", copied{err: store.ErrNoCopy}, false), Skipped, "/c is empty", ""},
		{judgeCopy("/c", copied{err: store.ErrNoCopy}, true), Wrong, "/c: nothing was copied", "reload"},
	} {
		r := c.got
		if r.Verdict != c.verdict || !strings.Contains(r.Seen, c.seen) || !strings.Contains(r.Remedy, c.remedy) || strings.ContainsAny(r.Seen+r.Remedy, "\n\x1b") {
			t.Errorf("%d: %s %q, remedy %q, want %s %q, %q", i, r.Verdict, r.Seen, r.Remedy, c.verdict, c.seen, c.remedy)
		}
		if r.Verdict == Wrong && r.Remedy == "" || r.Remedy != "" && (r.Verdict == OK || r.Verdict == Skipped) {
			t.Errorf("%d: %s with the remedy %q", i, r.Verdict, r.Remedy)
		}
	}
}

func standsBy(s api.SpareStanding) *api.NodeStanding {
	return &api.NodeStanding{Name: "vm", Host: "a.example", Fence: 3, Spare: &s}
}

func relayed(spare string, relays ...string) *config.Config {
	cfg := &config.Config{}
	cfg.Node.Host, cfg.Node.Spare, cfg.HLS.Relay, cfg.Ports.HLS = "a", spare, relays, 1
	return cfg
}
