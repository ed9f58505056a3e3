package webhooks

import "testing"

// TestJSONMistake checks the places of mistakes: of a wrong character, and of the last character of a
// text that ends too early.
func TestJSONMistake(t *testing.T) {
	const end = "unexpected end of JSON input at line "
	for text, want := range map[string]string{
		`{"a":1`:           end + "1, column 6",
		"{\"a\":1\n":       end + "1, column 6",
		"{\n\"a\":1\r\n\n": end + "2, column 5",
		"{\"a\":\"x\ny\"}": `invalid character '\n' in string literal at line 1, column 8`,
		`{"a":1}x`:         `invalid character 'x' after top-level value at line 1, column 8`,
		"{\n\"é\":x}":      `invalid character 'x' looking for beginning of value at line 2, column 5`,
	} {
		if got := jsonMistake(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
