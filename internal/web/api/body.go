package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

// received reads the body before the handler does: huma would answer 500 to an
// incomplete or malformed body, as if it were an internal error.
func received(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		limit := ctx.Operation().MaxBodyBytes
		body, err := io.ReadAll(io.LimitReader(r.Body, limit))
		var slow net.Error
		switch {
		case errors.As(err, &slow) && slow.Timeout():
			_ = huma.WriteErr(api, ctx, http.StatusRequestTimeout, "the body did not arrive in time")
			return
		case err != nil:
			_ = huma.WriteErr(api, ctx, http.StatusBadRequest, "the body is incomplete, or does not match its headers")
			return
		case int64(len(body)) == limit:
			writeRefusal(ctx, tooLarge(limit))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next(ctx)
	}
}

// tooLarge refuses a body. That of a submission has its sound in base64, of which four
// bytes hold three.
func tooLarge(limit int64) error {
	if limit == attachedBody {
		return (&why.Refusal{Code: why.TooLarge, Limit: limit / 4 * 3}).Kind(station.ErrTooLarge)
	}
	return fmt.Errorf("the body must be smaller than %d bytes: %w", limit, station.ErrTooLarge)
}
