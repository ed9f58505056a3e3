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
			t.Errorf("parsing %q: got %q (%v), want %q", text, origins, err, want)
		}
	}
	for _, text := range []string{
		"*", "https://*.example", "null", "shop.example", "ftp://shop.example", "https://",
		"https://u:p@shop.example", "https://shop.example/path", "https://shop.example?x",
		"https://shop.example#x",
	} {
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
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || r != want.rate || r.String() != want.text {
			t.Errorf("parsing %q: got %#v, printed as %q (%v), want %#v, printed as %q",
				text, r, r, err, want.rate, want.text)
		}
		var parsed Rate
		if err := parsed.UnmarshalText([]byte(r.String())); err != nil || parsed != r {
			t.Errorf("%q is parsed as %#v (%v), want %#v", r, parsed, err, r)
		}
	}
	for _, text := range []string{
		"", "x", "-1", "1.5/s", "1/d", "1/", "/s", "1/s+", "1/s+0", "1/s+-1", "1/s+x",
		"1000001/s", "1/s+1000001", "1+1+1",
	} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is parsed as %+v, want an error", text, r)
		}
	}
}

func TestParseHostNames(t *testing.T) {
	var names HostNames
	text := "ERP.example, erp2.example."
	want := "erp.example,erp2.example"
	if err := names.UnmarshalText([]byte(text)); err != nil || names.String() != want {
		t.Errorf("parsing %q: got %q (%v), want %q", text, names, err, want)
	}
	for _, text := range []string{".", "..", "erp.example..", ".example", "erp..example", "erp.example:443", "https://erp.example", "*.example", "a b"} {
		var names HostNames
		if err := names.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("parsing %q: got %q, want an error", text, names)
		}
	}
}

// TestRateText checks that a rate that no text describes exactly is printed as a rate near it.
func TestRateText(t *testing.T) {
	for want, rate := range map[string]Rate{
		"444/h+5":     {PerSecond: 0.12345, Burst: 5},
		"1/h+5":       {PerSecond: 1e-9, Burst: 5},
		"60000/m+5":   {PerSecond: 1000.0001, Burst: 5},
		"1000000/s+5": {PerSecond: 1e9, Burst: 5},
	} {
		got := rate.String()
		if got != want {
			t.Errorf("text of %#v: got %q, want %q", rate, got, want)
		}
		var parsed Rate
		if err := parsed.UnmarshalText([]byte(got)); err != nil {
			t.Errorf("parsing %q: got the error %v, want a rate", got, err)
		}
	}
}
