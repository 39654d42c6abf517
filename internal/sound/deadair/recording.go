package deadair

import "time"

const (
	// LongestRest is the longest rest, from now on, that is a recording's own.
	LongestRest = 6 * time.Second
	// behind is the most that a listener hears later than the engine plays.
	behind = 3 * time.Second
)

// LoopsAbout reports whether a recording repeats itself around now. It judges a
// little of what is to come as well: a recording that begins with its loop has
// hardly played long enough for the loop to be found.
func LoopsAbout(pcm []int16, now int) bool {
	return repeats(pcm[:min(len(pcm), now+int(behind.Seconds()*Rate))])
}

// repeats reports whether a judge who heard the samples would have suspected a
// loop, if only for a moment: in doubt the loop is the recording's own.
func repeats(pcm []int16) bool {
	j := NewJudge(Nothing)
	for ; len(pcm) >= blockSize; pcm = pcm[blockSize:] {
		j.Add(pcm[:blockSize])
		if j.loop.looks > 0 {
			return true
		}
	}
	return false
}

// Rests returns how much longer a listener will hear silence from a recording that is
// silent around now; 0 if it is not silent, or stays silent longer than a rest. The
// silence ends with the recording, when the next one begins.
func Rests(pcm []int16, now int, level float64) time.Duration {
	j := NewJudge(level)
	blocks := func(d time.Duration) int { return int(d / block) }
	first := max(0, now-blocks(behind)*blockSize)
	quiet, loud := 0, 0
	for at := first; at+blockSize <= len(pcm); at += blockSize {
		j.Add(pcm[at : at+blockSize])
		sounds := j.level(1) >= level
		switch {
		case at < now && sounds:
			quiet = 0
		case at < now:
			quiet++
		case quiet < blocks(time.Second):
			return 0
		case sounds:
			loud++
		}
		if at >= now && (loud > 2 || at-now > blocks(LongestRest)*blockSize) {
			if loud <= 2 {
				return 0
			}
			return time.Duration(at-now)*time.Second/Rate + behind
		}
	}
	if quiet < blocks(time.Second) {
		return 0
	}
	return time.Duration(max(0, len(pcm)-now))*time.Second/Rate + behind
}
