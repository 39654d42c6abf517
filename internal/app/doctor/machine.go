package doctor

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func (o Options) machineChecks(now alive) []check {
	out := []check{
		{"clock", usual, func(ctx context.Context) Result { return judgeClock(o.clock(ctx)) }},
		{"memory", usual, func(context.Context) Result {
			text, err := os.ReadFile("/proc/meminfo")
			return judgeMemory(string(text), err)
		}},
		{"priority", usual, func(context.Context) Result {
			text, err := limitsOf(now)
			return judgePriority(text, os.Getuid() == 0, err)
		}},
	}
	if o.Config == nil {
		return out
	}
	out = append(out, check{"open files", usual, func(context.Context) Result {
		text, err := limitsOf(now)
		return judgeFiles(text, o.Config.Icecast.MaxClients, o.Config.Stream.MaxListeners, err)
	}})
	for _, d := range []struct{ name, dir string }{{"disk data", o.Config.DataDir}, {"disk media", o.Config.MediaDir()}} {
		out = append(out, check{d.name, usual, func(context.Context) Result {
			var st unix.Statfs_t
			err := unix.Statfs(d.dir, &st)
			if _, begun := os.Stat(o.Config.Database()); errors.Is(err, os.ErrNotExist) && begun != nil {
				return skipped("%s is not there yet: the first start makes it", d.dir)
			}
			return judgeDisk(d.dir, st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize), st.Ffree, st.Files, err) //nolint:gosec // a block has a size
		}})
	}
	return append(out, check{"disk speed", patient, func(ctx context.Context) Result { return judgeSpeed(syncs(ctx, o.Config.DataDir)) }})
}

// clock is what was seen of the machine's time.
type clock struct {
	synced  bool // the kernel says so
	err     error
	offset  time.Duration // against a server
	offline string        // why no server was asked, or did not answer
}

// timeServer answers SNTP (RFC 4330).
const timeServer = "pool.ntp.org:123"

