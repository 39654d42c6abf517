// Package deb reads a finished Debian package and holds it to what is promised of it; its
// soak test installs one on a bare Debian.
package deb

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// archive is an opened .deb.
type archive struct {
	order   []string // of its members
	control map[string]file
	data    map[string]file
}

// file is one file of it.
type file struct {
	mode    int64
	kind    byte
	link    string
	owner   string
	content []byte
}

// open reads a .deb: an ar archive of a version and two tar archives.
func open(raw []byte) (*archive, error) {
	const magic = "!<arch>\n"
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok {
		return nil, errors.New("not an ar archive")
	}
	out := &archive{}
	for len(rest) >= 60 {
		name := strings.TrimRight(strings.TrimSpace(string(rest[:16])), "/")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || len(rest) < 60+size {
			return nil, fmt.Errorf("member %s is cut off", name)
		}
		body := rest[60 : 60+size]
		rest = rest[60+size+size%2:]
		out.order = append(out.order, name)
		switch {
		case strings.HasPrefix(name, "control.tar"):
			out.control, err = untar(name, body)
		case strings.HasPrefix(name, "data.tar"):
			out.data, err = untar(name, body)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// untar reads a compressed tar; the programs that expand it are part of every Debian.
func untar(name string, body []byte) (map[string]file, error) {
	program := map[string]string{"xz": "xz", "gz": "gzip", "zst": "zstd"}[name[strings.LastIndexByte(name, '.')+1:]]
	cmd := exec.Command(program, "-dc")
	cmd.Stdin = bytes.NewReader(body)
	plain, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	files := map[string]file{}
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		path := "/" + strings.Trim(strings.TrimPrefix(h.Name, "."), "/")
		files[path] = file{mode: h.Mode & 0o7777, kind: h.Typeflag, link: h.Linkname, owner: h.Uname + ":" + h.Gname, content: content}
	}
}

// fields are those of the control file; a description's further lines are left out.
func (a *archive) fields() map[string]string {
	out := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(a.control["/control"].content)); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ": "); ok && !strings.HasPrefix(name, " ") {
			out[name] = value
		}
	}
	return out
}
