package crashtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// markers writes a row of each table that shows that capture has seen all others.
type markers struct {
	erp     *erp
	session session
	last    int // value of the column Counter
}

func newMarkers(t *testing.T, e *erp) *markers {
	t.Helper()
	m := &markers{erp: e, session: e.open(t)}
	t.Cleanup(func() { m.session.Close() })
	return m
}

// mark replaces the marker of each table, and returns the time after that.
func (m *markers) mark(t *testing.T) time.Time {
	t.Helper()
	stamp, err := m.session.now()
	if err != nil {
		t.Fatal(err)
	}
	m.last++
	for _, tb := range m.erp.tables {
		m.erp.exec(t, m.session, fmt.Sprintf("DELETE FROM %s WHERE No = 'marker'", tb.name))
		m.erp.exec(t, m.session, fmt.Sprintf("INSERT INTO %s (Branch, No, Counter, LastSavedDateTime) VALUES (%d, 'marker', %d, '%s')", tb.name, writerCount, m.last, stamp))
	}
	return time.Now()
}

// settle waits until sweeps have seen all rows but the last markers. A sweep that ends after
// the first marker was written may have begun before, but not one that ends after the second.
func (m *markers) settle(t *testing.T, c *client.Client) {
	t.Helper()
	for range 2 {
		marked := m.mark(t)
		awaitCaptures(t, c, m.erp, func(k wire.Capture) bool { return time.Time(k.Swept).After(marked) })
	}
}

// awaitCaptures waits until the captures of all tables have a property.
func awaitCaptures(t *testing.T, c *client.Client, e *erp, has func(wire.Capture) bool) {
	t.Helper()
	await(t, "all captures are as expected", func() (bool, string) {
		captures, err := c.Captures(t.Context())
		done := err == nil && len(captures) == len(e.tables)
		for _, k := range captures {
			done = done && has(k)
		}
		return done, fmt.Sprintf("%+v, %v", captures, err)
	})
}

// position returns the ID of the last change of a kind.
func position(t *testing.T, c *client.Client, kind string) (at int64) {
	t.Helper()
	await(t, "the position of "+kind+" is known", func() (bool, string) {
		page, err := c.Changes(t.Context(), &record.Kind{Name: kind}, "", 0, 0)
		if err == nil {
			at, err = wire.TokenPosition(page.Next)
		}
		return err == nil, fmt.Sprint(err)
	})
	return at
}
