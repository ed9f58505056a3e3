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
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	if got, _ := os.ReadFile(files[0]); !bytes.Equal(got, content) || filepath.Ext(files[0]) != browse.Extension(content) {
		t.Errorf("%s has %d bytes, want %d", files[0], len(got), len(content))
	}
	d.Press("esc", "esc", ":", "'DB_Class", "enter", "enter", "o")
	d.WantText("this record has no binary values")
}

func TestDescribeBytesDetectsType(t *testing.T) {
	for _, test := range []struct{ content, shown, end string }{
		{"%PDF-1.7\n", "9 B of application/pdf", ".pdf"},
		{"\x89PNG\r\n\x1a\n", "8 B of image/png", ".png"},
		{"plain words", "11 B of text/plain", ".txt"},
		{"\x00\x01\x02", "3 B of bytes", ".bin"},
		{"", "0 B of bytes", ".bin"},
	} {
		if got := browse.DescribeBytes(base64.StdEncoding.EncodeToString([]byte(test.content))); got != test.shown || browse.Extension([]byte(test.content)) != test.end {
			t.Errorf("%q is %q (%s)", test.content, got, browse.Extension([]byte(test.content)))
		}
	}
	if got := browse.DescribeBytes("&&&"); !strings.HasPrefix(got, "invalid base64") {
		t.Errorf("%q", got)
	}
	for id, want := range map[string]string{"../etc/x": ".._etc_x", strings.Repeat("é", 80): strings.Repeat("é", 60), "A\x1b1": "A_1"} {
		if got := browse.SafeFileName(id); got != want {
			t.Errorf("%q is %q", id, got)
		}
	}
}

// Long values are shown on one line, or wrapped when enabled.
func TestLongValuesAreWrapped(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'SY_Filters", "enter", "enter")
	r := d.App.Front().(*browse.Record)
	d.Resize(60, 40)
	before := len(r.Lines)
	if before != len(r.Selection.Kind.Fields) {
		t.Errorf("%d lines of %d fields", before, len(r.Selection.Kind.Fields))
	}
	d.Press("w")
	wrapped := len(r.Lines)
	if wrapped <= before {
		t.Errorf("values are not wrapped:\n%s", d.Text())
	}
	d.Press("]", "[")
	if len(r.Lines) != wrapped {
		t.Errorf("not wrapped when shown again:\n%s", d.Text())
	}
	d.Press("w")
	if len(r.Lines) != before {
		t.Errorf("still wrapped:\n%s", d.Text())
	}
}
