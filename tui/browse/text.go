package browse

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

// ToFile writes all rows that match to a file.
func ToFile(name string) string {
	return " --all --format " + export.Formats[0].Name + " --output " + ui.Quote(name+export.Formats[0].Suffix)
}

func (b *Browser) copyCell() {
	c, ok := b.Grid.Column()
	if row := b.Grid.Row(); ok && row != nil {
		b.Copy(b.Records[row].Row.Text(c.Name))
	}
}

// copyRows copies marked rows with tabs between cells, else the row as JSON.
func (b *Browser) copyRows() {
	rows := b.Grid.MarkedRows()
	if row := b.Grid.Row(); len(rows) == 0 && row != nil {
		b.Copy(string(b.Records[row].Row.JSON()))
		return
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, name := range b.Fields {
			cells = append(cells, strings.Map(Tabless, b.Records[row].Row.Text(name)))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	b.Copy(strings.Join(lines, "\n"))
}

// Tabless keeps cells within their line and column.
func Tabless(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// sum adds the selected column of the marked rows, exactly, and finds the
// smallest and the largest.
func (b *Browser) sum() string {
	c, ok := b.Grid.Column()
	if !ok || !b.number(c.Name) {
		return ""
	}
	var total, low, high *big.Rat
	digits := 0
	for _, row := range b.Grid.MarkedRows() {
		text := b.Records[row].Row.Text(c.Name)
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
func (b *Browser) number(name string) bool {
	at, known := b.Kind.Column(name)
	return known && b.Kind.Fields[at].Type.Number()
}

// Equivalent is the command that shows the same rows. Those of the audit have none but
// over HTTP.
func (b *Browser) Equivalent() string {
	if b.Kind.Name == "WH_Audit" {
		return b.curl()
	}
	text := cmp.Or(b.options.Command, "whctl query "+b.Kind.Name)
	text += Conditions(b.Typed.Texts(b.Now, b.Kind, b.filters))
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " --order-by " + q.OrderBy[0]
	}
	if !slices.Equal(b.Fields, b.usual()) || len(b.Fields) < len(b.Kind.Fields) {
		text += " --fields " + strings.Join(b.Fields, ",")
	}
	return text
}

// Conditions are conditions as arguments of a command.
func Conditions(texts []string) string {
	var text strings.Builder
	for _, one := range texts {
		fmt.Fprintf(&text, " --where %s", ui.Quote(one))
	}
	return text.String()
}

// curl asks for the same rows without our programs.
func (b *Browser) curl() string {
	text := "curl -G " + ui.Quote(b.URL+"/Queries/"+b.Kind.Name) + ` -H "Authorization: Bearer $WHCTL_TOKEN"`
	for _, f := range b.filters {
		text += " --data-urlencode " + ui.Quote(f.Member()+"="+strings.Join(f.Values, ","))
	}
	if q := b.query(); len(q.OrderBy) > 0 {
		text += " -d OrderBy=" + q.OrderBy[0]
	}
	return text + " -d Take=100"
}
