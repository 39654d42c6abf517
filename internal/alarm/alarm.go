// Package alarm has the words that the parts share which tell an operator of trouble: the
// kinds of alarms, a message, and why a receiver did not take it. It sends nothing.
package alarm

import (
	"context"
	"time"
)

// Kind is what an alarm is about. The dead-air guard's kinds have its own names.
type Kind string

// The kinds.
const (
	Gone        Kind = "gone"
	Starved     Kind = "starved"
	Silence     Kind = "silence"
	Frozen      Kind = "frozen"
	Unreachable Kind = "unreachable"
	Playlist    Kind = "playlist"
	Emergency   Kind = "emergency"
	Database    Kind = "database"
	DiskFull    Kind = "disk_full"
	DiskLow     Kind = "disk_low"
	Program     Kind = "program"
	Bus         Kind = "bus"
	Certificate Kind = "certificate"
	Backup      Kind = "backup"
	OnSpare     Kind = "on_spare"
	NoSpare     Kind = "no_spare"
)

// Kinds lists all of them, what listeners hear first.
func Kinds() []Kind {
	return []Kind{Gone, Silence, Frozen, Starved, Emergency, Unreachable, Database, DiskFull, OnSpare, Program, Bus, Playlist, NoSpare, Backup, Certificate, DiskLow}
}

// Message is plain text for one receiver.
type Message struct {
	Subject string // one line
	Text    string // with its subject's words, for receivers that have no subject
}

// Receiver takes messages on behalf of the operator.
type Receiver struct {
	Name    string // as in the settings: email, telegram, discord
	Longest int    // of Message.Text, in UTF-16 units; 0: no bound
	// Send returns nil once the message is accepted, and a *Failure otherwise. It ends with
	// ctx.
	Send func(ctx context.Context, m Message) error
}

// Failure says why a message was not taken. Neither text holds a secret.
type Failure struct {
	Why    string
	Remedy string // names the setting; empty where nobody can act
	// Lasting: it recurs until somebody acts.
	Lasting bool
	// Perhaps: the message may have arrived all the same.
	Perhaps bool
	// After is how long the receiver asks to be left alone; 0: it does not say.
	After time.Duration
}

func (f *Failure) Error() string {
	if f.Remedy == "" {
		return f.Why
	}
	return f.Why + ": " + f.Remedy
}
