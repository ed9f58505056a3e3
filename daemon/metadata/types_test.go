package metadata

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestMemberNames checks names that are not identifiers, such as those of settings,
// reserved words, and members with the name of their class.
func TestMemberNames(t *testing.T) {
	for _, test := range []struct{ name, typeScript, cSharp string }{
		{name: "Take", typeScript: "Take", cSharp: "Take"},
		{name: "log.level", typeScript: `"log.level"`, cSharp: ""},
		{name: "X-Tenant", typeScript: `"X-Tenant"`, cSharp: ""},
		{name: "2nd", typeScript: `"2nd"`, cSharp: ""},
		{name: "event", typeScript: "event", cSharp: "@event"},
		{name: "Event", typeScript: "Event", cSharp: "Event"},
		{name: "Change", typeScript: "Change", cSharp: ""},
		{name: "é", typeScript: `"é"`, cSharp: ""},
	} {
		for _, l := range Languages() {
			want := test.typeScript
			if l.Name == "csharp" {
				want = test.cSharp
			}
			if got := l.member("Change", test.name); got != want {
				t.Errorf("%s: %s is %s, want %s", l.Name, test.name, got, want)
			}
		}
	}
}

// TestReservedClassNames checks kinds with names that are reserved in a language, or are those of its
// own types. A class has the same name in all its uses.
func TestReservedClassNames(t *testing.T) {
	for _, test := range []struct{ name, typeScript, cSharp string }{
		{name: "Parcels", typeScript: "Parcels", cSharp: "Parcels"},
		{name: "lock", typeScript: "lock", cSharp: "@lock"},
		{name: "event", typeScript: "event", cSharp: "@event"},
		{name: "Event", typeScript: "Event", cSharp: "Event"},
		{name: "delete", typeScript: "$delete", cSharp: "delete"},
		{name: "package", typeScript: "$package", cSharp: "package"},
		{name: "class", typeScript: "$class", cSharp: "@class"},
		{name: "int", typeScript: "int", cSharp: "@int"},
		{name: "number", typeScript: "$number", cSharp: "number"},
		{name: "record", typeScript: "record", cSharp: "@record"},
	} {
		registry, err := record.NewRegistry(record.Kind{
			Name:   test.name,
			Key:    []string{"ID"},
			Fields: []record.Field{{Name: "ID", Type: record.Text, Filter: record.TextFilter}},
		})
		if err != nil {
			t.Fatal(err)
		}
		kind := registry.Kinds()[0]
		s := &Service{
			Events: []Event{{Event: record.Event{Name: "a.created", Description: "Occurs"}, Kind: kind}},
			Operations: []Operation{{
				Name:    kind.Operation(),
				Summary: "Rows",
				Kind:    kind,
				Routes:  []Route{{Methods: []string{"GET", "POST"}, Path: "/Queries/" + kind.Name}},
			}},
		}
		for _, l := range Languages() {
			name := test.typeScript
			uses := []string{"QueryResponse<" + name + ">", "WebhookChange<" + name + ">"}
			declaration := "export class " + name + " {"
			switch l.Name {
			case "typescript.d":
				declaration = "export interface " + name + " {"
			case "csharp":
				name = test.cSharp
				declaration = "public partial class " + name + "\n"
				uses = []string{"QueryDb<" + name + ">", "IReturn<QueryResponse<" + name + ">>"}
			}
			types, err := l.Types(s)
			if err != nil {
				t.Fatal(err)
			}
			text := string(types.File(at, ""))
			for _, want := range append(uses, declaration) {
				if !strings.Contains(text, want) {
					t.Errorf("%s: the types of the kind %s lack %q", l.Name, test.name, want)
				}
			}
		}
	}
}

