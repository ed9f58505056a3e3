package erp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestCheckValues checks values in a table of another program: the types of its columns are
// no reason for a warning, its values are.
func TestCheckValues(t *testing.T) {
	registry, err := record.NewRegistry(record.Kind{Name: "Own", Fields: []record.Field{
		{Name: "ID", Type: record.Long},
		{Name: "Price", Type: record.Decimal},
		{Name: "Day", Type: record.DateTime},
		{Name: "Yes", Type: record.Bool},
		{Name: "Ratio", Type: record.Double},
		{Name: "Gone", Type: record.Int},
	}})
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Kinds()[0]
	const misfits = ": they are returned as their own texts, and meet no condition"
	for _, c := range []struct {
		name string
		rows string
		want []string
	}{
		{"readable values", `
			(1, 12.50, '2026-01-02T00:00:00.0000000', 1, 0.5),
			(2, 3, NULL, 0, 2),
			(3, NULL, NULL, NULL, NULL)`,
			nil,
		},
		{"unreadable values", `
			(1, 'abc', '2026-01-02', 'yes', 'x'),
			(2, 1e300, '02.01.2026', 2, 1),
			(3, 1, '', 'true', ''),
			(4, 1, 20260102, 1, '')`,
			[]string{
				"Price: the column is DECIMAL(18,2), and the number of values that cannot be read as decimal is 2" + misfits,
				"Day: the column is DATE, and the number of values that cannot be read as DateTime is 2" + misfits +
					"; the number of empty texts, which are null, is 1",
				"Yes: the column is BIT, and the number of values that cannot be read as bool is 2" + misfits,
				"Ratio: the column is FLOAT, and the number of values that cannot be read as double is 1" + misfits +
					"; the number of empty texts, which are null, is 2",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := openWith(t, `
				CREATE TABLE "O'n" (ID INTEGER PRIMARY KEY, Price DECIMAL(18,2), Day DATE, Yes BIT, Ratio FLOAT);
				INSERT INTO "O'n" VALUES `+c.rows)
			columns := []Column{{Name: "id", Type: "integer"}}
			for _, definition := range []string{"Price DECIMAL(18,2)", "Day DATE", "Yes BIT", "Ratio FLOAT"} {
				name, declared, _ := strings.Cut(definition, " ")
				columns = append(columns, Column{Name: name, Type: sqlite.Affinity(declared), Declared: declared})
			}
			if err := checkValues(conn, kind, "O'n", columns); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range compare(kind, "O'n", columns, fileTypes) {
				if f.Field != "Gone" {
					got = append(got, f.Field+": "+f.Problem)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got findings\n%q, want\n%q", got, c.want)
			}
		})
	}
}

// openWith opens a new file, in which another program has executed statements.
func openWith(t *testing.T, statements string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestCheckGuidBlobs: blobs of 16 bytes are GUIDs if the file of the kind names their
// order; otherwise a warning names the member to write.
func TestCheckGuidBlobs(t *testing.T) {
	conn := openWith(t, `
		CREATE TABLE Packed (ID BLOB);
		INSERT INTO Packed VALUES
			(x'5bad8f0fcbd99f46a16570867728950e'), (x'01'), ('0f8fad5b-d9cb-469f-a165-70867728950e')`)
	const misfits = "the number of values that cannot be read as Guid is %d: " +
		"they are returned as their own texts, and meet no condition"
	const blobs = "; the number of blobs of 16 bytes among them is 1: if these are GUIDs, declare " +
		"the order of their bytes in the file of the kind, " +
		`by blob = "net" (as .NET writes them) or blob = "rfc" (in the order of the text)`
	for _, c := range []struct {
		form record.BlobForm
		want string
	}{
		{record.BlobNet, fmt.Sprintf(misfits, 1)},
		{record.BlobRFC, fmt.Sprintf(misfits, 1)},
		{"", fmt.Sprintf(misfits, 2) + blobs},
	} {
		registry, err := record.NewRegistry(record.Kind{Name: "Packed", Fields: []record.Field{
			{Name: "ID", Type: record.Guid, Filter: record.GuidFilter, Blob: c.form},
		}})
		if err != nil {
			t.Fatal(err)
		}
		columns := []Column{{Name: "ID", Type: "none", Declared: "BLOB"}}
		if err := checkValues(conn, registry.Kinds()[0], "Packed", columns); err != nil {
			t.Fatal(err)
		}
		if got := columns[0].Misfit; got != c.want {
			t.Errorf("with blob = %q: got %q, want %q", c.form, got, c.want)
		}
	}
}
