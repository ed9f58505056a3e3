package rest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

func metadataOf(t testing.TB, c client) wire.Metadata {
	t.Helper()
	var doc wire.Metadata
	if err := json.Unmarshal([]byte(c.do("GET /metadata", "", "Accept: application/json").want(t, 200).body), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// operationOf returns the full description of one operation.
func operationOf(t testing.TB, c client, name string) wire.Operation {
	t.Helper()
	var doc wire.Metadata
	err := json.Unmarshal([]byte(c.do("GET /json/metadata?op="+name, "").want(t, 200).body), &doc)
	if err != nil || len(doc.Operations) != 1 || doc.Operations[0].Name != name {
		t.Fatalf("%s: %v, %+v", name, err, doc)
	}
	return doc.Operations[0]
}

// TestMetadataOfEveryOperation requests the description of each listed operation
// in every way.
func TestMetadataOfEveryOperation(t *testing.T) {
	i := demo.start(t)
	c := anonymous(t, i)
	doc := metadataOf(t, c)
	if doc.URL != i.URL || doc.Version == "" {
		t.Errorf("%+v", doc)
	}
	index := asBrowser(c).do("GET /metadata", "").want(t, 200)
	for _, o := range doc.Operations {
		index.wantText(t, ">"+o.Name+"</a>")
		page := asBrowser(c).do("GET /metadata?op="+strings.ToLower(o.Name), "").want(t, 200).wantText(t, "<h1>"+o.Name+"</h1>")
		again := asBrowser(c).do("GET /csv/metadata?op="+o.Name, "").want(t, 200)
		if withoutQuery(again.body) != withoutQuery(page.body) {
			t.Errorf("%s: the page at /csv/metadata differs", o.Name)
		}
		one := operationOf(t, c, o.Name)
		for _, s := range one.Samples {
			if !strings.Contains(s.Command, "'"+i.URL+"/") {
				t.Errorf("%s: the sample has another address: %s", o.Name, s.Command)
			}
		}
	}
	for _, kind := range record.Builtin().Kinds() {
		page := asBrowser(c).do("GET /metadata?op="+kind.Name, "").want(t, 200)
		for _, f := range kind.Fields {
			page.wantText(t, `<th scope="row">`+f.Name+"</th><td>"+f.TypeName()+"</td>")
		}
	}
	c.do("GET /metadata?op=SO_TotalQuery&format=json", "").want(t, 404)
	if a := c.do("GET /metadata?op=SO_TotalQuery", ""); !strings.Contains(a.body, "operations: SO_TotalsQuery") {
		t.Error(a.body)
	}
	c.do("GET /", "").want(t, 404)
	asBrowser(c).do("GET /", "").want(t, 302).wantHeader(t, "Location", "/metadata")
}

// withoutQuery removes the return URL of the login link from a page.
func withoutQuery(page string) string {
	return regexp.MustCompile(`redirect=[^"]*`).ReplaceAllString(page, "")
}

// TestSamplesWork runs the sample commands in a shell.
func TestSamplesWork(t *testing.T) {
	clientstest.Tool(t, "curl")
	i := demo.start(t)
	key, remove := makeKey(t, i)
	defer remove()
	for _, name := range []string{"SO_TotalsQuery", "CR_BatchTransDocumentsQuery", "DB_ClassQuery", "QueryRequestLogsGETManyRequest", "Users", "GetSession", "OpenAPI", "Health", "Events"} {
		for _, s := range operationOf(t, anonymous(t, i), name).Samples {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", s.Command+" --silent --show-error --fail-with-body")
			cmd.Env = append(os.Environ(), "KEY="+key)
			cmd.Dir = t.TempDir() // for samples with -o
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 && !strings.Contains(s.Command, " -o ") {
				t.Errorf("%s: %v: %s", s.Command, err, shortened(string(out)))
			}
		}
	}
}

// makeKey creates an admin API key and returns a function that removes it.
func makeKey(t testing.TB, i *daemontest.Instance) (key string, remove func()) {
	t.Helper()
	c := asAdmin(t, i)
	var made wire.APIKey
	body := c.do("POST /ApiKeys", `{"Name": "`+t.Name()+`", "Role": "admin"}`).want(t, 201).body
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(err)
	}
	return made.Key, func() { c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 204) }
}

// openAPI parses the OpenAPI document of the daemon.
func openAPI(t *testing.T, c client) (libopenapi.Document, validator.Validator) {
	t.Helper()
	text := c.do("GET /openapi.json", "").want(t, 200).wantHeader(t, "Content-Type", "application/json").body
	doc, err := libopenapi.NewDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if errs != nil {
		t.Fatal(errs)
	}
	return doc, v
}

