package innerhttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/station"
)

// Who asks learns what is wrong, and of which kind it is.
func TestAWrongBodyAndEachKindOfErrorAreTold(t *testing.T) {
	for body, want := range map[string]string{
		`{"n": 1}`:                               `200 {"n":1}`,
		`{"n": "x"}`:                             `422 {"detail":"body: cannot unmarshal string`,
		`not JSON`:                               `422 {"detail":"body: invalid character`,
		`{"n": ` + strings.Repeat("1", 99) + `}`: `413 {"detail":"body: more than 40 bytes`,
	} {
		w := httptest.NewRecorder()
		var in struct {
			N int `json:"n"`
		}
		if innerhttp.Read(w, httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body)), 40, &in) {
			innerhttp.Answer(w, in)
		}
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	for err, want := range map[error]int{
		station.ErrNotFound: 404, station.ErrConflict: 409, station.ErrForbidden: 403, station.ErrFull: 507, station.ErrUnavailable: 503, errors.New("a disk"): 500,
	} {
		w := httptest.NewRecorder()
		innerhttp.Refuse(w, fmt.Errorf("recording %q: %w", "x", err))
		if w.Code != want || w.Header().Get("Content-Type") != "application/problem+json" || !strings.Contains(w.Body.String(), "recording") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}
