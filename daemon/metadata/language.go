package metadata

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// Language is a programming language for which types are generated.
type Language struct {
	Name      string // as in the path /types/NAME
	Operation string // the operation that returns the types
	Summary   string

	namespace string            // default of the option GlobalNamespace
	block     string            // the first line of a namespace
	scalars   map[string]string // types by their names in the published interface
	needsMark []string          // scalars that need a ? after their name to be null
	list      string            // format of a list of objects
	values    string            // format of a dictionary
	quoted    bool              // names of members that are not identifiers can be quoted
	reserved  map[string]bool   // words that cannot be the names of classes
	escape    string            // before such a word, makes a name that no kind has
	provided  []string          // classes that the client library declares
	receivers bool              // there are types for receivers of webhooks, in TypeScript

	text *template.Template // template of the classes
}

// typeScript has the types of both TypeScript files.
var typeScript = map[string]string{
	"int":      "number",
	"short":    "number",
	"byte":     "number",
	"long":     "number",
	"decimal":  "number",
	"double":   "number",
	"bool":     "boolean",
	"string":   "string",
	"DateTime": "string",
	"date":     "string",
	"time":     "string",
	"byte[]":   "string",
	"Guid":     "string",
	"TimeSpan": "string",
	"object":   "any",
	byteList:   "number[] | string",
}

// cSharp has the types of C#.
var cSharp = map[string]string{
	"int":      "int",
	"short":    "short",
	"byte":     "byte",
	"long":     "long",
	"decimal":  "decimal",
	"double":   "double",
	"bool":     "bool",
	"string":   "string",
	"DateTime": "DateTime",
	"date":     "DateTime",
	"time":     "DateTime",
	"byte[]":   "byte[]",
	"Guid":     "Guid",
	"TimeSpan": "TimeSpan",
	"object":   "object",
	byteList:   "byte[]",
}

// cSharpReserved are the reserved words of C#, and those that cannot be the names of types in some of
// its versions. All can be names with @ before them.
var cSharpReserved = words(`
	abstract as base bool break byte case catch char checked class const continue decimal default
	delegate do double else enum event explicit extern false finally fixed float for foreach goto if
	implicit in int interface internal is lock long namespace new null object operator out override
	params private protected public readonly ref return sbyte sealed short sizeof stackalloc static
	string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual
	void volatile while

	async await dynamic extension field file managed nint notnull nuint partial record required
	scoped unmanaged var where yield`)

// typeScriptReserved are the reserved words of TypeScript in modules, and the names of its own types and
// of operators of types.
// Members can have these names.
var typeScriptReserved = words(`
	await break case catch class const continue debugger default delete do else enum export extends
	false finally for function if implements import in instanceof interface let new null package
	private protected public return static super switch this throw true try typeof var void while
	with yield

	any bigint boolean infer keyof never number object readonly string symbol undefined unique unknown`)

// words returns the set of the words in a text.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// byteList is the type of several bytes in a query, which the published interface
// declares as byte[].
const byteList = "byte list"

// languages are the languages in the order of the index.
var languages = []*Language{
	newLanguage("types.ts", Language{
		Name:      "typescript",
		Operation: "TypeScript",
		Summary:   "Types for the TypeScript client of ServiceStack",
		block:     "export namespace %s {\n",
		scalars:   typeScript,
		list:      "%s[]",
		values:    "{ [name: string]: %s }",
		quoted:    true,
		reserved:  typeScriptReserved,
		escape:    "$",
		receivers: true,
	}),
	newLanguage("types.d.ts", Language{
		Name:      "typescript.d",
		Operation: "TypeScriptDeclarations",
		Summary:   "Type declarations for TypeScript, without code",
		block:     "declare namespace %s {\n",
		scalars:   typeScript,
		list:      "%s[]",
		values:    "{ [name: string]: %s }",
		quoted:    true,
		reserved:  typeScriptReserved,
		escape:    "$",
		receivers: true,
	}),
	newLanguage("types.cs", Language{
		Name:      "csharp",
		Operation: "CSharp",
		Summary:   "Types for the .NET clients of ServiceStack",
		namespace: "Whd",
		block:     "namespace %s\n{\n",
		scalars:   cSharp,
		needsMark: []string{
			"int", "short", "byte", "long", "decimal", "double", "bool", "DateTime", "date",
			"time", "Guid", "TimeSpan",
		},
		list:     "List<%s>",
		values:   "Dictionary<string, %s>",
		reserved: cSharpReserved,
		escape:   "@",
		provided: []string{"Authenticate", "AuthenticateResponse", "ResponseStatus", "FieldError"},
	}),
}

