package listen

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReceiverAddress checks addresses of receivers with and without a scheme.
func TestReceiverAddress(t *testing.T) {
	for text, want := range map[string]string{
		"localhost:3000":                    "http://localhost:3000",
		"HTTPS://shop.example/in":           "https://shop.example/in",
		"localhost:3000/hook?next=http://x": "http://localhost:3000/hook?next=http://x",
		"ftp://shop.example":                "",
		"http://localhost:30 00":            "",
		"":                                  "",
	} {
		f, err := NewForwarder(text, time.Now)
		if want == "" {
			if err == nil {
				t.Errorf("--forward-to %q: got %s, want an error", text, f.to)
			}
			continue
		}
		if err != nil {
			t.Errorf("--forward-to %q: %v", text, err)
			continue
		}
		if got := f.to.String(); got != want {
			t.Errorf("--forward-to %q: got %s, want %s", text, got, want)
		}
	}
}

// TestUnwrittenSecret checks that messages are not signed with a secret that could not be written to
// its file, since no receiver could verify them.
func TestUnwrittenSecret(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	err := os.Symlink("missing", folder)
	if err != nil {
		t.Skip("symbolic links cannot be created: ", err)
	}
	f := &Forwarder{}
	err = f.SignWith(filepath.Join(folder, "secret"))
	if err == nil || f.secret != nil {
		t.Errorf("error %v and a secret of %d bytes, want an error and none", err, len(f.secret))
	}
}
