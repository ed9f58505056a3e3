package tui

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/ui"
)

func (b *browser) copyCell() {
	c, ok := b.grid.Column()
	if row := b.grid.Row(); ok && row != nil {
		b.Copy(b.records[row].row.Text(c.Name))
	}
}

// copyRows copies marked rows with tabs between cells, else the row as JSON.
func (b *browser) copyRows() {
	rows := b.grid.MarkedRows()
	if row := b.grid.Row(); len(rows) == 0 && row != nil {
		b.Copy(string(b.records[row].row.JSON()))
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
	b.Copy(strings.Join(lines, "\n"))
}

// tabless keeps cells within their line and column.
func tabless(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// sum adds the selected column of the marked rows, exactly, and finds the
// smallest and the largest.
func (b *browser) sum() string {
	c, ok := b.grid.Column()
	if !ok || !b.number(c.Name) {
		return ""
	}
	var total, low, high *big.Rat
	digits := 0
	for _, row := range b.grid.MarkedRows() {
		text := b.records[row].row.Text(c.Name)
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			continue // such as none
		}
		_, fraction, _ := strings.Cut(text, ".")
		digits = max(digits, len(fraction))
		if total == nil {
			total, low, high = new(big.Rat), n, n
		}
		total.Add(total, n)
		if n.Cmp(low) < 0 {
			low = n
		}
		if n.Cmp(high) > 0 {
			high = n
		}
	}
	if total == nil {
		return ", none has " + c.Name
	}
	shown := func(n *big.Rat) string { return ui.Grouped(n.FloatString(digits)) }
	return ", " + c.Name + " sum " + shown(total) + "  min " + shown(low) + "  max " + shown(high)
}

// number reports whether a field holds numbers.
func (b *browser) number(name string) bool {
	at, known := b.kind.Column(name)
	return known && b.kind.Fields[at].Type.Number()
}

// Equivalent is the command that shows the same rows. Those of the audit have none but
// over HTTP.
func (b *browser) Equivalent() string {
	if b.kind.Name == "WH_Audit" {
		return b.curl()
	}
	text := cmp.Or(b.options.command, "whctl query "+b.kind.Name)
	text += conditions(b.typed.texts(b.Now, b.kind, b.filters))
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " --order-by " + q.OrderBy[0]
	}
	if !slices.Equal(b.fields, b.usual()) || len(b.fields) < len(b.kind.Fields) {
		text += " --fields " + strings.Join(b.fields, ",")
	}
	return text
}

// conditions are conditions as arguments of a command.
func conditions(texts []string) string {
	var text strings.Builder
	for _, one := range texts {
		fmt.Fprintf(&text, " --where %s", ui.Quote(one))
	}
	return text.String()
}

// curl asks for the same rows without our programs.
func (b *browser) curl() string {
	text := "curl -G " + ui.Quote(b.URL+"/Queries/"+b.kind.Name) + ` -H "Authorization: Bearer $WHCTL_TOKEN"`
	for _, f := range b.filters {
		text += " --data-urlencode " + ui.Quote(f.Member()+"="+strings.Join(f.Values, ","))
	}
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " -d OrderBy=" + q.OrderBy[0]
	}
	return text + " -d Take=100"
}
