package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// kindColumns and fieldColumns are what whctl records prints, without asking
// any service.
var (
	kindColumns  = []output.Column{{Name: "Record", Type: record.Text}, {Name: "Area", Type: record.Text}, {Name: "Fields", Type: record.Int}, {Name: "Summary", Type: record.Text}}
	fieldColumns = []output.Column{{Name: "Field", Type: record.Text}, {Name: "Type", Type: record.Text}, {Name: "Operators", Type: record.Text}}
)

func (p *program) recordCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "records", Aliases: []string{"record"}, ArgsUsage: "[RECORD]", Usage: "list the kinds of records, or the fields of one",
		Flags: output.Flags(), Action: p.records,
		Description: `whctl records
whctl records SO_Totals`,
	}}
}

// records is whctl records.
func (p *program) records(c *cli.Context) error {
	name := c.Args().First()
	if name == "" {
		_, err := p.printer(c).Lines(kindColumns, p.kindLines())
		return err
	}
	kind, err := p.kind(name)
	if err != nil {
		return err
	}
	format, err := p.printer(c).Lines(fieldColumns, fieldLines(kind))
	if err == nil && format.Name == "table" {
		p.notice(c, "example: %s", exampleOf(kind))
	}
	return err
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
		lines = append(lines, []any{f.Name, f.TypeName(), filter.Allowed(f.Filter)})
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
