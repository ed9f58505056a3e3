package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goclient "github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// resumes is a service behind a network that resets connections.
type resumes struct {
	service *daemontest.Instance
	line    *mssqltest.Proxy
	direct  *goclient.Client
	through *goclient.Client // the line
	retries int
}

// startResumes starts a service with colours. After each reset, next returns the number of bytes
// of the next connection; 0 means all.
func startResumes(t *testing.T, rows int, next func(resets int) int64) *resumes {
	t.Helper()
	dir := t.TempDir()
	fillColours(t, dir, rows)
	r := &resumes{service: daemontest.StartIn(t, dir)}
	r.line = mssqltest.NewProxy(t, r.service.URL)
	open := func(o goclient.Options) *goclient.Client {
		o.User, o.Password = "admin", daemontest.AdminPassword
		c, err := goclient.New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	r.direct = open(goclient.Options{URL: r.service.URL})
	r.through = open(goclient.Options{URL: r.line.DSN, Retrying: func(error, time.Duration) {
		r.retries++
		r.line.CutAfter(next(r.retries))
	}})
	r.line.CutAfter(next(0))
	return r
}

// colours is a query of all colours.
func colours(resume bool, order ...string) goclient.Query {
	kind, _ := record.Builtin().Lookup("IN_Colours")
	return goclient.Query{Kind: kind, OrderBy: order, Resume: resume, Strict: true}
}

// readText reads all rows as text, and calls each after each part.
func readText(t *testing.T, rows *goclient.Rows, err error, each func(text string)) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines, err := range rows.Text() {
		if err != nil {
			t.Fatalf("after %d rows: %v", rows.Count(), err)
		}
		all.Write(lines)
		if each != nil {
			each(string(lines))
		}
	}
	if n := int64(strings.Count(all.String(), "\n")); rows.Count() != n {
		t.Errorf("%d rows are counted as %d", n, rows.Count())
	}
	return all.String()
}

// TestResumeAfterResets reads all rows through connections that are reset at any byte. They are
// those of one reply, also if the service limits its pages.
func TestResumeAfterCuts(t *testing.T) {
	const rows, most = 8000, 4
	random := rand.New(rand.NewPCG(7, 24))
	r := startResumes(t, rows, func(resets int) int64 {
		if resets%most == most-1 {
			return 0
		}
		return 1 + random.Int64N(1<<20)
	})
	type open = func(context.Context, goclient.Query) (*goclient.Rows, error)
	for name, open := range map[string][2]open{
		"ndjson": {r.direct.Rows, r.through.Rows},
		"csv":    {r.direct.CSV, r.through.CSV},
	} {
		for _, order := range []string{"RecID", "-RecID"} {
			r.service.Set(t, "query.max_take", "")
			direct, err := open[0](t.Context(), colours(false, order))
			want := readText(t, direct, err, nil)
			if order == "-RecID" {
				r.service.Set(t, "query.max_take", "900")
			}
			r.retries = 0
			r.line.CutAfter(1 + random.Int64N(1<<17))
			r.line.Reset() // connections of earlier queries
			paged, err := open[1](t.Context(), colours(true, order))
			got := readText(t, paged, err, nil)
			if got != want || strings.Count(got, "\n") != rows || r.retries == 0 {
				t.Errorf("%s by %s: %d of %d rows after %d resets, equal: %t",
					name, order, paged.Count(), rows, r.retries, got == want)
			}
			if notes := paged.Notes(); notes != (goclient.Notes{}) {
				t.Errorf("%s by %s: notes %+v", name, order, notes)
			}
		}
	}
}

// TestResumeWhileRowsChange inserts and deletes rows before the place of a query that
// resumes. It still returns each of the others once.
func TestResumeWhileRowsChange(t *testing.T) {
	const rows = 5000
	r := startResumes(t, rows, func(resets int) int64 { return int64(400_000 + 1000*resets) })
	conn, err := sqlite.Open(filepath.Join(r.service.Dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	direct, err := r.direct.Rows(t.Context(), colours(false, "RecID"))
	want := readText(t, direct, err, nil)
	changes := 0
	paged, err := r.through.Rows(t.Context(), colours(true, "RecID"))
	got := readText(t, paged, err, func(string) {
		before := int(paged.Count()) - 1
		changes++
		for _, statement := range []string{
			fmt.Sprintf("DELETE FROM IN_Colours WHERE RecID = '%06d'", before-changes),
			fmt.Sprintf("INSERT INTO IN_Colours (RecID) VALUES ('%06d new')", before-1),
		} {
			if err := conn.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != want || r.retries == 0 || changes < 3 {
		t.Errorf("%d rows after %d resets and %d changes, equal: %t", paged.Count(), r.retries, changes, got == want)
	}
}
