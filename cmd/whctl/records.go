package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// kindColumns and fieldColumns are what whctl records prints, without asking
// any service.
var (
	kindColumns  = []column{{"Record", record.Text}, {"Area", record.Text}, {"Fields", record.Int}, {"Summary", record.Text}}
	fieldColumns = []column{{"Field", record.Text}, {"Type", record.Text}, {"Operators", record.Text}}
)

// records is whctl records.
func (p *program) records(c *cli.Context) error {
	if c.Args().Len() > 1 {
		return &usageError{message: fmt.Sprintf("records takes one RECORD, not %d", c.Args().Len()), command: "records"}
	}
	format, err := p.format(c)
	if err != nil {
		return err
	}
	columns, lines, example := kindColumns, p.kindLines(), ""
	if name := c.Args().First(); name != "" {
		kind, err := p.kind("records", name)
		if err != nil {
			return err
		}
		columns, lines, example = fieldColumns, fieldLines(kind), exampleOf(kind)
	}
	out, err := p.create(c.String("output"))
	if err != nil {
		return err
	}
	if err := out.finish(printLines(p.printer(c, format, out, columns), columns, lines)); err != nil {
		return err
	}
	if example != "" && format.name == "table" {
		p.notice(c, "example: %s", example)
	}
	return nil
}

// kindLines has one line for each kind.
func (p *program) kindLines() [][]any {
	var lines [][]any
	for _, k := range p.registry.Kinds() {
		lines = append(lines, []any{k.Name, k.Area, len(k.Fields), k.Summary})
	}
	return lines
}

// fieldLines has one line for each field, with its operators in the spelling
// of --where.
func fieldLines(kind *record.Kind) [][]any {
	var lines [][]any
	for _, f := range kind.Fields {
		lines = append(lines, []any{f.Name, f.TypeName(), allowed(f.Filter)})
	}
	return lines
}

// exampleOf is a query that shows a filter in the fullest family of the kind.
func exampleOf(kind *record.Kind) string {
	condition := kind.Fields[0].Name + "^=A"
	for _, f := range kind.Fields {
		if f.Type.Number() {
			condition = f.Name + ">=1"
			break
		}
	}
	return fmt.Sprintf("whctl query %s --where %q --order-by -%s", kind.Name, condition, kind.Fields[0].Name)
}

// printLines prints what no service sent in the same formats.
func printLines(to printer, columns []column, lines [][]any) error {
	if err := to.begin(); err != nil {
		return err
	}
	for _, line := range lines {
		row, err := rowOf(columns, line)
		if err != nil {
			return err
		}
		if err := to.row(row); err != nil {
			return err
		}
	}
	return to.end()
}

// rowOf makes a row as if the service had sent it.
func rowOf(columns []column, line []any) (client.Row, error) {
	var text strings.Builder
	for i, value := range line {
		encoded, err := json.Marshal(value)
		if err != nil {
			return client.Row{}, err
		}
		fmt.Fprintf(&text, ",%q:%s", columns[i].name, encoded)
	}
	return client.ParseRow([]byte("{" + text.String()[1:] + "}"))
}
