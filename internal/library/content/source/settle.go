package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Settle removes the original of a file that was taken, and moves one that was
// refused to rejected/ with a text beside it that says why. A file that is gone,
// or has changed since it was found, is left as it is.
func (in *Inbox) Settle(_ context.Context, c Candidate, o Outcome) error {
	rel, err := relOf(c.ID)
	if err != nil {
		return err
	}
	root, err := in.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only renames
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("settle the inbox: %w", err)
	case inboxID(rel, info) != c.ID || !info.Mode().IsRegular():
		return nil
	case o.Taken:
		err = root.Remove(rel)
	default:
		err = reject(root, rel, o)
	}
	if err != nil {
		return fmt.Errorf("settle the inbox: %w", err)
	}
	return nil
}

// reject moves a file aside. The text is written first: a move that fails after
// it is tried again, and no refused file lies there unexplained.
func reject(root *os.Root, rel string, o Outcome) error {
	to := path.Join(rejected, rel)
	if err := root.MkdirAll(path.Dir(to), 0o750); err != nil {
		return err
	}
	to, err := free(root, to)
	if err != nil {
		return err
	}
	text := "لم يُقبل هذا الملف: " + o.WhyArabic + "\n\nThis file was not taken: " + o.WhyEnglish + "\n"
	if err := root.WriteFile(noteOf(to), []byte(text), 0o640); err != nil {
		return err
	}
	return root.Rename(rel, to)
}

// noteOf is the name of the text beside a file. A name as long as a file system
// allows is cut to make room.
func noteOf(file string) string {
	dir, name := path.Split(file)
	const most = 255 - len(".txt")
	for len(name) > most {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return dir + name + ".txt"
}

// free finds a name that is not taken yet, neither by a file nor by its text.
func free(root *os.Root, want string) (string, error) {
	ext := path.Ext(want)
	if len(ext) > 6 {
		ext = ""
	}
	stem := strings.TrimSuffix(want, ext)
	for n := 1; n < 1000; n++ {
		name := want
		if n > 1 {
			mark := " (" + strconv.Itoa(n) + ")" + ext
			base := path.Base(stem)
			for len(base)+len(mark) > 255 {
				_, size := utf8.DecodeLastRuneInString(base)
				base = base[:len(base)-size]
			}
			name = path.Join(path.Dir(want), base+mark)
		}
		_, err := root.Lstat(name)
		_, noted := root.Lstat(noteOf(name))
		if errors.Is(err, fs.ErrNotExist) && errors.Is(noted, fs.ErrNotExist) {
			return name, nil
		}
	}
	return "", fmt.Errorf("too many files of this name in rejected/: empty that folder")
}
