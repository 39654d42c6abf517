package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/people"
)

type peopleCmd struct {
	List  peopleListCmd  `cmd:"" help:"Print who works at the station, with role and last login."`
	Add   peopleAddCmd   `cmd:"" help:"Add a user, and print the link by which that one sets a password."`
	Link  peopleLinkCmd  `cmd:"" help:"Print another link by which a user sets a password: the old one is forgotten."`
	Reset peopleResetCmd `cmd:"" help:"End a user's second factor, passkeys and sessions: the phone is lost."`
	Log   peopleLogCmd   `cmd:"" help:"Print who ordered what, the newest last."`
}

// atStation are the flags of commands that ask the running station.
type atStation struct {
	Data string `help:"Data directory of the station, which must be running." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	JSON bool   `name:"json" help:"Print the answer as JSON."`
}

// reach is the API of the station, and the address of its studio.
func (a atStation) reach() (*remote, string, error) {
	cfg, err := settingsIn(a.Data)
	if err != nil {
		return nil, "", err
	}
	base := "http://" + config.Local(cfg.Ports.Control)
	return &remote{base: base, key: cfg.StationKey}, cmp.Or(cfg.Alarms.Studio, base+"/studio"), nil
}

// everybody is who works at the station, as the API answers it.
type everybody struct {
	Users []people.User `json:"users"`
}

func (r *remote) everybody(g globals) (all everybody, err error) {
	err = r.call(g.ctx, http.MethodGet, "/api/people", nil, &all)
	return all, err
}

// find returns a user by login.
func (r *remote) find(g globals, login string) (people.User, error) {
	all, err := r.everybody(g)
	if err != nil {
		return people.User{}, err
	}
	var logins []string
	for _, u := range all.Users {
		if strings.EqualFold(u.Login, login) {
			return u, nil
		}
		logins = append(logins, u.Login)
	}
	if len(logins) == 0 {
		return people.User{}, errors.New("the station has no users yet: add one with athir people add")
	}
	return people.User{}, fmt.Errorf("LOGIN: there is no user %q: there are %s", login, strings.Join(logins, ", "))
}

// order gives an order about a user.
func (r *remote) order(g globals, login, what string, into any) error {
	u, err := r.find(g, login)
	if err != nil {
		return err
	}
	return r.call(g.ctx, http.MethodPost, "/api/people/"+url.PathEscape(u.ID)+"/"+what, nil, into)
}

type peopleListCmd struct{ atStation }

// Run prints all users.
func (c peopleListCmd) Run(g globals) error {
	r, _, err := c.reach()
	if err != nil {
		return err
	}
	all, err := r.everybody(g)
	if err != nil {
		return err
	}
	if c.JSON {
		return jsonLine(g.out, all)
	}
	if len(all.Users) == 0 {
		_, err := fmt.Fprintln(g.out, "nobody yet: the station key gives all orders; add somebody with athir people add")
		return err
	}
	return table(g.out, 0, func(w io.Writer) {
		_, _ = fmt.Fprintln(w, "login\tname\trole\tsecond factor\tlast login\t")
		for _, u := range all.Users {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t\n", u.Login, u.Name, u.Role, factorsOf(u), lastSeen(u))
		}
	})
}

func factorsOf(u people.User) string {
	var has []string
	if u.TOTP {
		has = append(has, "app")
	}
	if u.Passkeys > 0 {
		has = append(has, fmt.Sprintf("%d passkeys", u.Passkeys))
	}
	return cmp.Or(strings.Join(has, ", "), "none")
}

func lastSeen(u people.User) string {
	switch {
	case u.Locked:
		return "locked"
	case u.SeenAt > 0:
		return time.UnixMilli(u.SeenAt).Format("2006-01-02 15:04")
	case u.Invited > 0:
		return "invited until " + time.UnixMilli(u.Invited).Format("2006-01-02 15:04")
	}
	return "never"
}

type peopleAddCmd struct {
	Login string `arg:"" help:"What is typed to log in, without spaces: a name or an address."`
	Role  string `help:"owner, programme, moderator, presenter or viewer." required:"" placeholder:"ROLE"`
	Name  string `help:"What others see. None: the login." placeholder:"NAME"`
	atStation
}

// Run adds a user.
func (c peopleAddCmd) Run(g globals) error {
	r, studio, err := c.reach()
	if err != nil {
		return err
	}
	order, err := json.Marshal(map[string]string{"login": c.Login, "name": c.Name, "role": c.Role})
	if err != nil {
		return err
	}
	var made people.Invitation
	if err := r.call(g.ctx, http.MethodPost, "/api/people", order, &made); err != nil {
		return err
	}
	return c.printLink(g.out, studio, made)
}

// printLink prints a link for whom it is.
func (a atStation) printLink(out io.Writer, studio string, made people.Invitation) error {
	link := studio + "#/invited/" + made.Token
	if a.JSON {
		return jsonLine(out, map[string]any{"user": made.User, "link": link, "until": made.Until})
	}
	_, err := fmt.Fprintf(out, "%s (%s) sets a password at this address, until %s:\n%s\n",
		made.User.Login, made.User.Role, time.UnixMilli(made.Until).Format("2006-01-02 15:04"), link)
	return err
}

type peopleLinkCmd struct {
	Login string `arg:"" help:"Whose."`
	atStation
}

// Run makes another link.
func (c peopleLinkCmd) Run(g globals) error {
	r, studio, err := c.reach()
	if err != nil {
		return err
	}
	var made people.Invitation
	if err := r.order(g, c.Login, "invite", &made); err != nil {
		return err
	}
	return c.printLink(g.out, studio, made)
}

type peopleResetCmd struct {
	Login string `arg:"" help:"Whose."`
	atStation
}

// Run ends a user's factors.
func (c peopleResetCmd) Run(g globals) error {
	r, _, err := c.reach()
	if err != nil {
		return err
	}
	var u people.User
	if err := r.order(g, c.Login, "factors/remove", &u); err != nil {
		return err
	}
	if c.JSON {
		return jsonLine(g.out, u)
	}
	_, err = fmt.Fprintf(g.out, "%s logs in with the password alone now; is that lost, too: athir people link %s\n", u.Login, u.Login)
	return err
}

type peopleLogCmd struct {
	User  string `help:"Of this login alone." placeholder:"LOGIN"`
	Lines int    `help:"How many." default:"50" placeholder:"N"`
	atStation
}

// Run prints the log of orders.
func (c peopleLogCmd) Run(g globals) error {
	r, _, err := c.reach()
	if err != nil {
		return err
	}
	query := url.Values{"limit": {fmt.Sprint(min(max(c.Lines, 1), 500))}}
	if c.User != "" {
		u, err := r.find(g, c.User)
		if err != nil {
			return err
		}
		query.Set("user", u.ID)
	}
	var page struct {
		Orders []people.Order `json:"orders"`
	}
	if err := r.call(g.ctx, http.MethodGet, "/api/people/orders?"+query.Encode(), nil, &page); err != nil {
		return err
	}
	if c.JSON {
		return jsonLine(g.out, page)
	}
	return table(g.out, 0, func(w io.Writer) {
		for i := len(page.Orders) - 1; i >= 0; i-- {
			o := page.Orders[i]
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t\n", time.UnixMilli(o.At).Format("2006-01-02 15:04:05"),
				o.Who(), outcome(o.Status), o.Order, printable(o.Target), printable(o.Detail))
		}
	})
}

func outcome(status int) string {
	if status == 0 {
		return "?"
	}
	return fmt.Sprint(status)
}

// printable keeps what somebody sent from steering a terminal.
func printable(text string) string { return strings.Trim(fmt.Sprintf("%q", text), `"`) }
