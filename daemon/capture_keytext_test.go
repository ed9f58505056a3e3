package daemon_test

import "testing"

const sameTextKinds = `
[Stored]
capture = "always"
[Stored.fields]
Code = "string"
N = "int"

[Latin]
capture = "always"
[Latin.fields]
Code = "string"

[Loose]
key = ["ID"]
capture = "always"
[Loose.fields]
ID = "int"
`

// TestKeysThatAreTheSameInJSON: a copy would take two rows of an embedded file for one. Their kinds
// stop with the key, before the changes can be followed, and go on when one of the rows is
// corrected.
func TestKeysThatAreTheSameInJSON(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	s.exec(
		"CREATE TABLE Stored (Code TEXT NOT NULL PRIMARY KEY, N INTEGER)",
		"INSERT INTO Stored VALUES ('abc', 1), (x'616263', 2), ('d', 3), (x'65', 4)",
		"CREATE TABLE Latin (Code TEXT NOT NULL PRIMARY KEY)",
		"INSERT INTO Latin VALUES (CAST(x'4dfc6c6c6572' AS TEXT)), (CAST(x'4de46c6c6572' AS TEXT)), (CAST(x'fc' AS TEXT)), ('Muller')",
		"CREATE TABLE Loose (ID PRIMARY KEY NOT NULL)",
		"INSERT INTO Loose VALUES (9), (10), ('10'), ('10A'), ('010')",
	)
	s.start(sameTextKinds)
	s.stopped("Stored", "two rows of Stored have the key abc in JSON: in one Code is of type string, in the other Code is bytes; correct one of them")
	s.stopped("Latin", "two rows of Latin have the key M\ufffdller in JSON: in one Code is of type string (the bytes x'4de46c6c6572'), in the other Code is of type string (the bytes x'4dfc6c6c6572'); correct one of them")
	s.stopped("Loose", "two rows of Loose have the key 10 in JSON: in one ID is of type int, in the other ID is a text; correct one of them")

	s.exec(
		"DELETE FROM Stored WHERE Code = 'abc'",
		"DELETE FROM Latin WHERE Code = CAST(x'4dfc6c6c6572' AS TEXT)",
		"DELETE FROM Loose WHERE typeof(ID) = 'text' AND ID = '10'",
	)
	s.capturing("Stored", "Latin", "Loose")
	s.sweeps(2, "Stored", "Latin", "Loose")

	// A key that comes later stops the kind, too.
	s.exec("INSERT INTO Stored VALUES ('e', 5)")
	s.stopped("Stored", "two rows of Stored have the key e in JSON: in one Code is of type string, in the other Code is bytes; correct one of them")
}
