package wire_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/wire"
)

// pieces answers each question with the next piece, and says that the source is gone after
// the last.
type pieces [][]byte

func (p *pieces) RoundTrip(*http.Request) (*http.Response, error) {
	if len(*p) == 0 {
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
	}
	next := (*p)[0]
	*p = (*p)[1:]
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(next))}, nil
}

// What is joined of pieces has one header: that of a desk which was restarted meanwhile would
// be heard as a click near full scale.
func TestListeningInPiecesHasOneHeader(t *testing.T) {
	head := "RIFF\xff\xff\xff\xffWAVEfmt " + strings.Repeat("h", 20) + "data\xff\xff\xff\xff"
	synctest.Test(t, func(t *testing.T) {
		desk := &pieces{[]byte(head + "one."), []byte("two."), nil, []byte(head), []byte("RIFF"), []byte(head + "six.")}
		resp, err := wire.Desk{RoundTripper: desk, Pieces: true}.Listen(t.Context(), live.Source{ID: "LIVE1"})
		if err != nil {
			t.Fatal(err)
		}
		heard, _ := io.ReadAll(resp.Body)
		if want := head + "one.two.RIFFsix."; string(heard) != want {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
}
