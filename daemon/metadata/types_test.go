package metadata

import (
	"strings"
	"testing"
)

// TestMemberNames checks names that are not identifiers, such as those of settings,
// reserved words, and members with the name of their class.
func TestMemberNames(t *testing.T) {
	for _, test := range []struct{ name, typeScript, cSharp string }{
		{"Take", "Take", "Take"}, {"log.level", `"log.level"`, ""}, {"X-Tenant", `"X-Tenant"`, ""}, {"2nd", `"2nd"`, ""},
		{"event", "event", "@event"}, {"Event", "Event", "Event"}, {"Change", "Change", ""}, {"é", `"é"`, ""},
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
		{"int", "number", "int"}, {"int?", "number", "int?"}, {"string?", "string", "string"}, {"DateTime?", "string", "DateTime?"}, {"date", "string", "DateTime"},
		{"byte[]?", "string", "byte[]"}, {"decimal[]", "number[]", "decimal[]"}, {byteList, "number[] | string", "byte[]"}, {"object", "any", "object"},
		{"Dictionary<string,string>[]", "{ [name: string]: string }[]", "Dictionary<string, string>[]"}, {"Dictionary<string,long[]>", "{ [name: string]: number[] }", "Dictionary<string, long[]>"},
		{"List<Header>?", "Header[]", "List<Header>"}, {"Header[]?", "Header[]", "Header[]"}, {"QueryResponse<Parcels>", "QueryResponse<Parcels>", "QueryResponse<Parcels>"},
		{"Dictionary<string,long>", "{ [name: string]: number }", "Dictionary<string, long>"}, {"List<List<long>>", "number[][]", "List<List<long>>"},
		{"Dictionary<string,List<long>>?", "{ [name: string]: number[] }", "Dictionary<string, List<long>>"},
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
		for _, text := range []string{"/* Options:\nDate: ", "\nVersion: 1.2\n", "\nBaseUrl: " + at + "\n", "\n*/\n"} {
			if !strings.Contains(without, text) || !strings.Contains(with, text) {
				t.Errorf("%s lacks %q", l.Name, text)
			}
		}
		if !strings.Contains(without, "\n//GlobalNamespace: "+l.namespace+"\n") || !strings.Contains(with, "\nGlobalNamespace: Post.Office\n") || !strings.Contains(with, "namespace Post.Office") {
			t.Errorf("%s: the option GlobalNamespace", l.Name)
		}
	}
}
