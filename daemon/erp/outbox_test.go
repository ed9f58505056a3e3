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
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// outboxTest is a database with an outbox, which a service and a program of the ERP use.
type outboxTest struct {
	*testing.T
	dsn            string // of the database's owner
	service, erp   string // connection strings
	login, program string // their names
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
	replace := strings.NewReplacer("TO whd;", "TO "+o.login+";", "USER_ID(N'whd')", "USER_ID(N'"+o.login+"')", "$(ERPUser)", o.program)
	for _, batch := range mssqltest.Batches(o, "../../cmd/daemon/deploy/outbox.sql") {
		mssqltest.Exec(o, o.dsn, replace.Replace(batch))
	}
}

// open opens the outbox with the rights of the service.
func (o *outboxTest) open() *Records {
	o.Helper()
	r, err := Open(Config{DSN: o.service, Outbox: DefaultOutbox, LockTimeout: executor.StatementLimit, Registry: record.Builtin()})
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

// expect compares the bodies of the outbox, and returns its rows.
func (o *outboxTest) expect(from *Outbox, limit int, except []string, want ...string) []OutboxRow {
	o.Helper()
	all, err := from.Read(o.Context(), limit, 1<<20, except)
	var got, seen []string
	for i, r := range all {
		got = append(got, string(r.Body))
		if len(r.GUID) != 36 || slices.Contains(seen, r.GUID) || i > 0 && r.ID <= all[i-1].ID {
			o.Errorf("row %+v follows %q", r, seen)
		}
		seen = append(seen, r.GUID)
	}
	if err != nil || !slices.Equal(got, want) {
		o.Errorf("the outbox has %q (%v), want %q", got, err, want)
	}
	return all
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
	r := o.open()
	b := r.Outbox
	o.expect(b, 10, nil)
	o.put("a", `{"Name":"Größe 日本 😀","Tab":"	"}`, "c", "d")
	all := o.expect(b, 10, nil, "a", `{"Name":"Größe 日本 😀","Tab":"	"}`, "c", "d")
	if all[0].Name != "debtor.updated" || all[0].TooLarge {
		t.Errorf("got %+v", all[0])
	}
	o.expect(b, 2, nil, "a", string(all[1].Body))
	o.expect(b, 2, guidsOf(all[:1]), string(all[1].Body), "c")
	o.expect(b, 10, guidsOf(all))
	if err := b.Refuse(t.Context(), all[2].GUID, "because of \x00"+strings.Repeat("é", 500)); err != nil {
		t.Fatal(err)
	}
	o.expect(b, 10, nil, "a", string(all[1].Body), "d")
	if n := mssqltest.Count(t, o.dsn, "SELECT COUNT(*) FROM whd.WH_Outbox WHERE LEN(RefusedReason) = 400 AND RefusedReason LIKE N'because of \uFFFDéé%' AND Body = N'c'"); n != 1 {
		t.Error("the reason is missing")
	}
	for range 2 { // the second call finds no rows
		if err := b.Delete(t.Context(), guidsOf(all[:2])); err != nil {
			t.Fatal(err)
		}
	}
	o.expect(b, 10, nil, "d")

	const count = 2345
	mssqltest.Exec(t, o.erp, "INSERT INTO whd.WH_Outbox (EventName, Body) SELECT N'debtor.updated', CAST(j.v AS nvarchar(10)) FROM OPENJSON(N'"+numbers(count)+"') WITH (v int '$') j")
	var guids []string
	for len(guids) < count+1 {
		rows, err := b.Read(t.Context(), 256, 1<<20, guids[max(0, len(guids)-1000):])
		if err != nil || len(rows) == 0 {
			t.Fatalf("%d rows (%v)", len(rows), err)
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

func numbers(n int) string {
	return strings.ReplaceAll(fmt.Sprint(make([]int, n)), " ", ",")
}

// TestOutboxOfLargeBodies checks that bodies are read a few at a time, and larger ones
// than the limit not at all.
func TestOutboxOfLargeBodies(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	b := o.open().Outbox
	half := outboxBytes / 2
	for _, size := range []int{half, half, half, outboxBytes + 1, outboxPerByte*outboxBytes + 1} {
		mssqltest.Exec(t, o.erp, fmt.Sprintf("INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', REPLICATE(CAST(N'x' AS nvarchar(max)), %d))", size))
	}
	var got []string
	for len(got) < 3 {
		rows, err := b.Read(t.Context(), 10, outboxBytes, nil)
		if err != nil || len(rows) == 0 {
			t.Fatalf("%d rows (%v)", len(rows), err)
		}
		text := ""
		for _, r := range rows {
			text += fmt.Sprint(len(r.Body) == half, r.TooLarge, " ")
		}
		got = append(got, text)
		if err := b.Delete(t.Context(), guidsOf(rows)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"true false true false ", "true false false true ", "false true "}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestOutboxWhileTransactionsAreOpen checks that neither reading nor deletion waits for
// open transactions, and that a row with a low ID is found when it is committed late.
func TestOutboxWhileTransactionsAreOpen(t *testing.T) {
	o := newOutboxTest(t)
	o.script()
	r := o.open()
	b := r.Outbox
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
			if _, err := tx.Exec("INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'" + body + "')"); err != nil {
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
			t.Errorf("took %v while a transaction is open", took)
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
		conn, err := r.backend.(*serverRecords).bills.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	o.put("a")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := r.Outbox.Read(ctx, 1, 1, nil)
	if found, checkErr := checkOutbox(ctx, r); err != nil || len(rows) != 1 || checkErr != nil || len(found) > 0 {
		t.Errorf("%d rows (%v), found %v (%v)", len(rows), err, found, checkErr)
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
	mssqltest.Exec(t, o.dsn, "CREATE SCHEMA whd", `CREATE TABLE whd.WH_Outbox (OutboxID bigint IDENTITY(1,1) NOT NULL, EventName nvarchar(256) NOT NULL, Body nvarchar(max) NOT NULL,
	AddedDateTime datetime2(7) NOT NULL CONSTRAINT DF_WH_Outbox_Added DEFAULT SYSUTCDATETIME(), RefusedReason nvarchar(400) NULL,
	CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID) WITH (ALLOW_PAGE_LOCKS = OFF))`,
		"INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'a'), (N'debtor.updated', N'b')")
	o.script()
	o.put("c")
	o.script()
	o.expect(o.open().Outbox, 10, nil, "a", "b", "c")
	if n := mssqltest.Count(t, o.dsn, "SELECT COUNT(*) FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID(N'whd.WH_Outbox')"); n != 2 {
		t.Errorf("%d unique indexes", n)
	}
}

// TestOutboxCheck checks that whd check reports a missing table, columns and rights.
func TestOutboxCheck(t *testing.T) {
	o := newOutboxTest(t)
	r := o.open()
	b := r.Outbox
	expect := func(parts ...string) {
		t.Helper()
		found, err := checkOutbox(t.Context(), r)
		var texts []string
		for _, f := range found {
			texts = append(texts, f.String(), f.Grant)
		}
		text := strings.Join(texts, "; ")
		if err != nil || len(parts) == 0 && text != "" {
			t.Errorf("found %q (%v)", text, err)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("found %q, want %q", text, part)
			}
		}
	}
	expect("whd.WH_Outbox: there is no such table", "erp.outbox", "outbox.sql", "GRANT SELECT, DELETE, UPDATE (RefusedReason) ON [whd].[WH_Outbox] TO ["+o.login+"]")
	mssqltest.Exec(t, o.dsn, "CREATE SCHEMA whd", "CREATE TABLE whd.WH_Outbox (OutboxID bigint NOT NULL PRIMARY KEY, EventName nvarchar(256) NOT NULL, Body binary(8) NOT NULL, RefusedReason nvarchar(400) NULL)",
		"GRANT SELECT ON whd.WH_Outbox TO "+o.login)
	expect("whd.WH_Outbox, column EventGUID: there is no such column", "outbox.sql", "column Body: the column is binary(8), which cannot be read as", "GRANT DELETE, UPDATE (RefusedReason) ON [whd].[WH_Outbox] TO ["+o.login+"]")
	if _, err := b.Read(t.Context(), 1, 1, nil); err == nil || !strings.Contains(err.Error(), "run whd check") {
		t.Errorf("reading: %v", err)
	}
	mssqltest.Exec(t, o.dsn, "DROP TABLE whd.WH_Outbox", `CREATE TABLE whd.WH_Outbox (OutboxID bigint IDENTITY(1,1) NOT NULL PRIMARY KEY, EventGUID uniqueidentifier NULL UNIQUE,
	EventName nvarchar(256) NOT NULL, Body nvarchar(max) NOT NULL, RefusedReason nvarchar(400) NULL)`, "GRANT SELECT ON whd.WH_Outbox TO "+o.login,
		"INSERT INTO whd.WH_Outbox (EventName, Body, EventGUID) VALUES (N'debtor.updated', N'a', NULL)")
	expect("column EventGUID: the column must be NOT NULL", "outbox.sql")
	if rows, err := b.Read(t.Context(), 1, 1, nil); err == nil || !strings.Contains(err.Error(), "a row has no EventGUID") || !strings.Contains(err.Error(), "outbox.sql") {
		t.Errorf("read %d rows without a GUID (%v)", len(rows), err)
	}
	mssqltest.Exec(t, o.dsn, "DROP TABLE whd.WH_Outbox")
	o.script()
	expect()
	mssqltest.Exec(t, o.dsn, "ALTER TABLE whd.WH_Outbox DROP CONSTRAINT UQ_WH_Outbox_EventGUID", "CREATE UNIQUE INDEX Two ON whd.WH_Outbox (EventGUID, OutboxID)")
	expect("column EventGUID: the column must be NOT NULL and have a unique index")
	mssqltest.Exec(t, o.dsn, "CREATE UNIQUE INDEX One ON whd.WH_Outbox (EventGUID)")
	expect()
	for _, right := range []string{"SELECT", "DELETE"} {
		mssqltest.Exec(t, o.dsn, "REVOKE "+right+" ON whd.WH_Outbox FROM "+o.login)
		expect("no permission")
		mssqltest.Exec(t, o.dsn, "GRANT "+right+" ON whd.WH_Outbox TO "+o.login)
	}
}

// TestGrants checks that whd check prints all rights on a table in one statement, if the
// table does not exist, or the login has no rights on it.
func TestGrants(t *testing.T) {
	o := newOutboxTest(t)
	r := o.open()
	expect := func() {
		t.Helper()
		found, err := r.Check(t.Context(), Presence{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []struct{ rights, table string }{{"SELECT", "[dbo].[DB_Class]"}, {"SELECT, INSERT, UPDATE", "[dbo].[BM_StageCustomValues]"}, {"SELECT, DELETE, UPDATE (RefusedReason)", "[whd].[WH_Outbox]"}} {
			grants := slices.DeleteFunc(found.Grants(), func(grant string) bool { return !strings.Contains(grant, want.table) })
			if statement := "GRANT " + want.rights + " ON " + want.table + " TO [" + o.login + "];"; !slices.Equal(grants, []string{statement}) {
				t.Errorf("%q, want %s", grants, statement)
			}
		}
	}
	expect()
	mssqltest.Exec(t, o.dsn, "CREATE SCHEMA whd", "CREATE TABLE DB_Class (Class nvarchar(20))", `CREATE TABLE BM_StageCustomValues (RecID nvarchar(36), BM_Stages_RecID nvarchar(36))`,
		"CREATE TABLE whd.WH_Outbox (OutboxID bigint NOT NULL PRIMARY KEY, EventGUID uniqueidentifier NOT NULL UNIQUE, RefusedReason nvarchar(400) NULL)")
	expect()
}
