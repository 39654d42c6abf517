package desk

import (
	"context"
	"io"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/input"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// openBed keeps the bed of the show running while there is one. The caller holds mu.
func (d *Desk) openBed() {
	name := ""
	if s := d.mix.Show(time.Now()); s != nil {
		name = s.Bed
	}
	if name == d.bedName {
		return
	}
	if d.bed != nil {
		d.bed.cancel()
		d.bed = nil
		d.mix.Bed(nil)
	}
	if d.bedName = name; name == "" {
		return
	}
	ctx, cancel := context.WithCancel(d.life)
	r := &running{src: live.Source{ID: "bed"}, tape: tape.New(), cancel: cancel}
	d.bed = r
	d.mix.Bed(r.tape)
	d.all.Go(func() error {
		b := &bed{name: name, here: d.opt.Bed}
		defer b.leave()
		d.keep(ctx, r, b)
		return nil
	})
}

// bed is a file that plays again and again, once it is on this machine.
type bed struct {
	name string
	here func(ctx context.Context, name string) (path string, done func(), err error)
	done func() // of the file that played last; nil: there is none
}

// Run implements input.Input. The file is held until the next Run has it too: one that
// breaks off is played again, and is not to be fetched again for that.
func (b *bed) Run(ctx context.Context, out io.Writer) error {
	path := b.name
	if b.here != nil {
		at, done, err := b.here(ctx, b.name)
		if err != nil {
			return err
		}
		b.leave()
		path, b.done = at, done
	}
	return (&input.Loop{Path: path}).Run(ctx, out)
}

// leave lets the file go.
func (b *bed) leave() {
	if b.done != nil {
		b.done()
		b.done = nil
	}
}
