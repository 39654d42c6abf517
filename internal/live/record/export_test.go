package record

import "time"

// Queued is the PCM that waits for the encoder, in bytes.
func (r *Recorder) Queued() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queued
}

// Encoder is the process id of the newest encoder.
func (r *Recorder) Encoder() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.encoder
}

// Stall sets when an encoder counts as hung.
func (r *Recorder) Stall(d time.Duration) { r.stall = d }

var (
	Split     = split
	Played    = played
	ParseHead = parseHead
	Head      = head
	Slug      = slug
)

// HeadBytes and FrameBytes are the sizes in a file.
const HeadBytes, FrameBytes = headBytes, frameBytes
