package api

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Answers that are texts go out compressed with gzip, to clients that take it. What is the
// same for many is compressed once (squeezed); the rest as it is written (compressing).

// leastCompressed is the shortest answer that is compressed, in bytes: a shorter one takes
// one packet either way.
const leastCompressed = 1 << 10

// compressible reports whether the answers of a row are compressed. Their length tells how
// alike two parts of an answer are: where one is a secret and another was written by whoever
// measures it, the secret can be guessed letter by letter (BREACH). So only rows are that
// everybody, or everybody who may look, can ask: they show no keys, tickets or tokens.
func (r route) compressible() bool {
	return r.method == get && (r.guard == open || r.guard == looks)
}

// compressed marks operations whose answers are compressed.
const compressed = "athir.compressed"

// compressing is the middleware, to be the first, by which an operation that is marked
// compresses its answers one by one.
func compressing(op huma.Operation) huma.Middlewares {
	if op.Metadata[compressed] == nil {
		return nil
	}
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.MinSize(leastCompressed), gzhttp.ContentTypeFilter(isText))
	if err != nil {
		panic(err) // the options are constants
	}
	return huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next(humago.NewContext(ctx.Operation(), r, w))
		})).ServeHTTP(w, r)
	}}
}

// documents answers some paths of a handler, whose answers stay the same while the process
// runs, from what was made and compressed once.
func documents(next http.Handler, paths ...string) http.Handler {
	made := map[string]*kept{}
	for _, path := range paths {
		made[path] = &kept{path: path, handler: next, state: ofNothing, fresh: math.MaxInt64, compressed: true}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k := made[r.URL.Path]; k != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			k.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isText reports whether a media type is one that compresses well and ends: sound and
// pictures do not, and events that are sent as they happen have to go out at once.
func isText(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return t == "application/json" || strings.HasSuffix(t, "+json") || strings.HasPrefix(t, "text/") && t != "text/event-stream"
}

// squeezes reports whether a body is worth compressing, and can be.
func squeezes(head http.Header, body []byte, clock int) bool {
	return len(body) >= leastCompressed && isText(head.Get("Content-Type")) && (clock == 0 || len(body)-clock <= math.MaxUint16)
}

// squeezed is a body that is compressed once, with digits in it that differ each time.
type squeezed struct {
	once sync.Once
	// whole is the compressed body; of one with digits what goes before them, on a byte's
	// boundary, and crc and size are of the same before it was compressed.
	whole []byte
	crc   uint32
	size  int
}

// bytes returns a body compressed; clock is where its digits begin, 0 without them. All but
// the digits must be the same at each call.
func (s *squeezed) bytes(body []byte, clock int) []byte {
	s.once.Do(func() { s.make(body, clock) })
	if clock == 0 {
		return s.whole
	}
	// The digits and the little behind them are a last block of their own, stored as they
	// are (RFC 1951, 3.2.4), and the trailer is that of all (RFC 1952, 2.3.1).
	rest := body[clock:]
	out := slices.Grow(slices.Clone(s.whole), 5+len(rest)+8)
	out = append(out, 1)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(rest)))  //nolint:gosec // see squeezes
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(rest))) //nolint:gosec // see squeezes
	out = append(out, rest...)
	out = binary.LittleEndian.AppendUint32(out, crc32.Update(s.crc, crc32.IEEETable, rest))
	return binary.LittleEndian.AppendUint32(out, uint32(s.size+len(rest))) //nolint:gosec // modulo 2^32, by the standard
}

func (s *squeezed) make(body []byte, clock int) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if clock > 0 {
		_, _ = w.Write(body[:clock]) // to memory
		_ = w.Flush()
		s.whole, s.crc, s.size = out.Bytes(), crc32.ChecksumIEEE(body[:clock]), clock
		return
	}
	_, _ = w.Write(body)
	_ = w.Close()
	s.whole = out.Bytes()
}
