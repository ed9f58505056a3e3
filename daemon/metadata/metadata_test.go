package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if from, to := bytes.Index(got, []byte("<style>")), bytes.Index(got, []byte("</style>")); to > from {
		got = append(append(bytes.Clone(got[:from+len("<style>")]), "..."...), got[to:]...)
	}
	goldentest.Compare(t, filepath.Join("testdata", name), string(got))
}

// parcel is a response with members of every kind.
type parcel struct {
	ID     string `json:"Id"`
	Saved  wire.Timestamp
	Weight float64
	Mass   float64 `deprecated:"Weight"`
	Count  int
	Open   bool
	Hash   []byte
	Labels map[string]string `json:",omitempty"`
	Lines  []parcelLine
	Back   *parcelLine
	Raw    json.RawMessage
	Hidden string `json:"-"`
}

type parcelLine struct{ No int32 }

// PostClosedBody is the body of an event of the service itself.
type PostClosedBody struct {
	Reason string    `help:"why it has closed"`
	Code   int       `json:",omitempty" help:"number of the reason; left out for 0"`
	At     time.Time `help:"when it has closed"`
}

// shop returns a small service: a query with several routes, one of them with a path
// parameter, an update, a list and a text response.
func shop(t *testing.T) *Service {
	t.Helper()
	registry, err := record.NewRegistry(
		record.Kind{
			Name:    "Parcels",
			Area:    "Post office",
			Summary: "Parcels on their way",
			Key:     []string{"ParcelID"},
			Before:  []string{"Weight"},
			Fields: []record.Field{
				{Name: "ParcelID", Type: record.Text, Filter: record.TextFilter, Null: record.Nullable},
				{Name: "Weight", Type: record.Decimal, Filter: record.OrderedFilter, Null: record.Nullable},
				{Name: "Sent", Type: record.DateTime, Filter: record.OrderedFilter},
				{Name: "Open", Type: record.Bool, Filter: record.EqualFilter},
				{Name: "Class", Type: record.Byte, Filter: record.OrderedFilter},
				{Name: "Owner", Type: record.Guid, Filter: record.GuidFilter},
				{Name: "Detail", Type: record.Object},
			},
		})
	if err != nil {
		t.Fatal(err)
	}

	kind := registry.Kinds()[0]
	id := Member{Name: "ParcelID", Type: "string", Required: true}
	return &Service{
		Version: "1.2",
		Events: []Event{
			{Event: record.Event{Name: "debtor.updated", Description: "Occurs when a debtor is modified"}},
			{Event: record.Event{Name: "parcel.updated", Description: "Occurs when a parcel is modified"}, Kind: kind},
			{Event: record.Event{Name: "parcel.deleted", Description: "Occurs when a parcel is deleted"}, Kind: kind},
			{
				Event: record.Event{Name: "post.closed", Description: "The post office has closed"},
				Body:  PostClosedBody{Reason: "holiday", At: time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)},
			},
		},
		Operations: []Operation{
			{
				Name:    "ParcelsQuery",
				Group:   "Post office",
				Summary: "Parcels on their way",
				Kind:    kind,
				Role:    "reader",
				Routes: []Route{
					{
						Methods: []string{"GET", "POST", "PUT", "PATCH", "DELETE"},
						Path:    "/{Format}/reply/ParcelsQuery",
						Summary: "Rows",
					},
					{Methods: []string{"GET", "POST"}, Path: "/Queries/Parcels", Summary: "The same"},
					{
						Methods: []string{"POST"},
						Path:    "/{Format}/oneway/ParcelsQuery",
						Summary: "Nothing",
						Status:  204,
					},
				},
			},
			{
				Name:    "ChangeParcel",
				Aliases: []string{"ParcelPATCHRequest"},
				NameRoutes: []Route{{
					Methods: []string{"GET", "POST"},
					Path:    "/api/ChangeParcel",
					Summary: "By name",
				}},
				Group:    "Post office",
				Summary:  "Change a parcel",
				Role:     "writer",
				Response: parcel{},
				Members: []Member{
					id,
					{Name: "Weight", Type: "decimal"},
					{Name: "Tags", Type: "string[]", Help: "<all> of them"},
				},
				Routes: []Route{{Methods: []string{"PATCH"}, Path: "/Parcels/{ParcelID}"}},
			},
			{
				Name:    "DropParcel",
				Group:   "Post office",
				Summary: "Drop a parcel",
				Role:    "writer",
				Members: []Member{id},
				Routes:  []Route{{Methods: []string{"DELETE"}, Path: "/Parcels/{ParcelID}", Status: 204}},
			},
			{
				Name:     "AllParcels",
				Group:    "Post office",
				Summary:  "All parcels",
				Response: []parcel{},
				Routes:   []Route{{Methods: []string{"GET"}, Path: "/Parcels"}},
			},
			{
				Name:    "Health",
				Group:   "Service itself",
				Summary: "Whether it's there",
				Media:   "text/plain",
				Routes:  []Route{{Methods: []string{"GET"}, Path: "/healthz"}},
			},
		},
	}
}

const at = "https://whd.example:8443/erp"

