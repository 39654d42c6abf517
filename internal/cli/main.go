// Package cli is the command line: the commands as typed structs, their progress,
// and what they print. Package app decides which parts run together.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/athir-radio/athir/internal/app"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
)

// commands are the command line. Their help text is the manual.
type commands struct {
	Run        runCmd        `cmd:"" help:"Run the whole station on this machine: control plane and broadcast node."`
	Control    controlCmd    `cmd:"" help:"Run the control plane only."`
	Node       nodeCmd       `cmd:"" help:"Run the broadcast node only, beside a control plane on this machine."`
	Relay      relayCmd      `cmd:"" help:"Run the HLS relay only."`
	Player     playerCmd     `cmd:"" help:"Run the web player only."`
	Chat       chatCmd       `cmd:"" help:"Run an edge only: the chat server and its pages, one of many."`
	Desk       deskCmd       `cmd:"" help:"Run the live desk only: everything live on one bus, for the engine."`
	WHIP       whipCmd       `cmd:"" name:"whip" help:"Run the server of phones that go live only: /go-live, WHIP and TURN."`
	Scan       scanCmd       `cmd:"" help:"Scan the media library into the registry, with progress."`
	Master     masterCmd     `cmd:"" help:"Master sound files for the air: measured loudness and true peak, as MP3, with progress."`
	Rotation   rotationCmd   `cmd:"" help:"Print the rotation on air, entry by entry, also while the station runs."`
	Simulate   simulateCmd   `cmd:"" help:"Air days in seconds: the real planner on a virtual clock, judged and measured."`
	Bulletin   bulletinCmd   `cmd:"" help:"Make a spoken bulletin, or print how it tells the time."`
	Imaging    imagingCmd    `cmd:"" help:"Make sweepers, drops, station IDs and stingers, mastered and tagged, with progress."`
	Content    contentCmd    `cmd:"" help:"Keep the library fresh."`
	Import     importCmd     `cmd:"" help:"Bring over a station of another system: files, playlists, presenters."`
	Backup     backupCmd     `cmd:"" help:"Copy what cannot be made again into one file, also while the station runs."`
	Restore    restoreCmd    `cmd:"" help:"Put a backup in the place of what a stopped station has."`
	Upgrade    upgradeCmd    `cmd:"" help:"Have the running station go on as this version: role by role, nobody disconnected."`
	Rotate     rotateCmd     `cmd:"" help:"Replace a secret: the old and the new one valid side by side for a time, nobody disconnected."`
	Credential credentialCmd `cmd:"" help:"Print what an edge on another machine needs to join."`
	People     peopleCmd     `cmd:"" help:"Who works at the station: users with roles, and what they ordered."`
	Alarm      alarmCmd      `cmd:"" help:"Alarms that reach the operator."`
	Doctor     doctorCmd     `cmd:"" help:"Look at the station and its machine, running or stopped, and say what is wrong."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// dataFlags are what every role needs to find its station.
type dataFlags struct {
	Data  string `help:"Data directory: settings, database, playlist. Made on the first start." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Media string `help:"Folder of the media library, instead of the one in the settings." placeholder:"DIR"`
	// Supervised: started by athir run or athir node, which has told the warnings.
	Supervised bool `hidden:""`
}

