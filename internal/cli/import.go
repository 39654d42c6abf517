package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/azuracast"
	"github.com/athir-radio/athir/internal/import/libretime"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/import/plan"
)

type importCmd struct {
	Azuracast importAzuracastCmd `cmd:"" help:"Bring over a station of AzuraCast: from a backup, or from the running one."`
	Libretime importLibretimeCmd `cmd:"" help:"Bring over a station of LibreTime: from a dump of its database, or from the running one."`
}

// importFlags are those of every system.
type importFlags struct {
	Source     string `arg:"" help:"A backup or dump, or the address of the running system, as https://radio.example.org." placeholder:"SOURCE"`
	Data       string `help:"Data directory of the station, which must be running." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Media      string `help:"Folder of the other station's media, where SOURCE has no files." placeholder:"DIR"`
	DryRun     bool   `help:"Print what would come over, and do nothing."`
	Lang       string `help:"Language of what is printed: en or ar." default:"en" enum:"en,ar" placeholder:"LANG"`
	JSON       bool   `name:"json" help:"Print the plan (with --dry-run) or the report as one JSON object, without progress."`
	APIKeyFile string `name:"api-key-file" help:"File with the API key of the running system." placeholder:"FILE"`
	Private    bool   `help:"SOURCE is an address of one's own network or machine."`
}

type importAzuracastCmd struct {
	Station string `help:"Which station, by name or short name, where there are several." placeholder:"NAME"`
	importFlags
}

// Help says what is read and what becomes of it.
func (importAzuracastCmd) Help() string {
	return `SOURCE is what azuracast:backup makes (.zip, .tar.gz or .tzst, with or without media),
its db.sql alone, or the address of a running AzuraCast with --api-key-file.
` + importHelp
}

const importHelp = `
Files are uploaded into the running station's library, in the category that their
folder, length and names say; what is there already is not uploaded again, and
nothing is replaced. Then come titles, cues and crosses, playlists with their times,
presenters (each gets a link to set a password) and webhooks. See docs/import.md.

Try --dry-run first. Ctrl-C stops; the same command goes on where it was, also after a
kill, and does nothing twice.`

type importLibretimeCmd struct {
	User         string `help:"Administrator's login of the running LibreTime, in place of an API key." placeholder:"LOGIN"`
	PasswordFile string `help:"File with the password of that login." placeholder:"FILE"`
	importFlags
}

// Help says what is read and what becomes of it.
func (importLibretimeCmd) Help() string {
	return `SOURCE is what pg_dump writes of the database (plain, also in .gz, .zst or .zip; name the
storage folder with --media), or the address of a running LibreTime with --api-key-file,
or with --user and --password-file.
` + importHelp
}

// Run imports from AzuraCast.
func (c importAzuracastCmd) Run(g globals) error {
	return c.run(g, origin.Options{System: azuracast.System, Station: c.Station})
}

// Run imports from LibreTime.
func (c importLibretimeCmd) Run(g globals) error {
	password, err := secretIn("--password-file", c.PasswordFile)
	if err != nil {
		return err
	}
	return c.run(g, origin.Options{System: libretime.System, User: c.User, Password: password})
}

// run reads, plans, and unless it is a dry run carries out.
func (c importFlags) run(g globals, o origin.Options) (err error) {
	cfg, err := settingsIn(c.Data)
	if err != nil {
		return err
	}
	o.Into = apply.Station{Base: "http://" + config.Local(cfg.Ports.Control), Key: cfg.StationKey}
	o.Dir, o.Look = origin.Folder(cfg.DataDir), c.DryRun
	if err := c.from(g, &o); err != nil {
		return err
	}
	i, err := origin.Open(g.ctx, o)
	var unread *origin.ReadError
	if errors.As(err, &unread) {
		return fmt.Errorf("SOURCE: %w", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	if !c.DryRun {
		return c.apply(g, i, cmp.Or(cfg.Alarms.Studio, o.Into.Base+"/studio"))
	}
	if c.JSON {
		return jsonLine(g.out, i.Plan)
	}
	return i.Plan.Print(g.out, c.Lang)
}

// from says where to read from.
func (c importFlags) from(g globals, o *origin.Options) (err error) {
	if c.Media != "" {
		if info, err := os.Stat(c.Media); err != nil || !info.IsDir() {
			return fmt.Errorf("--media: %s is no folder that can be read", c.Media)
		}
		o.Media = os.DirFS(c.Media)
	}
	if o.Key, err = secretIn("--api-key-file", c.APIKeyFile); err != nil {
		return err
	}
	if !origin.IsAddress(c.Source) {
		o.File, err = filepath.Abs(c.Source)
		return err
	}
	var host string
	if o.Address, host, err = origin.Address(c.Source); err != nil {
		return fmt.Errorf("SOURCE: %w", err)
	}
	own, err := origin.Private(g.ctx, host)
	if err != nil {
		return fmt.Errorf("SOURCE: %w", err)
	}
	if len(own) > 0 && !c.Private {
		return fmt.Errorf("SOURCE: %s is %s, which is not public: add --private if it is your own system", host, own[0].Addr())
	}
	o.Fetch = origin.Client(g.version, own, "")
	return nil
}

const longestSecret = 4096

// secretIn reads a secret from the file that a flag names; empty without one.
func secretIn(flag, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" || len(secret) > longestSecret || strings.ContainsAny(secret, "\r\n") {
		return "", fmt.Errorf("%s: %s must hold one line", flag, file)
	}
	return secret, nil
}

// apply carries the plan out, with progress, and prints what became of it.
func (c importFlags) apply(g globals, i *origin.Import, studio string) error {
	b := globals{ctx: context.WithoutCancel(g.ctx)}.bar(c.JSON, "", decor.Elapsed(decor.ET_STYLE_MMSS))
	lines := steps{quiet: c.JSON || b != nil, lang: c.Lang}
	report, err := i.Apply(g.ctx, func(p apply.Progress) {
		b.show(int64(p.Done), int64(p.Total), fmt.Sprintf("%-14s%d / %d", stageName(p.Stage, c.Lang), p.Done, p.Total), " "+printable(shortened(p.Now)))
		lines.show(p)
	})
	b.end(err == nil)
	if c.JSON {
		if failed := jsonLine(g.out, report); failed != nil {
			return failed
		}
	} else if failed := printImported(g.out, report, studio, c.Lang); failed != nil {
		return failed
	}
	if err == nil {
		return nil
	}
	again := plan.Words{En: "stopped: run the same command to go on from here", Ar: "توقف الاستيراد. شغّل الأمر نفسه ليُستكمل من حيث توقف"}.In(c.Lang)
	if g.ctx.Err() != nil && !c.JSON {
		if _, failed := fmt.Fprintln(g.out, again); failed != nil {
			return failed
		}
		return err
	}
	return fmt.Errorf("%w\n%s", err, again)
}

// shortened is the end of a path, as far as a line has room for it.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return s
}
