package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi-validator/openapi_vocabulary"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/pb33f/libopenapi/index"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bizhook/whd/client/record"
)

// openAPI is the OpenAPI document of a daemon. The packages for whole documents and
// requests of libopenapi and its validator take more than two minutes to compile, so that
// tests use the packages below: the index of references and the schemas.
type openAPI struct {
	info    *datamodel.SpecInfo
	root    any
	schemas *jsonschema.Compiler // of the document, by the pointers of find
	model   struct {
		Paths      map[string]pathItem
		Components struct {
			Schemas    map[string]struct{ Properties map[string]any }
			Parameters map[string]any
		}
	}
}

type pathItem struct {
	Parameters                                          []any
	Get, Put, Post, Delete, Options, Head, Patch, Trace *described
}

func (i pathItem) operations() map[string]*described {
	all := map[string]*described{
		"get": i.Get, "put": i.Put, "post": i.Post, "delete": i.Delete,
		"options": i.Options, "head": i.Head, "patch": i.Patch, "trace": i.Trace,
	}
	for method, o := range all {
		if o == nil {
			delete(all, method)
		}
	}
	return all
}

// described is an operation in an OpenAPI document.
type described struct {
	OperationID, Summary string
	Tags                 []string
}

// parsedOpenAPI has the parsed documents by their texts, since parsing one takes longer than
// most tests of it. Tests do not modify them.
var parsedOpenAPI sync.Map

