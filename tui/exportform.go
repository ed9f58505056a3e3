package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
)

// exportable is what can be exported of a list.
type exportable struct {
	name    string
	columns []exportColumn
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
	return "the " + grid.Thousands(rows) + " rows that are "
}

func (e *exportable) matching() string {
	if e.total < 0 {
		return "all that match"
	}
	return "all " + grid.Thousands(e.total) + " that match"
}

// narrow limits a job to what a scope means.
func (e *exportable) narrow(j *job, scope string) {
	keys := e.loaded
	switch scope {
	case e.matching():
		return
	case e.marking():
		keys = e.marked
	}
	j.only, j.total = make(map[string]struct{}, len(keys)), len(keys)
	for _, key := range keys {
		j.only[key] = struct{}{}
	}
	if rows, whole := e.rows(j.only); whole {
		j.held = rows
	}
}

// The fields of the form.
const (
	exportFormat = "Format"
	exportScope  = "Rows"
	exportPath   = "File"
)

// newExportForm asks in which format, of what and where to.
func newExportForm(a *app, e exportable) overlay {
	f := &form{app: a, title: "Export " + e.name, verb: "export"}
	how := f.add(exportFormat, "Format", exportFormats[0].name, exportFormats[0].help)
	for _, one := range exportFormats {
		how.among = append(how.among, one.name)
	}
	what := f.add(exportScope, "Rows", e.scopes()[0], "the order and the columns are those of the screen")
	what.among = e.scopes()
	dir := whole(a.options.Downloads)
	free := freeName(dir, e.name, exportFormats[0].end)
	where := f.add(exportPath, "File", free, "it gets its name when it is complete")
	how.chosen = func() {
		one := formatOf(how.input.Value())
		how.help = one.help
		path := where.input.Value()
		if path == free {
			free = freeName(dir, e.name, one.end)
			path = free
		} else {
			path = strings.TrimSuffix(path, filepath.Ext(path)) + one.end
		}
		where.input.SetValue(path)
		where.input.CursorEnd()
	}
	f.at = 2
	replaces := ""
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		path := values[exportPath]
		if path != "" {
			path = whole(path) // what is told later says where it is
		}
		if err := checkTarget(path, replaces); err != nil {
			where.wrong, f.at, replaces = err.Error(), 2, path
			return nil
		}
		a.over = nil
		j := &job{name: e.name, path: path, format: formatOf(values[exportFormat]), columns: e.columns, query: e.query, key: e.key, total: e.total}
		e.narrow(j, values[exportScope])
		return a.begin(j)
	}
	return f
}

// whole is a path from its root on, as far as that is known.
func whole(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		return all
	}
	return path
}

func formatOf(name string) format {
	for _, one := range exportFormats {
		if one.name == name {
			return one
		}
	}
	return exportFormats[0]
}

// checkTarget refuses what cannot become a file. One that is there already is
// replaced where the user says so once more.
func checkTarget(path, replaces string) error {
	if path == "" {
		return errors.New("where to?")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s", filepath.Dir(path))
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", path)
	case path != replaces:
		return errors.New("it is there already: the same once more replaces it")
	}
	return nil
}

// freeName is a path that nothing has yet.
func freeName(dir, name, end string) string {
	path := filepath.Join(dir, name+end)
	for i := 2; i < 100; i++ {
		if _, err := os.Lstat(path); err != nil {
			break
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, i, end))
	}
	return path
}

// exportable is what can be exported of the rows of a kind.
func (b *browser) exportable() exportable {
	q := b.query()
	e := exportable{name: b.name, query: q, key: b.kind.Fields[0].Name, total: b.pages.Total(), marked: b.grid.MarkedIDs(), rows: b.whole}
	for _, name := range b.fields {
		at, _ := b.kind.Column(name)
		e.columns = append(e.columns, exportColumn{name, b.kind.Fields[at].Type})
	}
	for _, row := range b.pages.Here() {
		e.loaded = append(e.loaded, row.ID)
	}
	return e
}

// whole are the records of some keys, in the order of the list; false where one
// of them is not here, or not all of it.
func (b *browser) whole(keys map[string]struct{}) ([]client.Row, bool) {
	var rows []client.Row
	for _, row := range b.pages.Here() {
		if _, meant := keys[row.ID]; !meant {
			continue
		}
		held, known := b.records[row]
		if !known || held.cut {
			return nil, false
		}
		rows = append(rows, held.row)
	}
	return rows, len(rows) == len(keys)
}

// exportable is what can be exported of messages, with their bodies.
func (s *messages) exportable() exportable {
	kind, _ := record.System().Lookup("Message")
	e := exportable{
		name: "Messages", query: client.Query{Kind: kind, Where: s.filter.filters()}, key: "MessageID", total: s.pages.Total(), marked: s.grid.MarkedIDs(), all: s.allMarks,
		rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.columns = append(e.columns, exportColumn{f.Name, f.Type})
	}
	for _, row := range s.pages.Here() {
		e.loaded = append(e.loaded, row.ID)
	}
	return e
}

// filters is the filter as queries take it.
func (f messageFilter) filters() []client.Filter {
	all := append([]client.Filter(nil), f.conditions...)
	if f.subscriber != "" {
		all = append(all, client.Filter{Field: "SubscriberID", Operator: record.Equal, Values: []string{f.subscriber}})
	}
	if f.subscription != "" {
		all = append(all, client.Filter{Field: "SubscriptionID", Operator: record.Equal, Values: []string{f.subscription}})
	}
	if c, limits := f.standing().condition(); limits {
		all = append(all, c)
	}
	return all
}
