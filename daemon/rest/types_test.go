package rest_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest"
)

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
	text := c.do("GET /types/typescript", "").want(t, 200).
		wantHeader(t, "Content-Type", "text/plain; charset=utf-8").body
	var classes []string
	for _, m := range regexp.MustCompile(`(?m)^export class (\w+)`).FindAllStringSubmatch(text, -1) {
		if slices.Contains(classes, m[1]) {
			t.Errorf("duplicate class %s", m[1])
		}
		classes = append(classes, m[1])
	}
	for _, o := range rest.Describe().Operations {
		for _, name := range append(o.Aliases, o.Name) {
			if !strings.Contains(text, "return '"+name+"';") && o.Media == "" {
				t.Errorf("no class for %s", name)
			}
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
	dir := inDirectory(t, tools, map[string]string{
		"dtos.ts":       typesOf(t, i, "typescript"),
		"inside.ts":     typesOf(t, i, "typescript?GlobalNamespace=Post.Office"),
		"declared.d.ts": typesOf(t, i, "typescript.d"),
		"global.d.ts":   typesOf(t, i, "typescript.d?GlobalNamespace=dtos"),
		"openapi.json":  anonymous(t, i).do("GET /openapi.json", "").body,
		"program.ts":    clientProgram,
		"package.json":  `{"type":"commonjs"}`,
	})
	bin := filepath.Join(tools, "node_modules", ".bin")
	runIn(t, dir, filepath.Join(bin, "openapi-typescript"), "openapi.json", "-o", "schema.d.ts")
	runIn(t, dir, filepath.Join(bin, "tsc"), "--strict",
		"--target", "es2022",
		"--module", "commonjs",
		"--moduleResolution", "node10",
		"--skipLibCheck", "false",
		"--noEmitOnError",
		"--types", "node",
		"program.ts", "schema.d.ts", "inside.ts", "declared.d.ts", "global.d.ts")
	out := runIn(t, dir, "node", "program.js", i.URL, daemontest.AdminPassword)
	if want := "7 00120,00122\nadmin\nArgumentException GET\n"; out != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
}

// TestCSharpTypesCompileAndWork compiles the types with the C# compiler, all warnings
// being errors, and runs a program that prints the verbs, routes and members of the classes.
func TestCSharpTypesCompileAndWork(t *testing.T) {
	compiler, mono := clientstest.Tool(t, "mcs"), clientstest.Tool(t, "mono")
	stubs, err := os.ReadFile(filepath.Join("testdata", "servicestack.cs"))
	if err != nil {
		t.Fatal(err)
	}

	i := demo.start(t)
	dir := inDirectory(t, t.TempDir(), map[string]string{
		"stubs.cs":  string(stubs),
		"dtos.cs":   typesOf(t, i, "csharp"),
		"inside.cs": typesOf(t, i, "csharp?GlobalNamespace=Post.Office"),
	})
	runIn(t, dir, compiler, "-warnaserror", "-warn:4", "-out:program.exe", "stubs.cs", "dtos.cs", "inside.cs")
	out := runIn(t, dir, mono, "program.exe")
	for _, want := range []string{
		"SO_TotalsQuery: POST, returns QueryResponse<SO_Totals>, GET,POST /Queries/SO_Totals, GET,POST /api/SO_TotalsQuery\n",
		"WebhooksSubscriptionsPOSTRequest: POST, returns SubscriptionDocument, POST /Webhooks/Subscribers/{SubscriberID}/Subscriptions\n",
		"LoginPOSTRequest: POST, returns AuthenticateResponse\n",
		"TodayLogsGETManyRequest: POST, returns QueryResponse<RequestLog>\n",
		"RemoveSubscriber: DELETE, DELETE /Webhooks/Subscribers/{SubscriberID}\n",
		"WebhooksEventsGETRequest: GET, returns List<Event>, GET /Webhooks/Events\n",
		"UpdateBillStageCustomFieldValue: PATCH, returns CustomFieldValue, PATCH /Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}\n",
		"SO_Totals.InvoiceTotal Decimal?\n",
		"SO_TotalsQuery.InvoiceTotalBetween Decimal[]\n",
		"BM_Inputs.ItemNo Int32\n",
		"BM_InputsQuery.ItemNo Int32?\n",
		"BM_Inputs.RowHash Byte[]\n",
		"BM_InputsQuery.SubAssemblyExplodePolicyIn Byte[]\n",
		"RequestLog.Headers Dictionary<String,String>\n",
		"Subscription.LastSavedDateTime DateTime\n",
		"AddSubscription.Headers Header[]\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the program does not print %q", want)
		}
	}

	for _, o := range rest.Describe().Operations {
		for _, name := range append(o.Aliases, o.Name) {
			if o.Media == "" && name != "Authenticate" && !strings.Contains(out, "\n"+name+": ") {
				t.Errorf("no class %s", name)
			}
		}
	}
}

