package daemon_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

const itemKind = `[Item]
source = "Items"
summary = "Items"
area = "Stock"
key = ["ID"]
capture = "asked"
[Item.fields]
ID = "string"
Amount = "int?"
Text = "string?"
`

// copiedRow returns the text of a row, without its long value.
func copiedRow(row client.Row) string { return row.Text("ID") + " " + row.Text("Amount") }

// A copy is exact at its token although rows were inserted, deleted and changed forth and
// back between two looks of capture, while the copy was read: capture sees them again only
// because the copy differs from the shadow. The rows are longer than the buffers of a
// connection, so that the service is still sending them when they change.
func TestCopyIsExactBetweenLooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("x", 30_000)
	statements := []string{"CREATE TABLE Items (ID TEXT PRIMARY KEY, Amount INTEGER, Text TEXT)"}
	for n := range 900 {
		statements = append(statements, fmt.Sprintf("INSERT INTO Items VALUES ('D%03d', 1, '%s')", n, long))
	}

	makeRecords(t, dir, statements...)
	writeKinds(t, filepath.Join(dir, "kinds"), "items", itemKind)
	i := daemontest.StartIn(t, dir, "--erp", "demo", "--erp-kinds", filepath.Join(dir, "kinds"),
		"--changes-sweep", "24h")
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.KindList(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	registry, err := list.Registry()
	if err != nil {
		t.Fatal(err)
	}

	kind, _ := registry.Lookup("Item")
	for _, err := range c.FollowChanges(t.Context(), kind, "") { // after the first look
		if err != nil {
			t.Fatal(err)
		}
		break
	}

	makeRecords(t, dir,
		"INSERT INTO Items VALUES ('inserted', 1, NULL), ('inserted and deleted', 1, NULL)",
		"UPDATE Items SET Amount = 2 WHERE ID IN ('D001', 'D002')",
		"DELETE FROM Items WHERE ID IN ('D003', 'D004')",
		"UPDATE Items SET ID = 'd005' WHERE ID = 'D005'")
	copied, last := copyWhile(t, c, kind, func() {
		makeRecords(t, dir,
			"DELETE FROM Items WHERE ID = 'inserted and deleted'",
			"UPDATE Items SET Amount = 1 WHERE ID = 'D002'", // and back
			"INSERT INTO Items VALUES ('D004', 1, '"+long+"')",
			"UPDATE Items SET ID = 'D005' WHERE ID = 'd005'")
	})

	for id, want := range map[string]bool{
		"inserted and deleted": true,
		"d005":                 true,
		"D004":                 false,
		"D005":                 false,
	} {
		if _, has := copied[id]; has != want {
			t.Fatalf("the copy was read after the changes: %s", id)
		}
	}

	apply(t, c, kind, copied, last)
	want := itemsOf(t, dir)
	if !maps.Equal(copied, want) {
		t.Errorf("%d rows, want %d", len(copied), len(want))
		for id, text := range want {
			if copied[id] != text {
				t.Errorf("%q: %q, want %q", id, copied[id], text)
			}
		}
	}
}

// copyWhile reads a copy, and calls between after its first page. It returns the rows by key
// and the last page.
func copyWhile(t *testing.T, c *client.Client, kind *record.Kind, between func()) (copied map[string]string, last *client.CopyPage) {
	t.Helper()
	copied = make(map[string]string)
	for page, err := range c.Copy(t.Context(), kind) {
		if err != nil {
			t.Fatal(err)
		}
		if last == nil {
			between()
		}
		for _, row := range page.Rows {
			copied[row.Text("ID")] = copiedRow(row)
		}
		last = page
	}
	return copied, last
}

// apply applies the changes of a copy from Since to Exact.
func apply(t *testing.T, c *client.Client, kind *record.Kind, copied map[string]string, last *client.CopyPage) {
	t.Helper()
	exact, err := wire.TokenPosition(last.Exact)
	if err != nil {
		t.Fatal(err)
	}
	for page, err := range c.FollowChanges(t.Context(), kind, last.Since) {
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range page.Changes {
			key, err := client.ParseRow(change.KeyFields)
			if err != nil {
				t.Fatal(err)
			}
			if change.Op == wire.OpDeleted {
				delete(copied, key.Text("ID"))
				continue
			}
			row, err := client.ParseRow(change.Record)
			if err != nil {
				t.Fatal(err)
			}
			copied[key.Text("ID")] = copiedRow(row)
		}
		if at, err := wire.TokenPosition(page.Next); err != nil || at >= exact {
			return
		}
	}
}

func itemsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	items := make(map[string]string)
	err = conn.Query("SELECT ID, Amount FROM Items", func(s *sqlite.Stmt) error {
		items[s.Text(0)] = s.Text(0) + " " + s.Text(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return items
}
