package contract

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hostile draws a request that somebody might send who wants no answer but to
// see what happens. It begins with a valid one, so that what is wrong with it
// lies anywhere, behind everything that is right.
func (o *Operation) Hostile(r *rand.Rand, hints Hints) Request {
	q := o.Valid(r, hints)
	q.What = "a hostile request"
	for range 1 + r.IntN(6)/4 {
		pick(r, []func(*rand.Rand, *Request){
			hostileMember, hostileMember, hostileMember, hostileMember, hostileMember, hostileBytes, hostileBody,
			hostileQuery, hostilePath, hostileHeader, hostileMethod,
		})(r, &q)
	}
	return q
}

// hostileMember puts something else in the place of one value of the body.
func hostileMember(r *rand.Rand, q *Request) {
	q.Body = HostileJSON(r, q.Body)
}

// HostileJSON is a JSON text with something else in the place of one value.
func HostileJSON(r *rand.Rand, text []byte) []byte {
	var body any
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	if decode.Decode(&body) != nil {
		body = map[string]any{}
	}
	// A mark that no drawn text has stands for what is no JSON value.
	const mark = `"@hostile@"`
	out, err := json.Marshal(replaced(r, body, "@hostile@"))
	if err != nil {
		return text
	}
	return bytes.Replace(out, []byte(mark), HostileValue(r), 1)
}

func replaced(r *rand.Rand, value, by any) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(8) == 0 {
			if r.IntN(2) == 0 {
				return by
			}
			v[HostileText(r)] = by
			return v
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		name := pick(r, names)
		v[name] = replaced(r, v[name], by)
		return v
	case []any:
		if len(v) == 0 || r.IntN(4) == 0 {
			return by
		}
		i := r.IntN(len(v))
		v[i] = replaced(r, v[i], by)
		return v
	}
	return by
}

// HostileValue is the text of a value that is extreme, of the wrong type, or no
// JSON at all.
func HostileValue(r *rand.Rand) []byte {
	switch r.IntN(12) {
	case 0:
		return []byte(pick(r, []string{"null", "true", "false", "[]", "{}", `""`, "0", "-0", "[[]]", `[null]`, `{"":null}`}))
	case 1: // numbers that no type holds
		return []byte(pick(r, []string{
			"1e999", "-1e999", "1e-999", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1.5", "-1", "0.1e1",
			"1E400", strings.Repeat("9", 1+r.IntN(2000)), "0." + strings.Repeat("0", r.IntN(2000)) + "1", "NaN", "Infinity", "01", "+1", "0x10", ".5",
		}))
	case 2: // deep
		n := 1 + r.IntN(30_000)
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	case 3:
		n := 1 + r.IntN(5000)
		return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n))
	case 4: // wide
		n := 1 + r.IntN(5000)
		return []byte("[" + strings.Repeat("0,", n) + "0]")
	case 5:
		return []byte(`"` + strings.Repeat(pick(r, []string{"a", "ﷺ", "\\u202e", "\\ud83d\\ude00", "\\n"}), r.IntN(8000)) + `"`)
	case 6: // halves of surrogates, NUL
		return []byte(pick(r, []string{`"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"a\u0000b"`, "\"\x00\"", "\"\xff\xfe\"", "\"\xed\xa0\x80\"", `"\ufeff"`}))
	case 7: // cut short
		return []byte(pick(r, []string{`"`, `{`, `[`, `{"a`, `{"a":`, `tru`, `"\u12`, `/*x*/1`, `1,`, ``}))
	}
	text, err := json.Marshal(HostileText(r))
	if err != nil {
		return []byte(`""`)
	}
	return text
}

// HostileText is text that reads otherwise than it is, goes where it should not,
// or is none.
func HostileText(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return pick(r, []string{
			"", " ", "\t\r\n", "\x00", ".", "..", "/", "../../etc/passwd", "..\\..\\x", "%2e%2e%2f", "main", "none", "true", "null", "-1", "0", "1e9",
			"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "'; DROP TABLE votes; --", `annotate:title="x":/etc/passwd`, "{{7*7}}", "$(id)", "`id`", "%s%n%d",
			"http://127.0.0.1:5000/api/station/skip", "file:///etc/passwd", "javascript:alert(1)", "data:text/html;base64,PHNjcmlwdD4=", "//stranger.example",
			"music/english/0.mp3", "music/english/", "CON", "a\nSet-Cookie: x=y", "🎵", "❤️", "👨‍👩‍👧‍👦", "🇪🇬", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤", "1️⃣",
		})
	case 1: // bidi, zero width, variation selectors, tags, combining marks
		letters := []rune("a\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200c\u200d\u2060\ufeff\u061c\u200e\u200f\ufe0f\u0640\u0651\u064e\u0300\u20e3ب\U000e0061\u00ad\u034f\u115f\u3164")
		out := make([]rune, r.IntN(200))
		for i := range out {
			out[i] = pick(r, letters)
		}
		return string(out)
	case 2: // any code point
		out := make([]rune, r.IntN(60))
		for i := range out {
			out[i] = rune(r.IntN(utf8.MaxRune + 1))
		}
		return string(out)
	case 3: // any bytes
		out := make([]byte, r.IntN(60))
		for i := range out {
			out[i] = byte(r.IntN(256))
		}
		return string(out)
	case 4:
		return strings.Repeat(pick(r, []string{"a", "\u0651", "أ", "🎵", "\u200d", " ", "<", "\\", "\""}), r.IntN(20_000))
	}
	return drawText(r, 0, 70)
}

