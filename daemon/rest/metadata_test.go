package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// aMember matches a line of TypeScript that declares a member or a method.
var aMember = regexp.MustCompile(`^    public (([A-Za-z_][A-Za-z0-9_]*|"[^"]+")[?!]: .+;|[A-Za-z]+\(.*\}|constructor\(.*\})\n$`)

// TestTypeScriptIsWellFormed checks every member, including those of settings, whose
// names have a dot.
func TestTypeScriptIsWellFormed(t *testing.T) {
	for line := range strings.Lines(anonymous(t, demo.start(t)).do("GET /types/typescript", "").want(t, 200).body) {
		if strings.HasPrefix(line, "    public ") && !aMember.MatchString(line) {
			t.Errorf("not a member: %s", line)
		}
	}
}

// TestTypeScriptHasEveryClass checks that the request and the rows of each kind have
// one class each.
func TestTypeScriptHasEveryClass(t *testing.T) {
	c := anonymous(t, demo.start(t))
	text := c.do("GET /types/typescript", "").want(t, 200).wantHeader(t, "Content-Type", "text/plain; charset=utf-8").body
	var classes []string
	for _, m := range regexp.MustCompile(`(?m)^export class (\w+)`).FindAllStringSubmatch(text, -1) {
		if slices.Contains(classes, m[1]) {
			t.Errorf("duplicate class %s", m[1])
		}
		classes = append(classes, m[1])
	}
	for _, o := range metadataOf(t, c).Operations {
		if !strings.Contains(text, "return '"+o.Name+"';") && !slices.Contains([]string{"Login", "Home", "OpenAPI", "TypeScript", "Health", "Ready", "Metrics", "TestTarget", "Stream"}, o.Name) {
			t.Errorf("no class for %s", o.Name)
		}
	}
	for _, kind := range record.Builtin().Kinds() {
		want := fmt.Sprintf("export class %s extends QueryBase implements IReturn<QueryResponse<%s>> {", kind.Operation(), kind.Name)
		if !strings.Contains(text, want) || !slices.Contains(classes, kind.Name) {
			t.Errorf("no class for %s", kind.Name)
		}
	}
}

// clientProgram uses the types as a client program would.
const clientProgram = `
import { JsonServiceClient } from '@servicestack/client';
import { Authenticate, SO_TotalsQuery, QueryResponse, SO_Totals, Users } from './dtos';

async function main(): Promise<void> {
    const client = new JsonServiceClient(process.argv[2]);
    const login = await client.post(new Authenticate({ provider: 'credentials', UserName: 'admin', Password: process.argv[3] }));
    client.headers.set('X-ss-id', login.SessionId!);
    const page: QueryResponse<SO_Totals> = await client.post(new SO_TotalsQuery({ InvoiceTotalGreaterThan: 1000, InvoiceIDBetween: ['00100', '00130'], OrderBy: 'InvoiceID', Take: 2 }));
    console.log(page.Total, page.Results.map(r => r.InvoiceID).join());
    const users = await client.get<{ UserName: string }[]>('/Users');
    console.log(users.map(u => u.UserName).join());
    const failed = await client.api(new SO_TotalsQuery({ Take: -1 }));
    console.log(failed.error?.errorCode, new Users().getMethod());
}
main().catch(e => { console.log(e); process.exit(1); });
`

// TestTypesCompileAndWork compiles the types with the TypeScript compiler and runs a
// program with the ServiceStack client against a daemon.
func TestTypesCompileAndWork(t *testing.T) {
	tools := clientstest.NodeModules(t, ".")
	i := demo.start(t)
	dir := filepath.Join(tools, "types")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"dtos.ts": anonymous(t, i).do("GET /types/typescript", "").body, "openapi.json": anonymous(t, i).do("GET /openapi.json", "").body,
		"program.ts": clientProgram, "package.json": `{"type":"commonjs"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	bin := filepath.Join(tools, "node_modules", ".bin")
	run(filepath.Join(bin, "openapi-typescript"), "openapi.json", "-o", "schema.d.ts")
	run(filepath.Join(bin, "tsc"), "--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10", "--skipLibCheck", "false", "--noEmitOnError", "--types", "node", "program.ts", "schema.d.ts")
	out := run("node", "program.js", i.URL, daemontest.AdminPassword)
	if want := "7 00120,00122\nadmin\nArgumentException GET\n"; out != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
}
