package browse

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// DescribeBytes returns the size and the detected type of base64-encoded bytes.
func DescribeBytes(encoded string) string {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "invalid base64: " + err.Error()
	}
	return ui.Size(len(content)) + " of " + DetectType(content)
}

// unknownType is the type that http.DetectContentType returns for unknown content.
const unknownType = "application/octet-stream"

// DetectType returns the detected MIME type of content, "bytes" if unknown.
func DetectType(content []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(content), ";")
	if kind == unknownType || len(content) == 0 {
		return "bytes"
	}
	return kind
}

// extensions are the file name extensions of MIME types.
var extensions = map[string]string{
	"application/pdf":    ".pdf",
	"application/x-gzip": ".gz",
	"application/zip":    ".zip",
	"image/bmp":          ".bmp",
	"image/gif":          ".gif",
	"image/jpeg":         ".jpg",
	"image/png":          ".png",
	"image/webp":         ".webp",
	"text/html":          ".html",
	"text/plain":         ".txt",
	"text/xml":           ".xml",
}

// Extension returns the file name extension for content.
func Extension(content []byte) string { return cmp.Or(extensions[DetectType(content)], ".bin") }

// saveBytes opens the input of the path for a binary field, after a picker if there are
// several.
func (r *Record) saveBytes() {
	if r.Row == nil || r.loading {
		r.Host.Notify(ui.Warning, "the record is still loading")
		return
	}
	var fields []ui.Choice
	for _, f := range r.Selection.Kind.Fields {
		v := r.Full.Value(f.Name)
		if f.Type != record.Bytes || v.Null() {
			continue
		}
		text := v.String()
		fields = append(fields, ui.Choice{
			Spans: []theme.Span{{Text: f.Name + "  "}, {Text: DescribeBytes(text), Role: theme.Dim}},
			Choose: func() tea.Cmd {
				r.Host.ShowInput(r.saveLine(f.Name, text))
				return nil
			},
		})
	}
	switch len(fields) {
	case 0:
		r.Host.Notify(ui.Info, "this record has no binary values")
	case 1:
		_ = fields[0].Choose()
	default:
		r.Host.ShowOverlay(&ui.Picker{
			HostSession: r.HostSession,
			Title:       "Save which field to a file?",
			Choices:     fields,
		})
	}
}

// saveLine returns the input of the path for a binary field.
func (r *Record) saveLine(name, encoded string) *ui.InputLine {
	content, decodeErr := base64.StdEncoding.DecodeString(encoded)
	dir := export.AbsPath(r.Session.Downloads)
	path := export.UnusedPath(dir, SafeFileName(r.Row.ID)+"-"+name, Extension(content))
	l := ui.NewInputLine(r.Host, "save", "save "+name+" to", path)
	l.Help = ui.Size(len(content)) + " of " + DetectType(content) + "; " +
		keymap.KeyFor(keymap.InLine, keymap.Submit) + " saves, " +
		keymap.KeyFor(keymap.InLine, keymap.GoBack) + " cancels"
	l.Check = func(path string) error {
		if decodeErr != nil {
			return errors.New("invalid base64: " + decodeErr.Error())
		}
		return export.CheckPath(path, "")
	}
	l.Accept = func(path string) tea.Cmd {
		path = export.AbsPath(path)
		if err := export.WriteNew(path, content); err != nil {
			r.Host.ShowError("saving "+name, err)
			return nil
		}
		r.Host.Notify(ui.Info, ui.Size(len(content))+" written to "+path)
		return nil
	}
	return l
}

// SafeFileName returns an ID as part of a file name: special characters are replaced.
func SafeFileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, id)
	const maxLength = 60 // characters
	characters := []rune(name)
	return string(characters[:min(maxLength, len(characters))])
}
