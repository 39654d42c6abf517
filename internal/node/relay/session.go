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
	"os"
	"path/filepath"
	"sync"
	"time"
)

const secretFile = "hls-session.key"

// loadSecret reads the key that signs session tokens, or makes it.
func loadSecret(dir string) ([]byte, error) {
	if dir == "" {
		return nil, errors.New("no state directory for the session key")
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
	if err := writeFile(name, secret); err != nil {
		return nil, fmt.Errorf("keep session key: %w", err)
	}
	return secret, nil
}

// writeFile replaces a private file as a whole.
func writeFile(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
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

// session is one listener. Its token is a bearer token: who holds it is it,
// from any address (phones change networks).
type session struct {
	id   sessionID
	seen time.Time
}

type sessionLimits struct {
	idle time.Duration // counts as a listener this long after a request
	back time.Duration // may be taken up again this long
	most int
}

// sessions are the listeners.
//
//	none ──index.m3u8──► listening ──idle──► away ──back──► none
//	                         ▲────any request──┘
//
// A phone that pauses is away and comes back without a new session; after that
// its token is worth nothing. The table does not survive a restart of the
// relay, tokens do: for as long as a session may be away, a token signed with
// our key before the restart is taken up again.
type sessions struct {
	limits  sessionLimits
	secret  []byte
	started time.Time

	mu    sync.Mutex
	byID  map[sessionID]*list.Element
	order *list.List // of *session, the last seen in front
	begun uint64
}

func newSessions(limits sessionLimits, secret []byte, now time.Time) *sessions {
	return &sessions{limits: limits, secret: secret, started: now, byID: map[sessionID]*list.Element{}, order: list.New()}
}

// A token is the id (16 random bytes), the millisecond of issue (8 bytes) and
// 16 bytes of HMAC-SHA256 over both, in unpadded base64url.
const tokenSize = 16 + 8 + 16

func (t *sessions) token(id sessionID, issued time.Time) string {
	raw := binary.BigEndian.AppendUint64(id[:], uint64(issued.UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(raw, t.sign(raw)...))
}

func (t *sessions) sign(raw []byte) []byte {
	mac := hmac.New(sha256.New, t.secret)
	mac.Write(raw)
	return mac.Sum(nil)[:16]
}

func (t *sessions) parse(token string) (id sessionID, issued time.Time, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return id, issued, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || !hmac.Equal(t.sign(raw[:24]), raw[24:]) {
		return id, issued, false
	}
	copy(id[:], raw)
	return id, time.UnixMilli(int64(binary.BigEndian.Uint64(raw[16:24]))), true
}

// begin makes a session and returns its token; false when the table is full of
// listeners.
func (t *sessions) begin(now time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var id sessionID
	_, _ = rand.Read(id[:])
	if !t.add(id, now) {
		return "", false
	}
	t.begun++
	return t.token(id, now), true
}

// touch reports whether the token is that of a session, and keeps it alive.
func (t *sessions) touch(token string, now time.Time) bool {
	id, issued, ok := t.parse(token)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	if e := t.byID[id]; e != nil {
		e.Value.(*session).seen = now
		t.order.MoveToFront(e)
		return true
	}
	fromBefore := !issued.After(t.started) && now.Sub(t.started) <= t.limits.back
	return fromBefore && t.add(id, now)
}

// inUse is how lately a session must have been seen not to give way to a new
// one in a full table. Players ask every segment; whoever fills the table on
// purpose does not, so the flood displaces itself and not the listeners.
const inUse = 10 * time.Second

func (t *sessions) add(id sessionID, now time.Time) bool {
	if t.order.Len() >= t.limits.most {
		oldest := t.order.Back()
		if now.Sub(oldest.Value.(*session).seen) < inUse {
			return false
		}
		t.remove(oldest)
	}
	t.byID[id] = t.order.PushFront(&session{id: id, seen: now})
	return true
}

func (t *sessions) remove(e *list.Element) {
	delete(t.byID, e.Value.(*session).id)
	t.order.Remove(e)
}

// forget drops the sessions that were away too long.
func (t *sessions) forget(now time.Time) {
	for e := t.order.Back(); e != nil && now.Sub(e.Value.(*session).seen) > t.limits.back; e = t.order.Back() {
		t.remove(e)
	}
}

// listening returns the ids of those who listen now, the last seen first.
func (t *sessions) listening(now time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	ids := []string{}
	for e := t.order.Front(); e != nil && now.Sub(e.Value.(*session).seen) <= t.limits.idle; e = e.Next() {
		ids = append(ids, e.Value.(*session).id.String())
	}
	return ids
}

func (t *sessions) counts(now time.Time) (listening int, begun uint64) {
	listening = len(t.listening(now))
	t.mu.Lock()
	defer t.mu.Unlock()
	return listening, t.begun
}