func (o Options) clock(ctx context.Context) (c clock) {
	var t unix.Timex // without a mode it only reads
	state, err := unix.Adjtimex(&t)
	c.synced, c.err = state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, err
	if o.Offline {
		c.offline = "not asked"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if c.offset, err = offset(ctx, timeServer); err != nil {
		c.offline = "no time server answers"
	}
	return c
}

// offset asks a time server by how much this clock is ahead of it.
func offset(ctx context.Context, server string) (time.Duration, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", server)
	if err != nil {
		return 0, err
	}
	defer conn.Close()                                                     //nolint:errcheck // only read
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()            // a lost packet has no end
	packet, began := append([]byte{0x23}, make([]byte, 47)...), time.Now() // version 4, client
	if _, err := conn.Write(packet); err != nil {
		return 0, err
	}
	n, err := conn.Read(packet)
	if err != nil {
		return 0, err
	}
	if seconds := binary.BigEndian.Uint32(packet[40:]); n == 48 && packet[0]&7 == 4 && packet[1] != 0 && seconds != 0 {
		const from1900 = 2_208_988_800
		fraction := time.Duration(binary.BigEndian.Uint32(packet[44:])) * time.Second >> 32
		there := time.Unix(int64(seconds)-from1900, 0).Add(fraction)
		return began.Add(time.Since(began) / 2).Sub(there), nil
	}
	return 0, errors.New("no answer of a time server")
}

func judgeClock(c clock) Result {
	const remedy = "switch on a time service: timedatectl set-ntp true, or apt-get install chrony"
	const much, little = 10 * time.Second, time.Second
	switch {
	case c.offline == "" && c.offset.Abs() >= much:
		return wrong(remedy, "the clock is off by %s: dayparts, bulletins and the credentials of phones are, too", c.offset.Round(time.Millisecond))
	case c.offline == "" && c.offset.Abs() >= little:
		return warning(remedy, "the clock is off by %s", c.offset.Round(time.Millisecond))
	case c.err != nil:
		return skipped("the kernel does not say whether the clock is kept: %v", c.err)
	case !c.synced && c.offline == "":
		return warning(remedy, "nothing keeps the clock in time; at the moment it is off by %s", c.offset.Round(time.Millisecond))
	case !c.synced:
		return warning(remedy, "nothing keeps the clock in time (%s)", c.offline)
	case c.offline != "":
		return well("kept in time (%s)", c.offline)
	}
	return well("kept in time, off by %s", c.offset.Round(time.Millisecond))
}

func judgeMemory(meminfo string, err error) Result {
	kib := map[string]uint64{}
	for line := range strings.Lines(meminfo) {
		if c := strings.Fields(line); len(c) > 1 {
			kib[strings.TrimSuffix(c[0], ":")], _ = strconv.ParseUint(c[1], 10, 64)
		}
	}
	free, size := kib["MemAvailable"]>>10, kib["MemTotal"]>>10
	const remedy = "end what else runs on the machine, or give it more memory"
	switch {
	case err != nil || size == 0:
		return skipped("the kernel does not say how much memory there is")
	case free < 64:
		return wrong(remedy, "%d of %d MB are free: programs will be ended", free, size)
	case free < 256:
		return warning(remedy, "%d of %d MB are free", free, size)
	}
	return well("%d of %d MB are free", free, size)
}

// limitsOf reads the limits of the station while it runs, else of this process.
func limitsOf(now alive) (string, error) {
	who := "self"
	if pid := cmp.Or(now.node, now.control); pid != 0 {
		who = strconv.Itoa(pid)
	}
	text, err := os.ReadFile("/proc/" + who + "/limits")
	return string(text), err
}

// limit reads one limit, the hard one; unlimited is the largest number.
func limit(limits, name string) (n uint64, ok bool) {
	for line := range strings.Lines(limits) {
		rest, found := strings.CutPrefix(line, name)
		if c := strings.Fields(rest); found && len(c) > 1 {
			if c[1] == "unlimited" {
				return ^uint64(0), true
			}
			n, err := strconv.ParseUint(c[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// spareFiles are those that a program has open beside its listeners.
const spareFiles = 1000

func judgeFiles(limits string, icecast, stream int, err error) Result {
	most, ok := limit(limits, "Max open files")
	wanted := uint64(max(icecast, stream, 0)) + spareFiles //nolint:gosec // not negative
	switch {
	case err != nil || !ok:
		return skipped("the limit of open files cannot be read: run this as the station's user")
	case most < wanted:
		return warning(fmt.Sprintf("set LimitNOFILE=%d in the unit file, or ulimit -n", max(65536, wanted)),
			"%d files may be open, and icecast.max_clients and stream.max_listeners want %d", most, wanted)
	}
	return well("%d may be open, %d are wanted", most, wanted)
}

// airNice is the niceness of the programs of the air.
const airNice = -10

func judgePriority(limits string, root bool, err error) Result {
	most, ok := limit(limits, "Max nice priority")
	switch {
	case root:
		return well("root may raise the priority of the air")
	case err != nil || !ok:
		return skipped("the limit of the priority cannot be read: run this as the station's user")
	case most < 20-airNice:
		return warning("set LimitNICE=-10 in the unit file", "the programs of the air cannot run before all others: a busy machine is heard")
	}
	return well("the programs of the air may run before all others")
}

func judgeDisk(dir string, free, size, inodes, allInodes uint64, err error) Result {
	const remedy = "free some space: old recordings, the archive, backups"
	const leastRoom, full = 1 << 30, 1 << 20
	seen := fmt.Sprintf("%s: %d of %d MB are free", dir, free>>20, size>>20)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return wrong("make it, or correct the setting", "%s does not exist", dir)
	case err != nil:
		return wrong("run this as the station's user", "%s: %s", dir, err)
	case size > 0 && free < full:
		return wrong(remedy, "%s: nothing can be written", seen)
	case allInodes > 0 && inodes == 0:
		return wrong("delete files", "%s: it has no place for another file (inodes)", dir)
	case size > 0 && free < min(leastRoom, size/20):
		return warning(remedy, "%s", seen)
	case allInodes > 0 && inodes < allInodes/50:
		return warning("delete files", "%s has place for %d more files (inodes)", dir, inodes)
	}
	return well("%s", seen)
}

// syncTries is how many writes are timed.
const syncTries = 20

// syncs times small writes that reach the disk, into a file without a name: nothing of it
// stays.
func syncs(ctx context.Context, dir string) (took []time.Duration, err error) {
	fd, err := unix.Open(filepath.Clean(dir), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "doctor") //nolint:gosec // a file descriptor
	defer f.Close()                        //nolint:errcheck // nothing of it stays
	page := make([]byte, 4096)
	for len(took) < syncTries && ctx.Err() == nil {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

func judgeSpeed(took []time.Duration, err error) Result {
	const remedy = "every comment and marker waits for the disk: look what else uses it, or use another"
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR):
		return skipped("this file system has no files without a name to try it with")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return skipped("this user may not write there: run this as the station's user")
	case err != nil:
		return wrong("see the disk checks", "the data directory cannot be written: %s", err)
	case len(took) == 0:
		return wrong(remedy, "no write was done in time")
	}
	slices.Sort(took)
	middle, longest := took[len(took)/2], took[len(took)-1]
	seen := fmt.Sprintf("a small write takes %s, the longest of %d %s", middle.Round(10*time.Microsecond), len(took), longest.Round(10*time.Microsecond))
	switch {
	case middle > time.Second:
		return wrong(remedy, "%s", seen)
	case middle > 50*time.Millisecond || longest > time.Second:
		return warning(remedy, "%s", seen)
	}
	return well("%s", seen)
}
