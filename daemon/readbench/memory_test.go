package readbench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// memory measures the most memory that exports take, each in a daemon that has
// done nothing before.
func memory(s *stage, b *testing.B) {
	few, err := s.small()
	if err != nil {
		b.Fatal(err)
	}
	many, err := s.large()
	if err != nil {
		b.Fatal(err)
	}
	if err := forgetPeak(0); err != nil && errors.Is(err, errors.ErrUnsupported) {
		s.table.skipped(b, err.Error())
		return
	}
	aboveIdle := func(metric string) samples { return samples{metric: metric, unit: "MB", digits: 1, named: "idle"} }
	json, csv, slowJSON, slowCSV := aboveIdle("json"), aboveIdle("csv"), aboveIdle("slow-json"), aboveIdle("slow-csv")
	against := samples{metric: "against-100k", unit: "MB", digits: 1, named: "100k rows"}
	further := samples{metric: "further", unit: "MB", digits: 1, named: "one alone"}
	rounds(b, func(int) {
		one := peak(b, few, whole("json"))
		all := peak(b, many, whole("json"))
		json.add(all.most, all.idle)
		against.add(all.most, one.most)
		p := peak(b, many, whole("csv"))
		csv.add(p.most, p.idle)
		p = peak(b, many, slowly("json"))
		slowJSON.add(p.most, p.idle)
		p = peak(b, many, slowly("csv"))
		slowCSV.add(p.most, p.idle)
		p = peak(b, many, whole("json"), whole("json"), whole("csv"), whole("csv"))
		further.add((p.most-all.most)/3, all.most)
	})
	s.table.above(b, "peak of a 1M export, json", json, 32)
	s.table.above(b, "peak of a 1M export, csv", csv, 32)
	s.table.above(b, "peak of a 1M export at 1 MB/s, json", slowJSON, 32)
	s.table.above(b, "peak of a 1M export at 1 MB/s, csv", slowCSV, 32)
	s.table.times(b, "peak of a 1M export, json, against 100k", against, 1.1)
	s.table.below(b, "each further export at once", further, 20)
}

// held is what a daemon holds, in MB.
type held struct{ idle, most float64 }

// reader is a client that reads an export.
type reader func(*connection, data) error

// peak starts a daemon and has it send exports at once.
func peak(b *testing.B, d data, readers ...reader) held {
	c, err := start(roleDaemon, d)
	if err != nil {
		b.Fatal(err)
	}
	var h held
	err = h.measure(c, d, readers)
	if err = errors.Join(err, c.stop()); err != nil {
		b.Fatal(err)
	}
	return h
}

func (h *held) measure(c *child, d data, readers []reader) error {
	// The first request makes what all of them share.
	if err := read(c, d, func(conn *connection, d data) error {
		_, err := conn.ask(d.request(c, row, 0), io.Discard)
		return err
	}); err != nil {
		return err
	}
	var err error
	if h.idle, err = heldMemory(c.pid()); err != nil {
		return err
	}
	if err := forgetPeak(c.pid()); err != nil {
		return err
	}
	if err := read(c, d, readers...); err != nil {
		return err
	}
	h.most, err = peakMemory(c.pid())
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

// whole reads everything as fast as it comes.
func whole(format string) reader {
	return func(conn *connection, d data) error {
		_, err := conn.ask(d.post(queryPath(format), export.body), io.Discard)
		return err
	}
}

// slowly reads for a while, at about 1 MB/s, and hangs up.
func slowly(format string) reader {
	const (
		bite  = 32 << 10
		bites = 32 * 4
		pause = time.Second / 32
	)
	return func(conn *connection, d data) error {
		if err := conn.Conn.(*net.TCPConn).SetReadBuffer(bite); err != nil {
			return err
		}
		response, err := conn.begin(d.post(queryPath(format), export.body))
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
