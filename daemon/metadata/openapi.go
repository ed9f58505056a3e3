package metadata

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
)

const jsonType = "application/json"

// object is a JSON object. encoding/json sorts the names, so the document is
// deterministic.
type object = map[string]any

// ref returns a reference to a component of the document.
func ref(part, name string) object { return object{"$ref": "#/components/" + part + "/" + name} }

// The names of responses. They differ from those of schemas and of operations, since
// generators of clients have one name space for all types.
const (
	failureResponse = "FailureResponse"
	rowsResponse    = "Rows_" // and the name of the operation
)

// description collects the parts of the OpenAPI document.
type description struct {
	*schemas
	parameters, responses, paths object

	ids    map[string]bool // operationIds in use
	shared map[string]bool // paths of several operations
}

// OpenAPI returns the OpenAPI 3.1 document of the service without its first member,
// which Servers returns.
func (s *Service) OpenAPI() []byte { return s.withDates(jsonText(s.openAPI())) }

// Swagger returns the same document in version 2.0 without its first members, which
// Host returns.
func (s *Service) Swagger() []byte { return s.withDates(jsonText(swaggerDocument(s.openAPI()))) }

// withDates returns a document with the form of the dates of webhooks.
func (s *Service) withDates(document string) []byte {
	if !s.ISODates {
		return []byte(document)
	}
	forms := strings.NewReplacer(
		jsonText(legacyPattern), jsonText(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$`),
		jsonText(legacyHelp), jsonText("time in UTC"),
	)
	return []byte(forms.Replace(document))
}

// Servers returns the start of the OpenAPI document: the address of the service.
func Servers(address string) []byte {
	return fmt.Appendf(nil, `{"servers":[{"url":%s}],`, jsonText(address))
}

// Host returns the start of the Swagger document: the address of the service.
func Host(address string) []byte {
	scheme, after, _ := strings.Cut(address, "://")
	host, base, _ := strings.Cut(after, "/")
	return fmt.Appendf(nil, `{"host":%s,"basePath":%s,"schemes":[%s],`,
		jsonText(host), jsonText("/"+base), jsonText(scheme))
}

// summary describes the service at the start of the document.
const summary = "Queries over business records, and webhooks. " +
	"The filters of queries also have the names of x-implicit-conventions, " +
	"where % stands for a field on either side: %From% is FromField and FieldFrom."

// openAPI returns the document without its servers.
func (s *Service) openAPI() object {
	var tags []any
	for _, g := range s.groups() {
		tags = append(tags, object{"name": g.Name})
	}
	var security []any // alternatives, each without scopes
	for _, scheme := range []string{"bearer", "basic", "sessionHeader", "session"} {
		security = append(security, object{scheme: []string{}})
	}
	d := newDescription(s.Operations)
	webhooks := d.webhooks(s.Events) // may add schemas to the components
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "whd",
			"version":     cmp.Or(s.Version, "0"),
			"description": summary,
		},
		"tags":       tags,
		"paths":      d.paths,
		"webhooks":   webhooks,
		"security":   security,
		"components": d.components(),

		"x-implicit-conventions": conventions(),
	}
}

// newDescription describes all operations.
func newDescription(operations []Operation) *description {
	d := &description{
		schemas:    newSchemas(operations),
		parameters: object{},
		responses:  object{},
		paths:      object{},
		ids:        make(map[string]bool),
		shared:     sharedPaths(operations),
	}
	d.responses[failureResponse] = object{ // the response to every failure, in the negotiated format
		"description": "The error, and the request members that caused it",
		"content":     documents(d.schemaOf(wire.Failure{})),
	}
	for i := range operations {
		d.operation(&operations[i])
	}
	return d
}

// sharedPaths returns the paths that have methods of several operations.
func sharedPaths(operations []Operation) map[string]bool {
	first := make(map[string]string)
	shared := make(map[string]bool)
	for _, o := range operations {
		for _, r := range o.Routes {
			name, ok := first[r.Path]
			if ok && name != o.Name {
				shared[r.Path] = true
			}
			first[r.Path] = o.Name
		}
	}
	return shared
}

// components returns the parts of the document that operations refer to.
func (d *description) components() object {
	return object{
		"schemas":    d.schemas.all,
		"parameters": d.parameters,
		"responses":  d.responses,
		"securitySchemes": object{
			"session":       object{"type": "apiKey", "in": "cookie", "name": wire.SessionCookie},
			"sessionHeader": object{"type": "apiKey", "in": "header", "name": wire.HeaderSessionID},
			"basic": object{
				"type":        "http",
				"scheme":      "basic",
				"description": "user name and password, or an API key as user name",
			},
			"bearer": object{"type": "http", "scheme": "bearer", "description": "an API key"},
		},
	}
}

// operation adds an operation to the paths, with its parameters, schemas and responses.
func (d *description) operation(o *Operation) {
	d.taken[o.Name+"Response"] = true // generators have a type of this name
	if o.Kind != nil {
		d.kindRequest(o)
		rows := object{"description": "The matching rows", "content": documents(d.kindResponse(o.Kind))}
		if !o.Compact {
			rows["headers"] = queryHeaders()
		}
		d.responses[rowsResponse+o.Name] = rows
	}
	routes := o.Routes
	if o.Compact {
		byLength := func(a, b Route) int { return cmp.Compare(len(a.Path), len(b.Path)) }
		routes = []Route{slices.MinFunc(routes, byLength)}
	}
	for i, r := range routes {
		path := d.path(o, r.Path)
		for j, method := range mainFirst(r.Methods) {
			isMain := i == 0 && j == 0
			op := d.call(o, r, method)
			op["operationId"] = d.id(o, r, method, isMain)
			path[strings.ToLower(method)] = op
		}
	}
}

// path returns the description of a path of an operation. It has the parameters of all methods.
func (d *description) path(o *Operation, path string) object {
	if described, ok := d.paths[path].(object); ok {
		return described
	}
	parameters := d.pathParameters(o, path)
	if !d.shared[path] {
		parameters = append(parameters, d.kindParameters(o, path)...)
	}
	described := object{"parameters": parameters}
	d.paths[path] = described
	return described
}

// mainFirst returns the methods with POST first, as the published interface
// documents queries.
func mainFirst(methods []string) []string {
	if !slices.Contains(methods, http.MethodPost) {
		return methods
	}
	isPost := func(method string) bool { return method == http.MethodPost }
	return append([]string{http.MethodPost}, slices.DeleteFunc(slices.Clone(methods), isPost)...)
}

// id returns a unique operationId for one method of one path; generators derive
// function names from it. The main route of an operation has the operation's own
// name.
func (d *description) id(o *Operation, r Route, method string, isMain bool) string {
	id := o.Name
	if !isMain || d.ids[id] {
		id += "_" + strings.ToLower(method)
		for part := range strings.SplitSeq(r.Path, "/") {
			if part != "" && part[0] != '{' && part != o.Name {
				id += "_" + strings.Map(identifierRune, part)
			}
		}
	}
	unique := id
	for n := 2; d.ids[unique]; n++ {
		unique = id + "_" + strconv.Itoa(n)
	}
	d.ids[unique] = true
	return unique
}

// identifierRune replaces characters that identifiers cannot contain.
func identifierRune(r rune) rune {
	isDigit := r >= '0' && r <= '9'
	isLetter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	if isDigit || isLetter {
		return r
	}
	return '_'
}

// pathParameters returns the parameters in a path.
func (d *description) pathParameters(o *Operation, path string) []any {
	parameters := []any{} // not nil: an empty list in the document
	for _, name := range InPath(path) {
		m, _ := o.member(name)
		schema := accepted(cmp.Or(m.Type, "string"))
		if "{"+name+"}" == formatMember {
			schema = object{"type": "string", "enum": encode.PathNames()}
			m.Help = "response format"
		}
		parameters = append(parameters, parameter(name, "path", true, schema, m.Help))
	}
	return parameters
}

// kindParameters returns the members of a query, which are accepted in the query string with
// every method. On a path of several operations they belong to the methods of the query.
func (d *description) kindParameters(o *Operation, path string) []any {
	if o.Kind == nil {
		return nil
	}
	parameters := queryParameters(o.outsidePath(path))
	if o.Compact {
		return append(parameters, ref("parameters", o.Kind.Name+compactSuffix))
	}
	for _, name := range o.Kind.Members() {
		parameters = append(parameters, ref("parameters", o.Kind.Name+"."+name))
	}
	for _, p := range query.Parameters() {
		parameters = append(parameters, ref("parameters", p.Name))
	}
	return parameters
}

// queryParameters describes members in a query string.
func queryParameters(members []Member) []any {
	var parameters []any
	for _, m := range members {
		parameters = append(parameters, parameter(m.Name, "query", m.Required, memberSchema(m.Type), m.Help))
	}
	return parameters
}

// parameter describes a parameter with an example. Tools such as Postman send the examples of
// all parameters together. The examples of optional parameters in a query string, such as filters,
// are therefore empty: an empty parameter has no effect.
func parameter(name, in string, required bool, schema any, help string) object {
	p := object{"name": name, "in": in, "schema": schema}
	if required {
		p["required"] = true
	}
	if help != "" {
		p["description"] = help
	}
	example := examples[name]
	if in == "path" && "{"+name+"}" == formatMember {
		example = examples[formatMember]
	}
	isDocumented := required || help != "" // filters of kinds are not
	switch {
	case example != nil && isDocumented:
		p["example"] = example
	case name == query.Cursor:
		p["example"] = query.NoCursor // an empty cursor has a meaning
	case in == "query" && !required:
		p["example"] = ""
	}
	return p
}

// call describes one method of one path.
func (d *description) call(o *Operation, r Route, method string) object {
	op := object{
		"tags":      []string{o.Group},
		"summary":   cmp.Or(r.Summary, o.Summary),
		"responses": d.operationResponses(o, r),
	}
	if o.Role == "" {
		op["security"] = []any{}
	} else {
		op["description"] = "Requires the role " + o.Role + " or above."
	}
	if len(o.Aliases) > 0 {
		op["x-aliases"] = o.Aliases
	}
	hasBody := method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
	sample := sampler{Operation: o}.values(r.Path)
	members := o.outsidePath(r.Path)
	switch {
	case o.Kind != nil:
		if d.shared[r.Path] {
			op["parameters"] = d.kindParameters(o, r.Path)
		}
		if hasBody {
			op["requestBody"] = body(ref("schemas", o.Name), ref("schemas", o.Name), sample)
		}
	case len(members) == 0: // neither parameters nor a body
	case hasBody:
		op["requestBody"] = body(membersSchema(members), formSchema(members), sample)
	default:
		op["parameters"] = queryParameters(members)
	}
	return op
}

// body describes a request body with members, as JSON and as a form, and example values of
// them.
func body(schema, form object, example []sampleValue) object {
	content := object{}
	for _, t := range query.BodyTypes() {
		content[t.MediaTypes[0]] = object{"schema": scalar("string")}
		if t.Name == "form" || t.Name == "multipart" {
			content[t.MediaTypes[0]] = object{"schema": form}
		}
	}
	content[jsonType] = object{"schema": schema, "example": json.RawMessage(sampleBody(example))}
	return object{"content": content, "required": schema["required"] != nil}
}

// operationResponses returns the success and the failure response of an operation.
func (d *description) operationResponses(o *Operation, r Route) object {
	status := cmp.Or(r.Status, http.StatusOK)
	responses := object{"default": ref("responses", failureResponse)}
	success := object{"description": http.StatusText(status)}
	switch {
	case status == http.StatusNoContent, status == http.StatusFound:
	case o.Kind != nil:
		success = ref("responses", rowsResponse+o.Name)
	case o.Media != "":
		success["content"] = object{o.Media: object{"schema": object{}}}
	case o.Response != nil:
		success["content"] = documents(d.schemaOfShape(o.response()), o.Formats...)
	}
	responses[strconv.Itoa(status)] = success
	return responses
}

// documents returns the content of a response in each of the formats, or in all. Only JSON
// has a schema; the other formats follow from it.
func documents(schema any, formats ...string) object {
	content := object{}
	for _, f := range encode.Formats() {
		if formats != nil && !slices.Contains(formats, f.Name) {
			continue
		}
		media, _, _ := strings.Cut(f.ContentType, ";")
		content[media] = object{"schema": object{"type": "string"}}
	}
	content[jsonType] = object{"schema": schema}
	return content
}

// queryHeaders are the headers of a query response.
func queryHeaders() object {
	header := func(typeName, help string) object {
		return object{"description": help, "schema": object{"type": typeName}}
	}
	return object{
		wire.HeaderRowCount: header("integer", "Number of rows; sent as a trailer if the response is streamed"),
		wire.HeaderDigest: header("string", "SHA-256 of the body, if requested by Want-Digest; "+
			"sent as a trailer if the response is streamed"),
		wire.HeaderTakeClamped: header("integer", "The maximum Take, if the requested one was larger"),
		wire.HeaderFormulaGuard: header("boolean", "Of CSV: whether an apostrophe is before texts that begin like a formula. "+
			"A request with the header and the value false gets CSV without"),
		wire.HeaderIgnoredMembers: header("string", "Request members that are unknown, or have a value that was ignored"),
	}
}

// compactSuffix is at the end of the name of a parameter that stands for all members of a
// query. Swagger has no such parameters.
const compactSuffix = ".members"

// kindRequest adds the members of a query to the parameters of the document, and a
// schema of them: the filters, the members of every query, and those of the operation.
func (d *description) kindRequest(o *Operation) {
	members := properties{}
	for _, f := range o.Kind.Fields {
		for _, op := range f.Filter.Operators() {
			name := f.Name + op.Suffix()
			schema := operand(f, op)
			members = append(members, property{name, schema})
			if o.Compact {
				continue
			}
			p := parameter(name, "query", false, schema, "")
			if schema["type"] == "array" { // one parameter with the items separated by commas
				p["style"] = "form"
				p["explode"] = false
			}
			d.parameters[o.Kind.Name+"."+name] = p
		}
	}
	for _, p := range query.Parameters() {
		schema := memberSchema(cmp.Or(p.Type, "string"))
		member := schema
		if p.Name == query.Meta { // query strings and forms have no dictionaries
			schema = scalar("string")
			member = object{"description": p.Summary}
		}
		members = append(members, property{p.Name, member})
		d.parameters[p.Name] = parameter(p.Name, "query", false, schema, p.Summary)
	}
	for _, m := range o.Members {
		members = append(members, property{m.Name, memberSchema(m.Type)})
	}
	d.all[o.Name] = objectSchema(members, nil)
	if o.Compact {
		d.parameters[o.Kind.Name+compactSuffix] = object{
			"name":    "members",
			"in":      "query",
			"style":   "form",
			"explode": true,
			"schema":  ref("schemas", o.Name),
		}
	}
}
