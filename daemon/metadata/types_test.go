package metadata

import (
	"strings"
	"testing"
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
