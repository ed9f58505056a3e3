package browse_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The type of a binary field is shown, and its content is saved unchanged.
func TestSaveBinaryField(t *testing.T) {
	dir := t.TempDir()
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{Downloads: dir})
	d.Press(":", "'CR_BatchTransDocuments", "enter", "enter")
	r := d.App.Front().(*browse.Record)
	for r.Full.Value("FileBinary").Null() {
		d.Press("]")
	}
	content, err := base64.StdEncoding.DecodeString(r.Full.Text("FileBinary"))
	if err != nil {
		t.Fatal(err)
	}
	d.WantText(ui.Size(len(content))+" of "+browse.DetectType(content), "o saves it to a file")
	d.Press("o")
	d.WantText("save FileBinary to", "enter saves")
	d.Press("enter")
	d.WantText("written to ")
	files := tuitest.Files(t, dir, "*")
	if len(files) != 1 {
		t.Fatalf("the files are %q, want one", files)
	}
	got, err := os.ReadFile(files[0])
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%s has %d bytes, error %v; want the %d bytes of the field", files[0], len(got), err, len(content))
	}
	if suffix, want := filepath.Ext(files[0]), browse.Extension(content); suffix != want {
		t.Errorf("the file is %s, want the suffix %s", files[0], want)
	}
	d.Press("esc", "esc", ":", "'DB_Class", "enter", "enter", "o")
	d.WantText("this record has no binary values")
}

func TestDescribeBytesDetectsType(t *testing.T) {
	for _, test := range []struct{ content, description, extension string }{
		{"%PDF-1.7\n", "9 B of application/pdf", ".pdf"},
		{"\x89PNG\r\n\x1a\n", "8 B of image/png", ".png"},
		{"plain words", "11 B of text/plain", ".txt"},
		{"\x00\x01\x02", "3 B of bytes", ".bin"},
		{"", "0 B of bytes", ".bin"},
	} {
		content := []byte(test.content)
		if got := browse.DescribeBytes(base64.StdEncoding.EncodeToString(content)); got != test.description {
			t.Errorf("%q is described as %q, want %q", test.content, got, test.description)
		}
		if got := browse.Extension(content); got != test.extension {
			t.Errorf("%q has the extension %s, want %s", test.content, got, test.extension)
		}
	}
	if got := browse.DescribeBytes("&&&"); !strings.HasPrefix(got, "invalid base64") {
		t.Errorf("&&& is described as %q, want invalid base64", got)
	}
}

func TestSafeFileNameReplacesSpecialCharacters(t *testing.T) {
	for id, want := range map[string]string{
		"../etc/x":              ".._etc_x",
		strings.Repeat("é", 80): strings.Repeat("é", 60),
		"A\x1b1":                "A_1",
	} {
		if got := browse.SafeFileName(id); got != want {
			t.Errorf("the file name of %q is %q, want %q", id, got, want)
		}
	}
}

// Long values are shown on one line, or wrapped when enabled.
func TestLongValuesAreWrapped(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'SY_Filters", "enter", "enter")
	r := d.App.Front().(*browse.Record)
	d.Resize(60, 40)
	fields := len(r.Selection.Kind.Fields)
	if n := len(r.Lines); n != fields {
		t.Errorf("not wrapped: %d lines, want one for each of %d fields", n, fields)
	}
	d.Press("w")
	wrapped := len(r.Lines)
	if wrapped <= fields {
		t.Errorf("wrapped: %d lines, want more than %d:\n%s", wrapped, fields, d.Text())
	}
	d.Press("]", "[")
	if n := len(r.Lines); n != wrapped {
		t.Errorf("shown again: %d lines, want %d:\n%s", n, wrapped, d.Text())
	}
	d.Press("w")
	if n := len(r.Lines); n != fields {
		t.Errorf("no longer wrapped: %d lines, want %d:\n%s", n, fields, d.Text())
	}
}
