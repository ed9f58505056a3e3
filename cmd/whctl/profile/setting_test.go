package profile

import "testing"

// TestByteOrderMark checks that a byte order mark, which editors of Windows add, is accepted and not
// kept.
func TestByteOrderMark(t *testing.T) {
	const text = "profile = \"prod\"\n[profiles.prod]\nurl = \"http://x\"\n"
	f, err := Parse("config.toml", []byte("\ufeff"+text))
	if err != nil {
		t.Fatal(err)
	}
	f, err = f.Use("prod")
	if err != nil {
		t.Fatal(err)
	}
	if string(f.text) != text {
		t.Errorf("after setting the default profile: got %q, want %q", f.text, text)
	}
}
