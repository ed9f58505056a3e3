package metadata

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
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
	nullable  []string          // scalars that cannot be null without a ? after their name
	list      string            // format of a list of objects
	values    string            // format of a dictionary
	quoted    bool              // names that are not identifiers can be quoted
	keywords  string            // reserved words, which can be names with @ before them
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
	"byte[]":   "byte[]",
	"Guid":     "Guid",
	"TimeSpan": "TimeSpan",
	"object":   "object",
	byteList:   "byte[]",
}

// cSharpKeywords are the reserved words of C#, each between blanks.
const cSharpKeywords = " abstract as base bool break byte case catch char checked class const continue" +
	" decimal default delegate do double else enum event explicit extern false finally fixed float for" +
	" foreach goto if implicit in int interface internal is lock long namespace new null object" +
	" operator out override params private protected public readonly ref return sbyte sealed short" +
	" sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked" +
	" unsafe ushort using virtual void volatile while "

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
		receivers: true,
	}),
	newLanguage("types.cs", Language{
		Name:      "csharp",
		Operation: "CSharp",
		Summary:   "Types for the .NET clients of ServiceStack",
		namespace: "Whd",
		block:     "namespace %s\n{\n",
		scalars:   cSharp,
		nullable: []string{
			"int", "short", "byte", "long", "decimal", "double", "bool", "DateTime", "date",
			"Guid", "TimeSpan",
		},
		list:     "List<%s>",
		values:   "Dictionary<string, %s>",
		keywords: cSharpKeywords,
		provided: []string{"Authenticate", "AuthenticateResponse", "ResponseStatus", "FieldError"},
	}),
}

// Languages returns the languages for which types are generated.
func Languages() []*Language { return slices.Clone(languages) }

//go:embed templates/types.*
var typeTemplates embed.FS

// receiverTypes is the template of the bodies of events.
var receiverTypes = template.Must(template.ParseFS(typeTemplates, "templates/types.webhooks.ts"))

// newLanguage reads the template of the classes.
func newLanguage(file string, l Language) *Language {
	functions := template.FuncMap{
		"join":   strings.Join,
		"type":   l.typeOf,
		"member": l.member,
		"verb":   verb,
	}
	l.text = template.Must(template.New(file).Funcs(functions).ParseFS(typeTemplates, "templates/"+file))
	return &l
}

// typeOf returns the type for a type name of the published interface, or for a class.
func (l *Language) typeOf(name string) string {
	plain := strings.TrimSuffix(name, "?")
	if scalar, ok := l.scalars[plain]; ok {
		mayBeNull := plain != name
		if mayBeNull && slices.Contains(l.nullable, plain) {
			return scalar + "?"
		}
		return scalar
	}
	if item, ok := strings.CutSuffix(plain, "[]"); ok {
		return l.typeOf(item) + "[]"
	}
	if item, ok := cutAround(plain, "List<", ">"); ok {
		return fmt.Sprintf(l.list, l.typeOf(item))
	}
	if value, ok := cutAround(plain, "Dictionary<string,", ">"); ok {
		return fmt.Sprintf(l.values, l.typeOf(value))
	}
	return plain
}

// cutAround returns the text between a prefix and a suffix.
func cutAround(text, prefix, suffix string) (inner string, ok bool) {
	inner, ok = strings.CutPrefix(text, prefix)
	return strings.TrimSuffix(inner, suffix), ok
}

// member returns the name of a class's member in the language. It is empty if the language cannot
// have it, because it is not an identifier, such as log.level, or is the name of the class.
func (l *Language) member(class, name string) string {
	isIdentifier := IsIdentifier(name)
	if l.quoted && !isIdentifier {
		return strconv.Quote(name)
	}
	if !l.quoted && (!isIdentifier || name == class) {
		return ""
	}
	if strings.Contains(l.keywords, " "+name+" ") {
		return "@" + name
	}
	return name
}

// verb returns a method with an upper-case letter only at its start, as .NET writes it.
func verb(method string) string { return method[:1] + strings.ToLower(method[1:]) }

// IsIdentifier reports whether all languages accept text as a name.
func IsIdentifier(name string) bool {
	if name == "" || strings.Map(identifierRune, name) != name {
		return false
	}
	return name[0] < '0' || name[0] > '9'
}
