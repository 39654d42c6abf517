package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
)

// The secrets that 'athir rotate' replaces under a running station, by their settings.
const (
	StationKey     = "station_key"
	SyncToken      = "sync_token"
	SourcePassword = "source_password"
	TurnSecret     = "turn_secret" //nolint:gosec // a name
)

// Rotating are the names of the secrets that can be rotated.
func Rotating() []string { return []string{StationKey, SyncToken, SourcePassword, TurnSecret} }

// Rotation is one replacement of a secret, an item of the setting rotated:
//
//	station_key 2026-03-01T10:00:00Z until 2026-03-02T10:00:00Z OLD
//	turn_secret 2026-03-01T10:00:00Z                              nothing older holds
type Rotation struct {
	Name string
	At   time.Time
	// Old holds until Until; empty where no older one does.
	Old   string
	Until time.Time
}

func (r Rotation) String() string {
	line := r.Name + " " + r.At.UTC().Format(time.RFC3339)
	if r.Old != "" {
		line += " until " + r.Until.UTC().Format(time.RFC3339) + " " + r.Old
	}
	return line
}

// parseRotation reads an item. The error does not repeat it: it holds a secret.
func parseRotation(line string) (r Rotation, err error) {
	f := strings.Fields(line)
	if len(f) != 2 && (len(f) != 5 || f[2] != "until") || len(f) > 0 && !slices.Contains(Rotating(), f[0]) {
		return r, fmt.Errorf("want NAME TIME until TIME SECRET, as 'athir rotate' writes it")
	}
	r.Name = f[0]
	if r.At, err = time.Parse(time.RFC3339, f[1]); err == nil && len(f) == 5 {
		r.Old = f[4]
		r.Until, err = time.Parse(time.RFC3339, f[3])
	}
	if err != nil {
		return r, fmt.Errorf("a time of %s is none: write it as 2026-03-01T10:00:00Z", r.Name)
	}
	return r, nil
}

// Rotations are what the settings say of secrets that were replaced, newest first.
func (c *Config) Rotations() []Rotation {
	all := make([]Rotation, 0, len(c.Rotated))
	for _, line := range c.Rotated {
		if r, err := parseRotation(line); err == nil { // validated
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Rotation) int { return b.At.Compare(a.At) })
	return all
}

func validateRotated(lines []string) (wrong []error) {
	for i, line := range lines {
		if _, err := parseRotation(line); err != nil {
			wrong = append(wrong, fmt.Errorf("rotated: item %d: %w, or remove it: what it holds then opens nothing", i+1, err))
		}
	}
	return wrong
}

// rotating holds the secrets that may be replaced while a process runs.
type rotating struct {
	all map[string]*secret.Secret

	mu      sync.Mutex
	rotated []string // the setting, as it is in force
}

// text is a secret as the settings have it.
func (c *Config) text(name string) string {
	switch name {
	case StationKey:
		return c.StationKey
	case SyncToken:
		return c.SyncToken
	case SourcePassword:
		return c.SourcePassword
	case TurnSecret:
		return c.TurnSecret
	}
	return ""
}

// old are the earlier secrets of a name that the settings have, newest first.
func (c *Config) old(name string) (all []secret.Old) {
	for _, r := range c.Rotations() {
		if r.Name == name && r.Old != "" {
			all = append(all, secret.Old{Text: r.Old, Until: r.Until})
		}
	}
	return all
}

// hold makes the secrets that this process goes by from now on.
func (c *Config) hold(now func() time.Time) {
	c.rotating = &rotating{all: map[string]*secret.Secret{}, rotated: c.Rotated}
	for _, name := range Rotating() {
		c.rotating.all[name] = secret.New(c.text(name), now, c.old(name)...)
	}
}

// Secret is one of Rotating as it is in force. The setting's own field is what it was when
// this process began.
func (c *Config) Secret(name string) *secret.Secret {
	if c.rotating != nil {
		return c.rotating.all[name]
	}
	return secret.New(c.text(name), nil, c.old(name)...)
}

// TakeSecret reads the settings once more, and puts in force the secret of a name that it finds
// there, and of all secrets what holds beside them. Another that somebody has written into
// the file stays what it was: it waits for SIGHUP, or for a restart.
func (c *Config) TakeSecret(taken string) error {
	next, err := c.Again()
	if err != nil {
		return err
	}
	if c.rotating == nil {
		return nil // made in memory, of nothing that could be read again
	}
	for name, s := range c.rotating.all {
		text := s.Current()
		if name == taken {
			text = next.text(name)
		}
		s.Take(text, next.old(name)...)
	}
	c.rotating.mu.Lock()
	defer c.rotating.mu.Unlock()
	c.rotating.rotated = next.Rotated
	return nil
}

// inForce is a copy with the secrets as they are in force.
func (c *Config) inForce() Config {
	now := *c
	if c.rotating == nil {
		return now
	}
	now.StationKey, now.SyncToken = c.Secret(StationKey).Current(), c.Secret(SyncToken).Current()
	now.SourcePassword, now.TurnSecret = c.Secret(SourcePassword).Current(), c.Secret(TurnSecret).Current()
	c.rotating.mu.Lock()
	defer c.rotating.mu.Unlock()
	now.Rotated = c.rotating.rotated
	return now
}

// SyncTokens are the SYNC_TOKENs that hold, newest first.
func (c *Config) SyncTokens() []string { return c.Secret(SyncToken).Valid() }

// FromEnvironment is the variable that a setting comes from; empty: from the file.
func (c *Config) FromEnvironment(name string) string {
	for _, kv := range slices.Backward(c.Env) {
		variable, _, _ := strings.Cut(kv, "=")
		if variable == strings.ToUpper(name) || variable == "ATHIR_"+strings.ToUpper(name) {
			return variable
		}
	}
	return ""
}

// Mark tells whether two processes hold the same secret, and not what it is.
func Mark(name, text string) string {
	h := hmac.New(sha256.New, []byte(text))
	h.Write([]byte("athir mark " + name))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
