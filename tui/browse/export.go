package browse

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

// Exportable is the data of a list that can be exported.
type Exportable struct {
	Name    string
	Columns []export.Column
	Help    string       // about columns and order; empty if they are those of the screen
	Query   client.Query // matches all rows
	Key     string       // the field that identifies rows
	Total   int          // number of matching rows, -1 if unknown
	Marked  []string     // keys of the marked rows
	Loaded  []string     // keys of the loaded rows
	All     bool         // all matching rows are marked

	// Rows returns the loaded records with these keys, false if any is missing or
	// truncated.
	Rows func(keys map[string]struct{}) ([]client.Row, bool)
}

// scopes returns the labels of the row selections; marked rows are first.
func (e *Exportable) scopes() []string {
	var all []string
	if len(e.Marked) > 0 && !e.All {
		all = append(all, e.markedLabel())
	}
	all = append(all, e.matchingLabel())
	if len(e.Loaded) > 0 && len(e.Loaded) != e.Total {
		all = append(all, e.loadedLabel())
	}
	return all
}

func (e *Exportable) markedLabel() string {
	return "marked: " + rowsText(len(e.Marked))
}

func (e *Exportable) loadedLabel() string { return "loaded: " + rowsText(len(e.Loaded)) }

// rowsText returns a number of rows.
func rowsText(rows int) string { return display.Count(rows, "row", "rows") }

func (e *Exportable) matchingLabel() string {
	if e.Total < 0 {
		return "all matching rows"
	}
	return "all " + display.Count(e.Total, "matching row", "matching rows")
}

// narrow limits a job to a scope.
func (e *Exportable) narrow(j *export.Job, scope string) {
	keys := e.Loaded
	switch scope {
	case e.matchingLabel():
		return
	case e.markedLabel():
		keys = e.Marked
	}
	j.Total = len(keys)
	j.Only = make(map[string]struct{}, len(keys))
	for _, key := range keys {
		j.Only[key] = struct{}{}
	}
	if rows, complete := e.Rows(j.Only); complete {
		j.Fetched = rows
	}
}

// Names of the form fields.
const (
	exportFormat = "Format"
	exportScope  = "Rows"
	ExportPath   = "File"
)

// NewExportForm returns the form of an export: format, rows and file. The format is that of
// the last export.
func NewExportForm(h ui.Host, e Exportable) ui.Overlay {
	f := ui.NewForm(h, "Export "+e.Name, "export")
	f.EnterSubmits = true
	last := export.FormatNamed(f.Session.State.ExportFormat)
	format := f.Add(exportFormat, "Format", last.Name, last.Hint)
	format.Options = record.Texts(export.Formats, func(known export.Format) string { return known.Name })
	rows := f.Add(exportScope, "Rows", e.scopes()[0], cmp.Or(e.Help, "columns and order as on the screen"))
	rows.Options = e.scopes()
	file := f.Add(ExportPath, "File", "", "written to FILE.part first, renamed when complete")
	file.ShowEnd = true
	suggestFile(export.AbsPath(f.Session.Downloads), e.Name, format, file)

	confirmed := "" // path of an existing file that is replaced if it is submitted again
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		path := values[ExportPath]
		if path != "" {
			path = export.AbsPath(path) // for messages
		}
		if err := export.CheckPath(path, confirmed); err != nil {
			file.Error = err.Error()
			f.At = slices.Index(f.Fields, file)
			confirmed = ""
			if errors.Is(err, export.ErrFileExists) {
				confirmed = path
			}
			return nil
		}
		h.ShowOverlay(nil)
		f.Session.State.SetExportFormat(values[exportFormat])
		j := e.job(export.FormatNamed(values[exportFormat]), path)
		j.Replace = path == confirmed
		e.narrow(j, values[exportScope])
		return h.Export(j)
	}
	return f
}

// suggestFile sets the path of the file to one that is not used. When another format is chosen,
// the path gets its suffix.
func suggestFile(dir, name string, format, file *ui.Field) {
	suggested := export.UnusedPath(dir, name, export.FormatNamed(format.Input.Value()).Suffix)
	file.Set(suggested)
	format.OnChoose = func() {
		chosen := export.FormatNamed(format.Input.Value())
		format.Help = chosen.Hint
		path := file.Input.Value()
		if path == suggested {
			suggested = export.UnusedPath(dir, name, chosen.Suffix)
			path = suggested
		} else {
			path = strings.TrimSuffix(path, filepath.Ext(path)) + chosen.Suffix
		}
		file.Set(path)
	}
}

// job returns the export of all matching rows.
func (e *Exportable) job(format export.Format, path string) *export.Job {
	return &export.Job{
		Name:    e.Name,
		Path:    path,
		Format:  format,
		Columns: e.Columns,
		Query:   e.Query,
		Key:     e.Key,
		Total:   e.Total,
	}
}
