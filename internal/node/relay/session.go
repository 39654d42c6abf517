package relay

import (
	"container/list"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/file"
)

const secretFile = "hls-session.key"

// loadSecret reads the key that signs session tokens, or makes it. On a disk that takes no
// more it holds for one life of the relay: sessions then begin anew with the next.
func loadSecret(dir string) ([]byte, error) {
	if dir == "" {
		return nil, errors.New("load session key: no state directory is given")
	}
	name := filepath.Join(dir, secretFile)
	if secret, err := os.ReadFile(name); err == nil && len(secret) == sha256.Size {
		return secret, nil
	}
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	if err := file.WriteAtomic(name, secret, 0o600); err != nil && !file.Full(err) {
		return nil, fmt.Errorf("write session key: %w", err)
	}
	return secret, nil
}

type sessionID [16]byte

func newID() string {
	var id sessionID
	_, _ = rand.Read(id[:])
	return id.String()
}

// String writes the id as a UUID, the form MediaMTX gives reader ids.
func (id sessionID) String() string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// session is one listener: whoever holds its bearer token, from any address
// (phones change networks).
type session struct {
	id    sessionID
	token rawToken // verified: the next request need only bring the same
	seen  time.Time
	heard bool // has fetched a segment
	who   census.Who
}

type sessionLimits struct {
	fresh time.Duration // kept this long after a request while it has fetched no segment
	idle  time.Duration // counts as a listener this long after a request
	back  time.Duration // may be resumed this long after a request
	most  int           // sessions
}

// sessions are the listeners.
//
//	none ──index.m3u8──► fresh ──segment──► listening ──idle──► away ──back──► none
//	  ▲───────fresh────────┘                    ▲────any request──┘
//
// Fetching audio makes a session a listener. Before that it has cost one request
// only: it is not counted, ends soon and is dropped first from a full table.
//
// A phone that pauses is away and comes back without a new session; after that
// its token is worth nothing. The table does not survive a restart of the
// relay, tokens do: for as long as a session may be away, a token signed with
// our key before the restart is taken up again.
type sessions struct {
	limits  sessionLimits
	started time.Time

	mu        sync.Mutex
	secret    []byte
	also      [][]byte // keys of others, by which sessions may be signed
	anywhere  bool     // whoever has a token that is signed may begin here: other edges sign with this key
	byID      map[sessionID]*list.Element
	newcomers *list.List // of *session that have fetched no segment, the last seen in front
	listeners *list.List // of *session that have, likewise
	begun     uint64
	// who classifies the sender of a session's first request; nil: all are unknown.
	who func(*http.Request) census.Who
}

func newSessions(limits sessionLimits, secret []byte, now time.Time) *sessions {
	return &sessions{
		limits: limits, secret: secret, started: now,
		byID: map[sessionID]*list.Element{}, newcomers: list.New(), listeners: list.New(),
	}
}

// A token is the id (16 random bytes), the millisecond of issue (8 bytes) and
// 16 bytes of HMAC-SHA256 over both, in unpadded base64url.
const tokenSize = 16 + 8 + 16

type rawToken [tokenSize]byte

func (r *rawToken) id() sessionID { return sessionID(r[:16]) }
func (r *rawToken) issued() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(r[16:24])))
}                                  //nolint:gosec // of our making
func (r *rawToken) String() string { return base64.RawURLEncoding.EncodeToString(r[:]) }

func (t *sessions) token(id sessionID, issued time.Time) (raw rawToken) {
	copy(raw[:], id[:])
	binary.BigEndian.PutUint64(raw[16:], uint64(issued.UnixMilli())) //nolint:gosec // after 1970
	copy(raw[24:], t.sign(raw[:24]))
	return raw
}

// decode reads a token; whether it is one of ours is not known yet.
func decode(token string) (raw rawToken, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return raw, false
	}
	var text [(tokenSize*8 + 5) / 6]byte
	copy(text[:], token)
	_, err := base64.RawURLEncoding.Strict().Decode(raw[:], text[:])
	return raw, err == nil
}

func (t *sessions) sign(raw []byte) []byte { return signature(t.secret, raw) }

func signature(key, raw []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return mac.Sum(nil)[:16]
}

// signed reports whether a token is signed with our key, or one that is taken
// for it.
func (t *sessions) signed(raw *rawToken) bool {
	if hmac.Equal(t.sign(raw[:24]), raw[24:]) {
		return true
	}
	for _, key := range t.also {
		if hmac.Equal(signature(key, raw[:24]), raw[24:]) {
			return true
		}
	}
	return false
}

