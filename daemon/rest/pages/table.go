package pages

import (
	"slices"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// table is a page with a list of things, each with links.
type table struct {
	encode.Page
	Lede     string
	Note     string
	Actions  []encode.Link
	Headings []string
	Rows     []tableRow
	Empty    string
}

// tableRow is a row of a table.
type tableRow struct {
	Cells []cell
	Links []encode.Link
}

// cell is a cell of a table.
type cell struct {
	Text  string
	URL   string
	When  moment
	Code  bool
	Class string // of the column: n for numbers, long for sentences; empty for others
}

// Filled reports whether the cell has a content.
func (c cell) Filled() bool { return c.Text != "" || c.When.Words != "" }

// HasLinks reports whether a row has links.
func (t table) HasLinks() bool {
	return slices.ContainsFunc(t.Rows, func(r tableRow) bool { return len(r.Links) > 0 })
}

// Class returns the class of a column of a table with rows.
func (t table) Class(column int) string { return t.Rows[0].Cells[column].Class }

// texts returns texts as cells.
func texts(list ...string) []cell {
	var cells []cell
	for _, text := range list {
		cells = append(cells, cell{Text: text})
	}
	return cells
}

// dated returns a time of accounts as a cell. It shows a text that is no time as it is.
func dated(x *edge.Context, text, none string) cell {
	if text == "" {
		return cell{Text: none}
	}
	t, ok := parseTime(text)
	if !ok {
		return cell{Text: text}
	}
	return cell{When: ago(x, t)}
}

// show shows a table.
func (t table) show(x *edge.Context, status int) error {
	if t.Note == "" {
		t.Note = noteIn(x)
	}
	return show(x, status, "table", t)
}
