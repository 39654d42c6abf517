package resume

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"
	quiet "golang.org/x/exp/slog"

	"github.com/athir-radio/athir/internal/kit/client"
)

// protocol sets the library up: it reads and checks the protocol's headers, and has no
// say in who may send, in locks, in errors' texts and in addresses.
func (u *Uploads) protocol() handler.Config {
	files := store{u}
	composer := handler.NewStoreComposer()
	composer.UseCore(files)
	composer.UseTerminater(files)
	return handler.Config{
		StoreComposer: composer, MaxSize: u.limits.Size, BasePath: u.opts.Base, DisableDownload: true,
		Cors:                    &handler.CorsConfig{Disable: true}, // the API has one policy, outside
		PreUploadCreateCallback: u.admit,
		NetworkTimeout:          u.limits.Stall,
		// Nothing here looks at the context that it delays: it keeps a goroutine for so long.
		GracefulRequestCompletionTimeout: time.Millisecond,
		// It would log a few lines for each request. Errors come out by answer.WriteHeader.
		Logger: quiet.New(quiet.NewTextHandler(io.Discard, &quiet.HandlerOptions{Level: quiet.LevelError + 1})),
	}
}

// request is what the parts of one request know of each other. It is a value of its
// context, by requestKey.
type request struct {
	from  From
	key   string // Idempotency-Key
	feed  *feed
	hold  *hold // nil: no upload yet
	fault error // why it is refused; it says more than what the library makes of it
}

type requestKey struct{}

// ServeHTTP implements http.Handler: tus 1.0 with creation, creation-with-upload,
// termination and expiration.
func (u *Uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{from: From{Address: client.Address(r)}, key: r.Header.Get("Idempotency-Key")}
	if device := r.Header.Get("X-Athir-Device"); client.PlainID(device) {
		q.from.Device = device
	}
	if u.opts.Name != nil {
		q.from.Name = u.opts.Name(r)
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), requestKey{}, q))
	defer cancel() // the library's goroutines wait for it
	r = r.WithContext(ctx)
	if method := r.Header.Get("X-HTTP-Method-Override"); r.Method == http.MethodPost && method != "" {
		r.Method = method
	}
	if r.Body != nil && r.Body != http.NoBody {
		q.feed = newFeed(w, r.Body, u.limits.Stall)
		r.Body = q.feed
	}
	a := &answer{ResponseWriter: w, uploads: u, r: r, q: q}
	a.Header().Set("Cache-Control", "no-store")
	a.Header().Set("Tus-Resumable", "1.0.0")
	defer func() {
		if q.hold != nil {
			q.hold.release()
		}
		a.end()
		// The library's would end a later answer on this connection.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}()
	u.route(a, r, q)
}

func (u *Uploads) route(a *answer, r *http.Request, q *request) {
	id, here := strings.CutPrefix(r.URL.Path, u.opts.Base)
	if !here {
		id, here = "", r.URL.Path+"/" == u.opts.Base
	}
	switch creation := here && id == ""; {
	case here && r.Method == http.MethodOptions:
		u.tus.ServeHTTP(a, r)
	case creation && r.Method == http.MethodPost:
		u.post(a, r, q)
	case creation:
		a.Header().Set("Allow", "OPTIONS, POST")
		a.refuse(http.StatusMethodNotAllowed, "an upload is made by POST")
	case !plainID.MatchString(id):
		a.fail(errNone)
	case r.Method == http.MethodHead || r.Method == http.MethodPatch || r.Method == http.MethodDelete:
		u.resume(a, r, q, id)
	default:
		a.Header().Set("Allow", "DELETE, HEAD, OPTIONS, PATCH")
		a.refuse(http.StatusMethodNotAllowed, "an upload knows DELETE, HEAD and PATCH; what was sent is not read back")
	}
}

// resume is a request for an upload that is there. One that is whole and was not handed
// on, because the station was killed or the Taker was away, is handed on first.
func (u *Uploads) resume(a *answer, r *http.Request, q *request, id string) {
	if !u.take(a, r, q, id) {
		return
	}
	path := *r.URL
	path.Path = id
	r.URL = &path
	u.tus.ServeHTTP(a, r)
}

// take holds an upload for a request, and hands it on if it is whole.
func (u *Uploads) take(a *answer, r *http.Request, q *request, id string) (ok bool) {
	h, err := u.hold(r.Context(), id, q.feed)
	if err != nil {
		a.fail(err)
		return false
	}
	q.hold = h
	if h.entry.whole() && !h.entry.taken() {
		if err := u.finish(r.Context(), h); err != nil {
			a.fail(err)
			return false
		}
	}
	return true
}

// ShortestKey bounds an Idempotency-Key: who guesses one has the upload.
const ShortestKey = 20

