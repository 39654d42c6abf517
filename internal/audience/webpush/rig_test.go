package webpush_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var b64 = base64.RawURLEncoding

// browser is a subscriber with the keys that only it has.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
	path string // of its endpoint
}

func newBrowser(t *testing.T, path string) *browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return &browser{key, auth, path}
}

// extract and expand are HKDF with SHA-256 for one block, written from RFC 5869:
// the package under test is not asked what is right.
func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func expand(prk []byte, info string, n int) []byte { return mac(prk, []byte(info), []byte{1})[:n] }

// open decrypts the body of a push message: RFC 8188 and RFC 8291.
func (b *browser) open(body []byte) ([]byte, error) {
	if len(body) < 16+4+1+65+17 || len(body) > 4096 {
		return nil, fmt.Errorf("%d bytes", len(body))
	}
	salt, size, idLength := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	if idLength != 65 || int(size) < len(body)-86 {
		return nil, fmt.Errorf("record size %d, key id of %d bytes", size, idLength)
	}
	sender, text := body[21:86], body[86:]
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(public)
	if err != nil {
		return nil, err
	}
	ikm := expand(mac(b.auth, shared), "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(sender), 32)
	prk := mac(salt, ikm)
	block, err := aes.NewCipher(expand(prk, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, expand(prk, "Content-Encoding: nonce\x00", 12), text, nil)
	if err != nil {
		return nil, err
	}
	end := len(strings.TrimRight(string(plain), "\x00"))
	if end == 0 || plain[end-1] != 2 {
		return nil, errors.New("no delimiter of a last record")
	}
	return plain[:end-1], nil
}

// letter is what came to the push service for a browser that could read it.
type letter struct {
	path                string
	ttl                 int
	urgency, topic, jwt string
	webpush.Message
}

// service is a push service that reads what only its browsers can.
type service struct {
	*httptest.Server
	network  *testkit.Network
	t        *testing.T
	key      func() string // of the station
	clock    func() time.Time
	subject  string
	browsers map[string]*browser
	answer   func(path string, n int, w http.ResponseWriter, r *http.Request) bool // n from 1; false: take it

	mu    sync.Mutex
	times map[string]int
	got   []letter
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, browsers: map[string]*browser{}, times: map[string]int{}, subject: "mailto:studio@example.org"}
	s.network = testkit.NewNetwork()
	s.Server = httptest.NewUnstartedServer(s)
	_ = s.Listener.Close()
	s.Listener = s.network
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	l := letter{path: r.URL.Path, urgency: r.Header.Get("Urgency"), topic: r.Header.Get("Topic")}
	s.mu.Lock()
	s.times[l.path]++
	n := s.times[l.path]
	b := s.browsers[l.path]
	s.mu.Unlock()
	if err := s.vouched(r.Header.Get("Authorization"), &l); err != nil {
		s.t.Errorf("authorization: %v", err)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if l.ttl, err = strconv.Atoi(r.Header.Get("TTL")); err != nil || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Method != http.MethodPost {
		s.t.Errorf("%s %v", r.Method, r.Header)
	}
	if s.answer != nil && s.answer(l.path, n, w, r) {
		return
	}
	text, err := b.open(body)
	if err == nil {
		err = json.Unmarshal(text, &l.Message)
	}
	if err != nil {
		s.t.Errorf("%s cannot read it: %v", l.path, err)
	}
	s.mu.Lock()
	s.got = append(s.got, l)
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
}

// vouched checks a VAPID header: RFC 8292.
func (s *service) vouched(header string, l *letter) error {
	rest, ok := strings.CutPrefix(header, "vapid t=")
	token, key, ok2 := strings.Cut(rest, ", k=")
	parts := strings.Split(token, ".")
	if !ok || !ok2 || len(parts) != 3 || key != s.key() {
		return fmt.Errorf("%q", header)
	}
	raw, err := b64.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return err
	}
	signature, err := b64.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return fmt.Errorf("signature of %d bytes: %w", len(signature), err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature does not hold")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	text, err := b64.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if left := time.Unix(claims.Exp, 0).Sub(s.clock()); err != nil || claims.Aud != s.URL || claims.Sub != s.subject || left <= 0 || left > 24*time.Hour {
		return fmt.Errorf("claims %s: %w", text, err)
	}
	l.jwt = token
	return nil
}

func (s *service) letters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]letter{}, s.got...)
}

func (s *service) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[path]
}

