package api_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/athir-radio/athir/test/contract"
)

// document is what a surface says of itself.
func document(t *testing.T, url string) *contract.Document {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := contract.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// checked is a client whose every answer must be as the document says.
func checked(t *testing.T, url string) *http.Client {
	t.Helper()
	return &http.Client{Transport: document(t, url).Transport(http.DefaultTransport, func(err error) { t.Error(err) })}
}
