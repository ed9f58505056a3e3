package profile

import "testing"

// A byte order mark, which editors of Windows add, is accepted and not kept.
func TestByteOrderMark(t *testing.T) {
	f, err := Parse("config.toml", []byte("\ufeffprofile = \"prod\"\n[profiles.prod]\nurl = \"http://x\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.Use("prod"); err != nil || string(f.text) != "profile = \"prod\"\n[profiles.prod]\nurl = \"http://x\"\n" {
		t.Errorf("%q, %v", f.text, err)
	}
}
