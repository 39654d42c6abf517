package playlist

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Decode returns the entries of a file written by Encode or Blank. Errors are
// ErrSize, ErrForeign and ErrTorn; on ErrTorn a reader of a live file reads
// again.
func Decode(data []byte) ([]Item, error) {
	if len(data) != Size {
		return nil, fmt.Errorf("%w but %d", ErrSize, len(data))
	}
	body := data[headerSize:]
	var entries int
	var stated string
	if n, err := fmt.Sscanf(string(data[:headerSize]), headerFormat, &entries, &stated); n != 2 || err != nil {
		return nil, ErrForeign
	}
	if sum(body) != stated {
		return nil, ErrTorn
	}
	items := make([]Item, 0, entries)
	for l := range bytes.SplitSeq(body, []byte{'\n'}) {
		if len(l) == 0 {
			continue
		}
		item, err := parse(string(l))
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrForeign, len(items), err)
		}
		items = append(items, item)
	}
	if len(items) != entries {
		return nil, fmt.Errorf("%w: header says %d entries, found %d", ErrForeign, entries, len(items))
	}
	return items, nil
}

// parse is the inverse of line.
func parse(l string) (Item, error) {
	var item Item
	if rest, ok := strings.CutPrefix(l, annotation); ok {
		typ, rest, _ := strings.Cut(rest, crossKey)
		seconds, rest, _ := strings.Cut(rest, ":")
		cross, err := time.ParseDuration(seconds + "s")
		if err != nil {
			return item, ErrCross
		}
		if !annotated(typ) {
			return item, ErrType
		}
		item.Type, item.Cross, l = typ, cross, rest
	}
	if rest, ok := strings.CutPrefix(l, crossed); ok {
		end := strings.IndexAny(rest, ",:")
		cross, err := time.ParseDuration(rest[:max(end, 0)] + "s")
		if err != nil || cross == 0 {
			return item, ErrCross
		}
		item.Cross = cross
		if l = rest[end+1:]; rest[end] == ',' {
			l = "annotate:" + l // as if its gain stood alone
			if !strings.HasPrefix(l, gained) {
				return item, ErrGain
			}
		}
	}
	if rest, ok := strings.CutPrefix(l, gained); ok {
		decibels, rest, _ := strings.Cut(rest, gainedEnd)
		gain, err := strconv.ParseFloat(decibels, 64)
		if err != nil || hundredths(gain) == 0 {
			return item, ErrGain
		}
		item.Gain, l = gain, rest
	}
	if rest, ok := strings.CutPrefix(l, escaped); ok {
		path, err := url.PathUnescape(rest)
		if err != nil {
			return item, err
		}
		l = path
	}
	item.Path = l
	return item, Check(item)
}