// rig is a station's push desk with a push service in front of it, in a bubble of
// synctest: the network between them is in memory, and pauses and time-outs pass
// at once and cannot be missed.
type rig struct {
	*service
	t     *testing.T
	push  *webpush.Push
	db    *store.DB
	opt   webpush.Options
	stop  func()
	lines chan string // of the log, on notices

	clockMu sync.Mutex
	ahead   time.Duration
}

func newRig(t *testing.T, change ...func(*webpush.Options)) *rig {
	t.Helper()
	r := &rig{service: newService(t), t: t, lines: make(chan string, 1)}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate())
	sender := fetch.New(fetch.Options{
		Version: "test", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []fetch.PortRange{{From: 1, To: 65535}},
		Roots: roots, Keep: time.Minute, Dial: r.network.Dial,
	})
	t.Cleanup(sender.Close)
	r.db = db
	r.opt = webpush.Options{
		Log: slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug})), DB: db, Sender: sender, Station: "أثير", Lang: "ar", Zone: time.UTC,
		Artists: func(s string) (out []string) {
			for name := range strings.SplitSeq(strings.ToLower(s), " & ") {
				if name != "" {
					out = append(out, name)
				}
			}
			return out
		},
		Subject: r.subject, Services: []string{"127.0.0.1"}, Now: r.now, Icon: "/icon.png",
	}
	for _, f := range change {
		f(&r.opt)
	}
	r.open()
	r.key, r.clock = func() string { return r.push.PublicKey() }, r.now
	return r
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.push, err = webpush.Open(r.t.Context(), r.opt); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) run() {
	r.t.Helper()
	r.stop = testkit.Background(r.t, r.push.Run)
}

func (r *rig) now() time.Time {
	r.clockMu.Lock()
	defer r.clockMu.Unlock()
	return time.Now().Add(r.ahead)
}

// later moves the clock.
func (r *rig) later(d time.Duration) {
	r.clockMu.Lock()
	defer r.clockMu.Unlock()
	r.ahead += d
}

// order is what a browser of the path sends.
func (r *rig) order(path string, w webpush.Wishes) webpush.Order {
	r.t.Helper()
	b := newBrowser(r.t, path)
	r.mu.Lock()
	r.browsers[path] = b
	r.mu.Unlock()
	return webpush.Order{Endpoint: r.URL + path, P256dh: b64.EncodeToString(b.key.PublicKey().Bytes()), Auth: b64.EncodeToString(b.auth), Wishes: w}
}

func (r *rig) subscribe(path string, w webpush.Wishes) {
	r.t.Helper()
	if _, err := r.push.Subscribe(r.t.Context(), webpush.Client{Staff: true}, r.order(path, w)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) stats() webpush.Stats {
	r.t.Helper()
	s, err := r.push.Stats(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Hour); !ok(); time.Sleep(100 * time.Millisecond) { // of the bubble
		if time.Now().After(end) {
			r.t.Fatalf("never: %s; %+v", what, r.stats())
		}
	}
}

// told sends a notice, and returns what came of it once nothing is under way.
func (r *rig) told(n webpush.Notice) []letter {
	r.t.Helper()
	letters, was := len(r.letters()), r.done()
	r.push.Notify(n)
	line := testkit.Receive(r.t, "the notice is told, or passed over", r.lines)
	var told uint64
	if _, after, ok := strings.Cut(line, "subscribers="); ok {
		if _, err := fmt.Sscan(after, &told); err != nil {
			r.t.Fatal(err)
		}
	}
	r.eventually("all letters are done with", func() bool { return r.done() == was+told })
	return r.letters()[letters:]
}

func (r *rig) done() uint64 {
	s := r.stats()
	return s.Sent + s.Failed + s.Dropped
}

// Write takes lines of the log, and keeps those that say how a notice went.
func (r *rig) Write(line []byte) (int, error) {
	if strings.Contains(string(line), `msg="push notice`) {
		select {
		case r.lines <- string(line):
		default: // nobody asked
		}
	}
	return len(line), nil
}

// withOperator is a rig that runs, with one worker, and has an operator.
func withOperator(t *testing.T, change ...func(*webpush.Options)) *rig {
	t.Helper()
	r := newRig(t, append(change, func(o *webpush.Options) { o.Workers = 1 })...)
	r.run()
	r.subscribe("/operator", webpush.Wishes{Topics: []webpush.Topic{webpush.Alert}})
	return r
}

func paths(all []letter) string {
	var out []string
	for _, l := range all {
		out = append(out, l.path)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
