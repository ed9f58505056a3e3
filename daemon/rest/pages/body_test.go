package pages

import (
	"strings"
	"testing"
)

// TestPrettyOfDeepTexts checks that long and deeply nested bodies are not indented, which could take
// gigabytes.
func TestPrettyOfDeepTexts(t *testing.T) {
	deep := strings.Repeat("[", 9999) + strings.Repeat("]", 9999)
	long := `["` + strings.Repeat("a", maxShown) + `"]`
	for body, want := range map[string]string{
		`{"a":[1]}`: "{\n  \"a\": [\n    1\n  ]\n}",
		`{"a":`:     `{"a":`,
		deep:        deep,
		long:        shortened(long),
	} {
		if got := pretty(body); got != want {
			t.Errorf("a body of %d bytes, %.20q: got %d bytes, %.40q; want %d bytes, %.40q",
				len(body), body, len(got), got, len(want), want)
		}
	}
}
