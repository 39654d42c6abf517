package ingest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"strings"
)

// mostHead bounds a request's line and header together.
const mostHead = 8 << 10

// request is what an encoder asks. net/http cannot read it: SOURCE requests of old clients
// end their line with "ICE/1.0", or with nothing.
type request struct {
	method  string
	path    string
	query   url.Values
	old     bool // not HTTP/1.1: no 100 Continue, no chunks
	header  textproto.MIMEHeader
	user    string
	secret  string
	chunked bool
	expects bool // 100 Continue
}

var (
	errTooLong = errors.New("the request's head is longer than 8 KiB")
	errNoHTTP  = errors.New("this is no request of an encoder: send PUT or SOURCE by the Icecast protocol")
)

// readRequest reads a request's head. Errors are for the client to read.
func readRequest(in *bufio.Reader) (*request, error) {
	line, left, err := readLine(in, mostHead)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || len(fields) > 3 || !token(fields[0]) {
		return nil, errNoHTTP
	}
	r := &request{method: fields[0], old: true, header: textproto.MIMEHeader{}}
	if len(fields) == 3 {
		switch {
		case fields[2] == "HTTP/1.1":
			r.old = false
		case !strings.HasPrefix(fields[2], "HTTP/1.") && !strings.HasPrefix(fields[2], "ICE/1."):
			return nil, errNoHTTP
		}
	}
	if err := r.target(fields[1]); err != nil {
		return nil, err
	}
	for {
		if line, left, err = readLine(in, left); err != nil {
			return nil, err
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !token(name) {
			return nil, errNoHTTP
		}
		r.header.Add(name, strings.TrimSpace(value))
	}
	r.chunked = strings.EqualFold(r.header.Get("Transfer-Encoding"), "chunked")
	r.expects = strings.EqualFold(r.header.Get("Expect"), "100-continue")
	r.user, r.secret = basic(r.header.Get("Authorization"))
	return r, nil
}

// target takes a path apart. Old clients send mounts without the first slash.
func (r *request) target(text string) error {
	if i := strings.Index(text, "://"); i >= 0 {
		if j := strings.IndexByte(text[i+3:], '/'); j >= 0 {
			text = text[i+3+j:]
		}
	}
	if text != "*" && !strings.HasPrefix(text, "/") {
		text = "/" + text
	}
	path, query, _ := strings.Cut(text, "?")
	path, err := url.PathUnescape(path)
	if err != nil {
		return errNoHTTP
	}
	r.path = path
	// A song's text may hold anything: what cannot be read is left out.
	r.query, _ = url.ParseQuery(query)
	return nil
}

func readLine(in *bufio.Reader, left int) (string, int, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if left -= len(part); left < 0 {
			return "", 0, errTooLong
		}
		if err == nil {
			return string(bytes.TrimRight(line, "\r\n")), left, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", 0, fmt.Errorf("read the request: %w", err)
		}
	}
}

// token reports that text is a name of HTTP's.
func token(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7F || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// basic is the login of a Basic Authorization header; empty where there is none.
func basic(header string) (user, secret string) {
	scheme, text, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", ""
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", ""
	}
	user, secret, _ = strings.Cut(string(raw), ":")
	return user, secret
}

// mountName reports a mount that may be used: "/sara", of what needs no escape.
func mountName(path string) bool {
	name := strings.TrimPrefix(path, "/")
	return len(name) > 0 && len(name) <= 64 && !strings.HasPrefix(name, "admin") &&
		strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && name[0] != '.'
}
