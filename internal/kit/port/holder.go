package port

// Holder returns the process that listens on a port of this machine, and its command: 0
// where it is another user's. It makes no connection.
func Holder(number int) (pid int, command string, listens bool) {
	if !Listening(number) {
		return 0, "", false
	}
	pid, command = holder(number)
	return pid, command, true
}
