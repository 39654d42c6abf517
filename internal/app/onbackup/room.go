package onbackup

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
)

// Reserve is what a backup leaves free of a disk: 256 MiB, but 5 % at most of a small one.
const Reserve = 256 << 20

// ErrNoRoom refuses a backup that would fill a disk.
var ErrNoRoom = errors.New("no room for a backup")

// room refuses what would take a folder's disk below its reserve.
func (m *maker) room(dir string, need int64) error {
	free, size, err := file.Space(dir)
	if err != nil {
		return err
	}
	if want := uint64(max(need, 0)) + min(Reserve, size/20); free < want { //nolint:gosec // a size
		return fmt.Errorf("%w: it needs %d MiB on the disk of %s with what stays free for the air, and there are %d: %s",
			ErrNoRoom, mebi(want), dir, free>>20, m.remedy(dir, want-free))
	}
	return nil
}

// watch refuses to go on where a disk has come below its reserve: others fill it, and the
// rest of it is the air's.
func (m *maker) watch() error {
	for _, dir := range m.disks() {
		free, size, err := file.Space(dir)
		if err != nil {
			continue // the work says why
		}
		if reserve := min(Reserve, size/20); free < reserve {
			return m.short(dir, reserve-free+uint64(max(m.left.Load(), 0))) //nolint:gosec // a size
		}
	}
	return nil
}

// filled gives the error of a write that found a disk full before watch did the words of
// ErrNoRoom. What a reader of Out is short of is the reader's.
func (m *maker) filled(err error) error {
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, store.ErrDiskFull)
	if !full || m.Out != nil || errors.Is(err, ErrNoRoom) {
		return err
	}
	// What was made of it is removed by now: the next needs room for all of it.
	least, missing, dir := uint64(1)<<62, uint64(0), m.To
	for _, d := range m.disks() {
		if free, size, serr := file.Space(d); serr == nil && free < least {
			least, dir = free, d
			want := min(Reserve, size/20) + uint64(max(m.report.Contents, m.left.Load(), 0)) //nolint:gosec // a size
			missing = max(free, want) - free
		}
	}
	return fmt.Errorf("%w (%w)", m.short(dir, missing), err)
}

// disks are folders on the disks that a backup writes to.
func (m *maker) disks() []string {
	if m.Out != nil {
		return []string{m.scratch}
	}
	return []string{m.To, m.scratch} // they may be one
}

// short says that a disk filled up, and how many bytes are missing.
func (m *maker) short(dir string, missing uint64) error {
	return fmt.Errorf("%w: the disk of %s filled up while it was made, and what was made of it is removed: %s", ErrNoRoom, dir, m.remedy(dir, missing))
}

func (m *maker) remedy(dir string, missing uint64) string {
	out := fmt.Sprintf("free %d MiB of it", mebi(missing))
	if dir != m.scratch {
		out += ", or choose another disk with backup.to or --to"
	}
	return out
}

// mebi is a size in MiB, rounded up, at least one.
func mebi(n uint64) uint64 { return max(1, (n+1<<20-1)>>20) }
