package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// tool is a row of the table of tools. Its schema, the check of its arguments and the
// messages about them are derived from it.
type tool struct {
	name        string
	description string
	arguments   []argument
	call        func(ctx context.Context, source Source, arguments json.RawMessage) (any, error)
}

// argument is an argument of a tool, which is a field of its input.
type argument struct {
	name     string
	form     form
	help     string
	required bool
}

// form is the form of an argument's value, with its JSON schema.
type form struct{ words, schema string }

var (
	textForm   = form{"a text", `"type":"string"`}
	listForm   = form{"a list of texts", `"type":"array","items":{"type":"string"}`}
	numberForm = form{"a whole number", `"type":"integer","minimum":0`}
	objectForm = form{"an object", `"type":"object"`}
)

// Arguments of several tools.
var (
	kindArgument = argument{
		name:     "kind",
		form:     textForm,
		help:     "name of a record kind",
		required: true,
	}
	filterArgument = argument{
		name: "filter",
		form: objectForm,
		help: "conditions, all of which must hold: field name and suffix, with its value, such as " +
			`{"Class":"A","TotalBetween":[100,200],"DateGreaterThanOrEqualTo":"2024-01-01",` +
			`"DateLessThan":"2025-01-01","NameContains":"bolt","StatusIn":[1,2],"NoteIsNull":true}; ` +
			"a date without a time is midnight; describe_kind lists the suffixes",
	}
	skipArgument = argument{
		name: "skip",
		form: numberForm,
		help: "nextSkip of the previous result",
	}
	limitArgument = argument{
		name: "limit",
		form: numberForm,
		help: fmt.Sprintf("maximum number of rows, 1 to %d; default %d", maxLimit, defaultLimit),
	}
)

// tools is the table of tools.
var tools = []tool{
	{
		name:        "find_kinds",
		description: "Find record kinds by words. Results have their fields. Without words: all kinds.",
		arguments: []argument{
			{
				name: "words",
				form: textForm,
				help: "words of the names, summaries, areas or fields of kinds, or business terms, " +
					"such as: customer invoice total",
			},
			skipArgument,
		},
		call: decoded(findKinds),
	},
	{
		name: "describe_kind",
		description: "Describe a record kind: its key, its fields with their types, " +
			"and the suffixes of filters for each type.",
		arguments: []argument{kindArgument, skipArgument},
		call:      decoded(describeKind),
	},
	{
		name: "query",
		description: "Read records of a kind. Nulls are left out. " +
			"For the next rows repeat the call with kind and cursor only, " +
			"or if there is nextSkip, with all arguments and skip.",
		arguments: []argument{
			kindArgument,
			filterArgument,
			{name: "fields", form: listForm, help: "fields to return; default: all except fields of type byte[]"},
			{name: "order", form: listForm, help: "fields to order by; a leading - means descending"},
			limitArgument,
			{name: "cursor", form: textForm, help: "next of the previous result"},
			skipArgument,
		},
		call: decoded(query),
	},
	{
		name: "totals",
		description: "Count records, and compute sums, minima, maxima and averages of fields: " +
			"over all records that match, or with by for each group. Numbers are exact.",
		arguments: []argument{
			kindArgument,
			filterArgument,
			{
				name: "by",
				form: listForm,
				help: "the field to group by; a date may be followed by :day, :month or :year",
			},
			{name: "sum", form: listForm, help: "number fields"},
			{name: "min", form: listForm, help: "number, date or text fields"},
			{name: "max", form: listForm, help: "number, date or text fields"},
			{name: "avg", form: listForm, help: "number fields"},
			{
				name: "order",
				form: listForm,
				help: "of groups: the field of by, Count, or a result such as SumTotal for the sum of Total; " +
					"a leading - means descending",
			},
			limitArgument,
			skipArgument,
		},
		call: decoded(totals),
	},
	{
		name: "why",
		description: "Show the history of a key, and why something did not happen: changes of records, events, " +
			"messages to subscriptions and attempts, with HTTP codes. " +
			"Steps without at are the present state; due is the next attempt. Requires the role admin.",
		arguments: []argument{
			{name: "key", form: textForm, help: "the key of events, or of a record", required: true},
			skipArgument,
		},
		call: decoded(why),
	},
}

