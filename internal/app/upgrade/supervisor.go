package upgrade

import (
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/node/supervise"
)

// supervisorEstate names what a supervisor leaves to the next one.
const supervisorEstate = "supervisor"

// Estate is what a supervisor leaves to the next program of its process, beside the ends of
// its children's pipes.
type Estate struct {
	Program           string // identity of the supervisor's
	RTMP, MediaMTXAPI string // where the programs that go on listen
	Sources           string // where Icecast asks about sources; empty of an earlier version
	Bridged           time.Time
	Programs          []leftProgram
}

type leftProgram struct {
	Status supervise.Status
	PID    int
	Began  time.Time
}

func outOf(program string) string { return program + " stdout" }
func errOf(program string) string { return program + " stderr" }

// Inherit reads what the supervisor before left; ok is false where there was none.
func Inherit(h *reexec.Handover) (e Estate, left []supervise.Left, ok bool) {
	if !h.Read(supervisorEstate, &e) {
		return e, nil, false
	}
	for _, p := range e.Programs {
		name := p.Status.Name
		left = append(left, supervise.Left{Status: p.Status, Child: proc.Kept{
			PID: p.PID, Began: p.Began, Out: h.Take(outOf(name)), Err: h.Take(errOf(name)),
		}})
	}
	return e, left, true
}

// Bequeath leaves the running programs of a supervisor to the next one, if there is to be
// one. The programs and the identity are filled in.
func Bequeath(h *reexec.Handover, super *supervise.Supervisor, e Estate) error {
	if !h.Leaving() {
		return nil
	}
	e.Program = role.Identity(h.Self())
	for _, l := range super.Left() {
		e.Programs = append(e.Programs, leftProgram{Status: l.Status, PID: l.Child.PID, Began: l.Child.Began})
		if l.Child.Out != nil {
			h.Leave(outOf(l.Status.Name), l.Child.Out)
		}
		if l.Child.Err != nil {
			h.Leave(errOf(l.Status.Name), l.Child.Err)
		}
	}
	return h.Write(supervisorEstate, e)
}
