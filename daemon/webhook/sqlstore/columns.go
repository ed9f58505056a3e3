package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
)

// column is a column of a table or of a batch. value returns the value of a T: nil,
// a string, an int64 or bytes; without it the value is the row's index.
type column[T any] struct {
	name  string
	typ   string // SQL Server type
	value func(T) any
}

// SQL Server types of columns. Columns of type text contain foreign text, which is
// escaped in JSON, see escapes.
const (
	number   = "bigint"
	integer  = "int"
	small    = "tinyint"
	bit      = "bit"
	dateTime = "datetime2(7)"
	guid     = "nvarchar(36)"
	text     = "nvarchar(max)"
	separate = "" // sent as a separate parameter, not in the JSON

	// Values of this type are sent in one parameter, @Bytes; the JSON has their place there.
	binary = "varbinary(max)"
)

// columns are the columns of a table. The statements for both databases and the
// JSON rows of a batch for SQL Server are derived from them.
type columns[T any] []column[T]

// names returns the column list of an INSERT.
func (c columns[T]) names() string { return c.list(func(col column[T]) string { return col.name }) }

// parameters returns the VALUES list of an INSERT into a file.
func (c columns[T]) parameters() string {
	return c.list(func(col column[T]) string { return "@" + col.name })
}

// values returns the SELECT list of an INSERT on SQL Server, from the rows n and
// the separate parameters b.
func (c columns[T]) values() string {
	return c.list(func(col column[T]) string {
		switch col.typ {
		case text:
			return "plain(n." + col.name + ")"
		case separate:
			return "b." + col.name
		case binary:
			return fmt.Sprintf("SUBSTRING(@Bytes, n.%[1]sAt, n.%[1]sSize)", col.name)
		}
		return "n." + col.name
	})
}

func (c columns[T]) list(format func(column[T]) string) string {
	parts := make([]string, len(c))
	for i, col := range c {
		parts[i] = format(col)
	}
	return strings.Join(parts, ", ")
}

// named returns a column by name.
func (c columns[T]) named(name string) column[T] {
	i := slices.IndexFunc(c, func(col column[T]) bool { return col.name == name })
	if i < 0 {
		panic("sqlstore: unknown column " + name) // a mistake in a statement of this package, found at start
	}
	return c[i]
}

// open returns the OPENJSON expression for the rows of a parameter, with the named
// columns, or all.
func (c columns[T]) open(parameter string, names ...string) string {
	for _, name := range names {
		c.named(name)
	}
	var items []string
	position := 0
	for _, col := range c {
		if col.typ == separate {
			continue
		}
		wanted := len(names) == 0 || slices.Contains(names, col.name)
		switch {
		case wanted && col.typ == binary:
			items = append(items, fmt.Sprintf("%sAt int '$[%d]', %[1]sSize int '$[%[3]d]'", col.name, position, position+1))
		case wanted:
			items = append(items, fmt.Sprintf("%s %s '$[%d]'", col.name, col.typ, position))
		}
		if position++; col.typ == binary {
			position++
		}
	}
	return "OPENJSON(@" + parameter + ") WITH (" + strings.Join(items, ", ") + ")"
}

// encode returns the JSON rows that open reads.
func (c columns[T]) encode(all []T, e *escapes) []byte {
	rows, values := make([][]any, len(all)), make([]any, 0, 2*len(all)*len(c))
	for i, v := range all {
		first := len(values)
		for _, column := range c {
			var value any
			switch {
			case column.typ == separate:
				continue
			case column.value == nil:
				value = i
			default:
				value = column.value(v)
			}
			switch s, isText := value.(string); {
			case isText && column.typ == text:
				value = e.text(s)
			case column.typ == binary:
				bytes, _ := value.([]byte)
				values = append(values, len(e.bytes)+1)
				if value != nil {
					value, e.bytes = len(bytes), append(e.bytes, bytes...)
				}
			}
			values = append(values, value)
		}
		rows[i] = values[first:]
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rows); err != nil {
		panic("sqlstore: " + err.Error()) // texts and numbers can always be encoded
	}
	return b.Bytes()
}

// statement is a statement for a file. Its parameters are named like columns.
type statement[T any] struct {
	text  string
	bound []func(T) any
}

var parameter = regexp.MustCompile(`@\w+`)

// newStatement relies on SQLite numbering named parameters in the order of their
// first occurrence.
func newStatement[T any](c columns[T], text string) statement[T] {
	s := statement[T]{text: text}
	var names []string
	for _, name := range parameter.FindAllString(text, -1) {
		if !slices.Contains(names, name) {
			names, s.bound = append(names, name), append(s.bound, c.named(name[1:]).value)
		}
	}
	return s
}

// messageField is a column of messages. of returns a pointer to its value.
type messageField struct {
	name string
	typ  string // SQL Server type
	of   func(*webhook.Message) any
}

// dueColumn is NULL if no attempt follows.
const dueColumn = "NextAttemptDateTime"

// keyColumn is NULL if the event has no key.
const keyColumn = "EventKey"

// messageFields are the columns of messages, from which all statements that read or
// write messages are derived.
var messageFields = []messageField{
	{"ID", number, func(m *webhook.Message) any { return &m.ID }},
	{"RecID", guid, func(m *webhook.Message) any { return &m.GUID }},
	{"EventID", number, func(m *webhook.Message) any { return &m.Event.ID }},
	{"PartitionID", number, func(m *webhook.Message) any { return &m.Partition }},
	{"SubscriptionID", number, func(m *webhook.Message) any { return &m.Subscription }},
	{"URL", text, func(m *webhook.Message) any { return &m.URL }},
	{"Status", small, func(m *webhook.Message) any { return &m.Status }},
	{"Attempts", integer, func(m *webhook.Message) any { return &m.Attempts }},
	{dueColumn, dateTime, func(m *webhook.Message) any { return &m.Next }},
	{"AddedDateTime", dateTime, func(m *webhook.Message) any { return &m.Event.AddedAt }},
	{"MadeByAdmin", bit, func(m *webhook.Message) any { return &m.MadeByAdmin }},
	{keyColumn, text, func(m *webhook.Message) any { return (*optional)(&m.Event.Key) }},
}

// messageColumns are these columns for INSERT. LastSavedDateTime is initially the
// event's AddedDateTime.
var messageColumns = newMessageColumns()

func newMessageColumns() (all columns[*webhook.Message]) {
	for _, f := range messageFields {
		value := func(m *webhook.Message) any { return valueOf(f.of(m)) }
		if f.name == dueColumn {
			value = func(m *webhook.Message) any { return appdb.NullIfEmpty(dueText(m.State)) }
		}
		all = append(all, column[*webhook.Message]{f.name, f.typ, value})
	}
	return all
}

// valueOf returns the value behind a pointer as it is written.
func valueOf(pointer any) any {
	switch p := pointer.(type) {
	case *int64:
		return *p
	case *int:
		return int64(*p)
	case *bool:
		return appdb.Bit(*p)
	case *optionalBool:
		return appdb.Bit(bool(*p))
	case *string:
		return *p
	case *time.Time:
		return appdb.Timestamp(*p)
	case *[]byte:
		return *p
	case *webhook.Status:
		return int64(*p)
	case *schedule:
		return p.stored()
	case *optional:
		return appdb.NullIfEmpty(string(*p)) // not a NullString, which the batches cannot contain
	}
	panic(fmt.Sprintf("sqlstore: unsupported type %T", pointer))
}

// destination returns the scan destination for a pointer.
func destination(pointer any) any {
	if p, ok := pointer.(*time.Time); ok {
		return (*appdb.Time)(p)
	}
	return pointer
}
