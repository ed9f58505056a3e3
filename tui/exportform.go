package tui

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// exportable is what can be exported of a list.
type exportable struct {
	name    string
	columns []export.Column
	query   client.Query // of all that match
	key     string       // the field that tells rows apart
	total   int          // of all that match, -1 where nobody knows
	marked  []string     // keys
	loaded  []string
	all     bool // all that match are marked

	// rows are those of some keys, where all of them are here as they are.
	rows func(keys map[string]struct{}) ([]client.Row, bool)
}

// scopes names what can be exported: what is marked first.
func (e *exportable) scopes() []string {
	var all []string
	if len(e.marked) > 0 && !e.all {
		all = append(all, e.marking())
	}
	all = append(all, e.matching())
	if len(e.loaded) > 0 && len(e.loaded) != e.total {
		all = append(all, e.loading())
	}
	return all
}

func (e *exportable) marking() string {
	return the(len(e.marked)) + "marked"
}
func (e *exportable) loading() string { return the(len(e.loaded)) + "loaded" }

// the names rows by what they are.
func the(rows int) string {
	if rows == 1 {
		return "the row that is "
	}
	return "the " + theme.Thousands(rows) + " rows that are "
}

func (e *exportable) matching() string {
	if e.total < 0 {
		return "all that match"
	}
	return "all " + theme.Thousands(e.total) + " that match"
}

// narrow limits a job to what a scope means.
func (e *exportable) narrow(j *export.Job, scope string) {
	keys := e.loaded
	switch scope {
	case e.matching():
		return
	case e.marking():
		keys = e.marked
	}
	j.Only, j.Total = make(map[string]struct{}, len(keys)), len(keys)
	for _, key := range keys {
		j.Only[key] = struct{}{}
	}
	if rows, whole := e.rows(j.Only); whole {
		j.Held = rows
	}
}

// The fields of the form.
const (
	exportFormat = "Format"
	exportScope  = "Rows"
	exportPath   = "File"
)

// newExportForm asks in which format, of what and where to.
func newExportForm(h ui.Host, e exportable) ui.Overlay {
	f := ui.NewForm(h, "Export "+e.name, "export")
	how := f.Add(exportFormat, "Format", export.Formats[0].Name, export.Formats[0].Help)
	for _, one := range export.Formats {
		how.Among = append(how.Among, one.Name)
	}
	what := f.Add(exportScope, "Rows", e.scopes()[0], "the order and the columns are those of the screen")
	what.Among = e.scopes()
	dir := export.FullPath(f.Downloads)
	free := export.FreeName(dir, e.name, export.Formats[0].Suffix)
	where := f.Add(exportPath, "File", free, "it gets its name when it is complete")
	how.Chosen = func() {
		one := export.FormatOf(how.Input.Value())
		how.Help = one.Help
		path := where.Input.Value()
		if path == free {
			free = export.FreeName(dir, e.name, one.Suffix)
			path = free
		} else {
			path = strings.TrimSuffix(path, filepath.Ext(path)) + one.Suffix
		}
		where.Input.SetValue(path)
		where.Input.CursorEnd()
	}
	f.At = 2
	replaces := ""
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		path := values[exportPath]
		if path != "" {
			path = export.FullPath(path) // what is told later says where it is
		}
		if err := export.CheckTarget(path, replaces); err != nil {
			where.Wrong, f.At, replaces = err.Error(), 2, path
			return nil
		}
		h.Show(nil)
		j := &export.Job{Name: e.name, Path: path, Format: export.FormatOf(values[exportFormat]), Columns: e.columns, Query: e.query, Key: e.key, Total: e.total}
		e.narrow(j, values[exportScope])
		return h.Export(j)
	}
	return f
}
