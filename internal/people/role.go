package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Right is what an order needs.
type Right uint8

const (
	Look      Right = 1 << iota // see how the station stands: what an operator may show everybody
	Inside                      // see what is for those who work here: recordings, accounts, what listeners wrote
	Requests                    // songs that listeners ask for
	Air                         // what airs now: live, skip, play, the queue
	Moderate                    // posts and messages of listeners
	Programme                   // library, rotation, production, configuration
	Own                         // people, alarms, webhooks
)

// All are the rights of the station key.
const All = Look | Inside | Requests | Air | Moderate | Programme | Own

// names of the rights, in the order of their bits, as the API has them.
func names() []string {
	return []string{"look", "inside", "requests", "air", "moderate", "programme", "own"}
}

// Names lists rights as the API has them, the least first.
func (r Right) Names() []string {
	out := []string{}
	for bit, name := range names() {
		if r&(1<<bit) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Has reports whether all of some rights are there.
func (r Right) Has(want Right) bool { return r&want == want }

// Role is a name for rights that go together.
type Role string

const (
	Owner      Role = "owner"
	Programmer Role = "programme"
	Moderator  Role = "moderator"
	Presenter  Role = "presenter"
	Viewer     Role = "viewer"
)

// Roles are all of them, the strongest first.
func Roles() []Role { return []Role{Owner, Programmer, Moderator, Presenter, Viewer} }

// Rights are what a role may do; none for one that is not known.
func (r Role) Rights() Right {
	switch r {
	case Owner:
		return All
	case Programmer:
		return All &^ Own
	case Moderator:
		return Look | Inside | Requests | Moderate
	case Presenter:
		return Look | Inside | Requests | Air
	case Viewer:
		return Look | Inside
	}
	return 0
}

// Words name a role in English and in Arabic, for sentences.
func (r Role) Words() (en, ar string) {
	switch r {
	case Owner:
		return "owner", "المالك"
	case Programmer:
		return "programme", "مدير البرامج"
	case Moderator:
		return "moderator", "المشرف"
	case Presenter:
		return "presenter", "المقدّم"
	}
	return "viewer", "المشاهد"
}

func (r Role) check() error {
	if slices.Contains(Roles(), r) {
		return nil
	}
	all := make([]string, 0, len(Roles()))
	for _, one := range Roles() {
		all = append(all, string(one))
	}
	return station.Wrong("role", fmt.Sprintf("must be one of %s, not %.40q", strings.Join(all, ", "), r), "اختر دورًا من القائمة")
}
