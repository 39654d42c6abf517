package cli

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// asOwner refuses to work in the data directory of another user as root. The station could
// not read what root leaves there; and that user, or whoever broke into the station, could
// have root write, move and remove files of the machine by links and by the journal of a
// restore, and run a program that the settings name.
func asOwner(data, command string, uid int) error {
	dir, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if uid != 0 || err != nil {
		return nil //nolint:nilerr // what is not there is nobody's
	}
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || st.Uid == 0 {
		return nil
	}
	owner := "'#" + strconv.Itoa(int(st.Uid)) + "'" // as sudo takes it
	if u, err := user.LookupId(strconv.Itoa(int(st.Uid))); err == nil {
		owner = u.Username
	}
	return fmt.Errorf("%s belongs to the user %s: root would leave files there that the station cannot read, and trust what is in it: use sudo -u %s athir %s --data %s", dir, owner, owner, command, dir)
}
