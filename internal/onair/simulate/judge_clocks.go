package simulate

import (
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// leastRest is MIN_REST_MS.
func leastRest(rotation.Config) time.Duration { return 30 * time.Minute }

func (j *judge) perDay(int, func(Fault, string, ...any)) {}

// clocked reports that a clock laid out some of the hours between two entries.
func (j *judge) clocked(int, int) bool { return false }

func (j *judge) clocks(Result) {}
