package browse

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

// Exportable is what can be exported of a list.
type Exportable struct {
	Name    string
	Columns []export.Column
	Query   client.Query // of all that match
	Key     string       // the field that tells rows apart
	Total   int          // of all that match, -1 where nobody knows
	Marked  []string     // keys
	Loaded  []string
	All     bool // all that match are marked

	// rows are those of some keys, where all of them are here as they are.
	Rows func(keys map[string]struct{}) ([]client.Row, bool)
}

// scopes names what can be exported: what is marked first.
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
	return rowsText(len(e.Marked)) + "marked"
}

func (e *Exportable) loadedLabel() string { return rowsText(len(e.Loaded)) + "loaded" }

// rowsText names rows by what they are.
func rowsText(rows int) string {
	if rows == 1 {
		return "the row that is "
	}
	return "the " + display.Thousands(rows) + " rows that are "
}

func (e *Exportable) matchingLabel() string {
	if e.Total < 0 {
		return "all that match"
	}
	return "all " + display.Thousands(e.Total) + " that match"
}

// narrow limits a job to what a scope means.
func (e *Exportable) narrow(j *export.Job, scope string) {
	keys := e.Loaded
	switch scope {
	case e.matchingLabel():
		return
	case e.markedLabel():
		keys = e.Marked
	}
	j.Only, j.Total = make(map[string]struct{}, len(keys)), len(keys)
	for _, key := range keys {
		j.Only[key] = struct{}{}
	}
	if rows, whole := e.Rows(j.Only); whole {
		j.Fetched = rows
	}
}

// The fields of the form.
const (
	exportFormat = "Format"
	exportScope  = "Rows"
	ExportPath   = "File"
)

// NewExportForm asks in which format, of what and where to.
func NewExportForm(h ui.Host, e Exportable) ui.Overlay {
	f := ui.NewForm(h, "Export "+e.Name, "export")
	format := f.Add(exportFormat, "Format", export.Formats[0].Name, export.Formats[0].Help)
	for _, one := range export.Formats {
		format.Options = append(format.Options, one.Name)
	}
	rows := f.Add(exportScope, "Rows", e.scopes()[0], "the order and the columns are those of the screen")
	rows.Options = e.scopes()
	dir := export.AbsPath(f.Downloads)
	suggested := export.UnusedPath(dir, e.Name, export.Formats[0].Suffix)
	file := f.Add(ExportPath, "File", suggested, "it gets its name when it is complete")
	format.OnChoose = func() {
		one := export.FormatNamed(format.Input.Value())
		format.Help = one.Help
		path := file.Input.Value()
		if path == suggested {
			suggested = export.UnusedPath(dir, e.Name, one.Suffix)
			path = suggested
		} else {
			path = strings.TrimSuffix(path, filepath.Ext(path)) + one.Suffix
		}
		file.Input.SetValue(path)
		file.Input.CursorEnd()
	}
	f.At = 2
	confirmed := ""
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		path := values[ExportPath]
		if path != "" {
			path = export.AbsPath(path) // what is told later says where it is
		}
		if err := export.CheckPath(path, confirmed); err != nil {
			file.Error, f.At, confirmed = err.Error(), 2, path
			return nil
		}
		h.ShowOverlay(nil)
		j := &export.Job{Name: e.Name, Path: path, Format: export.FormatNamed(values[exportFormat]), Columns: e.Columns, Query: e.Query, Key: e.Key, Total: e.Total}
		e.narrow(j, values[exportScope])
		return h.Export(j)
	}
	return f
}
