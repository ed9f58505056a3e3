package tui

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/where"
)

func (b *browser) copyCell() {
	c, ok := b.grid.Column()
	if row := b.grid.Row(); ok && row != nil {
		b.app.clip(b.records[row].row.Text(c.Name))
	}
}

// copyRows copies marked rows with tabs between cells, else the row as JSON.
func (b *browser) copyRows() {
	rows := b.grid.MarkedRows()
	if row := b.grid.Row(); len(rows) == 0 && row != nil {
		b.app.clip(string(b.records[row].row.JSON()))
		return
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, name := range b.fields {
			cells = append(cells, strings.Map(tabless, b.records[row].row.Text(name)))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	b.app.clip(strings.Join(lines, "\n"))
}

// tabless keeps cells within their line and column.
func tabless(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// sum adds the selected column of the marked rows, exactly.
func (b *browser) sum() string {
	c, ok := b.grid.Column()
	if !ok || !c.Right {
		return ""
	}
	total, digits := new(big.Rat), 0
	for _, row := range b.grid.MarkedRows() {
		text := b.records[row].row.Text(c.Name)
		if n, ok := new(big.Rat).SetString(text); ok {
			total.Add(total, n)
			_, fraction, _ := strings.Cut(text, ".")
			digits = max(digits, len(fraction))
		}
	}
	return ", sum of " + c.Name + " " + grouped(total.FloatString(digits))
}

// twin is the command that shows the same rows.
func (b *browser) twin() string {
	if b.kind.Database != record.InRecords {
		return "whctl requests list" + conditions(b.filters)
	}
	text := "whctl query " + b.kind.Name + conditions(b.filters)
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " --order-by " + q.OrderBy[0]
	}
	if !slices.Equal(b.fields, b.kind.FieldNames()) {
		text += " --fields " + strings.Join(b.fields, ",")
	}
	return text
}

// conditions are filters as arguments of a command.
func conditions(filters []client.Filter) string {
	var text strings.Builder
	for _, f := range filters {
		fmt.Fprintf(&text, " --where %s", argument(where.Text(f)))
	}
	return text.String()
}

// argument puts a text into double quotes, which every shell knows.
func argument(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// curl asks for the same rows without our programs.
func (b *browser) curl() string {
	text := "curl -G " + argument(b.app.options.URL+"/Queries/"+b.kind.Name) + ` -H "Authorization: Bearer $WHCTL_TOKEN"`
	for _, f := range b.filters {
		text += " --data-urlencode " + argument(f.Member()+"="+strings.Join(f.Values, ","))
	}
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " -d OrderBy=" + q.OrderBy[0]
	}
	return text + " -d Take=100"
}
