package config

import (
	"testing"
)

func TestParseOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example":          "https://shop.example",
		"HTTPS://Shop.Example:443/":     "https://shop.example",
		"http://localhost:3000":         "http://localhost:3000",
		"http://[::1]:80":               "http://[::1]",
		"https://a.example,, http://b ": "https://a.example,http://b",
		"":                              "",
	} {
		var origins WebOrigins
		if err := origins.UnmarshalText([]byte(text)); err != nil || origins.String() != want {
			t.Errorf("%q is %q (%v), want %q", text, origins, err, want)
		}
	}
	for _, text := range []string{"*", "https://*.example", "null", "shop.example", "ftp://shop.example", "https://", "https://u:p@shop.example", "https://shop.example/path", "https://shop.example?x", "https://shop.example#x"} {
		var origins WebOrigins
		if err := origins.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is parsed as %q, want an error", text, origins)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]struct {
		rate Rate
		text string
	}{
		"0":           {Rate{}, "0"},
		"0/s+5":       {Rate{}, "0"},
		"100":         {Rate{PerSecond: 100, Burst: 100}, "100/s"},
		"100/s":       {Rate{PerSecond: 100, Burst: 100}, "100/s"},
		"600/m":       {Rate{PerSecond: 10, Burst: 600}, "10/s+600"},
		"20/s + 100":  {Rate{PerSecond: 20, Burst: 100}, "20/s+100"},
		"1/m":         {Rate{PerSecond: 1. / 60, Burst: 1}, "1/m"},
		"100/h+1":     {Rate{PerSecond: 100. / 3600, Burst: 1}, "100/h+1"},
		"1000000/s+1": {Rate{PerSecond: 1e6, Burst: 1}, "1000000/s+1"},
		"7/h+1000000": {Rate{PerSecond: 7. / 3600, Burst: 1e6}, "7/h+1000000"},
	} {
		var r, parsed Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || r != want.rate || r.String() != want.text {
			t.Errorf("%q is %#v, %q (%v); want %#v", text, r, r, err, want)
		}
		if err := parsed.UnmarshalText([]byte(r.String())); err != nil || parsed != r {
			t.Errorf("%q is parsed as %#v (%v), want %#v", r, parsed, err, r)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5/s", "1/d", "1/", "/s", "1/s+", "1/s+0", "1/s+-1", "1/s+x", "1000001/s", "1/s+1000001", "1+1+1"} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is parsed as %+v, want an error", text, r)
		}
	}
}
