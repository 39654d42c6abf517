// Package benchkit holds what several benchmarks need.
package benchkit

import (
	"errors"
	"os"
	"runtime/pprof"
)

// Profile writes a profile of the processor to a file until stop; an empty path writes
// none.
func Profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path) //nolint:gosec // the caller's choice
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
