// Package bustest lets tests into a bus.
package bustest

import "github.com/athir-radio/athir/internal/kit/bus"

// Admit lets in whoever shows the token, and to everything.
func Admit(token string) func(bus.Login) (bus.Rights, bool) {
	return func(shown bus.Login) (bus.Rights, bool) {
		return bus.Rights{Publish: []string{">"}, Subscribe: []string{">"}}, shown.Token == token
	}
}
