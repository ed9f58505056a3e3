package wire

import (
	"fmt"
	"go/format"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
)

// messageStructs are the structs that messages.go has, named like their kinds.
var messageStructs = []struct {
	name    string
	comment string            // after the name
	notes   map[string]string // comments of fields
}{
	{
		name:    "Message",
		comment: "is the delivery of an event to a subscription.",
		notes: map[string]string{
			"Status": "as in MessageState",
			"Key":    "the subject of the event; empty for none",
		},
	},
	{
		name:    "MessageResponse",
		comment: "is a delivery attempt of a message.",
		notes: map[string]string{
			"Status":   "of the message after the attempt",
			"HTTPCode": "nil without a response",
			"Message":  "the reason phrase, or the error",
			"ItemNo":   "the number of the attempt",
			"Duration": "such as PT0.0123S",
		},
	},
}

// TestMessagesAreGenerated compares messages.go with the record kinds of messages, from which
// make golden writes it: a new field of a kind needs no line there.
func TestMessagesAreGenerated(t *testing.T) {
	var source strings.Builder
	source.WriteString("// Code generated from the record kinds by make golden; DO NOT EDIT.\n\npackage wire\n")
	for _, s := range messageStructs {
		kind, ok := record.System().Lookup(s.name)
		if !ok {
			t.Fatalf("there is no kind %s", s.name)
		}
		fmt.Fprintf(&source, "\n// %s %s\ntype %[1]s struct {\n", s.name, s.comment)
		for _, f := range kind.Fields {
			fmt.Fprintf(&source, "%s %s", f.Name, goType(t, f))
			if note := s.notes[f.Name]; note != "" {
				source.WriteString(" // " + note)
			}
			source.WriteString("\n")
		}
		source.WriteString("}\n")
	}
	text, err := format.Source([]byte(source.String()))
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Compare(t, "messages.go", string(text))
}

// goType returns the type of the struct field for a field of a kind. Text that is null is
// empty in the struct.
func goType(t *testing.T, f record.Field) string {
	t.Helper()
	types := goTypes[f.Type]
	if len(types) == 0 {
		t.Fatalf("goTypes has no Go type for %s, the type of the field %s", f.Type, f.Name)
	}
	if f.Type == record.Int && f.Null == record.Nullable {
		return types[1].String() // a pointer
	}
	return strings.TrimPrefix(types[0].String(), "wire.")
}
