package speech

import (
	"log/slog"
	"time"
)

// Order is the operator's choice of voices. The zero value uses every voice that
// needs no setting.
type Order struct {
	Offline      bool   // ask no voice over the network
	Voice        string // of Edge; ar-EG-SalmaNeural when empty
	Service      string // instead of Microsoft's address
	PiperProgram string // "piper" when empty
	PiperModel   string // no Piper when empty
}

// faster is how much above its natural rate every voice speaks, in percent.
const faster = 8

// Booth opens the station's voices.
func (o Order) Booth(log *slog.Logger) (*Booth, error) {
	steps, err := o.Steps()
	if err != nil {
		return nil, err
	}
	return New(Options{Steps: steps, Log: log})
}

// Steps are the station's voices in order: the Edge online voice, the
// operator's Piper model, and espeak-ng.
func (o Order) Steps() ([]Step, error) {
	var steps []Step
	if !o.Offline {
		voice := o.Voice
		if voice == "" {
			voice = "ar-EG-SalmaNeural"
		}
		e, err := NewEdge(voice, faster, o.Service)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{e, 15 * time.Second})
	}
	if o.PiperModel != "" {
		p, err := NewPiper(o.PiperProgram, o.PiperModel, faster)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{p, time.Minute}) // it loads its model each time
	}
	e, err := NewEspeak("ar", faster)
	if err != nil {
		return nil, err
	}
	return append(steps, Step{e, 30 * time.Second}), nil
}
