package pages

import (
	"testing"
	"unicode/utf8"
)

// TestAnswer checks that a code is not left out because the message starts with its digits.
func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		code          int
		message, want string
	}{
		{404, "404 Not Found", "404 Not Found"},
		{404, "404", "404"},
		{404, "", "404"},
		{404, "4040 rows", "404 4040 rows"},
		{0, "connection refused", "connection refused"},
		{500, "Oops", "500 Oops"},
	} {
		if got := answer(&c.code, c.message); got != c.want {
			t.Errorf("%d %q: got %q, want %q", c.code, c.message, got, c.want)
		}
	}
}

// TestShortID checks that IDs are cut between characters.
func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"0123456789":    "0123456789",
		"0123456789a":   "0123…789a",
		"aéééééé":       "aéééééé",
		"éééééaaaaaééé": "éééé…aééé",
	} {
		if got := shortID(id); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// TestStateOf checks that other parts have another digest, wherever they are separated.
func TestStateOf(t *testing.T) {
	if stateOf("a\nb", "c") == stateOf("a", "b\nc") {
		t.Error("parts with line feeds have the same digest")
	}
	if stateOf(`a"`, `b`) == stateOf(`a`, `"b`) {
		t.Error("parts with quotes have the same digest")
	}
}
