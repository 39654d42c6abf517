// Package rekey replaces a secret of a station: in the settings, and in the roles that run,
// which hold the old one beside the new for a while. Nobody is disconnected.
package rekey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// Options of a rotation.
type Options struct {
	Config  *config.Config // of the station, as its file says now
	Sockets string         // the folder of the station's sockets
	New     config.NewSecret
	// Show is called with each role that was asked.
	Show func(Step)
}

// Step is one role's part.
type Step struct {
	Role string `json:"role"`
	// Outcome is "took it" or "did not".
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
}

// Result is what a rotation has done.
type Result struct {
	Secret string `json:"secret"`
	File   string `json:"file"`
	// Until is when the old one ends; the zero value where it has ended.
	Until time.Time `json:"old_valid_until,omitzero"`
	// Same: the new one was in force already, and only the roles were told.
	Same  bool   `json:"same,omitempty"`
	Roles []Step `json:"roles"`
	// ByHand is what is left to do elsewhere.
	ByHand []string `json:"by_hand"`
}

// takeWithin is how long a role may take, which may just be going on as another program.
const takeWithin = time.Minute

var errNotAll = errors.New("the settings have the new secret, and not every role has taken it: send SIGHUP to the station (systemctl reload athir), or run this again with the same value from --value-stdin")

// Run replaces a secret.
func Run(ctx context.Context, o Options) (Result, error) {
	name, res := o.New.Name, Result{Secret: o.New.Name, File: o.Config.File(), ByHand: ByHand(o.Config, o.New.Name)}
	if variable := o.Config.FromEnvironment(name); variable != "" {
		return res, fromEnvironment(name, variable, "this command's environment has")
	}
	if name == config.TurnSecret && len(o.Config.Live.TURNServers) > 0 && o.New.Value == "" {
		return res, errors.New("turn_secret: the TURN servers of live.turn_servers must know the new one before phones show it: add one to them first (coturn: another static-auth-secret), and give it to this command with --value-stdin")
	}
	if name == config.SourcePassword && o.Config.HLS.MediaMTX != "" {
		return res, errors.New("source_password: MediaMTX (hls.mediamtx) reads it once, and would refuse the HLS bridge: write another into the settings and restart the station")
	}
	names, err := running(ctx, o, name)
	if err != nil {
		return res, err
	}
	value, done, err := config.Rotate(o.Config.DataDir, o.New)
	if res.Same = errors.Is(err, config.ErrSame); err != nil && !res.Same {
		return res, err
	}
	res.Until = done.Until
	failed := false
	for _, n := range names {
		step := Step{Role: n, Outcome: "took it"}
		held, err := take(ctx, o.Sockets, n, name, value)
		switch {
		case errors.Is(err, role.ErrAway): // it reads the file as it starts
			continue
		case err != nil:
			step.Outcome, step.Detail, failed = "did not", err.Error(), true
		default:
			step.Detail = held.Note
		}
		res.Roles = append(res.Roles, step)
		if o.Show != nil {
			o.Show(step)
		}
	}
	if failed {
		return res, errNotAll
	}
	return res, nil
}

func fromEnvironment(name, variable, who string) error {
	return fmt.Errorf("%s: %s it from the variable %s, which wins over the settings: change it there and restart the station, or remove the variable, write %s into the settings and rotate that", name, who, variable, name)
}

// order is that of the roles: who is shown a secret learns of the new one before those that
// show it.
func order(secret string) []string {
	if secret == config.SourcePassword {
		return []string{"node", "station", "desk", "relay", "whip", "player", "chat", "control"}
	}
	return []string{"control", "node", "station", "desk", "relay", "whip", "player", "chat"}
}

// running are the roles that are to be told, in order. It refuses before anything is written
// what could not be done.
func running(ctx context.Context, o Options, secret string) (names []string, err error) {
	all, err := role.Sockets(o.Sockets)
	if err != nil {
		return nil, fmt.Errorf("look for the station's roles: %w", err)
	}
	for _, n := range all {
		c := role.NewClient(o.Sockets, n)
		held, err := c.Secrets(ctx)
		c.Close()
		switch {
		case errors.Is(err, role.ErrAway):
			continue
		case errors.Is(err, role.ErrOlder):
			return nil, fmt.Errorf("%s: %w: run 'athir upgrade' first", n, err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w: nothing was changed", n, err)
		}
		if variable := held.Environment[secret]; variable != "" {
			return nil, fromEnvironment(secret, variable, "the running "+n+" has")
		}
		// The old one to keep is the file's: where that is in force nowhere yet, another is.
		if in := o.Config.Secret(secret).Current(); behind(held, secret, in) && o.New.Value != in {
			return nil, fmt.Errorf("%s: athir.yaml has another than the running %s: somebody changed it there; put it in force first (SIGHUP, or a restart), or take it back", secret, n)
		}
		names = append(names, n)
	}
	want := order(secret)
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(want, a) - slices.Index(want, b) })
	return names, nil
}

