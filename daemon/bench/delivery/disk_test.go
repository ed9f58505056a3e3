package delivery

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sizeOnDisk returns the size of a database with its WAL, in MB.
func (h *benchDaemon) sizeOnDisk(file string) (size float64) {
	for _, name := range []string{file, file + "-wal"} {
		if info, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			size += float64(info.Size()) / 1e6
		}
	}
	return size
}

// rejectionsOnDisk measures the size of 1,000 messages that are rejected ten times,
// each time with a response of 8 kB.
func rejectionsOnDisk(s *suite, b *testing.B) {
	const messages, attempts = 1000, 10
	page := strings.Repeat("<p>no</p>\n", 800)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, page, http.StatusForbidden)
	}))
	b.Cleanup(srv.Close)
	size := samples{
		title:  "1,000 messages rejected 10 times with a response of 8 kB, whd.db",
		metric: "MB",
		unit:   "MB",
		digits: 1,
	}
	rounds(b, func(int) {
		h := startDaemon(b, "--webhooks-retry-schedule", "1s"+strings.Repeat(",1s", attempts-2))
		h.subscribe(b, event(0), srv.URL+"/hook")
		before := h.sizeOnDisk("whd.db")
		if err := publishAll(messages, h.publishTarget(event(0))); err != nil {
			b.Fatal(err)
		}
		for h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE Attempts = "+strconv.Itoa(attempts)) < messages {
			time.Sleep(10 * time.Millisecond)
		}
		if err := h.Stop(); err != nil { // checkpoints the WAL
			b.Fatal(err)
		}
		size.values = append(size.values, h.sizeOnDisk("whd.db")-before)
		h.launch(b) // for the cleanup, which stops it
	})
	s.table.addSamples(b, size, limits{limit: 8, goal: 4})
}

// requestLogOnDisk measures the maximum size of the request log, including its WAL,
// with a limit of 5 MiB, during queries of 16 kB with logged bodies.
func requestLogOnDisk(s *suite, b *testing.B) {
	const queries = 4000
	h := startDaemon(b, "--requestlog-bodies", "--requestlog-max-size", "5MiB")
	size := samples{title: "maximum size of a request log of 5 MiB under load", metric: "MB", unit: "MB", digits: 1}
	to, body := h.publishTarget(event(0)), `{"ProductNameIn":["`+strings.Repeat("x", 15<<10)+`"]}`
	to.path = "/json/reply/SO_TotalsQuery"
	rounds(b, func(int) {
		most, stop := 0.0, make(chan struct{})
		var watching, posting sync.WaitGroup
		watching.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					most = max(most, h.sizeOnDisk("requestlog.db"))
				}
			}
		})
		for range 16 {
			posting.Go(func() {
				p, err := dial(to.address)
				if err != nil {
					b.Error(err)
					return
				}
				defer p.Close()
				for range queries / 16 {
					if err := query(p, &to, body); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		posting.Wait()
		close(stop)
		watching.Wait()
		size.values = append(size.values, most)
	})
	s.table.addSamples(b, size, limits{limit: 5.77, goal: 5.24})
}

// query sends a query and reads its response, with any status.
func query(p *publisher, t *target, body string) error {
	if err := p.post(t, body); err != nil {
		return err
	}
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
