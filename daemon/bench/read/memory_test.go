package read

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// memory measures the peak memory of exports, each in a fresh daemon.
func memory(s *stage, b *testing.B) {
	if err := benchtest.ResetPeak(os.Getpid()); err != nil {
		s.table.Skip(b, err.Error())
		return
	}
	for _, export := range []struct {
		name  string
		title string
		read  reader
	}{
		{"json", "1M rows, json", whole("json", "")},
		{"ndjson", "1M rows, ndjson", whole("ndjson", "")},
		{"csv", "1M rows, csv", whole("csv", "")},
		{"xml", "1M rows, xml", whole("xml", "")},
		{"odata", "1M rows by OData", wholeFeed},
		{"json-zstd", "1M rows, json, zstd", whole("json", "zstd")},
		{"json-gzip", "1M rows, json, gzip", whole("json", "gzip")},
		{"xml-zstd", "1M rows, xml, zstd", whole("xml", "zstd")},
		{"json-slow", "1M rows, json, at 1 MB/s", slowly("json", "")},
		{"csv-slow", "1M rows, csv, at 1 MB/s", slowly("csv", "")},
		{"xml-slow", "1M rows, xml, at 1 MB/s", slowly("xml", "")},
		{"json-zstd-slow", "1M rows, json, zstd, at 1 MB/s", slowly("json", "zstd")},
	} {
		b.Run(export.name, func(b *testing.B) {
			got := s.memory(b, "idle", func(_, many data) (whd, idle float64) {
				h := peak(b, many, export.read)
				return h.max, h.idle
			})
			s.table.above(b, "peak of "+export.title, got, 32)
		})
	}
	b.Run("against-100k", s.memoryAgainst100k)
	b.Run("further", s.memoryOfMore)
}

func (s *stage) memoryAgainst100k(b *testing.B) {
	read := whole("json", "")
	got := s.memory(b, "100k rows", func(few, many data) (whd, base float64) {
		return peak(b, many, read).max, peak(b, few, read).max
	})
	s.table.times(b, "peak of 1M rows, json", got, 1.1)
}

func (s *stage) memoryOfMore(b *testing.B) {
	json, csv := whole("json", ""), whole("csv", "")
	got := s.memory(b, "one alone", func(_, many data) (whd, base float64) {
		alone := peak(b, many, json).max
		four := peak(b, many, json, json, csv, csv).max
		return (four - alone) / 3, alone
	})
	s.table.below(b, "each additional concurrent export", got, 20)
}

// memory collects the measurements of a round.
func (s *stage) memory(b *testing.B, named string, measure func(few, many data) (whd, base float64)) samples {
	few, err := s.small()
	if err != nil {
		b.Fatal(err)
	}
	many, err := s.large()
	if err != nil {
		b.Fatal(err)
	}
	got := samples{metric: "peak", unit: "MB", digits: 1, named: named}
	rounds(b, s.minRounds, func(int) { got.add(measure(few, many)) })
	return got
}

// held is the memory of a daemon, in MB.
type held struct{ idle, max float64 }

// reader is a client that reads an export.
type reader func(*connection, data) error

// peak starts a daemon and reads exports from it concurrently.
func peak(b *testing.B, d data, readers ...reader) held {
	c, err := start(roleDaemon, d)
	if err != nil {
		b.Fatal(err)
	}
	var h held
	err = h.measure(c, d, readers)
	if err = errors.Join(err, c.Stop()); err != nil {
		b.Fatal(err)
	}
	return h
}

func (h *held) measure(c *child, d data, readers []reader) error {
	// The first request allocates the shared resources.
	if err := read(c, d, func(conn *connection, d data) error {
		_, err := conn.send(d.request(c, row, 0), io.Discard)
		return err
	}); err != nil {
		return err
	}
	var err error
	if h.idle, _, err = benchtest.Memory(c.PID()); err != nil {
		return err
	}
	if err := benchtest.ResetPeak(c.PID()); err != nil {
		return err
	}
	if err := read(c, d, readers...); err != nil {
		return err
	}
	_, h.max, err = benchtest.Memory(c.PID())
	return err
}

func read(c *child, d data, readers ...reader) error {
	errs := make([]error, len(readers))
	var all sync.WaitGroup
	for i, r := range readers {
		all.Go(func() {
			conn, err := dial(c)
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			errs[i] = r(conn, d)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// whole reads everything as fast as possible.
func whole(format, coding string) reader {
	return func(conn *connection, d data) error {
		_, err := conn.send(d.export(format, coding), io.Discard)
		return err
	}
}

// slowly reads for a while, at about 1 MB/s, and disconnects.
func slowly(format, coding string) reader {
	const (
		bite  = 32 << 10
		bites = 32 * 2
		pause = time.Second / 32
	)
	return func(conn *connection, d data) error {
		if err := conn.Conn.(*net.TCPConn).SetReadBuffer(bite); err != nil {
			return err
		}
		response, err := conn.begin(d.export(format, coding))
		if err != nil {
			return err
		}
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for range bites {
			if _, err := io.CopyN(io.Discard, response.Body, bite); err != nil {
				return fmt.Errorf("reading slowly: %w", err)
			}
			<-tick.C
		}
		return nil
	}
}
