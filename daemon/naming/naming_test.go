package naming

import "testing"

// TestProblem checks names of many scripts, and names that would not be shown as they are.
func TestProblem(t *testing.T) {
	for _, name := range []string{
		"a", "Müller & Søn A/S", "株式会社", "شركة", "עסק", "نمی\u200cخواهم", "👨\u200d👩\u200d👧 shop", "क\u094dष", "1", "–",
	} {
		if got := Problem(name); got != "" {
			t.Errorf("%q %s", name, got)
		}
	}
	for _, name := range []string{
		"", " ", "\u00a0", "\u200b", "\u2060\ufeff", "\u3164", "\ufe0f", "\u2800", "\u034f",
		"a\x00", "a\rb", "a\nb", "a\tb", "a\x7f", "a\u0085", "a\u2028b", "a\u2029b",
		"a\u202eb", "a\u2066b", "\u200ea", "\u061ca", "a\xff",
	} {
		if Problem(name) == "" {
			t.Errorf("%q is valid", name)
		}
	}
}
