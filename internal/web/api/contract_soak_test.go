//go:build soak

package api_test

import "testing"

func TestSoakEveryOperationAnswersAsDocumented(t *testing.T) { callEveryOperation(t, 500) }
