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
	var list []string
	position := 0
	for _, col := range c {
		if col.typ == separate {
			continue
		}
		if len(names) == 0 || slices.Contains(names, col.name) {
			list = append(list, col.definition(position))
		}
		position++
		if col.typ == binary { // its place and its size in @Bytes
			position++
		}
	}
	return "OPENJSON(@" + parameter + ") WITH (" + strings.Join(list, ", ") + ")"
}

// definition returns the definition of a column at a position of the JSON rows.
func (c column[T]) definition(position int) string {
	if c.typ == binary {
		return fmt.Sprintf("%sAt int '$[%d]', %[1]sSize int '$[%[3]d]'", c.name, position, position+1)
	}
	return fmt.Sprintf("%s %s '$[%d]'", c.name, c.typ, position)
}

// encode returns the JSON rows that open reads.
func (c columns[T]) encode(list []T, e *escapes) []byte {
	rows := make([][]any, len(list))
	values := make([]any, 0, 2*len(list)*len(c)) // of all rows
	for i, v := range list {
		first := len(values)
		for _, column := range c {
			if column.typ == separate {
				continue
			}
			var value any = i
			if column.value != nil {
				value = column.value(v)
			}
			if column.typ == binary {
				values = append(values, len(e.bytes)+1)
			}
			values = append(values, e.encode(value, column.typ))
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
			names = append(names, name)
			s.bound = append(s.bound, c.named(name[1:]).value)
		}
	}
	return s
}

// messageField is a column of messages. pointer returns a pointer to its value.
type messageField struct {
	name    string
	typ     string // SQL Server type
	pointer func(*webhook.Message) any
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

func newMessageColumns() columns[*webhook.Message] {
	var list columns[*webhook.Message]
	for _, f := range messageFields {
		value := func(m *webhook.Message) any { return valueOf(f.pointer(m)) }
		if f.name == dueColumn {
			value = func(m *webhook.Message) any { return appdb.NullIfEmpty(dueText(m.State)) }
		}
		list = append(list, column[*webhook.Message]{name: f.name, typ: f.typ, value: value})
	}
	return list
}

// valueOf returns the value behind a pointer as it is written in a batch.
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

// parameterOf returns the value behind a pointer as the parameter of a statement. A NULL
// has a type, without which Babelfish rejects it.
func parameterOf(pointer any) any {
	switch p := pointer.(type) {
	case *optional:
		return p.stored()
	case *optionalInt:
		return p.stored()
	}
	return valueOf(pointer)
}

// destination returns the scan destination for a pointer.
func destination(pointer any) any {
	if p, ok := pointer.(*time.Time); ok {
		return (*appdb.Time)(p)
	}
	return pointer
}
