package daemon_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// silentKinds are kinds of tables that do not change.
const silentKinds = `[Code]
source = "Codes"
key = ["Code"]
capture = "always"
[Code.fields]
Code = "string"
Note = "string?"
Price = "decimal?"
At = "DateTime?"

[Ident]
source = "Idents"
key = ["ID"]
capture = "always"
[Ident.fields]
ID = "Guid"
Note = "string?"

[Twice]
source = "TwiceCodes"
key = ["Code"]
capture = "always"
[Twice.fields]
Code = "string"

[Clock]
source = "ClockCodes"
key = ["Code"]
capture = "always"
[Clock.fields]
Code = "string"
Note = "string?"
Read = "DateTime?"

[Empty]
source = "NoCodes"
key = ["Code"]
capture = "always"
[Empty.fields]
Code = "string"
`

var silentTables = []string{
	`CREATE TABLE Codes (Code nvarchar(60) COLLATE Latin1_General_CS_AS NOT NULL PRIMARY KEY, Note nvarchar(60) NULL, Price decimal(18,2) NULL, At datetime2 NULL)`,
	`INSERT INTO Codes VALUES (N'a', N'x', 1.50, '2026-01-02T00:00:00.0000000'), (N'A', NULL, NULL, NULL), (N'co-op', N'', 0, NULL), (N'coop', N' ', -3, NULL),
		(N'pad  ', N'pad  ', 100.00, NULL), (N'ä', N'ss', NULL, NULL), (N'Ä', N'ß', NULL, NULL)`,
	`CREATE TABLE Idents (ID uniqueidentifier NOT NULL PRIMARY KEY, Note nvarchar(60) NULL)`,
	`INSERT INTO Idents VALUES ('FFEEDDCC-0000-0000-0000-000000000001', NULL), ('00000000-0000-0000-0000-FF0000000002', N'x'), ('0A000000-0000-0000-0000-0B0000000003', N'')`,
	`CREATE VIEW TwiceCodes AS SELECT Code FROM Codes UNION ALL SELECT Code FROM Codes WHERE Code = N'coop'`,
	`CREATE VIEW ClockCodes AS SELECT Code, Note, SYSDATETIME() AS "Read" FROM Codes`,
	`CREATE TABLE NoCodes (Code nvarchar(60) NOT NULL PRIMARY KEY)`,
}

// TestSilence checks that tables that do not change have no changes: over sweeps, a restart,
// other fields of a kind and a column with more decimal places. Capture of a view with two
// rows of one key, and of one with the time of its reading, stops with the reason.
func TestSilence(t *testing.T) {
	onBothERPs(t, func(s *captureStory) {
		s.exec(silentTables...)
		s.start(silentKinds)
		silent := func(sweeps int) {
			t.Helper()
			s.capturing("Code", "Ident", "Empty")
			s.sweeps(sweeps, "Code", "Ident", "Empty")
			s.stopped("Twice", "two rows have the key coop")
			s.stopped("Clock", "Read differs in every read; name it in ignore")
			s.expect(0, "Code", "Ident", "Twice", "Clock", "Empty")
		}
		silent(2)
		s.start("") // a restart
		silent(1)
		if s.erp != "" {
			s.exec("ALTER TABLE Codes ALTER COLUMN Price decimal(18,4)")
			silent(1)
		}

		s.start(strings.NewReplacer("Price = \"decimal?\"\n", "", "\n[Clock.fields]",
			"\nignore = ['Read']\n[Clock.fields]").Replace(silentKinds)) // fewer fields
		s.capturing("Clock")
		s.sweeps(1, "Code")
		s.start(strings.Replace(silentKinds, "\n[Clock.fields]",
			"\nignore = ['Read']\n[Clock.fields]", 1)) // an added field
		s.capturing("Code", "Ident", "Clock")
		s.sweeps(1, "Code", "Clock")
		s.expect(0, "Code", "Ident", "Twice", "Clock", "Empty")

		// A key that changes in its letter case only is a deletion and a creation.
		since := s.now("Code")
		s.exec("UPDATE Codes SET Code = N'COOP' WHERE Code = N'coop'")
		s.awaitChanges("Code", 2)
		list, _, err := s.changes("Code", since)
		keys := make(map[string]string)
		for _, c := range list {
			keys[c.Key] = c.Op
		}
		if err != nil || len(list) != 2 || keys["coop"] != wire.OpDeleted || keys["COOP"] != wire.OpCreated {
			t.Errorf("got the changes %+v (%v), want coop deleted and COOP created", list, err)
		}
	})
}
