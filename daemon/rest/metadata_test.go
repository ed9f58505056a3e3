package rest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

func metadataOf(t testing.TB, c client) wire.Metadata {
	t.Helper()
	var doc wire.Metadata
	err := json.Unmarshal([]byte(c.do("GET /metadata", "", "Accept: application/json").want(t, 200).body), &doc)
	if err != nil {
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
		t.Fatalf("op=%s: got %+v (%v), want this operation only", name, doc, err)
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
		t.Errorf("got %+v, want the URL %s and a version", doc, i.URL)
	}

	index := asBrowser(c).do("GET /metadata", "").want(t, 200)
	for _, o := range doc.Operations {
		index.wantText(t, ">"+o.Name+"</a>")
		page := asBrowser(c).do("GET /metadata?op="+strings.ToLower(o.Name), "").want(t, 200).
			wantText(t, "<h1>"+o.Name+"</h1>")
		other := asBrowser(c).do("GET /csv/metadata?op="+o.Name, "").want(t, 200)
		if withoutQuery(other.body) != withoutQuery(page.body) {
			t.Errorf("%s: the page at /csv/metadata differs", o.Name)
		}
		described := operationOf(t, c, o.Name)
		for _, s := range described.Samples {
			if !strings.Contains(s.Command, "'"+i.URL+"/") {
				t.Errorf("%s: the sample has another address: %s", o.Name, s.Command)
			}
		}
	}

	for _, kind := range record.Builtin().Kinds() {
		index.wantText(t, "<code>/Queries/"+kind.Name+"</code>")
		page := asBrowser(c).do("GET /metadata?op="+kind.Name, "").want(t, 200)
		for _, f := range kind.Fields {
			page.wantText(t, `<th scope="row">`+f.Name+"</th><td>"+f.TypeName()+"</td>")
		}
	}

	c.do("GET /metadata?op=SO_TotalQuery&format=json", "").want(t, 404)
	a := c.do("GET /metadata?op=SO_TotalQuery", "")
	if !strings.Contains(a.body, "operations: SO_TotalsQuery") {
		t.Error(a.body)
	}

	c.do("GET /", "").want(t, 404)
	asBrowser(c).do("GET /", "").want(t, 302).wantHeader(t, "Location", "/Pages")
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
	for _, name := range []string{
		"SO_TotalsQuery",
		"CR_BatchTransDocumentsQuery",
		"DB_ClassQuery",
		"QueryRequestLogsGETManyRequest",
		"Users",
		"GetSession",
		"OpenAPI",
		"Health",
		"Events",
	} {
		for _, s := range operationOf(t, anonymous(t, i), name).Samples {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", s.Command+" --silent --show-error --fail-with-body")
			cmd.Env = append(os.Environ(), "KEY="+key)
			cmd.Dir = t.TempDir() // for samples with -o
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %s", s.Command, err, shortened(string(out)))
			}
			writesFile := strings.Contains(s.Command, " -o ")
			if len(out) == 0 && !writesFile {
				t.Errorf("%s prints nothing", s.Command)
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
