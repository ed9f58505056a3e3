package xlsx

import "testing"

func TestNeedsPreserve(t *testing.T) {
	for text, want := range map[string]bool{
		"":         false,
		"bolt":     false,
		"bolt M8":  false,
		"漢 字":      false,
		" bolt":    true,
		"bolt ":    true,
		"bolt  M8": true,
		"bolt\tM8": true,
		"bolt\nM8": true,
		" ":        true,
	} {
		if got := needsPreserve([]byte(text)); got != want {
			t.Errorf("needsPreserve(%q) = %v, want %v", text, got, want)
		}
	}
}
