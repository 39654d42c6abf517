package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// Social configures the platform of what listeners send.
type Social struct {
	Enabled  bool     `koanf:"enabled"`
	RightsAr string   `koanf:"rights_ar"`
	RightsEn string   `koanf:"rights_en"`
	PerHour  int      `koanf:"per_hour"`
	PerDay   int      `koanf:"per_day"`
	Address  int      `koanf:"address_per_hour"`
	Waiting  int      `koanf:"waiting"`
	Queue    int      `koanf:"queue"`
	Megabyte int      `koanf:"megabytes"`
	Reports  int      `koanf:"reports"`
	KeepDays int      `koanf:"keep_days"`
	Approve  []string `koanf:"approve"`
	After    int      `koanf:"approve_after"`
	Votes    int      `koanf:"approve_votes"`
	Networks []string `koanf:"networks"`
}

// approvals are the rules by which posts are approved without a moderator.
func approvals() []string { return []string{"trusted", "regulars", "voted"} }

// Needed is how much of listeners' support approves music by itself; 0 where no rule has it so.
func (s Social) Needed() int {
	if !slices.Contains(s.Approve, "voted") {
		return 0
	}
	return s.Votes
}

// leastVotes is the least that approve_votes may be: listeners whom the station does not know
// yet are three together, and anybody can make up as many as they like.
const leastVotes = 4

func (s Social) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	for name, text := range map[string]string{"ar": s.RightsAr, "en": s.RightsEn} {
		check(strings.TrimSpace(text) != "" && len(text) <= 2000, "social.rights_%s: must be a text of at most 2000 bytes", name)
	}
	between := func(name string, n, least, most int) {
		check(n >= least && n <= most, "social.%s: must be %d to %d", name, least, most)
	}
	between("per_hour", s.PerHour, 1, 1000)
	between("per_day", s.PerDay, 1, 10_000)
	between("address_per_hour", s.Address, 1, 10_000)
	between("waiting", s.Waiting, 1, 10_000)
	between("queue", s.Queue, 1, 100_000)
	between("megabytes", s.Megabyte, 1, 200)
	between("reports", s.Reports, 0, 1000)
	between("keep_days", s.KeepDays, 1, 3650)
	between("approve_after", s.After, 1, 1000)
	check(s.Votes >= leastVotes && s.Votes <= 1000, "social.approve_votes: must be %d to 1000: made-up listeners alone count as %d", leastVotes, leastVotes-1)
	for _, rule := range s.Approve {
		check(slices.Contains(approvals(), rule), "social.approve: %q is not known: use %s", rule, strings.Join(approvals(), ", "))
	}
	_, err := s.NetworkList()
	check(err == nil, "%v", err)
	return wrong
}

// NetworkList reads the networks that addresses of posts may be in besides public ones.
func (s Social) NetworkList() ([]netip.Prefix, error) {
	return networkList("social.networks", s.Networks)
}

// SocialDir holds what listeners sent and is not aired.
func (c *Config) SocialDir() string { return filepath.Join(c.DataDir, "social") }

// PostsRoot is the folder under which the mastered posts lie, as social/<type>/: the media
// folder where it is the station's own, else one beside it, since nothing is written into a
// folder of the operator's.
func (c *Config) PostsRoot() string {
	if within(c.DataDir, c.MediaDir()) {
		return c.MediaDir()
	}
	return filepath.Join(c.DataDir, "posts")
}
