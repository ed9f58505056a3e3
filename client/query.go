package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Query selects records of one kind.
type Query struct {
	Kind    *record.Kind
	Where   []Filter // combined with AND; nulls match no filter
	Fields  []string // in this order; empty: all
	OrderBy []string // a leading - means descending
	Skip    int64
	Take    *int64   // nil: all rows
	Include []string // Total, SUM(f) etc.; the results are in Page.Meta
	GroupBy string   // a field, or a date and :day, :month or :year; the results of Include are columns
	Strict  bool     // unknown members are errors instead of being ignored

	// Resume makes Rows and CSV read the rows in pages by cursor, each of which is repeated
	// if the connection is lost. Each row is returned once, even if others insert or delete
	// rows before it. It has no effect without OrderBy, with Skip, Take or GroupBy, or for a
	// kind without a proven key.
	Resume bool

	Unchecked map[string]json.RawMessage // additional members, sent unchanged

	cursor  *string // cursor of a page; empty for the first page, nil without pages
	forCopy string  // token of a copy; empty for none
}

// Filter compares a field with one value, two values or a list, depending on the
// operator. Values have the text form of the field's type; byte[] is in base64.
type Filter struct {
	Field    string
	Operator record.Operator
	Values   []string
}

// Member returns the name of the filter's member in a request.
func (f Filter) Member() string { return f.Field + f.Operator.Suffix() }

// Rows sends the query and returns when the response starts. The caller must range over
// Rows.All or call Rows.Close. An error of the service is of type *Error.
func (c *Client) Rows(ctx context.Context, q Query) (*Rows, error) {
	return c.inPages(ctx, q, c.ndjson)
}

// ndjson is Rows without pages: it sends one request.
func (c *Client) ndjson(ctx context.Context, q Query) (*Rows, error) {
	reply, err := c.sendQuery(ctx, q, "ndjson", mediaNDJSON, headerField{})
	if err != nil {
		return nil, err
	}
	if err := expect(reply, mediaNDJSON); err != nil {
		reply.Body.Close()
		return nil, err
	}
	return newRows(reply, reply.Body, false), nil
}

// Page fetches the rows of a query into memory, with the total if Include requests it.
// An error of the service is of type *Error.
func (c *Client) Page(ctx context.Context, q Query) (*Page, error) {
	reply, err := c.sendQuery(ctx, q, "json", mediaJSON, headerField{})
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return readPage(reply)
}

// Count returns the number of matches of a query, ignoring Skip and Take.
func (c *Client) Count(ctx context.Context, q Query) (int64, error) {
	q.Take = new(int64)
	q.Skip = 0
	q.OrderBy = nil
	q.Fields = nil
	q.Include = []string{"Total"}
	page, err := c.Page(ctx, q)
	if err != nil {
		return 0, err
	}
	return page.Total, nil
}

const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaCSV    = "text/csv"
)

// sendQuery sends a query to the route that negotiates the format.
func (c *Client) sendQuery(
	ctx context.Context, q Query, format, accept string, header headerField,
) (*http.Response, error) {
	members, err := q.members()
	if err != nil {
		return nil, err
	}
	req := callOf(q.Kind, members, format)
	req.accept = accept
	req.header = header
	req.reads = true
	return c.send(ctx, req)
}

// members returns the query as a JSON object. Its values are string, []string, int64,
// bool or, from Unchecked, json.RawMessage.
func (q Query) members() (map[string]any, error) {
	members := make(map[string]any)
	for _, f := range q.Where {
		value, err := q.operands(f)
		if err != nil {
			return nil, err
		}
		if _, duplicate := members[f.Member()]; duplicate {
			return nil, fmt.Errorf("duplicate filter %s", f.Member())
		}
		members[f.Member()] = value
	}
	for name, value := range q.Unchecked {
		if _, duplicate := members[name]; duplicate {
			return nil, fmt.Errorf("duplicate member %s", name)
		}
		members[name] = value
	}
	lists := map[string][]string{
		"Fields":  q.Fields,
		"OrderBy": q.OrderBy,
		"Include": q.Include,
	}
	for name, list := range lists {
		if len(list) > 0 {
			members[name] = strings.Join(list, ",")
		}
	}
	if q.Skip != 0 {
		members["Skip"] = q.Skip
	}
	if q.Take != nil {
		members["Take"] = *q.Take
	}
	if q.GroupBy != "" {
		members["GroupBy"] = q.GroupBy
	}
	if q.cursor != nil {
		members["Cursor"] = *q.cursor
	}
	if q.forCopy != "" {
		members["ForCopy"] = q.forCopy
	}
	if q.Strict {
		members["Strict"] = true
	}
	return members, nil
}

// operands returns the JSON value of a filter. Numbers are sent as strings, to keep all
// digits. A list of values of a byte field is sent as one base64 string, as the HTTP API
// declares it.
func (q Query) operands(f Filter) (any, error) {
	column, ok := q.Kind.Column(f.Field)
	if !ok {
		return nil, fmt.Errorf("%s has no field %s", q.Kind.Name, f.Field)
	}
	field := q.Kind.Fields[column]
	if !field.Filter.Allows(f.Operator) {
		return nil, fmt.Errorf("%s cannot be filtered with %s", field.Name, f.Operator)
	}
	if err := f.checkCount(); err != nil {
		return nil, err
	}

	arity := f.Operator.Arity()
	switch {
	case arity == record.None:
		return true, nil
	case arity == record.One:
		return f.Values[0], nil
	case field.Type == record.Byte:
		return byteList(f.Values)
	default:
		return slices.Clone(f.Values), nil
	}
}

// checkCount returns an error if the filter does not have as many values as its operator needs.
func (f Filter) checkCount() error {
	count := len(f.Values)
	expected := ""
	arity := f.Operator.Arity()
	switch {
	case arity == record.One && count != 1:
		expected = "one value"
	case arity == record.Two && count != 2:
		expected = "two values"
	case arity == record.Many && count == 0:
		expected = "at least one value"
	default:
		return nil
	}
	return fmt.Errorf("the filter %s needs %s, got %d", f.Member(), expected, count)
}

func byteList(texts []string) (string, error) {
	list := make([]byte, len(texts))
	for i, text := range texts {
		n, err := wire.ParseInteger(record.Byte, text)
		if err != nil {
			return "", err
		}
		list[i] = byte(n)
	}
	return base64.StdEncoding.EncodeToString(list), nil
}
