package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

const parcelKinds = `[Parcel]
source = "Parcels"
summary = "Parcels on their way"
area = "Post office"
key = ["No"]
[Parcel.fields]
No = "int"
Weight = "decimal?"
Phone = { type = "string", column = "Phone No." }
[Letter]
source = "Parcels"
role = "writer"
[Letter.fields]
No = "int"
`

// startWithParcels starts a daemon with record kinds of a file.
func startWithParcels(t *testing.T) *daemontest.Instance {
	t.Helper()
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE Parcels ("No" INTEGER PRIMARY KEY, Weight TEXT_DECIMAL, "Phone No." TEXT)`,
		`INSERT INTO Parcels VALUES (1, '2.50', '+49 1'), (2, NULL, '+49 2')`,
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "parcels.toml")
	if err := os.WriteFile(file, []byte(parcelKinds), 0o600); err != nil {
		t.Fatal(err)
	}
	return daemontest.StartIn(t, dir, "--erp", "demo", "--erp-kinds", file)
}

// The kinds of a file of the daemon are known to all commands, according to the role.
func TestKindsOfDaemonFiles(t *testing.T) {
	i := startWithParcels(t)
	reader := invocation{
		config:  t.TempDir(),
		handler: http.NotFound,
		env:     map[string]string{profile.EnvURL: i.URL, profile.EnvToken: i.Key(t, "reader")},
	}
	reader.wantRun(t, "query parcel --where Weight>2 --json", 0, `"No":1,"Weight":2.50,"Phone":"+49 1"`)
	reader.wantRun(t, "query Parcel --where Phone$=2 --csv", 0, "No,Weight,Phone\n2,,+49 2\n")
	reader.wantRun(t, "query Parcel --where Wieght>2", 2, "did you mean Weight?")
	reader.wantRun(t, "query Parcels", 2, "did you mean Parcel?")
	reader.wantRun(t, "query Letter", 2, "unknown record")
	reader.wantRun(t, "records --csv", 0, "Parcel,Post office,3,Parcels on their way\n")
	reader.wantRun(t, "records Parcel --csv", 0, "Weight,decimal?,")
	reader.wantRun(t, "query SO_Totals --count", 0, "\n")
	reader.wantCompletion(t, "query P", "Parcel")
	reader.wantCompletion(t, "query Parcel --where WeightN", "WeightNotEqualTo=")

	writer := invocation{
		config:  t.TempDir(),
		handler: http.NotFound,
		env: map[string]string{
			profile.EnvURL:   i.URL,
			profile.EnvToken: i.Key(t, "writer"),
		},
	}
	writer.wantRun(t, "query Letter --count", 0, "2\n")
}
