package delivery

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestAnUnansweredOrderIsRepeatedHoweverLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, answered := range []int{2, 100} { // the attempt that is answered
			attempts := 0
			err := persist(t.Context(), func() error {
				if attempts++; attempts == answered {
					return nil
				}
				time.Sleep(repeatFor + time.Second)
				return station.ErrUnavailable
			})
			if attempts != 2 || (err == nil) != (answered == 2) || err != nil && !errors.Is(err, station.ErrUnavailable) {
				t.Errorf("answered at attempt %d: given up after %d, %v", answered, attempts, err)
			}
		}
	})
}
