package browse

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Fields of bytes are told by what they seem to be, and written to files.

// DescribeBytes tells how many bytes there are and what they seem to be.
func DescribeBytes(encoded string) string {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "bytes that cannot be read: " + err.Error()
	}
	return ui.Size(len(content)) + " of " + DetectType(content)
}

// unknownType is what http.DetectContentType says of what it does not know.
const unknownType = "application/octet-stream"

// DetectType is the type that bytes seem to have.
func DetectType(content []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(content), ";")
	if kind == unknownType || len(content) == 0 {
		return "bytes"
	}
	return kind
}

// extensions are what the names of files of some types end with.
var extensions = map[string]string{
	"application/pdf": ".pdf", "application/zip": ".zip", "application/x-gzip": ".gz", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png",
	"image/bmp": ".bmp", "image/webp": ".webp", "text/html": ".html", "text/plain": ".txt", "text/xml": ".xml",
}

// Extension is what the name of a file of such bytes ends with.
func Extension(content []byte) string { return cmp.Or(extensions[DetectType(content)], ".bin") }

// saveBytes asks where the bytes of a field are to be written, and of which where
// there are several.
func (r *Record) saveBytes() {
	if r.Row == nil || r.loading {
		r.Notify(ui.Warning, "the record is on its way")
		return
	}
	var fields []ui.Choice
	for _, f := range r.Browser.Kind.Fields {
		v := r.Full.Value(f.Name)
		if f.Type != record.Bytes || v.Null() {
			continue
		}
		text := v.String()
		fields = append(fields, ui.Choice{Spans: []theme.Span{{Text: f.Name + "  "}, {Text: DescribeBytes(text), Role: theme.Dim}}, Choose: func() tea.Cmd {
			r.ShowInput(r.saveLine(f.Name, text))
			return nil
		}})
	}
	switch len(fields) {
	case 0:
		r.Notify(ui.Info, "no field of this record holds bytes")
	case 1:
		_ = fields[0].Choose()
	default:
		r.ShowOverlay(&ui.Picker{Dialog: r.Dialog, Title: "Write which bytes to a file?", Choices: fields})
	}
}

// saveLine asks where the bytes of a field are to be written.
func (r *Record) saveLine(name, encoded string) *ui.InputLine {
	content, broken := base64.StdEncoding.DecodeString(encoded)
	path := export.UnusedPath(export.AbsPath(r.Downloads), fmt.Sprintf("%s-%s", SafeFileName(r.Row.ID), name), Extension(content))
	l := ui.NewInputLine(r.Host, "save", "save "+name+" to", path)
	l.Help = ui.Size(len(content)) + " of " + DetectType(content) + "; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " saves, " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " leaves it"
	l.Check = func(path string) error {
		if broken != nil {
			return errors.New("these bytes cannot be read: " + broken.Error())
		}
		return export.CheckPath(path, "")
	}
	l.Accept = func(path string) tea.Cmd {
		path = export.AbsPath(path)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			r.ShowError("saving "+name, err)
			return nil
		}
		r.Notify(ui.Info, ui.Size(len(content))+" written to "+path)
		return nil
	}
	return l
}

// SafeFileName is an id as a part of a file's name: what means something in paths
// is left out.
func SafeFileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, id)
	const limit = 60
	return string([]rune(name)[:min(limit, len([]rune(name)))])
}