// openAPIOf parses the OpenAPI document of the daemon, and checks its references.
func openAPIOf(t *testing.T, c client) *openAPI {
	t.Helper()
	text := c.do("GET /openapi.json", "").want(t, 200).wantHeader(t, "Content-Type", "application/json").body
	if parsed, ok := parsedOpenAPI.Load(text); ok {
		return parsed.(*openAPI)
	}

	d := new(openAPI)
	var err error
	if d.info, err = datamodel.ExtractSpecInfo([]byte(text)); err != nil {
		t.Fatal(err)
	}
	conf := index.CreateClosedAPIIndexConfig()
	conf.SpecInfo, conf.AvoidCircularReferenceCheck = d.info, true
	references := index.NewRolodex(conf)
	references.SetRootNode(d.info.RootNode)
	if err := references.IndexTheRolodex(t.Context()); err != nil {
		t.Fatal(err)
	}
	references.CheckForCircularReferences()
	if wrong := references.GetCaughtErrors(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if err := json.Unmarshal([]byte(text), &d.model); err != nil {
		t.Fatal(err)
	}
	d.schemas, d.root = compiler(t, text)
	parsedOpenAPI.Store(text, d)
	return d
}

// compiler returns a compiler with the schemas in a document, and the document.
func compiler(t *testing.T, text string) (*jsonschema.Compiler, any) {
	t.Helper()
	root, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.RegisterVocabulary(openapi_vocabulary.NewOpenAPIVocabulary(openapi_vocabulary.Version31))
	c.AssertVocabs()
	if err := c.AddResource("memory:///document", root); err != nil {
		t.Fatal(err)
	}
	return c, root
}

// find returns a part of the document and its pointer, behind any references. It returns
// nil for a missing part.
func (d *openAPI) find(path ...string) (part any, pointer string) {
	part = d.root
	for i, name := range path {
		object, _ := part.(map[string]any)
		next, found := object[name]
		if !found {
			return nil, ""
		}
		part, pointer = next, pointer+"/"+escaped(name)
		object, _ = part.(map[string]any)
		if reference, ok := object["$ref"].(string); ok {
			target := strings.Split(strings.TrimPrefix(reference, "#/"), "/")
			for j := range target {
				target[j] = strings.NewReplacer("~1", "/", "~0", "~").Replace(target[j])
			}
			return d.find(append(target, path[i+1:]...)...)
		}
	}
	return part, pointer
}

// escaped returns a name in a pointer in the fragment of a URL.
func escaped(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// operation returns the place of the operation that is described for a request.
func (d *openAPI) operation(r *http.Request) ([]string, error) {
	method := strings.ToLower(r.Method)
	var found []string
	for path, item := range d.model.Paths {
		pattern := regexp.MustCompile(`\\\{[^/{}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		if item.operations()[method] == nil || !regexp.MustCompile("^"+pattern+"$").MatchString(r.URL.EscapedPath()) {
			continue
		}
		if path == r.URL.Path {
			return []string{"paths", path, method}, nil
		}
		found = append(found, path)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s %s has %d paths in the document: %q", r.Method, r.URL.Path, len(found), found)
	}
	return []string{"paths", found[0], method}, nil
}

// validate checks a body against the schema of its type in a part of the document.
func (d *openAPI) validate(at []string, contentType string, body io.Reader) error {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return err
	}
	at = append(slices.Clip(at), "content", media, "schema")
	part, pointer := d.find(at...)
	if part == nil {
		return fmt.Errorf("no schema at %q", at)
	}
	schema, err := d.schemas.Compile("memory:///document#" + pointer)
	if err != nil {
		return err
	}
	if !strings.Contains(media, "json") {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(body)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// response checks that a response is as described: its status, its headers, and the type
// and the schema of its body.
func (d *openAPI) response(r *http.Request, reply *http.Response) error {
	at, err := d.operation(r)
	if err != nil {
		return err
	}
	place := append(at, "responses", strconv.Itoa(reply.StatusCode))
	part, _ := d.find(place...)
	if part == nil {
		place = append(at, "responses", "default")
		part, _ = d.find(place...)
	}
	object, ok := part.(map[string]any)
	if !ok {
		return fmt.Errorf("the status %d is not described", reply.StatusCode)
	}
	headers, _ := object["headers"].(map[string]any)
	for name, header := range headers {
		if header.(map[string]any)["required"] == true && reply.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if object["content"] == nil {
		return nil
	}
	return d.validate(place, reply.Header.Get("Content-Type"), reply.Body)
}

// TestOpenAPIIsValid validates the document with an independent parser and the
// official schema of OpenAPI 3.1.
func TestOpenAPIIsValid(t *testing.T) {
	d := openAPIOf(t, anonymous(t, demo.start(t)))
	official, _ := compiler(t, d.info.APISchema)
	schema, err := official.Compile("memory:///document")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(d.root); err != nil {
		t.Error(err)
	}
	if d.info.Version != "3.1.0" {
		t.Errorf("version %s", d.info.Version)
	}

	ids := make(map[string]string)
	for path, item := range d.model.Paths {
		for method, op := range item.operations() {
			at := method + " " + path
			if other, taken := ids[op.OperationID]; taken || op.OperationID == "" {
				t.Errorf("%s and %s have the id %q", at, other, op.OperationID)
			}
			ids[op.OperationID] = at
			if op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s: summary %q, tags %s", at, op.Summary, op.Tags)
			}
		}
	}

	for id, at := range map[string]string{
		"SO_TotalsQuery":                       "post /{Format}/reply/SO_TotalsQuery",
		"SO_TotalsQuery_get_Queries_SO_Totals": "get /Queries/SO_Totals",
		"Authenticate":                         "post /{Format}/reply/Authenticate",
	} {
		if ids[id] != at {
			t.Errorf("%s is %q", id, ids[id])
		}
	}
}

// TestOpenAPISchemasCompile compiles all schemas of the document, and so validates them
// with the official schema of JSON Schema.
func TestOpenAPISchemasCompile(t *testing.T) {
	d := openAPIOf(t, anonymous(t, demo.start(t)))
	for name := range d.model.Components.Schemas {
		_, err := d.schemas.Compile("memory:///document#/components/schemas/" + escaped(name))
		if err != nil {
			t.Error(err)
		}
	}
}

// TestOpenAPIHasEveryMember compares the numbers of members with the registry.
func TestOpenAPIHasEveryMember(t *testing.T) {
	d := openAPIOf(t, anonymous(t, demo.start(t)))
	components := d.model.Components
	for _, kind := range record.Builtin().Kinds() {
		request, row := components.Schemas[kind.Operation()], components.Schemas[kind.Name]
		for _, name := range kind.Members() {
			if request.Properties[name] == nil || components.Parameters[kind.Name+"."+name] == nil {
				t.Errorf("%s lacks %s", kind.Operation(), name)
			}
		}
		for _, name := range kind.FieldNames() {
			if row.Properties[name] == nil {
				t.Errorf("%s lacks %s", kind.Name, name)
			}
		}
		item := d.model.Paths["/Queries/"+kind.Name]
		if got, want := len(item.Parameters), len(kind.Members())+len(record.Reserved()); got != want {
			t.Errorf("%s has %d parameters, want %d", kind.Name, got, want)
		}
	}
}

// TestResponsesMatchOpenAPI validates real responses, including errors, against the
// document.
func TestResponsesMatchOpenAPI(t *testing.T) {
	i := demo.start(t)
	c := asAdmin(t, i)
	d := openAPIOf(t, c)
	requests := []string{
		"GET /auth",
		"GET /Sessions/Current",
		"GET /Users",
		"GET /Users/admin",
		"GET /ApiKeys",
		"GET /metadata",
		"GET /metadata?op=SO_TotalsQuery",
		"GET /Users/missing",
		"GET /Queries/SO_Totals?Take=-1",
		"GET /json/oneway/SO_TotalsQuery?Take=1",
		"GET /KeepAlive",
		"GET /Webhooks/Events",
		"GET /Webhooks/Subscribers",
		"GET /Logs?Take=3",
		"GET /json/reply/WH_AuditQuery?Take=3",
		"GET /Bills/none/Stages/none/CustomFieldValues",
	}

	for _, kind := range record.Builtin().Kinds() {
		requests = append(requests, "GET /Queries/"+kind.Name+"?Take=50&Include=COUNT(*)",
			"GET /json/reply/"+kind.Operation()+"?Take=3&OrderBy="+kind.Fields[0].Name)
	}

	for _, line := range requests {
		request := c.request(line, "", "Accept: application/json")
		reply, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.response(request, reply); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		reply.Body.Close()
	}
}

// TestRequestsMatchOpenAPI checks that the document and the service accept and
// reject the same bodies.
func TestRequestsMatchOpenAPI(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	d := openAPIOf(t, c)
	for _, test := range []struct {
		line, body string
		right      bool
	}{
		{
			line:  "POST /Queries/SO_Totals",
			body:  `{"InvoiceTotalGreaterThan": 1000.5, "InvoiceIDIn": ["a", "b"], "Take": 2, "Meta": {"a": "b"}}`,
			right: true,
		},
		{
			line:  "POST /Queries/BM_Inputs",
			body:  `{"SubAssemblyExplodePolicyIn": "AQI=", "SubAssemblyExplodePolicyBetween": "AQI=", "IsRatio": true, "Take": 1}`,
			right: true,
		},
		{
			line:  "POST /Queries/JB_EstimateResourceLines",
			body:  `{"TransactionDateBetween": ["2019-01-01", "2020-01-01"], "Take": 1}`,
			right: true,
		},
		{line: "POST /Queries/SO_Totals", body: `{"InvoiceTotalGreaterThan": "much"}`, right: false},
		{line: "POST /Queries/SO_Totals", body: `{"InvoiceTotalBetween": [1, 2, 3]}`, right: false},
		{line: "POST /Queries/SO_Totals", body: `{"Take": "few"}`, right: false},
	} {
		request := c.request(test.line, test.body, "Content-Type: application/json")
		at, err := d.operation(request)
		if err != nil {
			t.Fatal(err)
		}
		wrong := d.validate(append(at, "requestBody"), "application/json", request.Body)
		done := c.do(test.line, test.body, "Content-Type: application/json").status == http.StatusOK
		if (wrong == nil) != test.right || done != test.right {
			t.Errorf("%s %s: by the document: %v, accepted by the service: %t", test.line, test.body, wrong, done)
		}
	}
}

// TestOpenAPINamesDiffer checks that the names of the document's parts differ as names of
// types in Go, which has neither underscores in them nor a name space for each kind of part.
func TestOpenAPINamesDiffer(t *testing.T) {
	d := openAPIOf(t, anonymous(t, demo.start(t)))
	components, _ := d.root.(map[string]any)["components"].(map[string]any)
	parts := make(map[string]string)
	add := func(part, name string) {
		typeName := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if first, known := parts[typeName]; known {
			t.Errorf("the %s %s has the name of the %s", part, name, first)
		}
		parts[typeName] = part + " " + name
	}
	for _, part := range []string{"schemas", "responses"} {
		named, _ := components[part].(map[string]any)
		for name := range named {
			add(part, name)
		}
	}
	for _, item := range d.model.Paths {
		for _, op := range item.operations() {
			for _, end := range []string{"Response", "Params", "JSONBody", "JSONRequestBody"} {
				add("operation", op.OperationID+end)
			}
		}
	}
}

// TestOpenAPIExamplesWorkTogether sends the examples of all parameters, as Postman does with an
// imported document: those of filters are empty, so that the rows are those of the kind.
func TestOpenAPIExamplesWorkTogether(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	d := openAPIOf(t, c)
	sent := 0
	for path := range d.model.Paths {
		if strings.ContainsAny(path, "{}") ||
			!strings.HasPrefix(path, "/Queries/") && path != "/Webhooks/Messages" &&
				path != "/Webhooks/Subscribers" && path != "/Logs" {
			continue
		}
		line, separator := "GET "+path, "?"
		for _, place := range [][]string{
			{"paths", path, "parameters"},
			{"paths", path, "get", "parameters"},
		} {
			list, _ := d.find(place...)
			parameters, _ := list.([]any)
			for _, p := range parameters {
				object := d.resolved(p)
				line += fmt.Sprintf("%s%s=%s", separator, object["name"],
					url.QueryEscape(fmt.Sprint(object["example"])))
				separator = "&"
			}
		}
		a := c.do(line, "").want(t, 200)
		kind := strings.TrimPrefix(path, "/Queries/")
		if _, isKind := record.Builtin().Lookup(kind); isKind && strings.Contains(a.body, `"Results":[]`) {
			t.Errorf("%.200s has no rows: %.300s", line, a.body)
		}
		sent++
	}
	if sent < len(record.Builtin().Kinds())+3 {
		t.Errorf("only %d requests", sent)
	}
}

// resolved returns an object or the one that it refers to.
func (d *openAPI) resolved(part any) map[string]any {
	object, _ := part.(map[string]any)
	if reference, ok := object["$ref"].(string); ok {
		target, _ := d.find(strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
		object, _ = target.(map[string]any)
	}
	return object
}

// TestOpenAPIOfSharedPaths checks that the filters of a query are not parameters of another
// operation on the same path.
func TestOpenAPIOfSharedPaths(t *testing.T) {
	d := openAPIOf(t, anonymous(t, demo.start(t)))
	item := d.model.Paths["/Webhooks/Subscribers"]
	post, _ := d.find("paths", "/Webhooks/Subscribers", "post")
	get, _ := d.find("paths", "/Webhooks/Subscribers", "get", "parameters")
	filters, _ := get.([]any)
	parameters := post.(map[string]any)["parameters"]
	if len(item.Parameters) > 0 || parameters != nil || len(filters) < 40 {
		t.Errorf("POST /Webhooks/Subscribers has the parameters %v and %v, GET has %d",
			item.Parameters, parameters, len(filters))
	}
}
