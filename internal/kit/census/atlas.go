package census

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
)

const (
	// largestFile bounds the database, which is kept in memory: those of countries have 2 to
	// 10 MB, those of cities many times that and nothing that is used here.
	largestFile = 64 << 20
	// lookEvery is how often the file is looked at for a newer one.
	lookEvery = 30 * time.Second
	// firstLook is how long whoever begins waits for the file: listeners who come back at once
	// have their countries, and a disk that hangs keeps nobody off the air.
	firstLook = 2 * time.Second
)

// Atlas tells the country of an address by a database in MaxMind's format (MMDB) that the
// operator provides. It is read into memory as a whole: a file that is mapped ends its process
// when somebody writes over it. A nil Atlas knows nothing. Methods may be called from any
// goroutine.
type Atlas struct {
	path string
	log  *slog.Logger

	edition atomic.Pointer[edition]
	look    func()        // one at a time
	looked  chan struct{} // closed after the first

	mu      sync.Mutex
	seen    fileStamp
	problem string
}

// edition is one database.
type edition struct {
	reader *maxminddb.Reader
	built  time.Time
	failed atomic.Pointer[string] // the first look-up that was not answered
}

type fileStamp struct {
	size  int64
	mtime time.Time
	inode uint64
}

// State is what an Atlas goes by.
type State struct {
	On      bool      // countries are told
	File    string    // its name; empty: none is set
	BuiltAt time.Time // when the database was made
	Problem string    // for people; empty: none
}

// OpenAtlas reads the database at a path; nil where the path is empty. What is wrong with the
// file keeps nobody from listening: it is logged, State says it, and countries are unknown.
func OpenAtlas(log *slog.Logger, path string) *Atlas {
	if path == "" {
		return nil
	}
	a := &Atlas{path: path, log: log}
	a.begin(a.lookAtFile)
	return a
}

// begin looks for the first time, and waits for that for a while.
func (a *Atlas) begin(look func()) {
	a.look, a.looked = look, make(chan struct{})
	go func() {
		defer close(a.looked)
		a.look()
	}()
	wait := time.NewTimer(firstLook)
	defer wait.Stop()
	select {
	case <-a.looked:
	case <-wait.C:
		a.log.Warn("countries are unknown until geoip_file can be read: its disk does not answer", "file", a.path)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.edition.Load() == nil && a.problem == "" {
			a.problem = "its disk does not answer"
		}
	}
}

// Run looks for a newer file until ctx ends. It does not wait for a disk that hangs.
func (a *Atlas) Run(ctx context.Context) error {
	if a == nil {
		return nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for done := a.looked; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-done:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			looked := make(chan struct{})
			go func() {
				defer close(looked)
				a.look()
			}()
			done = looked
		}
	}
}

// State tells what it goes by now.
func (a *Atlas) State() State {
	if a == nil {
		return State{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := State{File: filepath.Base(a.path), Problem: a.problem}
	if e := a.edition.Load(); e != nil {
		out.On, out.BuiltAt = true, e.built
		if out.Problem != "" {
			out.Problem += "; countries are told by the one before until this process ends"
		}
		if failed := e.failed.Load(); failed != nil && out.Problem == "" {
			out.Problem = *failed
		}
	}
	return out
}

// Country is that of an address in the form of client.Address, where an IPv6 one is its /64.
func (a *Atlas) Country(address string) Country {
	if a == nil || address == "" {
		return Country{}
	}
	e := a.edition.Load()
	ip, err := netip.ParseAddr(strings.TrimSuffix(address, "/64"))
	if e == nil || err != nil {
		return Country{}
	}
	code, err := e.code(ip)
	if err != nil && e.failed.Load() == nil {
		said := "some of it is damaged: fetch it anew"
		e.failed.Store(&said) // not err, which may hold the address
	}
	return CountryNamed(code)
}

// code looks an address up; empty where the database does not have it. Which fields hold the
// code differs: MaxMind and DB-IP have country.iso_code, others country_code alone.
func (e *edition) code(ip netip.Addr) (code string, err error) {
	defer func() {
		if p := recover(); p != nil { // the file is not ours
			code, err = "", errDamaged
		}
	}()
	ip = ip.Unmap() // some proxies name IPv4 clients so
	if ip.Is6() && e.reader.Metadata.IPVersion == 4 {
		return "", nil
	}
	found := e.reader.Lookup(ip)
	if err := found.Err(); err != nil || !found.Found() {
		return "", err
	}
	for _, path := range [][]any{{"country", "iso_code"}, {"country_code"}, {"registered_country", "iso_code"}, {"country"}} {
		var text string
		if err := found.DecodePath(&text, path...); err == nil && text != "" {
			return text, nil
		} else if wrong := (maxminddb.InvalidDatabaseError{}); errors.As(err, &wrong) {
			return "", err
		}
	}
	return "", nil
}

var errDamaged = errors.New("it is damaged")

// lookAtFile reads the file if it is another than before. What cannot be read leaves the one
// before in force.
func (a *Atlas) lookAtFile() {
	e, stamp, err := a.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = stamp
	switch {
	case err == nil && e == nil: // unchanged
	case err == nil:
		a.problem = ""
		a.edition.Store(e)
		a.log.Info("listeners' countries are told", "file", a.path, "built", e.built)
	default:
		if problem := err.Error(); problem != a.problem {
			a.log.Warn("cannot tell listeners' countries by geoip_file", "file", a.path, "err", err)
			a.problem = problem
		}
	}
}

// read opens the file; nil without an error where it is the one that was seen before.
func (a *Atlas) read() (*edition, fileStamp, error) {
	f, err := os.OpenFile(a.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fileStamp{}, errors.New("there is no such file")
		}
		return nil, fileStamp{}, plainly(err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, fileStamp{}, plainly(err)
	}
	stamp := fileStamp{size: info.Size(), mtime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		stamp.inode = st.Ino
	}
	a.mu.Lock()
	same := stamp == a.seen
	a.mu.Unlock()
	switch {
	case same:
		return nil, stamp, nil
	case !info.Mode().IsRegular():
		return nil, stamp, errors.New("it is not a file")
	case info.Size() > largestFile:
		return nil, stamp, fmt.Errorf("it has %d MB, and %d at most: take the edition of countries", info.Size()>>20, largestFile>>20)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fileStamp{}, errors.New("it changed while it was read") // looked at again
	}
	e, err := open(data)
	return e, stamp, err
}

// open reads a database in memory, and tries it.
func open(data []byte) (e *edition, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, errDamaged
		}
	}()
	reader, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, errors.New("it is no database in MaxMind's format, or not whole")
	}
	e = &edition{reader: reader, built: reader.Metadata.BuildTime()}
	for _, ip := range []string{"1.1.1.1", "81.91.1.1", "197.32.0.1", "203.0.113.1", "2001:4860::", "2a02::"} {
		if _, err := e.code(netip.MustParseAddr(ip)); err != nil {
			return nil, errDamaged
		}
	}
	return e, nil
}

func plainly(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("it cannot be read: %w", p.Err)
	}
	return err
}