// take has a role take the secrets of the settings, until it says that it goes by the new one.
func take(ctx context.Context, sockets, name, secret, value string) (held role.Held, err error) {
	ctx, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	c := role.NewClient(sockets, name)
	defer c.Close()
	var last error
	err = retry.Until(ctx, func(ctx context.Context) error {
		held, last = c.TakeSecret(ctx, secret)
		switch {
		case errors.Is(last, role.ErrAway), errors.Is(last, role.ErrOlder):
			return nil // no other answer will come
		case last != nil:
		case behind(held, secret, value):
			last = errors.New("it goes by another secret than the settings have")
		}
		return last
	})
	return held, errors.Join(last, err)
}

// ByHand is what an operator has to do where this command does not reach.
func ByHand(cfg *config.Config, name string) (all []string) {
	switch name {
	case config.StationKey:
		all = append(all, "the studio in each browser, and scripts and proxies that send x-station-key: give them the new key")
	case config.SyncToken:
		all = append(all, "each other machine that has the sync_token: run 'athir rotate sync_token --value-stdin' there with the new value",
			"each edge with a bus.credential, which is made of it: give it what 'athir credential NAME' prints now")
		if cfg.Bus.URL != "" && !cfg.Bus.Foreign() {
			all = append(all, "the bus at "+cfg.Bus.URL+" is another machine's: rotate there first")
		}
	case config.SourcePassword:
		all = append(all, "each encoder that logs in as user source (ports.icecast, ports.live, ports.harbor, RTMP): give it the new password")
		if cfg.Node.Remote || cfg.Bus.URL != "" {
			all = append(all, "the other machine of the station: run 'athir rotate source_password --value-stdin' there with the new value, on that of the node before that of the control plane")
		}
	case config.TurnSecret:
		if len(cfg.Live.TURNServers) > 0 {
			all = append(all, strings.Join(cfg.Live.TURNServers, ", ")+": remove the old static-auth-secret once the old one has ended here")
		}
		if cfg.Node.Remote || cfg.Bus.URL != "" {
			all = append(all, "nothing else: only the machine on which athir whip runs has a use for it")
		}
	}
	return all
}

// State is what is known of a secret, and not what it is.
type State struct {
	Secret string `json:"secret"`
	// Set: there is one.
	Set bool `json:"set"`
	// Environment is the variable that it comes from.
	Environment string `json:"environment,omitempty"`
	// Rotated is when it was last replaced by this command; zero: not known.
	Rotated time.Time `json:"rotated,omitzero"`
	// OldUntil is when the last of the old ones ends; zero: none holds.
	OldUntil time.Time `json:"old_valid_until,omitzero"`
	// Behind are the running roles that go by another than the settings have.
	Behind []string `json:"behind,omitempty"`
}

// States tells of each secret, from the settings and from the roles that run.
func States(ctx context.Context, cfg *config.Config, sockets string, now time.Time) []State {
	held := heldByAll(ctx, sockets)
	var all []State
	for _, name := range config.Rotating() {
		secret := cfg.Secret(name)
		s := State{Secret: name, Set: secret.Set(), Environment: cfg.FromEnvironment(name)}
		for _, r := range cfg.Rotations() {
			if r.Name != name {
				continue
			}
			if s.Rotated.IsZero() {
				s.Rotated = r.At
			}
			if r.Old != "" && now.Before(r.Until) && r.Until.After(s.OldUntil) {
				s.OldUntil = r.Until
			}
		}
		for _, h := range held {
			switch {
			case h.Environment[name] != "":
				s.Environment = h.Environment[name]
			case behind(h, name, secret.Current()):
				s.Behind = append(s.Behind, h.Role)
			}
		}
		all = append(all, s)
	}
	return all
}

// behind reports whether a role goes by another secret than this.
func behind(h role.Held, name, text string) bool {
	marks := h.Marks[name]
	return (text != "") != (len(marks) > 0) || len(marks) > 0 && marks[0] != config.Mark(name, text)
}

// heldByAll asks the roles that run. Who cannot be asked is left out.
func heldByAll(ctx context.Context, sockets string) (all []role.Held) {
	names, err := role.Sockets(sockets)
	if err != nil {
		return nil
	}
	for _, n := range names {
		c := role.NewClient(sockets, n)
		if h, err := c.Secrets(ctx); err == nil {
			all = append(all, h)
		}
		c.Close()
	}
	return all
}
