package desk

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/azuracast"
	"github.com/athir-radio/athir/internal/import/libretime"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/station"
)

// System names another system in orders.
type System string

// Systems.
const (
	AzuraCast System = "azuracast"
	LibreTime System = "libretime"
)

// Order says what is imported.
type Order struct {
	System   System `json:"system" enum:"azuracast,libretime"`
	File     string `json:"file,omitempty" maxLength:"64" doc:"An upload; or address"`
	Address  string `json:"address,omitempty" maxLength:"2000" doc:"Of a running system, as https://radio.example.org"`
	Key      string `json:"key,omitempty" maxLength:"4096" doc:"Its API key; kept nowhere"`
	User     string `json:"user,omitempty" maxLength:"200" doc:"Of LibreTime, in place of a key: an administrator's login"`
	Password string `json:"password,omitempty" maxLength:"4096" doc:"Of that one; kept nowhere"`
	Station  string `json:"station,omitempty" maxLength:"200" doc:"Which one, by name, where there are several"`
}

// tidy leaves out what comes with a paste.
func (o Order) tidy() Order {
	for _, s := range []*string{&o.Address, &o.Key, &o.User, &o.Station} {
		*s = strings.TrimSpace(*s)
	}
	return o
}

func (o Order) system() string {
	if o.System == LibreTime {
		return libretime.System
	}
	return azuracast.System
}

// Check refuses an order that cannot be carried out, with the field that is wrong.
func (d *Desk) Check(o Order) error {
	if err := d.ready(); err != nil {
		return err
	}
	o = o.tidy()
	switch {
	case o.System != AzuraCast && o.System != LibreTime:
		return station.Wrong("system", "must be azuracast or libretime", "النظام هو azuracast أو libretime")
	case (o.File == "") == (o.Address == ""):
		return station.Wrong("file", "upload a file, or give an address: one of the two", "ارفع ملفًا أو اكتب عنوانًا، واكتفِ بأحدهما")
	case o.File != "":
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.files[o.File] == nil {
			return noFile()
		}
		return nil
	}
	u, err := url.Parse(o.Address)
	if err != nil || !origin.IsAddress(o.Address) || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return station.Wrong("address", "must be as https://radio.example.org, without a login and without ?", "اكتب العنوان مثل https://radio.example.org، بلا اسم مستخدم ولا علامة استفهام")
	}
	return o.opens()
}

// opens checks what opens a running system.
func (o Order) opens() error {
	odd := func(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) }
	switch {
	case odd(o.Key):
		return station.Wrong("key", "must be one line", "المفتاح سطر واحد")
	case o.System == AzuraCast && o.Key == "":
		return station.Wrong("key", "must be given: make one in AzuraCast under My Account, API Keys", "اكتب مفتاح API. أنشئه في AzuraCast من صفحة My Account ضمن API Keys")
	case o.System == LibreTime && o.Key == "" && o.User == "":
		return station.Wrong("key", "must be given, or an administrator's login in its place", "اكتب مفتاح API، أو اسم مستخدم مدير وكلمة مروره")
	case o.User != "" && (strings.Contains(o.User, ":") || odd(o.User)):
		return station.Wrong("user", "cannot have a colon, and must be one line", "اسم المستخدم سطر واحد بلا نقطتين رأسيتين (:)")
	case o.User != "" && o.Key == "" && o.Password == "":
		return station.Wrong("password", "must be given", "اكتب كلمة المرور")
	}
	return nil
}

// work is an order that is being carried out.
type work struct {
	desk  *Desk
	order Order
	file  held
	path  string // of the file
	api   apply.Station
}

// open reads and plans. close is to be called where there is no error.
func (d *Desk) open(ctx context.Context, o Order, look bool) (w *work, i *origin.Import, end func(), err error) {
	o = o.tidy()
	w = &work{desk: d, order: o, api: d.opt.Station()}
	if err := d.Check(o); err != nil {
		return w, nil, nil, err
	}
	opt := origin.Options{
		System: o.system(), Station: o.Station, Into: w.api, Dir: d.opt.Dir, Temp: d.dir, Look: look,
	}
	release, opened := func() {}, false
	defer func() {
		if !opened {
			release()
		}
	}()
	if o.File != "" {
		h, done, err := d.use(o.File)
		if err != nil {
			return w, nil, nil, err
		}
		w.file, release = h, done
		w.path = filepath.Join(d.dir, w.file.ID)
		opt.File = w.path
	} else {
		if opt.Address, _, err = origin.Address(o.Address); err != nil {
			return w, nil, nil, err
		}
		opt.Key, opt.User, opt.Password, opt.Fetch = o.Key, o.User, o.Password, d.opt.Fetch
	}
	if i, err = origin.Open(ctx, opt); err != nil {
		return w, nil, nil, err
	}
	opened = true
	return w, i, func() {
		if err := i.Close(); err != nil {
			d.opt.Log.Warn("an import leaves something behind: it is removed at the next start", "err", err)
		}
		release()
	}, nil
}

// Plan says what an import would do, and changes nothing. Where the source has several stations
// and none is named, what it returns with the error has their names.
func (d *Desk) Plan(ctx context.Context, o Order) (Planned, error) {
	w, i, end, err := d.open(ctx, o, true)
	if err != nil {
		return w.unplanned(ctx, err)
	}
	defer end()
	return w.planned(i.Plan), nil
}

// Apply imports. What it returns is what was done also where an error stops it.
func (d *Desk) Apply(ctx context.Context, o Order, show func(apply.Progress)) (Report, error) {
	w, i, end, err := d.open(ctx, o, false)
	if err != nil {
		err = w.failed(ctx, err)
		return w.report(apply.Report{Stopped: true}, err), err
	}
	defer end()
	done, err := i.Apply(ctx, func(p apply.Progress) {
		p.Now = w.plain(p.Now)
		show(p)
	})
	d.give(done)
	err = w.failed(ctx, err)
	return w.report(done, err), err
}