// Languages returns the languages for which types are generated.
func Languages() []*Language { return slices.Clone(languages) }

//go:embed templates/types.*
var typeTemplates embed.FS

// receiversFile is the template of the bodies of events.
const receiversFile = "types.webhooks.ts"

// newLanguage reads the templates of the classes.
func newLanguage(file string, l Language) *Language {
	functions := template.FuncMap{
		"class":  l.class,
		"join":   strings.Join,
		"type":   l.typeOf,
		"member": l.member,
		"verb":   verb,
	}
	files := []string{"templates/" + file}
	if l.receivers {
		files = append(files, "templates/"+receiversFile)
	}
	l.text = template.Must(template.New(file).Funcs(functions).ParseFS(typeTemplates, files...))
	return &l
}

// typeOf returns the type for a type name of the published interface, or for a class.
func (l *Language) typeOf(name string) string {
	plain := strings.TrimSuffix(name, "?")
	if scalar, ok := l.scalars[plain]; ok {
		mayBeNull := plain != name
		if mayBeNull && slices.Contains(l.needsMark, plain) {
			return scalar + "?"
		}
		return scalar
	}
	if item, ok := strings.CutSuffix(plain, "[]"); ok {
		return l.typeOf(item) + "[]"
	}
	if row, ok := cutAround(plain, "QueryResponse<", ">"); ok {
		return "QueryResponse<" + l.class(row) + ">"
	}
	if item, ok := cutAround(plain, "List<", ">"); ok {
		return fmt.Sprintf(l.list, l.typeOf(item))
	}
	if value, ok := cutAround(plain, "Dictionary<string,", ">"); ok {
		return fmt.Sprintf(l.values, l.typeOf(value))
	}
	return l.class(plain)
}

// cutAround returns the text between a prefix and a suffix.
func cutAround(text, prefix, suffix string) (inner string, ok bool) {
	inner, hasPrefix := strings.CutPrefix(text, prefix)
	inner, hasSuffix := strings.CutSuffix(inner, suffix)
	return inner, hasPrefix && hasSuffix
}

// class returns the name of a class in the language. Kinds that an administrator declares may have
// any identifier as a name.
func (l *Language) class(name string) string {
	if l.reserved[name] {
		return l.escape + name
	}
	return name
}

// member returns the name of a class's member in the language. It is empty if the language cannot
// have it, because it is not an identifier, such as log.level, or is the name of the class.
func (l *Language) member(class, name string) string {
	if l.quoted && isIdentifier(name) {
		return name
	}
	if l.quoted {
		return jsonText(name) // a valid text in TypeScript, too
	}
	if !isIdentifier(name) || name == class {
		return ""
	}
	return l.class(name)
}

// verb returns a method with an upper-case letter only at its start, as .NET writes it.
func verb(method string) string { return method[:1] + strings.ToLower(method[1:]) }

// CheckNamespace returns the problem with a namespace for the classes, empty if the language accepts
// it.
func (l *Language) CheckNamespace(namespace string) string {
	for part := range strings.SplitSeq(namespace, ".") {
		if !isIdentifier(part) {
			return "must be identifiers separated by dots"
		}
		if l.reserved[part] {
			return fmt.Sprintf("has the word %s, which is reserved in the language %s", part, l.Name)
		}
	}
	return ""
}

// isIdentifier reports whether all languages accept a text as a name, unless it is reserved.
func isIdentifier(name string) bool {
	if name == "" || strings.Map(identifierRune, name) != name {
		return false
	}
	return name[0] < '0' || name[0] > '9'
}