// hostileBytes changes, drops or adds bytes of the body.
func hostileBytes(r *rand.Rand, q *Request) {
	q.Body = slices.Clone(q.Body)
	for range 1 + r.IntN(8) {
		if len(q.Body) == 0 {
			q.Body = []byte(HostileText(r))
			return
		}
		i := r.IntN(len(q.Body))
		switch r.IntN(4) {
		case 0:
			q.Body[i] = byte(r.IntN(256))
		case 1:
			q.Body = q.Body[:i]
		case 2:
			q.Body = slices.Insert(q.Body, i, byte(r.IntN(256)))
		case 3:
			q.Body = append(q.Body, q.Body[i:]...)
		}
	}
}

// hostileBody is another body altogether.
func hostileBody(r *rand.Rand, q *Request) {
	switch r.IntN(4) {
	case 0:
		q.Body = nil
	case 1:
		q.Body = HostileValue(r)
	case 2:
		q.Body = []byte(HostileText(r))
	case 3:
		q.Body = bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(100_000))
	}
}

func hostileQuery(r *rand.Rand, q *Request) {
	path, raw, _ := strings.Cut(q.Target, "?")
	query, err := url.ParseQuery(raw)
	names := []string{HostileText(r)}
	for _, p := range q.Operation.parameters() {
		if p.in == "query" {
			names = append(names, p.name, p.name)
		}
	}
	name := pick(r, names)
	if err != nil || r.IntN(6) == 0 {
		q.Target = path + "?" + escaped(HostileText(r))
		return
	}
	query[name] = append(query[name], HostileText(r))
	slices.Reverse(query[name])
	q.Target = join(path, query)
}

// hostilePath changes a segment that is a parameter, or any.
func hostilePath(r *rand.Rand, q *Request) {
	path, query, _ := strings.Cut(q.Target, "?")
	parts := strings.Split(path, "/")
	at := []int{1 + r.IntN(len(parts)-1)}
	for i, part := range strings.Split(q.Operation.Path, "/") {
		if strings.HasPrefix(part, "{") && i < len(parts) {
			at = append(at, i, i, i)
		}
	}
	parts[pick(r, at)] = escaped(HostileText(r))
	q.Target = strings.Join(parts, "/")
	if query != "" {
		q.Target += "?" + query
	}
}

// escaped is text as an address may carry it; some of it more than it must be.
func escaped(text string) string {
	if len(text) > 4000 {
		text = text[:4000]
	}
	return url.PathEscape(text)
}

func hostileHeader(r *rand.Rand, q *Request) {
	name := pick(r, []string{
		"Content-Type", "Accept", "Accept-Encoding", "Content-Encoding", "Range", "If-None-Match", "If-Match", "If-Range", "If-Modified-Since", "Origin",
		"X-Athir-Device", "X-Station-Key", "Authorization", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Cookie", "Icy-MetaData", "X-HTTP-Method-Override",
		"Sec-Fetch-Site", "Access-Control-Request-Method", "Upgrade",
	})
	text := pick(r, []string{
		"", "*/*", "application/json", "application/json; charset=utf-16", "text/plain", "text/csv", "application/cbor", "application/xml", "multipart/form-data", "multipart/form-data; boundary=x",
		"application/merge-patch+json", "gzip", "br;q=0", "bytes=0-", "bytes=-1", "bytes=9-1,2-", "bytes=0-0,1-1,2-2", `"x"`, `W/"x"`, "*", "null", "https://stranger.example",
		"8.8.8.8", "127.0.0.1", "::1, 10.0.0.1", "for=_x", "a-device-of-mine", "Thu, 01 Jan 1970 00:00:00 GMT", "Bearer open-sesame", "Basic !!", "websocket",
	})
	if r.IntN(3) == 0 {
		text = plain(HostileText(r))
	}
	q.Header.Set(name, text)
}

func hostileMethod(r *rand.Rand, q *Request) {
	if r.IntN(4) > 0 {
		return
	}
	q.Method = pick(r, []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, http.MethodConnect, "BREW",
	})
}
