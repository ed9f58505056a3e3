package display_test

import (
	"testing"

	"github.com/bizhook/whd/client/display"
)

func TestSummary(t *testing.T) {
	for response, want := range map[string]string{
		"":                            "",
		" \r\n\t\nunknown shop\nmore": "unknown shop",
		`{"error":"unknown shop"}`:    "unknown shop",
		`{"Error":{"Code":7,"Message":"unknown  shop\nat line 2"}}`:       "unknown shop at line 2",
		`{"type":"about:blank","title":"Not Found","detail":"no shop 7"}`: "no shop 7",
		`{"error":"invalid_grant","error_description":"token expired"}`:   "token expired",
		`{"ResponseStatus":{"ErrorCode":"X","Message":"no order 4711"}}`:  "no order 4711",
		`{"errors":[{"message":"first"},{"message":"second"}]}`:           "first",
		`[{"reason":"late"}]`:       "late",
		`{"status":"bad"}`:          `{"status":"bad"}`,
		`{"error":null,"ok":false}`: `{"error":null,"ok":false}`,
		`{"error":"cut off`:         `{"error":"cut off`,
		`[12`:                       `[12`,
		"<html><head><title>502 Bad\nGateway</title></head><body><h1>Bad Gateway</h1>": "502 Bad Gateway",
		"<html>\n<title></title>\n<p>a &amp; b</p><p>c</p>":                            "a & b c",
		"a < b": "a < b",
	} {
		if got := display.Summary(response); got != want {
			t.Errorf("Summary(%q) = %q, want %q", response, got, want)
		}
	}
}

// FuzzSummary checks that a summary has one line.
func FuzzSummary(f *testing.F) {
	f.Add(`{"error":{"message":"x\ny"}}`)
	f.Add("<title>x\ny</title>")
	f.Fuzz(func(t *testing.T, response string) {
		for _, r := range display.Summary(response) {
			if r == '\n' || r == '\r' {
				t.Fatalf("Summary(%q) has a line break", response)
			}
		}
	})
}
