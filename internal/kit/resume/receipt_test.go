package resume

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// What was taken before a receipt was a set of headers is answered by its owner's reading of it.
func TestAReceiptOfAnEarlierVersionIsStillAnswered(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Earlier = func(record []byte) Receipt {
			var old struct{ Ticket string }
			_ = json.Unmarshal(record, &old)
			return Receipt{"X-Ticket": old.Ticket}
		}
	})
	s := w.sender()
	path := s.create(t, 10)
	s.patch(t, path, 0, song(10))
	file := w.path(strings.TrimPrefix(path, root), recordSuffix)
	text, err := os.ReadFile(file)
	var record map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &record)); err != nil {
		t.Fatal(err)
	}
	if record["receipt"] == nil {
		t.Fatalf("no receipt in %s", text)
	}
	delete(record, "receipt")
	record["ticket"] = "seventh row"
	text, err = json.Marshal(record)
	if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	w.restart(t, w.opts)
	if got := w.sender().head(t, path); got.Status != 200 || got.offset() != 10 || got.Get("X-Ticket") != "seventh row" {
		t.Errorf("%+v", got)
	}
}

// Who is logged in stays with the upload, whoever brings its last byte.
func TestTheNameOfItsSenderStaysWithAnUpload(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Name = func(r *http.Request) string { return r.Header.Get("X-Name") }
	})
	s := w.sender()
	s.extra = map[string]string{"X-Name": "Nadia"}
	path := s.create(t, 10)
	w.restart(t, w.opts)
	w.sender().patch(t, path, 0, song(10))
	if calls := w.shelf.taken(); len(calls) != 1 || calls[0].From.Name != "Nadia" {
		t.Errorf("%+v", calls)
	}
}

// An owner's words are found in the errors that carry them, beside the kind that has the status.
func TestRefusalsAreTheOwnersAndHaveAKind(t *testing.T) {
	mine := errors.New("لا مكان الآن")
	var seen error
	w := build(t, func(o *Options) {
		o.Refusals.NoRoom = mine
		o.Space = func(string) (uint64, uint64, error) { return 1, 2, nil }
		o.Problem = func(w http.ResponseWriter, _ *http.Request, err error) {
			seen = err
			w.WriteHeader(station.Status(err))
		}
	})
	got := w.sender().must(t, "POST", root, nil, length(10))
	if got.Status != 507 || !errors.Is(seen, mine) || seen.Error() != mine.Error() {
		t.Errorf("%d, %v", got.Status, seen)
	}
}