func TestNamespaces(t *testing.T) {
	for _, test := range []struct{ namespace, typeScript, cSharp string }{
		{namespace: "Post.Office"},
		{namespace: "_a1"},
		{
			namespace:  "a..b",
			typeScript: "must be identifiers separated by dots",
			cSharp:     "must be identifiers separated by dots",
		},
		{
			namespace:  "class",
			typeScript: "has the word class, which is reserved in the language ",
			cSharp:     "has the word class, which is reserved in the language ",
		},
		{namespace: "Post.delete", typeScript: "has the word delete, which is reserved in the language "},
		{namespace: "Post.lock", cSharp: "has the word lock, which is reserved in the language "},
	} {
		for _, l := range Languages() {
			want := test.typeScript
			if l.Name == "csharp" {
				want = test.cSharp
			}
			if strings.HasSuffix(want, " ") {
				want += l.Name
			}
			if got := l.CheckNamespace(test.namespace); got != want {
				t.Errorf("%s: the namespace %s: got the problem %q, want %q", l.Name, test.namespace, got, want)
			}
		}
	}
}

func TestTypesOfLanguages(t *testing.T) {
	for _, test := range []struct{ name, typeScript, cSharp string }{
		{name: "int", typeScript: "number", cSharp: "int"},
		{name: "int?", typeScript: "number", cSharp: "int?"},
		{name: "string?", typeScript: "string", cSharp: "string"},
		{name: "DateTime?", typeScript: "string", cSharp: "DateTime?"},
		{name: "date", typeScript: "string", cSharp: "DateTime"},
		{name: "byte[]?", typeScript: "string", cSharp: "byte[]"},
		{name: "decimal[]", typeScript: "number[]", cSharp: "decimal[]"},
		{name: byteList, typeScript: "number[] | string", cSharp: "byte[]"},
		{name: "object", typeScript: "any", cSharp: "object"},
		{
			name:       "Dictionary<string,string>[]",
			typeScript: "{ [name: string]: string }[]",
			cSharp:     "Dictionary<string, string>[]",
		},
		{
			name:       "Dictionary<string,long[]>",
			typeScript: "{ [name: string]: number[] }",
			cSharp:     "Dictionary<string, long[]>",
		},
		{name: "List<Header>?", typeScript: "Header[]", cSharp: "List<Header>"},
		{name: "Header[]?", typeScript: "Header[]", cSharp: "Header[]"},
		{
			name:       "QueryResponse<Parcels>",
			typeScript: "QueryResponse<Parcels>",
			cSharp:     "QueryResponse<Parcels>",
		},
		{
			name:       "Dictionary<string,long>",
			typeScript: "{ [name: string]: number }",
			cSharp:     "Dictionary<string, long>",
		},
		{name: "List<List<long>>", typeScript: "number[][]", cSharp: "List<List<long>>"},
		{
			name:       "Dictionary<string,List<long>>?",
			typeScript: "{ [name: string]: number[] }",
			cSharp:     "Dictionary<string, List<long>>",
		},
	} {
		for _, l := range Languages() {
			want := test.typeScript
			if l.Name == "csharp" {
				want = test.cSharp
			}
			if got := l.typeOf(test.name); got != want {
				t.Errorf("%s: %s is %s, want %s", l.Name, test.name, got, want)
			}
		}
	}
}

// TestOptionsOfTypes checks the lines that ServiceStack's command line tools read, and
// the namespace around the classes.
func TestOptionsOfTypes(t *testing.T) {
	s := shop(t)
	for _, l := range Languages() {
		types, err := l.Types(s)
		if err != nil {
			t.Fatal(err)
		}
		without, with := string(types.File(at, "")), string(types.File(at, "Post.Office"))
		for _, text := range []string{
			"/* Options:\nDate: ",
			"\nVersion: 1.2\n",
			"\nBaseUrl: " + at + "\n",
			"\n*/\n",
		} {
			if !strings.Contains(without, text) || !strings.Contains(with, text) {
				t.Errorf("%s lacks %q", l.Name, text)
			}
		}
		if !strings.Contains(without, "\n//GlobalNamespace: "+l.namespace+"\n") ||
			!strings.Contains(with, "\nGlobalNamespace: Post.Office\n") ||
			!strings.Contains(with, "namespace Post.Office") {
			t.Errorf("%s: the option GlobalNamespace", l.Name)
		}
	}
}
