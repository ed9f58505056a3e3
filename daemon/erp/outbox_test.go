package erp

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// outboxTest is a database with an outbox, which a service and a program of the ERP use.
type outboxTest struct {
	*testing.T
	dsn     string // connection string of the database's owner
	service string // connection string of the service
	erp     string // connection string of the ERP's program
	login   string // name of the service
	program string // name of the ERP's program
}

func newOutboxTest(t *testing.T) *outboxTest {
	t.Helper()
	o := &outboxTest{T: t, dsn: mssqltest.Database(t)}
	o.login, o.service = o.user()
	o.program, o.erp = o.user()
	return o
}

// user creates a login without any rights in the database.
func (o *outboxTest) user() (login, dsn string) {
	o.Helper()
	login = "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.CreateLogin(o, login, "Abcdef12345")
	mssqltest.Exec(o, o.dsn, "CREATE USER "+login+" FOR LOGIN "+login)
	u, err := url.Parse(o.dsn)
	if err != nil {
		o.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	return login, u.String()
}

// script runs outbox.sql.
func (o *outboxTest) script() {
	o.Helper()
	replace := strings.NewReplacer(
		"TO whd;", "TO "+o.login+";",
		"USER_ID(N'whd')", "USER_ID(N'"+o.login+"')",
		"$(ERPUser)", o.program,
	)
	for _, batch := range mssqltest.Batches(o, "../../cmd/daemon/deploy/outbox.sql") {
		mssqltest.Exec(o, o.dsn, replace.Replace(batch))
	}
}

// open opens the outbox with the rights of the service.
func (o *outboxTest) open() *Records {
	o.Helper()
	r, err := Open(Config{
		DSN:         o.service,
		Outbox:      DefaultOutbox,
		LockTimeout: executor.StatementLimit,
		Registry:    record.Builtin(),
	})
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(func() {
		if err := r.Close(); err != nil {
			o.Error(err)
		}
	})
	return r
}

// put inserts rows with the rights of the ERP's program.
func (o *outboxTest) put(bodies ...string) {
	o.Helper()
	for _, body := range bodies {
		mssqltest.Exec(o, o.erp, "INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'"+body+"')")
	}
}

// outboxBytes is the size of the bodies of one read, and of one body.
const outboxBytes = 1 << 20

// testLimits returns limits of a read with a maximum number of rows.
func testLimits(rows int) OutboxLimits {
	return OutboxLimits{Rows: rows, Bytes: outboxBytes, Body: outboxBytes}
}

// expect reads rows of the outbox except those of some GUIDs, compares their bodies, and returns
// them. The rows must have GUIDs of their own and ascending IDs.
func (o *outboxTest) expect(outbox *Outbox, limit int, except []string, want ...string) []OutboxRow {
	o.Helper()
	rows, err := outbox.Read(o.Context(), testLimits(limit), except)
	var got []string
	var guids []string
	lastID := int64(-1)
	for _, r := range rows {
		if len(r.GUID) != 36 || slices.Contains(guids, r.GUID) {
			o.Errorf("row %+v has no GUID of its own, after %q", r, guids)
		}
		if r.ID <= lastID {
			o.Errorf("row %+v follows row %d", r, lastID)
		}
		got = append(got, string(r.Body))
		guids = append(guids, r.GUID)
		lastID = r.ID
	}
	if err != nil || !slices.Equal(got, want) {
		o.Errorf("the outbox has %q (%v), want %q", got, err, want)
	}
	return rows
}

func guidsOf(rows []OutboxRow) (guids []string) {
	for _, r := range rows {
		guids = append(guids, r.GUID)
	}
	return guids
}

// TestOutbox reads, refuses and deletes rows.
func TestOutbox(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	o.expect(b, 10, nil)
	const unusual = `{"Name":"Größe 日本 😀","Tab":"	"}`
	o.put("a", unusual, "c", "d")
	rows := o.expect(b, 10, nil, "a", unusual, "c", "d")
	if rows[0].Name != "debtor.updated" || rows[0].TooLarge {
		t.Errorf("the first row is %+v, want debtor.updated, not too large", rows[0])
	}
	o.expect(b, 2, nil, "a", unusual)
	o.expect(b, 2, guidsOf(rows[:1]), unusual, "c")
	o.expect(b, 10, guidsOf(rows))

	if err := b.Refuse(t.Context(), rows[2].GUID, "because of \x00"+strings.Repeat("é", 500)); err != nil {
		t.Fatal(err)
	}
	o.expect(b, 10, nil, "a", unusual, "d")
	refused := mssqltest.Count(t, o.dsn, `SELECT COUNT(*) FROM whd.WH_Outbox
		WHERE LEN(RefusedReason) = 400 AND RefusedReason LIKE N'because of `+"\uFFFD"+`éé%' AND Body = N'c'`)
	if refused != 1 {
		t.Errorf("%d rows have the reason, want the refused row", refused)
	}

	for range 2 { // the second call finds no rows
		if err := b.Delete(t.Context(), guidsOf(rows[:2])); err != nil {
			t.Fatal(err)
		}
	}
	o.expect(b, 10, nil, "d")
}

// TestOutboxOfManyRows reads and deletes more rows than one call returns. The latest 1000 rows are
// excepted from the next reads, as if their events were not stored yet.
func TestOutboxOfManyRows(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	const count = 2345
	bodies := strings.ReplaceAll(fmt.Sprint(make([]int, count)), " ", ",")
	mssqltest.Exec(t, o.erp, `INSERT INTO whd.WH_Outbox (EventName, Body)
		SELECT N'debtor.updated', CAST(j.v AS nvarchar(10)) FROM OPENJSON(N'`+bodies+`') WITH (v int '$') j`)
	var guids []string
	for len(guids) < count {
		rows, err := b.Read(t.Context(), testLimits(256), guids[max(0, len(guids)-1000):])
		if err != nil || len(rows) == 0 {
			t.Fatalf("after %d rows: read %d rows (%v)", len(guids), len(rows), err)
		}
		guids = append(guids, guidsOf(rows)...)
		if len(guids) > 1000 {
			if err := b.Delete(t.Context(), guids[:len(guids)-256]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Delete(t.Context(), guids); err != nil {
		t.Fatal(err)
	}
	o.expect(b, 10, nil)
}

// TestOutboxOfLargeBodies checks that bodies are read a few at a time, and larger ones
// than the limit not at all.
func TestOutboxOfLargeBodies(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	half := outboxBytes / 2
	for _, size := range []int{half, half, half, outboxBytes + 1, mssql.NvarcharSize(outboxBytes) + 1} {
		mssqltest.Exec(t, o.erp, fmt.Sprintf(`INSERT INTO whd.WH_Outbox (EventName, Body)
			VALUES (N'debtor.updated', REPLICATE(CAST(N'x' AS nvarchar(max)), %d))`, size))
	}
	want := []string{"half half", "half too large", "too large"} // by call
	var got []string
	for len(got) < len(want) {
		rows, err := b.Read(t.Context(), testLimits(10), nil)
		if err != nil || len(rows) == 0 {
			t.Fatalf("call %d: read %d rows (%v)", len(got)+1, len(rows), err)
		}
		var sizes []string
		for _, r := range rows {
			switch {
			case r.TooLarge && len(r.Body) != half:
				sizes = append(sizes, "too large")
			case !r.TooLarge && len(r.Body) == half:
				sizes = append(sizes, "half")
			default:
				t.Errorf("row %d has %d bytes, too large: %v", r.ID, len(r.Body), r.TooLarge)
			}
		}
		got = append(got, strings.Join(sizes, " "))
		if err := b.Delete(t.Context(), guidsOf(rows)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestOutboxWhileTransactionsAreOpen checks that neither reading nor deletion waits for
// open transactions, and that a row with a low ID is found when it is committed late.
func TestOutboxWhileTransactionsAreOpen(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	program, err := Open(Config{DSN: o.erp, Outbox: DefaultOutbox, Registry: record.Builtin()})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, kept := range []bool{false, true} {
		tx, err := program.Outbox.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{"low 1", "low 2"} {
			_, err := tx.Exec("INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'" + body + "')")
			if err != nil {
				t.Fatal(err)
			}
		}
		o.put("high")
		began := time.Now()
		rows := o.expect(b, 10, nil, "high")
		if err := b.Delete(t.Context(), guidsOf(rows)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > executor.StatementLimit/2 {
			t.Errorf("reading and deletion took %v while a transaction is open", took)
		}
		end := tx.Rollback
		if kept {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	rows := o.expect(b, 10, nil, "low 1", "low 2")
	if first, err := b.inOrder(t.Context(), rows[1:], []string{unusedID}); err != nil || len(first) != 0 {
		t.Errorf("got %+v (%v), but an earlier row is in the table", first, err)
	}
	if first, err := b.inOrder(t.Context(), rows[1:], guidsOf(rows[:1])); err != nil || len(first) != 1 {
		t.Errorf("got %+v (%v), although the earlier row is excepted", first, err)
	}
}

// TestOutboxWhileBillsWait reads the outbox while all connections for bills are in use.
func TestOutboxWhileBillsWait(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	r := o.open()
	for range billConnections {
		conn, err := r.backend.(*serverRecords).pools.bills.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	o.put("a")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := r.Outbox.Read(ctx, testLimits(1), nil)
	if err != nil || len(rows) != 1 {
		t.Errorf("read %d rows (%v), want one", len(rows), err)
	}
	found, err := checkOutbox(ctx, r)
	if err != nil || len(found) > 0 {
		t.Errorf("the check found %v (%v), want nothing", found, err)
	}
}

// TestOutboxReseeded checks that rows are identified by their GUIDs after the table was
// emptied and its IDs start again.
func TestOutboxReseeded(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	o.put("same", "first")
	before := o.expect(b, 10, nil, "same", "first")
	mssqltest.Exec(t, o.dsn, "TRUNCATE TABLE whd.WH_Outbox")
	o.put("same", "second")
	after := o.expect(b, 10, guidsOf(before), "same", "second")
	if before[0].ID != after[0].ID {
		t.Errorf("the IDs start again with %d, want %d", after[0].ID, before[0].ID)
	}
	if err := b.Delete(t.Context(), guidsOf(before)); err != nil {
		t.Fatal(err)
	}
	o.expect(b, 10, nil, "same", "second")
}

// TestOutboxScript runs outbox.sql where whd migrate has created the table, and again.
func TestOutboxScript(t *testing.T) {
	o := newOutboxTest(t)
	mssqltest.Exec(t, o.dsn,
		"CREATE SCHEMA whd",
		`CREATE TABLE whd.WH_Outbox (
			OutboxID bigint IDENTITY(1,1) NOT NULL,
			EventName nvarchar(256) NOT NULL,
			Body nvarchar(max) NOT NULL,
			AddedDateTime datetime2(7) NOT NULL CONSTRAINT DF_WH_Outbox_Added DEFAULT SYSUTCDATETIME(),
			RefusedReason nvarchar(400) NULL,
			CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID) WITH (ALLOW_PAGE_LOCKS = OFF))`,
		"INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'a'), (N'debtor.updated', N'b')",
	)
	o.script()
	o.put("c")
	o.script()
	o.expect(o.open().Outbox, 10, nil, "a", "b", "c")
	unique := mssqltest.Count(t, o.dsn,
		"SELECT COUNT(*) FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID(N'whd.WH_Outbox')")
	if unique != 2 {
		t.Errorf("the table has %d unique indexes, want 2", unique)
	}
}

// TestOutboxCheck checks that whd check reports a missing table, columns and rights.
func TestOutboxCheck(t *testing.T) {
	o := newOutboxTest(t)
	r := o.open()
	o.expectFindings(r,
		"whd.WH_Outbox: there is no such table",
		"erp.outbox",
		"outbox.sql",
		"GRANT SELECT, DELETE, UPDATE (RefusedReason) ON [whd].[WH_Outbox] TO ["+o.login+"]",
	)

	// A column is missing, and another has the wrong type.
	mssqltest.Exec(t, o.dsn,
		"CREATE SCHEMA whd",
		`CREATE TABLE whd.WH_Outbox (OutboxID bigint NOT NULL PRIMARY KEY, EventName nvarchar(256) NOT NULL,
			Body binary(8) NOT NULL, RefusedReason nvarchar(400) NULL)`,
		"GRANT SELECT ON whd.WH_Outbox TO "+o.login,
	)
	o.expectFindings(r,
		"whd.WH_Outbox, column EventGUID: there is no such column",
		"outbox.sql",
		"column Body: the column is binary(8), which cannot be read as",
		"GRANT DELETE, UPDATE (RefusedReason) ON [whd].[WH_Outbox] TO ["+o.login+"]",
	)
	o.expectReadError(r, "run whd check")

	// A row has no GUID.
	mssqltest.Exec(t, o.dsn,
		"DROP TABLE whd.WH_Outbox",
		`CREATE TABLE whd.WH_Outbox (OutboxID bigint IDENTITY(1,1) NOT NULL PRIMARY KEY,
			EventGUID uniqueidentifier NULL UNIQUE, EventName nvarchar(256) NOT NULL, Body nvarchar(max) NOT NULL,
			RefusedReason nvarchar(400) NULL)`,
		"GRANT SELECT ON whd.WH_Outbox TO "+o.login,
		"INSERT INTO whd.WH_Outbox (EventName, Body, EventGUID) VALUES (N'debtor.updated', N'a', NULL)",
	)
	o.expectFindings(r, "column EventGUID: the column must be NOT NULL", "outbox.sql")
	o.expectReadError(r, "a row has no EventGUID", "outbox.sql")

	mssqltest.Exec(t, o.dsn, "DROP TABLE whd.WH_Outbox")
	o.script()
	o.expectNoFinding(r)

	// An index on two columns does not make GUIDs unique.
	mssqltest.Exec(t, o.dsn,
		"ALTER TABLE whd.WH_Outbox DROP CONSTRAINT UQ_WH_Outbox_EventGUID",
		"CREATE UNIQUE INDEX Two ON whd.WH_Outbox (EventGUID, OutboxID)",
	)
	o.expectFindings(r, "column EventGUID: the column must be NOT NULL and have a unique index")
	mssqltest.Exec(t, o.dsn, "CREATE UNIQUE INDEX One ON whd.WH_Outbox (EventGUID)")
	o.expectNoFinding(r)

	for _, right := range []string{"SELECT", "DELETE"} {
		mssqltest.Exec(t, o.dsn, "REVOKE "+right+" ON whd.WH_Outbox FROM "+o.login)
		o.expectFindings(r, "no permission")
		mssqltest.Exec(t, o.dsn, "GRANT "+right+" ON whd.WH_Outbox TO "+o.login)
	}
}

// findings returns the text of all findings on the outbox.
func (o *outboxTest) findings(r *Records) string {
	o.Helper()
	found, err := checkOutbox(o.Context(), r)
	if err != nil {
		o.Errorf("the check failed: %v", err)
	}
	var texts []string
	for _, f := range found {
		texts = append(texts, f.String(), f.Grant)
	}
	return strings.Join(texts, "; ")
}

// expectFindings checks that the findings have all parts.
func (o *outboxTest) expectFindings(r *Records, parts ...string) {
	o.Helper()
	found := o.findings(r)
	for _, part := range parts {
		if !strings.Contains(found, part) {
			o.Errorf("the check found %q, want %q", found, part)
		}
	}
}

func (o *outboxTest) expectNoFinding(r *Records) {
	o.Helper()
	if found := o.findings(r); found != "" {
		o.Errorf("the check found %q, want nothing", found)
	}
}

// expectReadError checks that the outbox cannot be read, and that the error has all parts.
func (o *outboxTest) expectReadError(r *Records, parts ...string) {
	o.Helper()
	rows, err := r.Outbox.Read(o.Context(), testLimits(1), nil)
	if err == nil {
		o.Errorf("read %d rows, want an error with %q", len(rows), parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			o.Errorf("reading: got error %v, want %q", err, part)
		}
	}
}

// TestGrants checks that whd check prints all rights on a table in one statement, if the
// table does not exist, or the login has no rights on it.
func TestGrants(t *testing.T) {
	o := newOutboxTest(t)
	r := o.open()
	o.expectGrants(r)
	mssqltest.Exec(t, o.dsn,
		"CREATE SCHEMA whd",
		"CREATE TABLE DB_Class (Class nvarchar(20))",
		"CREATE TABLE BM_StageCustomValues (RecID nvarchar(36), BM_Stages_RecID nvarchar(36))",
		`CREATE TABLE whd.WH_Outbox (OutboxID bigint NOT NULL PRIMARY KEY,
			EventGUID uniqueidentifier NOT NULL UNIQUE, RefusedReason nvarchar(400) NULL)`,
	)
	o.expectGrants(r)
}

// expectGrants checks that one statement grants all rights on each of three tables.
func (o *outboxTest) expectGrants(r *Records) {
	o.Helper()
	report, err := r.Check(o.Context(), Presence{})
	if err != nil {
		o.Fatal(err)
	}
	for table, rights := range map[string]string{
		"[dbo].[DB_Class]":             "SELECT",
		"[dbo].[BM_StageCustomValues]": "SELECT, INSERT, UPDATE",
		"[whd].[WH_Outbox]":            "SELECT, DELETE, UPDATE (RefusedReason)",
	} {
		isOther := func(grant string) bool { return !strings.Contains(grant, table) }
		got := slices.DeleteFunc(report.Grants(), isOther)
		want := []string{"GRANT " + rights + " ON " + table + " TO [" + o.login + "];"}
		if !slices.Equal(got, want) {
			o.Errorf("got grants %q, want %q", got, want)
		}
	}
}
