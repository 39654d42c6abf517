package doors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/athir-radio/athir/internal/config"
)

// sunPathMax is the longest folder path for Unix sockets on Linux: 107 bytes less the
// longest name in it.
const sunPathMax = 107 - len("/playout.sock")

// SocketDir is where this station's Unix sockets live: beside the playlist,
// or, where that path is too long for a socket, in a private folder under the
// system's temporary one that only this data directory maps to.
func SocketDir(cfg *config.Config) (string, error) {
	if dir := cfg.NodeDir(); len(dir) <= sunPathMax {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(cfg.DataDir))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("athir-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6])))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create socket folder: %w", err)
	}
	// Another user may have created it first.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("check socket folder: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || info.Mode().Perm() != 0o700 || !ok || int(st.Uid) != os.Getuid() {
		return "", fmt.Errorf("socket folder %s is not private to this user: remove it, or use a shorter --data path", dir)
	}
	return dir, nil
}

// KeepOthersOut keeps others of the machine out of a folder of sockets: nginx lets everybody connect
// to its own, and Liquidsoap for a moment. With root as the user they may still walk through,
// as Icecast, which is not root then, reads its configuration there.
func KeepOthersOut(dir string, user int) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	closed := info.Mode().Perm() &^ 0o077
	if user == 0 {
		closed |= info.Mode().Perm() & 0o011
	}
	if closed == info.Mode().Perm() {
		return nil
	}
	return os.Chmod(dir, closed)
}

// The processes that answer at a socket, which is named for each.
const (
	// Node is the supervisor.
	Node = "node"
	Desk = "desk"
	WHIP = "whip"
	// Relay answers nginx's questions at the same socket, for which that is named.
	Relay = "hook"
)

// PartSocket is the socket of a process, in SocketDir.
func PartSocket(sockets, part string) string { return filepath.Join(sockets, part+".sock") }
