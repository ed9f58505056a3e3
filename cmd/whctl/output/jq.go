package output

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/itchyny/gojq"

	"github.com/bizhook/whd/client"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// jqWriter prints the results of a jq expression applied to the array of all rows,
// which it buffers, or to each row. Strings are printed unquoted, everything else as
// JSON on one line. Numbers keep their digits unless the expression computes with
// them.
type jqWriter struct {
	layout
	ctx   context.Context
	code  *gojq.Code
	array bool
	all   []any
}

func newJQ(ctx context.Context, l layout, expression string, array bool) (RowWriter, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, cmdline.Usagef("--jq: %s", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, cmdline.Usagef("--jq: %s", err)
	}
	return &jqWriter{layout: l, ctx: ctx, code: code, array: array, all: []any{}}, nil
}

func (p *jqWriter) Begin() error { return nil }

func (p *jqWriter) Row(r client.Row) error {
	decoder := json.NewDecoder(bytes.NewReader(r.JSON()))
	decoder.UseNumber()
	var row map[string]any
	if err := decoder.Decode(&row); err != nil {
		return err
	}
	if p.array {
		p.all = append(p.all, row)
		return nil
	}
	return p.run(row)
}

func (p *jqWriter) End() error {
	if p.array {
		return p.run(p.all)
	}
	return nil
}

// run prints every result of the expression.
func (p *jqWriter) run(input any) error {
	results := p.code.RunWithContext(p.ctx, input)
	for {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := result.(error); failed {
			return jqError(err)
		}
		if err := p.result(result); err != nil {
			return err
		}
	}
}

func jqError(err error) error {
	if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return cmdline.Usagef("--jq: %s", err)
}

func (p *jqWriter) result(value any) error {
	text, isText := value.(string)
	if !isText {
		encoded, err := gojq.Marshal(value)
		if err != nil {
			return err
		}
		text = string(encoded)
	}
	_, err := p.out.WriteString(text + "\n")
	return err
}
