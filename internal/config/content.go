package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Feed is a feed and the category it is for.
type Feed struct {
	Category station.Category
	URL      string
}

// FeedList reads the feeds; the error names the first that is wrong.
func (c Content) FeedList() ([]Feed, error) {
	var out []Feed
	for _, line := range c.Feeds {
		category, address, _ := strings.Cut(strings.TrimSpace(line), " ")
		address = strings.TrimSpace(address)
		u, err := url.Parse(address)
		if !station.Category(category).Valid() || err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, fmt.Errorf("content.feeds: %q must be a category and an address, as in \"english https://example.org/feed.xml\"", hushed(line))
		}
		out = append(out, Feed{station.Category(category), address})
	}
	return out, nil
}

// NetworkList reads the networks; the error names the first that is wrong.
func (c Content) NetworkList() ([]netip.Prefix, error) {
	return networkList("content.networks", c.Networks)
}

// networkList reads the networks of a setting.
func networkList(setting string, networks []string) (out []netip.Prefix, err error) {
	for _, text := range networks {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %q must be a network, as in 192.168.1.0/24", setting, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// ProfileOf reads the loudness profile of each category that has its own.
func (l Library) ProfileOf() (map[station.Category]string, error) {
	out := map[station.Category]string{}
	for _, line := range l.Profiles {
		category, profile, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !station.Category(category).Valid() || !slices.Contains([]string{"-14", "-16", "-23"}, profile) {
			return nil, fmt.Errorf("library.profiles: %q must be a category and its loudness, as in news=-16: -14, -16 or -23", line)
		}
		out[station.Category(category)] = profile
	}
	return out, nil
}

func (c Content) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(c.RefreshHours >= 0 && c.RefreshHours <= 24*30, "content.refresh_hours: must be 0 (none) to 720")
	check(c.Inbox != "" && oneLine(c.Inbox), "content.inbox: must name a folder")
	check(c.YTDLP == "" || filepath.IsAbs(c.YTDLP), "content.yt_dlp: must be the program's absolute path")
	check(slices.Contains([]string{"refuse", "warn", "off"}, c.Speech), "content.speech: %q is not known: use refuse, warn or off", c.Speech)
	check(c.ArchiveDays >= 0, "content.archive_days: must not be negative")
	check(c.ArchiveGigabytes >= 0, "content.archive_gigabytes: must not be negative")
	if _, err := c.FeedList(); err != nil {
		wrong = append(wrong, err)
	}
	if _, err := c.NetworkList(); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// apart refuses our own folders within the media folder, whose files would go on
// air, and the media folder within ours, which files are removed from.
func (c *Config) apart() error {
	ours := []struct{ name, dir string }{
		{"content.inbox", c.InboxDir()}, {"the archive", c.ArchiveDir()}, {"the work folder", c.WorkDir()}, {"the mastered copies", c.MasteredDir()},
		{"what was sent to the chat", c.ChatMediaDir()}, {"the recordings", c.RecordingsDir()}, {"the podcasts", c.PodcastsDir()}, {"what bulletins say", c.BulletinsDir()},
		{"what listeners sent", c.SocialDir()}, {"uploads on their way", c.IntakeDir()}, {"the covers", c.CoversDir()},
	}
	wrong := []error{c.beside()}
	for i, f := range ours {
		switch {
		case within(c.MediaDir(), f.dir):
			wrong = append(wrong, fmt.Errorf("media: %s must not lie in it (%s): choose another folder", f.name, f.dir))
		case within(f.dir, c.MediaDir()):
			wrong = append(wrong, fmt.Errorf("media: must not lie in %s (%s), which files are removed from: choose another folder", f.name, f.dir))
		case i > 0 && (within(c.InboxDir(), f.dir) || within(f.dir, c.InboxDir())):
			wrong = append(wrong, fmt.Errorf("content.inbox: must lie apart from %s (%s): choose another folder", f.name, f.dir))
		}
	}
	return errors.Join(wrong...)
}

// within reports whether inner is outer or lies in it, links followed.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(followed(outer), followed(inner))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// followed is a path with its links followed, as far as it exists.
func followed(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if dir := filepath.Dir(path); err != nil && dir != path {
		return filepath.Join(followed(dir), filepath.Base(path))
	} else if err != nil {
		return path
	}
	return real
}