// reservedNames are names of kinds that are reserved words of a language, or the names of its types.
const reservedNames = `abstract any as asserts async await base bigint bool break byte case catch char class
	const declare delete double dynamic enum event export extension file function get implements import in
	infer int interface is keyof let lock long module namespace never null of operator out package params
	private readonly record require required scoped set static switch symbol this type typeof
	undefined unique unknown using value var void where with yield`

// startWithReservedNames starts a daemon with kinds that have these names, and publish events.
func startWithReservedNames(t *testing.T) *daemontest.Instance {
	var kinds strings.Builder
	for i, name := range strings.Fields(reservedNames) {
		fmt.Fprintf(&kinds, "[%s]\nsource = 'SO_Totals'\nkey = ['InvoiceID']\nevents = 'kind%d'\n", name, i)
		fmt.Fprintf(&kinds, "[%s.fields]\nInvoiceID = 'string'\nevent = 'string'\n", name)
	}
	file := filepath.Join(t.TempDir(), "kinds.toml")
	if err := os.WriteFile(file, []byte(kinds.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return daemontest.Start(t, "--demo", "--erp-kinds", file)
}

// TestReservedNamesCompile compiles classes with names that are reserved.
func TestReservedNamesCompile(t *testing.T) {
	i := startWithReservedNames(t)
	t.Run("csharp", func(t *testing.T) {
		compiler := clientstest.Tool(t, "mcs")
		stubs, err := os.ReadFile(filepath.Join("testdata", "servicestack.cs"))
		if err != nil {
			t.Fatal(err)
		}
		types := typesOf(t, i, "csharp")
		dir := inDirectory(t, t.TempDir(), map[string]string{"stubs.cs": string(stubs), "dtos.cs": types})
		runIn(t, dir, compiler, "-warnaserror", "-warn:4", "-target:library", "stubs.cs", "dtos.cs")
		for name := range strings.FieldsSeq(reservedNames) {
			if !strings.Contains(types, "class "+name+"Query :") {
				t.Errorf("there is no class of the kind %s", name)
			}
		}
	})
	t.Run("typescript", func(t *testing.T) {
		tools := clientstest.NodeModules(t, ".")
		dir := inDirectory(t, tools, map[string]string{
			"dtos.ts":       typesOf(t, i, "typescript"),
			"inside.ts":     typesOf(t, i, "typescript?GlobalNamespace=Post.Office"),
			"declared.d.ts": typesOf(t, i, "typescript.d"),
			"global.d.ts":   typesOf(t, i, "typescript.d?GlobalNamespace=dtos"),
		})
		runIn(t, dir, filepath.Join(tools, "node_modules", ".bin", "tsc"), "--strict",
			"--target", "es2022",
			"--module", "commonjs",
			"--moduleResolution", "node10",
			"--skipLibCheck", "false",
			"--noEmit",
			"--types", "node",
			"dtos.ts", "inside.ts", "declared.d.ts", "global.d.ts")
	})
}

// typesOf returns a file of types.
func typesOf(t *testing.T, i *daemontest.Instance, path string) string {
	return anonymous(t, i).do("GET /types/"+path, "").want(t, 200).body
}

// inDirectory writes files into a new directory.
func inDirectory(t *testing.T, parent string, files map[string]string) (dir string) {
	dir = filepath.Join(parent, "types")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runIn runs a program in a directory and returns its output.
func runIn(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SERVICESTACK_TELEMETRY_OPTOUT=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// vendorTools are ServiceStack's command line tools by language, with the files that they save.
var vendorTools = map[string]struct{ command, file string }{
	"typescript":   {"typescript-ref", "dtos.ts"},
	"typescript.d": {"typescriptd-ref", "dtos.d.ts"},
	"csharp":       {"csharp-ref", "dtos.cs"},
}

// TestVendorToolsAcceptTypes saves a file of types by ServiceStack's command line tool
// for each language, and updates it, with an option that was edited.
func TestVendorToolsAcceptTypes(t *testing.T) {
	tools := clientstest.NodeModules(t, ".")
	i := daemontest.Start(t, "--http-base-path", "/erp")
	for _, l := range metadata.Languages() {
		file := vendorTools[l.Name].file
		dir, tool := t.TempDir(), filepath.Join(tools, "node_modules", ".bin", vendorTools[l.Name].command)
		if out, want := runIn(t, dir, tool, i.URL), "Saved to: "+file+"\n"; out != want {
			t.Errorf("%s prints %q, want %q", l.Name, out, want)
		}
		path := filepath.Join(dir, file)
		saved, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := anonymous(t, i).do("GET /types/"+l.Name, "").body; string(saved) != want {
			t.Errorf("%s: the file is %s", l.Name, shortened(string(saved)))
		}
		line := regexp.MustCompile(`(?m)^//GlobalNamespace: .*$`)
		err = os.WriteFile(path, line.ReplaceAll(saved,
			[]byte("GlobalNamespace: Post.Office")), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the option remains
			if out, want := runIn(t, dir, tool), "Updated: "+path+"\n"; out != want {
				t.Errorf("%s prints %q, want %q", l.Name, out, want)
			}
		}
		updated, err := os.ReadFile(path)
		if err != nil ||
			!bytes.Contains(updated, []byte("\nGlobalNamespace: Post.Office\n")) ||
			!bytes.Contains(updated, []byte("namespace Post.Office")) {
			t.Errorf("%s: the updated file is %s (%v)", l.Name, shortened(string(updated)), err)
		}
	}
}

// TestSmallSurfaces checks the index of types, their option, the redirects, and the
// documents about the system.
func TestSmallSurfaces(t *testing.T) {
	i := demo.start(t)
	c := anonymous(t, i)
	for _, file := range read[[]wire.TypesFile](t, c.do("GET /types", "").want(t, 200)) {
		c.do("GET "+strings.TrimPrefix(file.URL, i.URL), "").want(t, 200).
			wantHeader(t, "Content-Type", "text/plain; charset=utf-8").
			wantText(t, "\nBaseUrl: "+i.URL+"\n")
		for _, namespace := range []string{"a b", "a..b", "1a", "a{", ".", "class", "A.void"} {
			c.do("GET /types/"+file.Language+"?GlobalNamespace="+url.QueryEscape(namespace), "").want(t, 400).
				wantText(t, `"FieldName":"GlobalNamespace"`)
		}
	}

	asBrowser(c).do("GET /types/", "").want(t, 200).wantText(t, "/types/csharp")
	c.do("GET /types/cobol", "").want(t, 404)
	for path, to := range map[string]string{
		"/swagger-ui":         "/metadata",
		"/swagger-ui/":        "/metadata",
		"/Swagger-UI?op=Info": "/metadata?op=Info",
		"/requestlogs?Take=5": "/Logs?Take=5",
	} {
		c.do("GET "+path, "").want(t, 302).wantHeader(t, "Location", to)
	}

	paths := read[[]wire.RestPath](t, c.do("GET /RestPaths", "").want(t, 200))
	for _, want := range []wire.RestPath{
		{
			Path:         "/Webhooks/Subscribers/{SubscriberID}/Subscriptions",
			RequestType:  "AddSubscription",
			AllowedVerbs: "POST",
		},
		{Path: "/Queries/SO_Totals", RequestType: "SO_TotalsQuery", AllowedVerbs: "GET,POST"},
		{Path: "/Logs/Today", RequestType: "QueryRequestLogsGETManyRequest", AllowedVerbs: "GET"},
	} {
		if !slices.ContainsFunc(paths, func(p wire.RestPath) bool {
			return p.Path == want.Path && p.RequestType == want.RequestType &&
				p.AllowedVerbs == want.AllowedVerbs && p.Summary != ""
		}) {
			t.Errorf("no path %+v", want)
		}
	}

	c.do("GET /SystemInfo", "").want(t, 401)
	system := read[wire.SystemInfo](t, asAdmin(t, i).do("GET /SystemInfo/", "").want(t, 200))
	_, err := time.Parse(wire.DateLayout, string(system.SQLServerDateTime))
	if err != nil || system.JiwaVersion != "" || system.Version == "" {
		t.Errorf("got %+v (%v), want a time and the version of whd only", system, err)
	}
}

// TestVersionOfTheERP reads the version from the configured column.
func TestVersionOfTheERP(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t, "--demo", "--erp-version-source", "DB_Class.Class"))
	if system := read[wire.SystemInfo](t, c.do("GET /SystemInfo", "").want(t, 200)); system.JiwaVersion != "" {
		t.Errorf("a class is no version: %+v", system)
	}
	c = asAdmin(t, daemontest.Start(t, "--demo", "--erp-version-source", "BM_Inputs.Quantity"))
	if system := read[wire.SystemInfo](t, c.do("GET /SystemInfo", "").want(t, 200)); system.JiwaVersion == "" {
		t.Errorf("no version: %+v", system)
	}
}
