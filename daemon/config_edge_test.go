package daemon

import (
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

func TestOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example":          "https://shop.example",
		"HTTPS://Shop.Example:443/":     "https://shop.example",
		"http://localhost:3000":         "http://localhost:3000",
		"http://[::1]:80":               "http://[::1]",
		"https://a.example,, http://b ": "https://a.example,http://b",
		"":                              "",
	} {
		var origins []WebOrigin
		v := originsValue{&origins}
		if err := v.set(text); err != nil || v.text() != want {
			t.Errorf("%q is %q (%v), want %q", text, v.text(), err, want)
		}
	}
	for _, text := range []string{"*", "https://*.example", "null", "shop.example", "ftp://shop.example", "https://", "https://u:p@shop.example", "https://shop.example/path", "https://shop.example?x", "https://shop.example#x"} {
		var origins []WebOrigin
		if err := (originsValue{&origins}).set(text); err == nil {
			t.Errorf("%q is read as %q", text, origins)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]struct {
		rate edge.Rate
		text string
	}{
		"0":           {edge.Rate{}, "0"},
		"0/s+5":       {edge.Rate{}, "0"},
		"100":         {edge.Rate{PerSecond: 100, Burst: 100}, "100/s"},
		"100/s":       {edge.Rate{PerSecond: 100, Burst: 100}, "100/s"},
		"600/m":       {edge.Rate{PerSecond: 10, Burst: 600}, "10/s+600"},
		"20/s + 100":  {edge.Rate{PerSecond: 20, Burst: 100}, "20/s+100"},
		"1/m":         {edge.Rate{PerSecond: 1. / 60, Burst: 1}, "1/m"},
		"100/h+1":     {edge.Rate{PerSecond: 100. / 3600, Burst: 1}, "100/h+1"},
		"1000000/s+1": {edge.Rate{PerSecond: 1e6, Burst: 1}, "1000000/s+1"},
		"7/h+1000000": {edge.Rate{PerSecond: 7. / 3600, Burst: 1e6}, "7/h+1000000"},
	} {
		var r, again edge.Rate
		v := rateValue{&r}
		if err := v.set(text); err != nil || r != want.rate || v.text() != want.text {
			t.Errorf("%q is %+v, %q (%v); want %+v", text, r, v.text(), err, want)
		}
		if err := (rateValue{&again}).set(v.text()); err != nil || again != r {
			t.Errorf("%q reads back as %+v (%v), was %+v", v.text(), again, err, r)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5/s", "1/d", "1/", "/s", "1/s+", "1/s+0", "1/s+-1", "1/s+x", "1000001/s", "1/s+1000001", "1+1+1"} {
		var r edge.Rate
		if err := (rateValue{&r}).set(text); err == nil {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
}
