package logfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	// block is read first, from the end; each next one doubles what is read.
	block = 64 << 10
	// mostRead bounds what one call reads, whatever the lines' lengths.
	mostRead = 8 << 20
	// longestLine is what is shown of one line, in bytes.
	longestLine = 4 << 10
)

// Tail returns the newest n lines of the log at path, oldest first: from its
// end, so that the size of the log does not matter. A log that does not exist
// has none. A line that is being written is left out.
func Tail(path string, n int) ([]string, error) {
	current, older, err := both(path)
	if err != nil {
		return nil, err
	}
	defer closeAll(current, older)
	var newest [][]byte // newest first
	for _, f := range []*os.File{current, older} {
		if f == nil {
			continue
		}
		lines, err := last(f, n-len(newest))
		if err != nil {
			return nil, err
		}
		newest = append(newest, lines...)
	}
	out := make([]string, len(newest))
	for i, line := range newest {
		out[len(out)-1-i] = strings.ToValidUTF8(string(line[:min(len(line), longestLine)]), "�")
	}
	return out, nil
}

// turnsSeen bounds how often the log may be turned over under a reader.
const turnsSeen = 50

// both opens the log and the one before it as they stood at one moment. A log
// that is turned over all the time is read without the one before it.
func both(path string) (current, older *os.File, err error) {
	for range turnsSeen {
		if current, err = open(path); err != nil {
			return nil, nil, err
		}
		if older, err = open(path + ".1"); err != nil {
			closeAll(current)
			return nil, nil, err
		}
		if stands(path, current) {
			return current, older, nil
		}
		closeAll(current, older)
	}
	current, err = open(path)
	return current, nil, err
}

// stands reports that f is still the file at path.
func stands(path string, f *os.File) bool {
	now, err := os.Stat(path)
	if f == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	was, errF := f.Stat()
	return err == nil && errF == nil && os.SameFile(now, was)
}

// open is nil for a file that is not there.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file, no fault
	}
	return f, err
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// last returns up to n complete lines from the end of f, newest first.
func last(f *os.File, n int) ([][]byte, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || n <= 0 {
		return nil, err
	}
	var text []byte
	from := end
	for from > 0 && bytes.Count(text, []byte("\n")) <= n && end-from < mostRead {
		size := min(int64(len(text))+block, from)
		chunk := make([]byte, size, int(size)+len(text))
		if _, err := f.ReadAt(chunk, from-size); err != nil {
			return nil, err
		}
		from -= size
		text = append(chunk, text...)
	}
	lines := bytes.Split(text, []byte("\n"))
	lines = lines[:len(lines)-1] // empty, or still being written
	if from > 0 && len(lines) > 0 {
		lines = lines[1:] // its beginning was not read
	}
	lines = lines[max(0, len(lines)-n):]
	slices.Reverse(lines)
	return lines, nil
}
