package input

import (
	"bytes"
	"container/list"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// doorway is a server on loopback from which ffmpeg reads playlists, keys and segments. It
// fetches them itself, by a Client that judges addresses, redirects and certificates, and
// writes an address of its own for each that a playlist has. It answers for nothing else:
// only for what it has issued, below a path that ffmpeg alone was told.
type doorway struct {
	client *fetch.Client
	host   string // "127.0.0.1:PORT"
	secret string // "/SECRET/"

	mu     sync.Mutex
	known  issued
	lists  map[string]bool // names that turned out to be playlists
	first  map[string][]byte
	failed error
	closed bool

	serving sync.WaitGroup
	end     func()
}

const (
	// mostLists bounds the playlists of one address: variants, languages, and playlists
	// within playlists.
	mostLists = 200
	// begins is how much of an answer is looked at to tell a playlist, in bytes.
	begins = 64
	// doorwayHeader bounds the header of ffmpeg's requests, in bytes and in time.
	doorwayHeader     = 8 << 10
	doorwayHeaderTime = 5 * time.Second
)

// openDoorway serves until Close.
func openDoorway(ctx context.Context, client *fetch.Client) (*doorway, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open doorway: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	d := &doorway{
		client: client, host: listener.Addr().String(), secret: "/" + rand.Text() + "/",
		lists: map[string]bool{}, first: map[string][]byte{},
	}
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: doorwayHeaderTime, MaxHeaderBytes: doorwayHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with ErrServerClosed
	}()
	d.end = func() {
		stop()
		_ = server.Close()
		<-served
	}
	return d, nil
}

// Close returns when nothing is served any more.
func (d *doorway) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	d.serving.Wait()
}

// enter is where ffmpeg begins: the playlist of address, which has been fetched already.
func (d *doorway) enter(address, from string, text []byte) (string, error) {
	name := d.name(address, ".m3u8")
	text, err := d.rewrite(name, from, text)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first[name] = text
	return "http://" + d.host + d.secret + name, nil
}

// failure is what kept ffmpeg from the last segment or playlist that it asked for; nil: nothing.
func (d *doorway) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

func (d *doorway) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = err
}

// begin counts a request, unless the doorway is closed.
func (d *doorway) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.serving.Add(1)
	return true
}

// wholly is a range that is all there is, which is asked for without one.
const wholly = "bytes=0-"

var ranges = regexp.MustCompile(`^bytes=[0-9]{1,19}-[0-9]{0,19}$`)

// errLeft says that ffmpeg does not read on: it has what it wants.
var errLeft = errors.New("nobody reads any longer")

func (d *doorway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.begin() {
		panic(http.ErrAbortHandler)
	}
	defer d.serving.Done()
	name, address := d.asked(r)
	if address == "" {
		http.NotFound(w, r)
		return
	}
	if text := d.ready(name); text != nil {
		playlist(w, text)
		return
	}
	part := r.Header.Get("Range")
	if part == wholly || !ranges.MatchString(part) {
		part = ""
	}
	began := false
	err := d.client.Stream(r.Context(), fetch.Request{URL: address, Range: part}, func(s fetch.Stream) error {
		return d.answer(w, name, s, &began)
	})
	if err == nil || errors.Is(err, errLeft) {
		return
	}
	if r.Context().Err() == nil {
		d.note(err)
	}
	if began {
		panic(http.ErrAbortHandler) // what broke off must not look like an end
	}
	code := http.StatusBadGateway
	var status *fetch.StatusError
	switch {
	case errors.As(err, new(*fetch.BlockedError)):
		code = http.StatusForbidden
	case errors.As(err, &status) && status.Code >= http.StatusBadRequest:
		code = status.Code
	}
	w.WriteHeader(code)
}

// asked is the name and the address that a request is for; none where it is not one of ours.
func (d *doorway) asked(r *http.Request) (name, address string) {
	path := r.URL.Path
	if r.Method != http.MethodGet || r.Host != d.host || len(path) < len(d.secret) ||
		subtle.ConstantTimeCompare([]byte(path[:len(d.secret)]), []byte(d.secret)) != 1 {
		return "", ""
	}
	name = path[len(d.secret):]
	d.mu.Lock()
	defer d.mu.Unlock()
	return name, d.known.find(name)
}

// ready is a playlist that was fetched before it was asked for.
func (d *doorway) ready(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := d.first[name]
	delete(d.first, name)
	return text
}