// definition returns the tool as tools/list describes it.
func (t tool) definition() *mcp.Tool {
	var properties, required []string
	for _, a := range t.arguments {
		property := fmt.Sprintf(`%q:{%s,"description":%s}`, a.name, a.form.schema, quoted(a.help))
		properties = append(properties, property)
		if a.required {
			required = append(required, quoted(a.name))
		}
	}
	schema := fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		strings.Join(properties, ","), strings.Join(required, ","))
	return &mcp.Tool{
		Name:         t.name,
		Description:  t.description,
		InputSchema:  json.RawMessage(schema),
		OutputSchema: json.RawMessage(`{"type":"object"}`),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:   true,
			IdempotentHint: true,
			OpenWorldHint:  new(bool), // false
		},
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string can always be encoded
	return string(b)
}

// handler returns the handler of calls of the tool. Errors are results, so that the
// assistant can correct the call. The library runs it in a goroutine of its own, where a
// panic would end the process.
func (t tool) handler(source Source, log *slog.Logger) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if cause := recover(); cause != nil {
				log.Error("panic", "tool", t.name, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				result = refused(errors.New("internal error"))
			}
		}()
		if err := t.check(req.Params.Arguments); err != nil {
			return refused(err), nil
		}
		structured, err := t.call(ctx, source, req.Params.Arguments)
		if err != nil {
			return refused(err), nil
		}
		text, err := json.Marshal(structured)
		if err != nil {
			return nil, err
		}
		content := []mcp.Content{&mcp.TextContent{Text: string(text)}}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(text), Content: content}, nil
	}
}

// maxMessage limits an error's text, in bytes.
const maxMessage = 4 << 10

func refused(err error) *mcp.CallToolResult {
	result := new(mcp.CallToolResult)
	message := err.Error()
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	result.SetError(errors.New(message))
	return result
}

// check returns an error if arguments are unknown, missing, or not of their form.
func (t tool) check(arguments json.RawMessage) error {
	values := make(map[string]json.RawMessage)
	if len(arguments) > 0 && json.Unmarshal(arguments, &values) != nil {
		return errors.New("arguments must be an object")
	}
	names := record.Texts(t.arguments, func(a argument) string { return a.name })
	for _, a := range t.arguments {
		value, ok := values[a.name]
		if ok && !a.form.matches(value) {
			return fmt.Errorf("%s must be %s", a.name, a.form.words)
		}
		if a.required && !ok {
			return fmt.Errorf("%s is missing; arguments of %s: %s", a.name, t.name, strings.Join(names, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(names, name) {
			continue
		}
		list := "arguments of " + t.name + ": " + strings.Join(names, ", ")
		hint := record.DidYouMeanOr(record.Suggest(name, names), list)
		return fmt.Errorf("unknown argument %.100q%s", name, hint)
	}
	return nil
}

// matches reports whether a value has the form.
func (f form) matches(value json.RawMessage) bool {
	var into any
	switch f {
	case textForm:
		into = new(string)
	case listForm:
		into = new(list)
	case numberForm:
		into = new(count)
	case objectForm:
		into = new(conditions)
	}
	return json.Unmarshal(value, into) == nil
}

// decoded returns the function of a tool, which decodes the arguments before it calls do. They
// have been checked.
func decoded[In any](
	do func(context.Context, Source, In) (any, error),
) func(context.Context, Source, json.RawMessage) (any, error) {
	return func(ctx context.Context, source Source, arguments json.RawMessage) (any, error) {
		var in In
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, err
			}
		}
		return do(ctx, source, in)
	}
}

// memberNames has the arguments that members of queries are made from.
var memberNames = map[string]string{
	"OrderBy": "order",
	"Fields":  "fields",
	"GroupBy": "by",
	"Include": "sum, min, max and avg",
	"Take":    "limit",
	"Skip":    "skip",
	"Cursor":  "cursor",
	"Key":     "key",
}

// explained returns the error of a request with the names of arguments and, if it is about
// members of a query, the fields of the kind.
func explained(err error, kind *record.Kind) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	lines := record.Texts(e.Fields, func(f wire.FieldError) string {
		return cmp.Or(memberNames[f.FieldName], f.FieldName) + ": " + f.Message
	})
	message := strings.Join(lines, "\n")
	hasFields := strings.Contains(message, "; fields: ") // as after an unknown field without a similar one
	if kind != nil && !hasFields {
		message += "\n" + fieldsOf(kind)
	}
	return errors.New(message)
}

// fieldsOf lists the fields of a kind for an error.
func fieldsOf(kind *record.Kind) string {
	names := kind.FieldNames()
	suffix := ""
	if len(names) > maxNames {
		names = names[:maxNames]
		suffix = ", and others, which describe_kind lists"
	}
	return "Fields of " + kind.Name + ": " + strings.Join(names, ", ") + suffix
}

// maxNames is the maximum number of names in a message.
const maxNames = 60