func TestPages(t *testing.T) {
	s := shop(t)
	site := encode.Site{Base: "/erp", User: "kim", Session: true}
	index, err := s.IndexPage(site, at)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "index.html", index)
	for _, name := range []string{"ParcelsQuery", "ChangeParcel", "Health"} {
		o, _ := s.Lookup(name)
		page, err := s.Page(o, site, at)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".html", page)
	}
}

func TestDocuments(t *testing.T) {
	s := shop(t)
	openAPI, swagger := append(Servers(at), s.OpenAPI()[1:]...), append(Host(at), s.Swagger()[1:]...)
	query, _ := s.Lookup("parcels")
	change, _ := s.Lookup("CHANGEPARCEL")
	for name, doc := range map[string]any{
		"openapi.json":      json.RawMessage(openAPI),
		"swagger.json":      json.RawMessage(swagger),
		"index.json":        s.Document(at),
		"ParcelsQuery.json": s.OperationDocument(query, at),
		"ChangeParcel.json": s.OperationDocument(change, at),
	} {
		text, err := json.MarshalIndent(doc, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, append(text, '\n'))
	}
	files := map[string]string{"typescript": "types.ts", "typescript.d": "types.d.ts", "csharp": "types.cs"}
	for _, l := range Languages() {
		types, err := l.Types(s)
		if err != nil {
			t.Fatal(err)
		}
		types.made = time.Date(2030, 1, 31, 10, 11, 12, 0, time.UTC)
		golden(t, files[l.Name], types.File(at, ""))
	}
}

