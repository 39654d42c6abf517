package doctor

import (
	"crypto/tls"
	"net/http"
)

// lenient takes any certificate: the address is one of loopback, whose name no certificate
// has.
func lenient(t *http.Transport) {
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // loopback; see above
}
