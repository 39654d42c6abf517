package bulletin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
)

// openMeteo asks for what is measured in Cairo now. The service is free, needs
// no key, and its data are under CC BY 4.0.
const openMeteo = "https://api.open-meteo.com/v1/forecast?latitude=30.0444&longitude=31.2357" +
	"&current=temperature_2m,weather_code,wind_speed_10m,wind_direction_10m&wind_speed_unit=kmh&temperature_unit=celsius&timeformat=unixtime"

const (
	weatherTime = 5 * time.Second
	weatherBody = 64 << 10
	weatherAge  = 3 * time.Hour // the service renews it every quarter of an hour
)

// outside is the weather as it was told, or why it was not.
type outside struct {
	weather arabic.Weather
	err     error
	at      time.Time // zero: it was never asked for
}

var (
	errNoWeather   = errors.New("not asked for")
	errNotAskedYet = errors.New("not asked yet")
)

// look asks for the weather and remembers the answer.
func (m *Maker) look(ctx context.Context) outside {
	if m.o.Weather == nil {
		return outside{err: errNoWeather}
	}
	w, err := m.o.Weather.Now(ctx)
	out := outside{w, err, m.now()}
	if ctx.Err() == nil { // else nobody waited for the answer
		m.mu.Lock()
		m.outside = out
		m.mu.Unlock()
	}
	return out
}

// remembered is the weather as it was last told, while that still holds. It asks nobody.
func (m *Maker) remembered() outside {
	if m.o.Weather == nil {
		return outside{err: errNoWeather}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outside.at.IsZero() || m.now().Sub(m.outside.at) > weatherAge {
		return outside{err: errNotAskedYet}
	}
	return m.outside
}

// OpenMeteo is the weather of Cairo.
type OpenMeteo struct {
	url    string
	limit  time.Duration
	client *http.Client
	now    func() time.Time
}

// NewOpenMeteo makes one that goes through the proxy of the environment, if
// there is one.
func NewOpenMeteo() *OpenMeteo {
	return &OpenMeteo{
		url: openMeteo, limit: weatherTime, now: time.Now,
		client: &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Now asks once, for at most five seconds. What it returns is plausible, or an
// error says why not.
func (o *OpenMeteo) Now(ctx context.Context) (arabic.Weather, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("no answer within %s", o.limit))
	defer cancel()
	w, err := o.ask(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return arabic.Weather{}, fmt.Errorf("weather service: %w", err)
	}
	return w, nil
}

func (o *OpenMeteo) ask(ctx context.Context) (arabic.Weather, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url, http.NoBody)
	if err != nil {
		return arabic.Weather{}, err
	}
	request.Header.Set("User-Agent", "athir")
	answer, err := o.client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which is always the same
		}
		return arabic.Weather{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	if answer.StatusCode != http.StatusOK {
		return arabic.Weather{}, fmt.Errorf("answered %s", answer.Status)
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return arabic.Weather{}, fmt.Errorf("answered with %.60q, not JSON", answer.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, weatherBody+1))
	switch {
	case err != nil:
		return arabic.Weather{}, err
	case len(body) > weatherBody:
		return arabic.Weather{}, fmt.Errorf("answer is larger than %d bytes", weatherBody)
	}
	return weatherOf(body, o.now())
}

// weatherOf reads an answer. Every field must be there, of its type, and
// within what happens on earth.
func weatherOf(body []byte, now time.Time) (arabic.Weather, error) {
	var answer struct {
		Current struct {
			Time      *int64   `json:"time"` // seconds since 1970
			Celsius   *float64 `json:"temperature_2m"`
			Code      *float64 `json:"weather_code"`
			WindKmh   *float64 `json:"wind_speed_10m"`
			Direction *float64 `json:"wind_direction_10m"`
		} `json:"current"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return arabic.Weather{}, fmt.Errorf("read the answer: %w", err)
	}
	c := answer.Current
	if c.Time == nil || c.Celsius == nil || c.Code == nil || c.WindKmh == nil || c.Direction == nil {
		return arabic.Weather{}, errors.New("answer lacks time, temperature, code or wind")
	}
	if age := now.Sub(time.Unix(*c.Time, 0)); age > weatherAge || age < -weatherAge {
		return arabic.Weather{}, fmt.Errorf("answer is for another time: %s", time.Unix(*c.Time, 0).UTC().Format(time.RFC3339))
	}
	for _, v := range []struct {
		name          string
		value, lo, hi float64
	}{{"temperature", *c.Celsius, -60, 60}, {"code", *c.Code, 0, 99}, {"wind", *c.WindKmh, 0, 199}, {"wind direction", *c.Direction, 0, 360}} {
		if !(v.value >= v.lo && v.value <= v.hi) {
			return arabic.Weather{}, fmt.Errorf("%s is %g, an impossible value", v.name, v.value)
		}
	}
	return arabic.Weather{Celsius: *c.Celsius, Code: int(math.Round(*c.Code)), WindKmh: *c.WindKmh, WindDeg: *c.Direction}, nil
}