// TestForms checks the method, the path and the hidden inputs of forms.
func TestForms(t *testing.T) {
	kind := shop(t).Operations[0].Kind
	post := Route{Methods: []string{"POST"}, Path: "/post"}
	get := Route{Methods: []string{"GET"}, Path: "/get"}
	both := Route{Methods: []string{"GET", "POST"}, Path: "/both"}
	inPath := Route{Methods: []string{"GET", "POST"}, Path: "/of/{ID}"}
	patch := Route{Methods: []string{"PATCH"}, Path: "/patch"}
	for _, c := range []struct {
		name   string
		kind   *record.Kind
		routes []Route
		want   string
	}{
		{"a query by POST or GET", kind, []Route{post, get}, `method="get" action="/erp/get"`},
		{"a query by POST only", kind, []Route{post}, `method="post" action="/erp/post"`},
		{"a query by both", kind, []Route{both}, `method="get" action="/erp/both"`},
		{"a list", nil, []Route{get, both}, `method="get" action="/erp/get"`},
		{"a change", nil, []Route{patch, inPath, both}, `method="post" action="/erp/both"`},
		{"no form", nil, []Route{patch, inPath}, ""},
	} {
		o := &Operation{
			Name:    "Op",
			Kind:    c.kind,
			Members: []Member{{Name: "Pin", Type: "string", Secret: true}, {Name: "Name", Type: "string"}},
			Routes:  c.routes,
		}
		page, err := new(Service).Page(o, encode.Site{Base: "/erp"}, at)
		if err != nil {
			t.Fatal(err)
		}
		text := string(page)
		if hasForm := strings.Contains(text, "<form"); hasForm != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: the page has a form: %v, want one with %q", c.name, hasForm, c.want)
		}
		if c.want == "" {
			continue
		}
		for input, want := range map[string]bool{
			`name="Pin" type="password"`:  true,
			`name="Name" type="password"`: false,
		} {
			if got := strings.Contains(text, input); got != want {
				t.Errorf("%s: an input with %s: %v, want %v", c.name, input, got, want)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	s := shop(t)
	for name, want := range map[string]string{
		"ParcelsQuery": "ParcelsQuery",
		"parcels":      "ParcelsQuery",
		"HEALTH":       "Health",
		"Parcel":       "",
		"":             "",
	} {
		got := ""
		if o, ok := s.Lookup(name); ok {
			got = o.Name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestHostileAddress checks that a Host header with markup and shell syntax is
// escaped on the page and quoted in the sample commands.
func TestHostileAddress(t *testing.T) {
	s := shop(t)
	o, _ := s.Lookup("ParcelsQuery")
	page, err := s.Page(o, encode.Site{}, `http://x'; rm -rf "$HOME"; '<script>`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), "<script") {
		t.Error("the page contains a script from the Host header")
	}
	for _, sample := range (sampler{o, `http://x'; rm "$HOME"; '`}).all() {
		if !strings.Contains(sample.Command, `'http://x'\''; rm "$HOME"; '\''`) {
			t.Errorf("the address is not quoted in the sample: %s", sample.Command)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{value: "", want: "string"},
		{value: 1, want: "long"},
		{value: int32(1), want: "int"},
		{value: 1.5, want: "decimal"},
		{value: true, want: "bool"},
		{value: []byte{}, want: "byte[]"},
		{value: []string{}, want: "string[]"},
		{value: map[string]string{}, want: "Dictionary<string,string>"},
		{value: json.RawMessage{}, want: "object"},
		{value: wire.Timestamp{}, want: "date"},
		{value: parcel{}, want: "parcel"},
		{value: []*parcel{}, want: "parcel[]"},
	} {
		if got := shapeOf(reflect.TypeOf(test.value)).typeName(); got != test.want {
			t.Errorf("%T is %s, want %s", test.value, got, test.want)
		}
	}
}

// TestTypeTablesAreComplete checks that the tables of schemas and of the languages'
// types have every type of the registry.
func TestTypeTablesAreComplete(t *testing.T) {
	for _, typ := range record.Types() {
		if _, ok := scalars[typ.String()]; !ok {
			t.Errorf("%s has no schema", typ)
		}
		for _, l := range Languages() {
			if _, ok := l.scalars[typ.String()]; !ok && typ != record.Dictionary {
				t.Errorf("%s has no type for %s", l.Name, typ)
			}
		}
	}
}

// TestCompactQuery: a compact query has one route, and one parameter for all members, which
// Swagger leaves out.
func TestCompactQuery(t *testing.T) {
	s := shop(t)
	s.Operations[0].Compact = true
	type document struct {
		Paths map[string]struct {
			Parameters []map[string]any
			Post       map[string]any
		}
		Components struct{ Parameters map[string]map[string]any }
		Parameters map[string]map[string]any
	}
	var open, old document
	if err := errors.Join(json.Unmarshal(s.OpenAPI(), &open), json.Unmarshal(s.Swagger(), &old)); err != nil {
		t.Fatal(err)
	}

	for _, d := range []document{open, old} {
		if d.Paths["/Queries/Parcels"].Post == nil || len(d.Paths["/{Format}/reply/ParcelsQuery"].Post) > 0 {
			t.Errorf("paths: %+v", d.Paths)
		}
	}

	want := map[string]any{
		"name":    "members",
		"in":      "query",
		"style":   "form",
		"explode": true,
		"schema":  map[string]any{"$ref": "#/components/schemas/ParcelsQuery"},
	}

	if got := open.Components.Parameters["Parcels.members"]; !reflect.DeepEqual(got, want) {
		t.Errorf("parameter %v, want %v", got, want)
	}
	p := open.Paths["/Queries/Parcels"].Parameters
	if len(p) != 1 || p[0]["$ref"] != "#/components/parameters/Parcels.members" {
		t.Errorf("parameters %v", p)
	}
	if p := old.Paths["/Queries/Parcels"].Parameters; len(p) > 0 || old.Parameters["Parcels.members"] != nil {
		t.Errorf("Swagger: parameters %v, %v", p, old.Parameters)
	}
}

// TestNamesOfSchemas checks that kinds with the names of other schemas keep them.
func TestNamesOfSchemas(t *testing.T) {
	s := &Service{}
	for _, name := range []string{"Parcel", "Change_Parcel", "QueryResponse_Parcel"} {
		kind := &record.Kind{
			Name:   name,
			Key:    []string{"ID"},
			Fields: []record.Field{{Name: "Of" + name, Type: record.Text}, {Name: "ID", Type: record.Int}},
		}
		route := Route{Methods: []string{"GET"}, Path: "/Queries/" + name}
		s.Operations = append(s.Operations, Operation{Name: kind.Operation(), Kind: kind, Routes: []Route{route}})
	}
	parcel := s.Operations[0].Kind
	s.Events = []Event{{Event: record.Event{Name: "parcel.updated"}, Kind: parcel}}
	document, err := json.Marshal(s.openAPI())
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	err = json.Unmarshal(document, &parsed)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range s.Operations {
		properties := parsed.Components.Schemas[o.Kind.Name].Properties
		if properties["Of"+o.Kind.Name] == nil {
			t.Errorf("the schema %s has the properties %v", o.Kind.Name, properties)
		}
	}
}

// TestWebhooksReferToSchemasOfPaths checks that the paths refer to each schema that webhooks refer to:
// some generators leave out the others.
func TestWebhooksReferToSchemasOfPaths(t *testing.T) {
	s := shop(t)
	document, err := json.Marshal(s.openAPI())
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Paths, Webhooks json.RawMessage
		Components      struct{ Schemas map[string]json.RawMessage }
	}
	err = json.Unmarshal(document, &parsed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(parsed.Webhooks, []byte(`"CapturedAt"`)) {
		t.Error("no webhook has the body of a change")
	}

	reference := regexp.MustCompile(`"#/components/schemas/([^"]+)"`)
	referred := make(map[string]bool)
	var follow func(text []byte)
	follow = func(text []byte) {
		for _, match := range reference.FindAllSubmatch(text, -1) {
			name := string(match[1])
			if !referred[name] {
				referred[name] = true
				follow(parsed.Components.Schemas[name])
			}
		}
	}
	follow(parsed.Paths)
	for _, match := range reference.FindAllSubmatch(parsed.Webhooks, -1) {
		name := string(match[1])
		isKind := slices.ContainsFunc(s.Operations, func(o Operation) bool { // which responses refer to
			return o.Kind != nil && o.Kind.Name == name
		})
		if !isKind && !referred[name] {
			t.Errorf("only webhooks refer to the schema %s", name)
		}
	}
}