// answer passes on what comes; a playlist with our addresses in it.
func (d *doorway) answer(w http.ResponseWriter, name string, s fetch.Stream, began *bool) error {
	begin := make([]byte, begins)
	n, err := io.ReadFull(s.Body, begin)
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	body := io.MultiReader(bytes.NewReader(begin[:n]), s.Body)
	if isPlaylist(s.Header.Get("Content-Type"), begin[:n]) {
		text, err := readList(body, s.URL)
		if err != nil {
			return err
		}
		if text, err = d.rewrite(name, s.URL, text); err != nil {
			return err
		}
		playlist(w, text)
		return nil
	}
	for _, key := range []string{"Content-Type", "Content-Range"} {
		if value := s.Header.Get(key); value != "" {
			w.Header().Set(key, value)
		}
	}
	if s.Size >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(s.Size, 10))
	}
	*began = true
	w.WriteHeader(s.Status)
	flush := http.NewResponseController(w).Flush
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, failed := w.Write(buf[:n]); failed != nil || flush() != nil {
				return errLeft
			}
		}
		if err == io.EOF { //nolint:errorlint // a reader's own
			d.note(nil)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readList reads a whole playlist.
func readList(body io.Reader, from string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, mostList+1))
	if err == nil && len(text) > mostList {
		err = &fetch.TooLargeError{URL: fetch.Redact(from), Limit: mostList}
	}
	return text, err
}

func playlist(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// rewrite gives a playlist our addresses.
func (d *doorway) rewrite(name, from string, text []byte) ([]byte, error) {
	base, err := url.Parse(from)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	many := !d.lists[name] && len(d.lists) >= mostLists
	if !many {
		d.lists[name] = true
	}
	d.mu.Unlock()
	if many {
		return nil, &fetch.BlockedError{URL: fetch.Redact(from), Why: fmt.Sprintf("it leads to more than %d playlists", mostLists)}
	}
	return rewritten(text, base, func(address string) string {
		return "http://" + d.host + d.secret + d.name(address, "")
	})
}

// extensions are those that ffmpeg takes for segments and playlists.
var extensions = regexp.MustCompile(`(?i)^\.(m3u8|ts|mpegts|mpe?g|mp[234]|m4[asv]|fmp4|cmf[av]|mov|3gp|vob|aac|e?ac3|ec3|flac|wav|og[gav]|mkv|webm|html)$`)

// name issues one for an address. Without extension it ends as the address does: ffmpeg
// goes by that, at the end of the path or of all.
func (d *doorway) name(address, extension string) string {
	if extension == "" {
		before, _, _ := strings.Cut(address, "?")
		for _, end := range []string{before, address} {
			if extension = path.Ext(end); extensions.MatchString(extension) {
				break
			}
			extension = ""
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known.name(address, extension)
}

const (
	// mostIssued and mostIssuedSize bound the addresses that are remembered, in number and
	// in bytes; those that were last seen longest ago are forgotten.
	mostIssued     = 2 * mostEntries
	mostIssuedSize = 8 << 20
)

// issued is what names were given for what addresses: one for each, as long as it is known.
type issued struct {
	last             uint64
	size             int
	order            list.List // of naming, the one that was seen last at the end
	byName, byTarget map[string]*list.Element
}

type naming struct{ name, address string }

func (i *issued) name(address, extension string) string {
	if e := i.byTarget[address]; e != nil {
		i.order.MoveToBack(e)
		return e.Value.(naming).name //nolint:forcetypeassert // nothing else is in it
	}
	if i.byName == nil {
		i.byName, i.byTarget = map[string]*list.Element{}, map[string]*list.Element{}
	}
	i.last++
	n := naming{strconv.FormatUint(i.last, 36) + extension, address}
	e := i.order.PushBack(n)
	i.byName[n.name], i.byTarget[address] = e, e
	i.size += len(address)
	for i.order.Len() > mostIssued || i.size > mostIssuedSize {
		old := i.order.Remove(i.order.Front()).(naming) //nolint:forcetypeassert // as above
		delete(i.byName, old.name)
		delete(i.byTarget, old.address)
		i.size -= len(old.address)
	}
	return n.name
}

// find is the address of a name; empty: it was not issued, or is forgotten.
func (i *issued) find(name string) string {
	e := i.byName[name]
	if e == nil {
		return ""
	}
	i.order.MoveToBack(e)
	return e.Value.(naming).address //nolint:forcetypeassert // as above
}
