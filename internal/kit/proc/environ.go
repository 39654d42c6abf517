package proc

import (
	"os"
	"slices"
	"strings"
)

// environ is our environment without what systemd told this process alone: a child would
// speak to it in our name.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "NOTIFY_SOCKET" || name == "WATCHDOG_USEC" || name == "WATCHDOG_PID"
	})
}
