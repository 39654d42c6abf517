package bulletin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
)

// answered is what Open-Meteo answers, of its documentation's form.
func answered(current string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprintf(w, `{"latitude":30.0625,"longitude":31.25,"generationtime_ms":0.04,"utc_offset_seconds":0,"timezone":"GMT",
			"current_units":{"time":"unixtime","temperature_2m":"°C","weather_code":"wmo code"},"current":%s}`, current)
	}
}

func measured(age time.Duration) string {
	return fmt.Sprintf(`{"time":%d,"interval":900,"temperature_2m":22.6,"weather_code":2,"wind_speed_10m":14.3,"wind_direction_10m":345}`, time.Now().Add(-age).Unix())
}

// weatherFrom serves a handler and returns a client of it, in whose time a busy
// machine answers too.
func weatherFrom(t *testing.T, h http.HandlerFunc) *OpenMeteo {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o := NewOpenMeteo()
	o.url, o.limit = server.URL, time.Minute
	return o
}

func TestWeatherIsRead(t *testing.T) {
	got, err := weatherFrom(t, answered(measured(10*time.Minute))).Now(t.Context())
	if want := (arabic.Weather{Celsius: 22.6, Code: 2, WindKmh: 14.3, WindDeg: 345}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWeatherAsksForCairoInOneFixedPlace(t *testing.T) {
	u, err := url.Parse(NewOpenMeteo().url)
	if err != nil || u.Scheme != "https" || u.Host != "api.open-meteo.com" || u.Path != "/v1/forecast" {
		t.Fatalf("%s, %v", u, err)
	}
	q := u.Query()
	if q.Get("latitude") != "30.0444" || q.Get("longitude") != "31.2357" || q.Get("timeformat") != "unixtime" || q.Get("wind_speed_unit") != "kmh" {
		t.Errorf("it asks for %v", q)
	}
	for _, field := range []string{"temperature_2m", "weather_code", "wind_speed_10m", "wind_direction_10m"} {
		if !strings.Contains(q.Get("current"), field) {
			t.Errorf("it does not ask for %s", field)
		}
	}
}

func TestEveryFaultOfTheWeatherServiceIsAnError(t *testing.T) {
	with := func(field string) http.HandlerFunc { // the last of two equal names wins
		return answered(strings.TrimSuffix(measured(0), "}") + "," + field + "}")
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500"},
		"429": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, "429"},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>hotel login</html>")
		}, "not JSON"},
		"HTML that calls itself JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "<html></html>")
		}, "read the answer"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "302"},
		"a huge body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 1000 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}, "larger than"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, `{"current":`)
		}, "unexpected EOF"},
		"an error of theirs":     {answered(`null,"error":true,"reason":"busy"`), "lacks"},
		"a string for a number":  {with(`"temperature_2m":"warm"`), "read the answer"},
		"null for a number":      {with(`"wind_speed_10m":null`), "lacks"},
		"a list for the current": {answered(`[]`), "read the answer"},
		"no fields":              {answered(`{}`), "lacks"},
		"a time of yesterday":    {answered(measured(26 * time.Hour)), "another time"},
		"a time of tomorrow":     {answered(measured(-26 * time.Hour)), "another time"},
		"900 degrees":            {with(`"temperature_2m":900`), "temperature is 900"},
		"a wind from nowhere":    {with(`"wind_direction_10m":-1`), "wind direction is -1"},
		"a negative wind":        {with(`"wind_speed_10m":-3`), "wind is -3"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := weatherFrom(t, c.answer).Now(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	o := NewOpenMeteo()
	o.url = "http://127.0.0.1:1"
	if _, err := o.Now(t.Context()); err == nil {
		t.Error("nobody listens, and no error")
	}
}

func TestASlowWeatherServiceIsGivenUp(t *testing.T) {
	if limit := NewOpenMeteo().limit; limit != 5*time.Second {
		t.Errorf("it waits %s", limit)
	}
	hang := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"no answer": func(http.ResponseWriter, *http.Request) { <-hang },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"current":`)
			w.(http.Flusher).Flush()
			<-hang
		},
	} {
		o := weatherFrom(t, answer)
		o.limit = 100 * time.Millisecond
		if _, err := o.Now(t.Context()); err == nil || !strings.Contains(err.Error(), "no answer within 100ms") {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("closing down"))
		if _, err := o.Now(ctx); err == nil || !strings.Contains(err.Error(), "closing down") {
			t.Errorf("%s, and the caller goes: %v", name, err)
		}
	}
	close(hang)
}