// known returns the session that has shown this very token before, nil if none has.
// The caller holds mu.
func (t *sessions) known(raw *rawToken) *list.Element {
	e := t.byID[raw.id()]
	if e == nil || !hmac.Equal(e.Value.(*session).token[:], raw[:]) {
		return nil
	}
	return e
}

// edgeKey is the key by which edges sign their sessions.
func (t *sessions) edgeKey() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	mac := hmac.New(sha256.New, t.secret)
	mac.Write([]byte("edges"))
	return mac.Sum(nil)
}

// signWith changes the key, and those that are taken for it. Sessions that are there stay.
func (t *sessions) signWith(key []byte, also ...[]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.secret, t.also = key, also
}

// whoIs classifies the sender of a request; nil is unknown.
func (t *sessions) whoIs(r *http.Request) census.Who {
	if t.who == nil || r == nil {
		return census.Who{}
	}
	return t.who(r)
}

// begin makes a session of a request and returns its token; false when the table is full of
// listeners.
func (t *sessions) begin(now time.Time, r *http.Request) (string, bool) {
	who := t.whoIs(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	var id sessionID
	_, _ = rand.Read(id[:])
	raw := t.token(id, now)
	if !t.add(raw, now, who) {
		return "", false
	}
	t.begun++
	return raw.String(), true
}

// touch reports whether the token of a request is that of a session, and keeps it alive.
func (t *sessions) touch(token string, now time.Time, r *http.Request) bool {
	raw, ok := decode(token)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	if e := t.known(&raw); e != nil {
		s := e.Value.(*session)
		s.seen = now
		t.listOf(s).MoveToFront(e)
		return true
	}
	issued := raw.issued()
	fromBefore := t.anywhere || !issued.After(t.started) && now.Sub(t.started) <= t.limits.back
	return fromBefore && t.byID[raw.id()] == nil && t.signed(&raw) && t.add(raw, now, t.whoIs(r))
}

// hear makes the token's session a listener: it is being given a segment.
func (t *sessions) hear(token string, now time.Time) {
	raw, ok := decode(token)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.known(&raw)
	if e == nil || e.Value.(*session).heard {
		return
	}
	t.newcomers.Remove(e)
	t.byID[raw.id()] = t.listeners.PushFront(&session{id: raw.id(), token: raw, seen: now, heard: true, who: e.Value.(*session).who})
}

func (t *sessions) listOf(s *session) *list.List {
	if s.heard {
		return t.listeners
	}
	return t.newcomers
}

// inUse is how recently a listener must have been seen to keep its place in a
// full table.
const inUse = 10 * time.Second

// add begins a session. A full table drops the oldest that has fetched nothing,
// else the listener away for longest; false when all are in use.
func (t *sessions) add(raw rawToken, now time.Time, who census.Who) bool {
	if len(t.byID) >= t.limits.most {
		oldest := t.newcomers.Back()
		if oldest == nil {
			oldest = t.listeners.Back()
			if now.Sub(oldest.Value.(*session).seen) < inUse {
				return false
			}
		}
		t.remove(oldest)
	}
	t.byID[raw.id()] = t.newcomers.PushFront(&session{id: raw.id(), token: raw, seen: now, who: who})
	return true
}

func (t *sessions) remove(e *list.Element) {
	s := e.Value.(*session)
	delete(t.byID, s.id)
	t.listOf(s).Remove(e)
}

// forget drops the sessions that never listened and those away too long.
func (t *sessions) forget(now time.Time) {
	t.expire(t.newcomers, now.Add(-t.limits.fresh))
	t.expire(t.listeners, now.Add(-t.limits.back))
}

func (t *sessions) expire(from *list.List, since time.Time) {
	for e := from.Back(); e != nil && e.Value.(*session).seen.Before(since); e = from.Back() {
		t.remove(e)
	}
}

// listening returns the ids of the current listeners, the last seen first, and of what kinds
// they are.
func (t *sessions) listening(now time.Time) (ids []string, kinds census.Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	ids, kinds = []string{}, census.Count{}
	for e := t.listeners.Front(); e != nil && now.Sub(e.Value.(*session).seen) <= t.limits.idle; e = e.Next() {
		s := e.Value.(*session)
		ids = append(ids, s.id.String())
		kinds[s.who]++
	}
	return ids, kinds
}

func (t *sessions) counts(now time.Time) (listening int, begun uint64) {
	ids, _ := t.listening(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(ids), t.begun
}