// TestOpenAPIIsValid validates the document with an independent parser and the
// official schema of OpenAPI 3.1.
func TestOpenAPIIsValid(t *testing.T) {
	doc, v := openAPI(t, anonymous(t, demo.start(t)))
	if ok, wrong := v.ValidateDocument(); !ok {
		for _, w := range wrong {
			t.Errorf("%s: %s %v", w.Message, w.Reason, w.SchemaValidationErrors)
		}
	}
	if doc.GetVersion() != "3.1.0" {
		t.Errorf("version %s", doc.GetVersion())
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]string)
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			at := method + " " + path
			if other, taken := ids[op.OperationId]; taken || op.OperationId == "" {
				t.Errorf("%s and %s have the id %q", at, other, op.OperationId)
			}
			ids[op.OperationId] = at
			if op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s: summary %q, tags %s", at, op.Summary, op.Tags)
			}
		}
	}
	for id, at := range map[string]string{
		"SO_TotalsQuery": "post /{Format}/reply/SO_TotalsQuery", "SO_TotalsQuery_get_Queries_SO_Totals": "get /Queries/SO_Totals", "Authenticate": "post /{Format}/reply/Authenticate",
	} {
		if ids[id] != at {
			t.Errorf("%s is %q", id, ids[id])
		}
	}
}

// TestOpenAPIHasEveryMember compares the numbers of members with the registry.
func TestOpenAPIHasEveryMember(t *testing.T) {
	doc, _ := openAPI(t, anonymous(t, demo.start(t)))
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	components := model.Model.Components
	for _, kind := range record.Builtin().Kinds() {
		request := components.Schemas.GetOrZero(kind.Operation()).Schema()
		row := components.Schemas.GetOrZero(kind.Name).Schema()
		for _, name := range kind.Members() {
			if request.Properties.GetOrZero(name) == nil || components.Parameters.GetOrZero(kind.Name+"."+name) == nil {
				t.Errorf("%s lacks %s", kind.Operation(), name)
			}
		}
		for _, name := range kind.FieldNames() {
			if row.Properties.GetOrZero(name) == nil {
				t.Errorf("%s lacks %s", kind.Name, name)
			}
		}
		item := model.Model.Paths.PathItems.GetOrZero("/Queries/" + kind.Name)
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
	_, v := openAPI(t, c)
	requests := []string{
		"GET /auth", "GET /Sessions/Current", "GET /Users", "GET /Users/admin", "GET /ApiKeys", "GET /metadata", "GET /metadata?op=SO_TotalsQuery",
		"GET /Users/missing", "GET /Queries/SO_Totals?Take=-1", "GET /json/oneway/SO_TotalsQuery?Take=1", "GET /KeepAlive", "GET /Webhooks/Events", "GET /Webhooks/Subscribers",
		"GET /Logs?Take=3", "GET /json/reply/WH_AuditQuery?Take=3", "GET /Bills/none/Stages/none/CustomFieldValues",
	}
	for _, kind := range record.Builtin().Kinds() {
		requests = append(requests, "GET /Queries/"+kind.Name+"?Take=50&Include=COUNT(*)", "GET /json/reply/"+kind.Operation()+"?Take=3&OrderBy="+kind.Fields[0].Name)
	}
	for _, line := range requests {
		request := c.request(line, "", "Accept: application/json")
		reply, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if ok, wrong := v.ValidateHttpResponse(c.request(line, ""), reply); !ok {
			for _, w := range wrong {
				t.Errorf("%s: %s: %s %v", line, w.Message, w.Reason, w.SchemaValidationErrors)
			}
		}
		reply.Body.Close()
	}
}

// TestRequestsMatchOpenAPI checks that the document and the service accept and
// reject the same bodies.
func TestRequestsMatchOpenAPI(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	_, v := openAPI(t, c)
	for _, test := range []struct {
		line, body string
		right      bool
	}{
		{"POST /Queries/SO_Totals", `{"InvoiceTotalGreaterThan": 1000.5, "InvoiceIDIn": ["a", "b"], "Take": 2, "Meta": {"a": "b"}}`, true},
		{"POST /Queries/BM_Inputs", `{"SubAssemblyExplodePolicyIn": "AQI=", "SubAssemblyExplodePolicyBetween": [1, 2], "IsRatio": true, "Take": 1}`, true},
		{"POST /Queries/JB_EstimateResourceLines", `{"TransactionDateBetween": ["2019-01-01", "2020-01-01"], "Take": 1}`, true},
		{"POST /Queries/SO_Totals", `{"InvoiceTotalGreaterThan": "much"}`, false},
		{"POST /Queries/SO_Totals", `{"InvoiceTotalBetween": [1, 2, 3]}`, false},
		{"POST /Queries/SO_Totals", `{"Take": "few"}`, false},
	} {
		request := c.request(test.line, test.body, "Content-Type: application/json")
		said, _ := v.GetRequestBodyValidator().ValidateRequestBody(request)
		done := c.do(test.line, test.body, "Content-Type: application/json").status == http.StatusOK
		if said != test.right || done != test.right {
			t.Errorf("%s %s: valid by the document: %t, accepted by the service: %t", test.line, test.body, said, done)
		}
	}
}
