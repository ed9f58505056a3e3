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

// column is a column of a table, or of a batch, and what is written to it of a T:
// nil, a string, an int64 or bytes. Without a function it is the row's number.
type column[T any] struct {
	name  string
	typ   string // of a server
	value func(T) any
}

// The types of columns, on a server. Texts that hold what users or receivers
// have written are escaped on their way through JSON.
const (
	number  = "bigint"
	integer = "int"
	small   = "tinyint"
	bit     = "bit"
	moment  = "datetime2(7)"
	guid    = "nvarchar(36)"
	text    = "nvarchar(max)"
	beside  = "" // travels beside the JSON
)

// columns are those of a table, from which its statements are derived for either
// database, and the rows of a batch for a server: arrays in JSON.
type columns[T any] []column[T]

// names lists the columns for INSERT.
func (c columns[T]) names() string { return c.list(func(one column[T]) string { return one.name }) }

// parameters lists what is inserted into a file.
func (c columns[T]) parameters() string {
	return c.list(func(one column[T]) string { return "@" + one.name })
}

// values lists what is inserted on a server, out of the rows n and the texts
// beside them, b.
func (c columns[T]) values() string {
	return c.list(func(one column[T]) string {
		switch one.typ {
		case text:
			return "plain(n." + one.name + ")"
		case beside:
			return "b." + one.name
		}
		return "n." + one.name
	})
}

func (c columns[T]) list(word func(column[T]) string) string {
	words := make([]string, len(c))
	for i, one := range c {
		words[i] = word(one)
	}
	return strings.Join(words, ", ")
}

// named is one of the columns.
func (c columns[T]) named(name string) column[T] {
	i := slices.IndexFunc(c, func(one column[T]) bool { return one.name == name })
	if i < 0 {
		panic("sqlstore: there is no column " + name) // a mistake in a statement of this package, found at the start
	}
	return c[i]
}

// open is the expression for the rows of a parameter, with some of their columns,
// or all.
func (c columns[T]) open(parameter string, names ...string) string {
	for _, name := range names {
		c.named(name)
	}
	var items []string
	position := 0
	for _, one := range c {
		if one.typ == beside {
			continue
		}
		if len(names) == 0 || slices.Contains(names, one.name) {
			items = append(items, fmt.Sprintf("%s %s '$[%d]'", one.name, one.typ, position))
		}
		position++
	}
	return "OPENJSON(@" + parameter + ") WITH (" + strings.Join(items, ", ") + ")"
}

// encode is the parameter that open opens.
func (c columns[T]) encode(all []T, e *escapes) []byte {
	rows, cells := make([][]any, len(all)), make([]any, 0, len(all)*len(c))
	for i, one := range all {
		first := len(cells)
		for _, column := range c {
			var cell any
			switch {
			case column.typ == beside:
				continue
			case column.value == nil:
				cell = i
			default:
				cell = column.value(one)
			}
			if words, is := cell.(string); is && column.typ == text {
				cell = e.text(words)
			}
			cells = append(cells, cell)
		}
		rows[i] = cells[first:]
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rows); err != nil {
		panic("store: " + err.Error()) // texts and numbers can always be written
	}
	return b.Bytes()
}

// statement is a statement for a file. Its parameters have the names of columns.
type statement[T any] struct {
	text  string
	bound []func(T) any
}

var parameter = regexp.MustCompile(`@\w+`)

// newStatement relies on SQLite to number named parameters in the order in which
// they first occur.
func newStatement[T any](c columns[T], text string) statement[T] {
	s := statement[T]{text: text}
	var known []string
	for _, name := range parameter.FindAllString(text, -1) {
		if !slices.Contains(known, name) {
			known, s.bound = append(known, name), append(s.bound, c.named(name[1:]).value)
		}
	}
	return s
}

// messageField is a column that messages are kept in: what it is written from and
// read to. of points at its value.
type messageField struct {
	name string
	typ  string // of a server
	of   func(*webhook.Message) any
}

// dueColumn is null once no attempt follows.
const dueColumn = "NextAttemptDateTime"

// messageFields are the columns that a message is kept in, from which everything is
// derived that writes or reads them.
var messageFields = []messageField{
	{"ID", number, func(m *webhook.Message) any { return &m.ID }},
	{"RecID", guid, func(m *webhook.Message) any { return &m.GUID }},
	{"EventID", number, func(m *webhook.Message) any { return &m.Event.ID }},
	{"PartitionID", number, func(m *webhook.Message) any { return &m.Partition }},
	{"SubscriptionID", number, func(m *webhook.Message) any { return &m.Subscription }},
	{"URL", text, func(m *webhook.Message) any { return &m.URL }},
	{"Status", small, func(m *webhook.Message) any { return &m.Status }},
	{"Attempts", integer, func(m *webhook.Message) any { return &m.Attempts }},
	{dueColumn, moment, func(m *webhook.Message) any { return &m.Next }},
	{"AddedDateTime", moment, func(m *webhook.Message) any { return &m.Event.AddedAt }},
	{"MadeByAdmin", bit, func(m *webhook.Message) any { return &m.MadeByAdmin }},
}

// messageColumns are those fields as they are inserted. When a message was saved last
// is when its event was added, at first.
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

// valueOf is what a pointer points at, as it is written.
func valueOf(pointer any) any {
	switch p := pointer.(type) {
	case *int64:
		return *p
	case *int:
		return int64(*p)
	case *bool:
		return appdb.Bit(*p)
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
	}
	panic(fmt.Sprintf("sqlstore: a value of type %T cannot be written", pointer))
}

// destination is where a pointer's value is read to.
func destination(pointer any) any {
	if p, is := pointer.(*time.Time); is {
		return (*appdb.Time)(p)
	}
	return pointer
}

// momentText is a time as it is stored, empty for the zero time.
func momentText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return appdb.Timestamp(t)
}
