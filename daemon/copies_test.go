package daemon_test

import (
	"fmt"
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

// createItems creates the table of itemKind with rows D000, D001 and so on.
func createItems(t *testing.T, dir string, rows int, text string) {
	t.Helper()
	statements := []string{"CREATE TABLE Items (ID TEXT PRIMARY KEY, Amount INTEGER, Text TEXT)"}
	for n := range rows {
		row := fmt.Sprintf("INSERT INTO Items VALUES ('D%03d', 1, '%s')", n, text)
		statements = append(statements, row)
	}
	makeRecords(t, dir, statements...)
}

// captureItems starts a daemon that captures the items, and returns a client and the kind after the
// first look.
func captureItems(t *testing.T, dir string) (*client.Client, *record.Kind) {
	t.Helper()
	kinds := filepath.Join(dir, "kinds")
	writeKinds(t, kinds, "items", itemKind)
	i := daemontest.StartIn(t, dir, "--erp", "demo", "--erp-kinds", kinds, "--changes-sweep", "24h")
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	list, err := c.KindList(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	registry, err := list.Registry()
	if err != nil {
		t.Fatal(err)
	}
	kind, ok := registry.Lookup("Item")
	if !ok {
		t.Fatal("the service does not list the kind Item")
	}

	for _, err := range c.FollowChanges(t.Context(), kind, "") {
		if err != nil {
			t.Fatal(err)
		}
		break // the first page is of the time after the first look
	}
	return c, kind
}

// TestCopyIsExactBetweenLooks checks that a copy is exact at its token although rows were inserted,
// deleted and changed back and forth between two looks of capture, while the copy was read: capture
// sees them again only because the copy differs from the shadow. The rows are longer than the
// buffers of a connection, so that the service is still sending them when they change.
func TestCopyIsExactBetweenLooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	longText := strings.Repeat("x", 30_000)
	createItems(t, dir, 900, longText)
	c, kind := captureItems(t, dir)

	makeRecords(t, dir,
		"INSERT INTO Items VALUES ('inserted', 1, NULL), ('inserted and deleted', 1, NULL)",
		"UPDATE Items SET Amount = 2 WHERE ID IN ('D001', 'D002')",
		"DELETE FROM Items WHERE ID IN ('D003', 'D004')",
		"UPDATE Items SET ID = 'd005' WHERE ID = 'D005'")
	copied, last := copyWhile(t, c, kind, func() {
		makeRecords(t, dir,
			"DELETE FROM Items WHERE ID = 'inserted and deleted'",
			"UPDATE Items SET Amount = 1 WHERE ID = 'D002'", // and back
			"INSERT INTO Items VALUES ('D004', 1, '"+longText+"')",
			"UPDATE Items SET ID = 'D005' WHERE ID = 'd005'")
	})
	for id, want := range map[string]bool{
		"inserted and deleted": true,
		"d005":                 true,
		"D004":                 false,
		"D005":                 false,
	} {
		if _, isCopied := copied[id]; isCopied != want {
			t.Fatalf("the copy has %q: %t, want %t: it must be read before the changes", id, isCopied, want)
		}
	}

	apply(t, c, kind, copied, last)
	compareItems(t, copied, itemsOf(t, dir))
}

// compareItems compares rows by key.
func compareItems(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d rows, want %d", len(got), len(want))
	}
	for id, text := range want {
		if got[id] != text {
			t.Errorf("%q: got %q, want %q", id, got[id], text)
		}
	}
}

// copyWhile reads a copy, and calls change after its first page. It returns the rows by key
// and the last page.
func copyWhile(
	t *testing.T, c *client.Client, kind *record.Kind, change func(),
) (map[string]string, *client.CopyPage) {
	t.Helper()
	copied := make(map[string]string)
	var last *client.CopyPage
	for page, err := range c.Copy(t.Context(), kind) {
		if err != nil {
			t.Fatal(err)
		}
		if last == nil {
			change()
		}
		for _, row := range page.Rows {
			copied[row.Text("ID")] = copiedRow(row)
		}
		last = page
	}
	return copied, last
}

// apply applies the changes of a copy from Since to Exact.
func apply(
	t *testing.T, c *client.Client, kind *record.Kind, copied map[string]string, last *client.CopyPage,
) {
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
		reached, err := wire.TokenPosition(page.Next)
		if err != nil {
			t.Fatal(err)
		}
		if reached >= exact {
			return
		}
	}
}

// itemsOf returns the rows of the table by key.
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