// post makes an upload. Where its sender makes it a second time, because the answer was
// lost, he gets the first one.
func (u *Uploads) post(a *answer, r *http.Request, q *request) {
	switch {
	case q.key == "":
	case !client.PlainID(q.key) || len(q.key) < ShortestKey:
		a.fail(invalid("Idempotency-Key: %s, and not guessable: %d at least", client.IDRule, ShortestKey))
		return
	default:
		if id := u.byKey(q.key); id != "" {
			u.postAgain(a, r, q, id)
			return
		}
	}
	path := *r.URL
	path.Path = ""
	r.URL = &path
	u.tus.ServeHTTP(a, r)
}

func (u *Uploads) byKey(key string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.keyed(key); e != nil && !u.expired(e, u.opts.Now()) {
		return e.ID
	}
	return ""
}

func (u *Uploads) postAgain(a *answer, r *http.Request, q *request, id string) {
	if r.Header.Get("Tus-Resumable") != "1.0.0" {
		a.refuse(http.StatusPreconditionFailed, "Tus-Resumable: must be 1.0.0")
		return
	}
	pairs, err := u.keys.parsePairs(strings.Join(r.Header.Values("Upload-Metadata"), ","))
	if err != nil {
		a.fail(err)
		return
	}
	if !u.take(a, r, q, id) {
		return
	}
	e := q.hold.entry
	if r.Header.Get("Upload-Length") != strconv.FormatInt(e.Size, 10) || !maps.Equal(pairs, e.Pairs) {
		a.refuse(http.StatusConflict, "Idempotency-Key: is that of another upload: make up a new one")
		return
	}
	a.Header().Set("Upload-Offset", strconv.FormatInt(e.offset, 10))
	a.WriteHeader(http.StatusCreated)
}

// admit is called by the library for a creation whose headers are in order.
func (u *Uploads) admit(event handler.HookEvent) (handler.HTTPResponse, handler.FileInfoChanges, error) {
	q := event.Context.Value(requestKey{}).(*request) //nolint:forcetypeassert // ServeHTTP put it there
	pairs, err := u.judge(event, q)
	if err != nil {
		q.fault = err
		return handler.HTTPResponse{}, handler.FileInfoChanges{}, err
	}
	return handler.HTTPResponse{}, handler.FileInfoChanges{ID: rand.Text(), MetaData: pairs}, nil
}

func (u *Uploads) judge(event handler.HookEvent, q *request) (handler.MetaData, error) {
	if event.Upload.Size == 0 {
		return nil, u.errEmpty()
	}
	pairs, err := u.keys.parsePairs(strings.Join(event.HTTPRequest.Header.Values("Upload-Metadata"), ","))
	if err != nil {
		return nil, err
	}
	if err := u.creations.Take(q.from.Address); err != nil {
		return nil, u.errTooFast(err)
	}
	if u.opts.Gate == nil {
		return pairs, nil
	}
	return pairs, u.opts.Gate.Admit(event.Context, pairs, event.Upload.Size, q.from)
}

// store and upload are what the library sees of uploads. Its request holds the upload
// already.
type store struct{ uploads *Uploads }

func (s store) NewUpload(ctx context.Context, info handler.FileInfo) (handler.Upload, error) {
	q := ctx.Value(requestKey{}).(*request) //nolint:forcetypeassert // ServeHTTP put it there
	h, err := s.uploads.create(record{ID: info.ID, Size: info.Size, Pairs: info.MetaData, From: q.from, Key: q.key}, q.feed)
	if err != nil {
		q.fault = err
		return nil, err
	}
	q.hold = h
	return upload{q}, nil
}

func (s store) GetUpload(ctx context.Context, _ string) (handler.Upload, error) {
	return upload{ctx.Value(requestKey{}).(*request)}, nil //nolint:forcetypeassert // ServeHTTP put it there
}

func (s store) AsTerminatableUpload(up handler.Upload) handler.TerminatableUpload {
	return up.(upload) //nolint:forcetypeassert // it is from this store
}

type upload struct{ q *request }

func (up upload) GetInfo(context.Context) (handler.FileInfo, error) {
	e := up.q.hold.entry
	info := handler.FileInfo{ID: e.ID, Size: e.Size, Offset: e.offset}
	if len(handler.SerializeMetadataHeader(e.Pairs)) <= LongestEcho {
		info.MetaData = e.Pairs
	}
	return info, nil
}

// LongestEcho bounds the Upload-Metadata of an answer to HEAD. The protocol wants all of it
// back; proxies as they come take 4 KiB of headers, and the sender's resumption would fail
// for what he knows.
const LongestEcho = 2 << 10

func (up upload) WriteChunk(_ context.Context, _ int64, src io.Reader) (int64, error) {
	h := up.q.hold
	n, err := h.uploads.write(h.entry, src)
	up.q.fault = err
	return n, err
}

func (up upload) FinishUpload(ctx context.Context) error {
	err := up.q.hold.uploads.finish(ctx, up.q.hold)
	up.q.fault = err
	return err
}

func (up upload) Terminate(context.Context) error {
	h := up.q.hold
	if h.entry.taken() {
		up.q.fault = h.uploads.errTaken()
		return up.q.fault
	}
	h.uploads.drop(h)
	return nil
}

func (up upload) GetReader(context.Context) (io.ReadCloser, error) { return nil, os.ErrInvalid }
