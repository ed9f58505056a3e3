package changes_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/row"
)

// numbered is a table with n rows, and a shadow that finds their entries by number: the
// cost of a sweep is that of this package.
type numbered struct {
	*store
	n       int64
	cells   [][]row.Cell
	entries []changes.Entry
}

func (s *numbered) Table(context.Context, *record.Kind) (changes.Table, error) {
	return changes.Table{Key: []int{0}, Fields: []int{0, 1, 2, 3, 4, 5, 6, 7}, Stamp: -1}, nil
}

func (s *numbered) Database(context.Context) (changes.Database, error) {
	return changes.Database{Identity: "1", Now: time.Now()}, nil
}

func (s *numbered) Read(_ context.Context, r changes.Read) (changes.Page, error) {
	first := int64(0)
	if r.After != nil {
		first = r.After[0].Int + 1
	}
	page := changes.Page{Rows: s.cells[:min(int64(r.Limit), s.n-first)]}
	for i, cells := range page.Rows {
		cells[0].Int = first + int64(i)
	}
	page.More = first+int64(len(page.Rows)) < s.n
	return page, nil
}

func (s *numbered) Find(_ context.Context, _ string, keys [][]byte) ([]*changes.Entry, error) {
	found := make([]*changes.Entry, len(keys))
	for i, key := range keys {
		if n := int(binary.BigEndian.Uint64(key[len(key)-8:])); n < len(s.entries) {
			found[i] = &s.entries[n]
		}
	}
	return found, nil
}

func (s *numbered) Put(_ context.Context, _ string, _, _ int64, entries []changes.Entry) error {
	s.entries = append(s.entries, entries...)
	return nil
}

func (s *numbered) Unseen(_ context.Context, _ string, seen *changes.Bitmap, _ int64, _ int) ([]changes.Entry, error) {
	for i := range s.entries {
		if !seen.Has(int64(i + 1)) {
			return nil, fmt.Errorf("row %d was not seen", i)
		}
	}
	return nil, nil
}

func (s *numbered) Size(context.Context, string) (int64, int64, error) {
	return int64(len(s.entries)), int64(len(s.entries)), nil
}

// BenchmarkSweep sweeps 100,000 unchanged rows of 8 fields.
func BenchmarkSweep(b *testing.B) {
	k := record.Kind{
		Name:    "Item",
		Capture: record.CaptureAlways,
		Fields: []record.Field{
			{Name: "ID", Type: record.Int},
			{Name: "A", Type: record.Text},
			{Name: "B", Type: record.Decimal},
			{Name: "C", Type: record.DateTime},
			{Name: "D", Type: record.Bool},
			{Name: "E", Type: record.Text},
			{Name: "F", Type: record.Guid},
			{Name: "G", Type: record.Decimal},
		},
	}
	registry, err := record.NewRegistry(k)
	if err != nil {
		b.Fatal(err)
	}
	s := &numbered{store: newStore(), n: 100_000}
	for range changes.MaxRows {
		s.cells = append(s.cells, []row.Cell{
			{},
			text("a customer"),
			text("17.50"),
			text("2026-11-26T10:00:00.0000000"),
			{Int: 1},
			text("note"),
			text("6F9619FF-8B86-D011-B42D-00C04FC964FF"),
			text("1000000.00"),
		})
	}
	c := changes.New(changes.Config{
		Source:    s,
		Store:     s,
		Publisher: daemon{s.store, nil},
		Log:       slog.New(slog.DiscardHandler),
		Secret:    []byte("secret"),
		Kinds:     registry.Kinds,
		Named:     func(string) bool { return false },
		Settings:  func() changes.Settings { return changes.Settings{Share: 1000, Sweep: 1, Keep: time.Hour} },
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	waitUntilSwept := func(n int64) {
		for {
			captures := c.Status()
			if len(captures) > 0 && captures[0].Swept >= n {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	waitUntilSwept(s.n) // the first look
	b.ResetTimer()
	for i := range b.N {
		waitUntilSwept(int64(i+2) * s.n)
	}
	b.StopTimer()
	cancel()
	<-done
}
