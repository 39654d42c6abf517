package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outfile is a file that a flag asks for. It is opened before the work begins,
// so that a path that cannot be written to is found out at once, and takes its
// place whole, when the work is done; until then what was there stays.
type outfile struct {
	flag, path string
	file       *os.File // nil when the flag was not given
	temporary  bool
}

// create opens a temporary file beside path, or path itself where that is a device.
func create(flag, path string) (*outfile, error) {
	o := &outfile{flag: flag, path: path}
	if path == "" {
		return o, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		o.file, err = os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // the operator's own choice
	} else {
		o.temporary = true
		o.file, err = os.CreateTemp(filepath.Dir(path), ".athir-*")
	}
	if err != nil {
		return o, fmt.Errorf("--%s=%s: %w", flag, path, err)
	}
	return o, nil
}

// write fills the file and puts it in place.
func (o *outfile) write(fill func(io.Writer) error) error {
	if o.file == nil {
		return nil
	}
	err := fill(o.file)
	if err == nil && o.temporary {
		err = o.file.Chmod(0o644)
	}
	if cerr := o.file.Close(); err == nil {
		err = cerr
	}
	if err == nil && o.temporary {
		if err = os.Rename(o.file.Name(), o.path); err == nil {
			o.temporary = false
		}
	}
	if err != nil {
		return fmt.Errorf("--%s=%s: %w", o.flag, o.path, err)
	}
	return nil
}

// discard removes a file that write has not put in place.
func (o *outfile) discard() {
	if o.file == nil {
		return
	}
	_ = o.file.Close() // write has already closed it, and checked
	if o.temporary {
		_ = os.Remove(o.file.Name())
	}
}
