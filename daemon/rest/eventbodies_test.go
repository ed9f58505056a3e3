package rest_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	api "github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// startWithOrderEvents starts a daemon that publishes events of changed orders.
func startWithOrderEvents(t *testing.T) *daemontest.Instance {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kinds.toml")
	const kinds = "[SO_Totals]\ncapture = 'always'\nevents = 'order'\nbefore = ['InvoiceTotal']\n"
	err := os.WriteFile(file, []byte(kinds), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return daemontest.Start(t, "--demo", "--erp-kinds", file, "--webhooks-events", "job.created")
}

// bodiesOf returns the descriptions of the bodies of events by name.
func bodiesOf(t *testing.T, i *daemontest.Instance, role string) map[string]wire.EventBody {
	t.Helper()
	c, err := api.New(api.Options{URL: i.URL, Token: i.Key(t, role)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.EventBodies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bodies := make(map[string]wire.EventBody)
	for _, b := range all {
		bodies[b.Name] = b
	}
	return bodies
}

// schemaURI is the address of the schemas that validate compiles. A relative one would be resolved
// against the working directory.
const schemaURI = "urn:body"

// validate checks a document against a schema that is complete in itself.
func validate(t *testing.T, name string, schema, document []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err == nil {
		err = c.AddResource(schemaURI, root)
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(schemaURI)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	err = compiled.Validate(value)
	if err != nil {
		t.Errorf("%s: %v in %s", name, err, document)
	}
}

// TestEventSchemas checks that every event is in the OpenAPI document, with a sample that has the
// schema; and that a change, which is the body of an event, has it, too.
func TestEventSchemas(t *testing.T) {
	i := startWithOrderEvents(t)
	c, err := api.New(api.Options{URL: i.URL, Token: i.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bodies := bodiesOf(t, i, "admin")
	var names []string
	for _, e := range events {
		names = append(names, e.Name)
		body := bodies[e.Name]
		if body.Description != e.Description {
			t.Errorf("%s: got the description %q, want %q", e.Name, body.Description, e.Description)
		}
		validate(t, e.Name, body.Schema, body.Sample)
		isDescribed := e.Source == wire.SourceCaptured || record.IsServiceEvent(e.Name)
		if hasSchema := string(body.Schema) != "{}"; hasSchema != isDescribed {
			t.Errorf("%s: got the schema %s", e.Name, body.Schema)
		}
	}
	slices.Sort(names)
	if documented := slices.Sorted(maps.Keys(bodies)); !slices.Equal(names, documented) {
		t.Errorf("got descriptions of %q, want %q", documented, names)
	}

	change, err := json.Marshal(wire.Change{
		ChangeID:   7,
		Kind:       "SO_Totals",
		Op:         wire.OpUpdated,
		Key:        "00120",
		KeyFields:  json.RawMessage(`{"InvoiceID": "00120"}`),
		Record:     json.RawMessage(`{"InvoiceID": "00120", "InvoiceTotal": 12.50}`),
		Changed:    []string{"InvoiceTotal"},
		Before:     json.RawMessage(`{"InvoiceTotal": 9}`),
		CapturedAt: "2026-01-02T03:04:05.0000000Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	validate(t, "change", bodies["order.updated"].Schema, change)
}

// receiverProgram uses the types of bodies as a receiver would.
const receiverProgram = `
import { WebhookBodies } from './dtos';

type Delivery = { [E in keyof WebhookBodies]: { event: E; body: WebhookBodies[E] } }[keyof WebhookBodies];

function receive(d: Delivery): string {
    switch (d.event) {
        case 'order.updated': {
            const total: number | undefined = d.body.Record?.InvoiceTotal;
            const before: number | undefined = d.body.Before?.InvoiceTotal;
            return [d.body.Op, d.body.Record?.InvoiceID, typeof total, before].join();
        }
        case 'webhooks.message.failed': {
            const code: number | undefined = d.body.HTTPCode;
            const others: number = d.body.OtherMessages ?? 0;
            return [d.body.MessageID.length, code, others].join();
        }
        case 'order.deleted':
            return d.body.KeyFields.InvoiceID ?? '';
        default:
            return d.event;
    }
}
// @ts-expect-error
const misspelt: Delivery = { event: 'order.updatd', body: {} };
console.log(receive({ event: 'order.updated', body: JSON.parse(process.argv[2]) }));
console.log(receive({ event: 'webhooks.message.failed', body: JSON.parse(process.argv[3]) }));
console.log(receive({ event: 'job.created', body: { Job: 1 } }));
`

// TestReceiverTypesCompileAndWork compiles a receiver with the types of the bodies of events.
func TestReceiverTypesCompileAndWork(t *testing.T) {
	tools := clientstest.NodeModules(t, ".")
	i := startWithOrderEvents(t)
	dir := inDirectory(t, tools, map[string]string{
		"dtos.ts":       typesOf(t, i, "typescript"),
		"declared.d.ts": typesOf(t, i, "typescript.d"),
		"global.d.ts":   typesOf(t, i, "typescript.d?GlobalNamespace=dtos"),
		"program.ts":    receiverProgram,
		"package.json":  `{"type":"commonjs"}`,
	})
	runIn(t, dir, filepath.Join(tools, "node_modules", ".bin", "tsc"), "--strict",
		"--target", "es2022",
		"--module", "commonjs",
		"--moduleResolution", "node10",
		"--skipLibCheck", "false",
		"--noEmitOnError",
		"--types", "node",
		"program.ts", "declared.d.ts", "global.d.ts")
	bodies := bodiesOf(t, i, "admin")
	out := runIn(t, dir, "node", "program.js",
		string(bodies["order.updated"].Sample), string(bodies[record.MessageFailed].Sample))
	if want := "updated,A,number,\n36,503,2\njob.created\n"; out != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
}