// load reads the settings and makes the logger of a role.
func (d dataFlags) load(g globals, name string) (*config.Config, *slog.Logger, bool, error) {
	resumed, err := d.resume(name)
	if err != nil {
		return nil, nil, false, err
	}
	flags, err := mediaFlag(d.Media)
	if err != nil {
		return nil, nil, false, err
	}
	supervises := name == "station" || name == "node"
	cfg, first, err := config.Load(config.Source{
		DataDir: d.Data, Controls: name == "station" || name == "control", Flags: flags, Env: os.Environ(), Last: d.Supervised, Supervises: supervises,
	})
	if errors.Is(err, config.ErrNotYAML) {
		if hint := onbackup.SettingsHint(d.Data); hint != "" {
			err = fmt.Errorf("%w\n%s", err, hint)
		}
	}
	if err != nil {
		return nil, nil, false, err
	}
	if err := role.Resume(cfg, g.process.Handover); err != nil {
		return nil, nil, false, fmt.Errorf("settings that wait for a restart: %w", err)
	}
	if err := hideEnv(cfg.Env); err != nil {
		return nil, nil, false, err
	}
	log := app.RoleLog(cfg, name)
	if resumed {
		log.Warn("a restore that was cut short is finished now", "data", cfg.DataDir)
	}
	if cfg.Unusable != "" {
		log.Error("the settings cannot be used: this process goes on with those that the station was started with", "err", cfg.Unusable, "mend", onbackup.SettingsHint(d.Data))
	}
	if !d.Supervised {
		for _, text := range cfg.Warnings {
			log.Warn(text)
		}
	}
	return cfg, log, first, nil
}

// settingsIn reads the settings of a station for a command that makes nothing.
func settingsIn(data string) (*config.Config, error) {
	cfg, err := config.Look(config.Source{DataDir: data, Env: os.Environ()})
	if err != nil && !errors.Is(err, config.ErrNoStation) {
		err = fmt.Errorf("settings: %w", err)
	}
	return cfg, err
}

// mediaFlag is the flag --media as a setting.
func mediaFlag(folder string) (map[string]any, error) {
	if folder == "" {
		return map[string]any{}, nil
	}
	abs, err := filepath.Abs(folder)
	return map[string]any{"media": abs}, err
}

// hideEnv removes settings from the environment: what we run next must not find the keys
// there.
func hideEnv(settings []string) error {
	for _, kv := range settings {
		name, _, _ := strings.Cut(kv, "=")
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("clear environment variable %s: %w", name, err)
		}
	}
	return nil
}

// resume finishes a restore that was cut short, for the roles that would otherwise run on
// half of it.
func (d dataFlags) resume(role string) (bool, error) {
	switch role {
	case "station", "control", "node", "scan":
		return onbackup.Resume(d.Data)
	}
	return false, nil
}

// Process is what a command line needs of the process that it runs in.
type Process struct {
	Version  string
	Args     []string // without the program's own name
	Out      io.Writer
	Handover *reexec.Handover // to the program that takes this one's place; may be nil
	Thread   *proc.Thread     // starts what is to outlive this program; may be nil
}

// globals is what every command gets besides its flags.
type globals struct {
	ctx     context.Context //nolint:containedctx // lives as long as one command
	process Process
	version string
	out     io.Writer
}

// Main runs the command that the arguments name and returns when it is done.
func Main(ctx context.Context, p Process) error {
	args, out := p.Args, p.Out
	var c commands
	code := -1
	parser, err := kong.New(&c,
		kong.Name("athir"),
		kong.Description("One internet radio station, end to end. على الأثير"),
		kong.Writers(out, os.Stderr),
		kong.Exit(func(n int) { code = n }),
		kong.UsageOnError(),
	)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help": // athir help backup
		args = append(slices.Clone(args[1:]), "--help")
	}
	k, err := parser.Parse(args)
	if code == 0 { // help was asked for, and given
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: see 'athir --help'", err)
	}
	err = k.Run(globals{ctx, p, p.Version, out})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

type versionCmd struct {
	JSON     bool   `help:"Print it as JSON, with the step that upgrades go by."`
	Settings string `help:"Also read the settings of a data directory, as an upgrade would." placeholder:"DIR"`
}

// Run prints the version.
func (c versionCmd) Run(g globals) error {
	if c.Settings != "" {
		if _, _, err := config.Load(config.Source{DataDir: c.Settings, Env: os.Environ()}); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(g.out).Encode(role.Program{Version: g.version, Step: reexec.Step})
	}
	_, err := fmt.Fprintln(g.out, "athir", g.version)
	return err
}
