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

// onDisk is what a database takes with its WAL, in MB.
func (h *house) onDisk(file string) (size float64) {
	for _, name := range []string{file, file + "-wal"} {
		if info, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			size += float64(info.Size()) / 1e6
		}
	}
	return size
}

// refusals measures what 1,000 messages take that are refused ten times, each time
// with a page of 8 kB.
func refusals(s *stage, b *testing.B) {
	const messages, attempts = 1000, 10
	page := strings.Repeat("<p>no</p>\n", 800)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, page, http.StatusForbidden)
	}))
	b.Cleanup(srv.Close)
	size := samples{what: "1,000 messages refused 10 times with a page of 8 kB, whd.db", metric: "MB", unit: "MB", digits: 1}
	rounds(b, func(int) {
		h := build(b, "--webhooks-retry-schedule", "1s"+strings.Repeat(",1s", attempts-2))
		h.subscribe(b, event(0), srv.URL+"/hook")
		before := h.onDisk("whd.db")
		if err := flood(messages, h.target(event(0))); err != nil {
			b.Fatal(err)
		}
		for h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE Attempts = "+strconv.Itoa(attempts)) < messages {
			time.Sleep(10 * time.Millisecond)
		}
		if err := h.Stop(); err != nil { // which writes the WAL back
			b.Fatal(err)
		}
		size.ours = append(size.ours, h.onDisk("whd.db")-before)
		h.launch(b) // for the one that stops it
	})
	s.table.note(b, size, bounds{must: 8, aim: 4})
}

// requestLogOnDisk measures the most that the request log takes, WAL included,
// with a bound of 5 MiB, while queries of 16 kB are asked, whose bodies are
// logged.
func requestLogOnDisk(s *stage, b *testing.B) {
	const queries = 4000
	h := build(b, "--requestlog-bodies", "--requestlog-max-size", "5MiB")
	size := samples{what: "most that a request log of 5 MiB takes under load", metric: "MB", unit: "MB", digits: 1}
	to, body := h.target(event(0)), `{"ProductNameIn":["`+strings.Repeat("x", 15<<10)+`"]}`
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
					most = max(most, h.onDisk("requestlog.db"))
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
					if err := ask(p, &to, body); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		posting.Wait()
		close(stop)
		watching.Wait()
		size.ours = append(size.ours, most)
	})
	s.table.note(b, size, bounds{must: 5.77, aim: 5.24})
}

// ask sends a query and reads its answer, whatever that is.
func ask(p *publisher, t *target, body string) error {
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
