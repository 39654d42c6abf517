package cli

import (
	"fmt"
	"os"

	"github.com/athir-radio/athir/internal/config"
)

type credentialCmd struct {
	Name string `arg:"" help:"Name of the edge: a to z, 0 to 9 and -. Each edge has one of its own."`
	Data string `help:"Data directory of the control plane." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
}

// Help says what the command does.
func (credentialCmd) Help() string {
	return `Prints a line for the settings of an edge (athir chat) on another machine. With it the
edge joins the station's bus and vouches for the addresses of its listeners, under its
own name and without the station's other keys. It changes nothing: the same name gives
the same line for as long as sync_token is the same. To let an edge in no more, add its
name to bus.refused.`
}

// Run prints the credential.
func (c credentialCmd) Run(g globals) error {
	cfg, err := config.Look(config.Source{DataDir: c.Data, Controls: true, Env: os.Environ()})
	if err != nil {
		return err
	}
	text, err := cfg.EdgeCredential(c.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.out, "bus:\n  credential: %q\n", text)
	return err
}
