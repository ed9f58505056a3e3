package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
)

// once runs a check a single time, regardless of -benchtime.
func once(b *testing.B, check func()) {
	var done sync.Once
	for b.Loop() {
		done.Do(check)
	}
	b.ReportMetric(0, "ns/op")
}

// exactDecimals checks that decimals are returned exactly as stored, in every text
// format, and in numeric order.
func exactDecimals(s *stage, b *testing.B) {
	digits := extremes()
	d, err := fill(filepath.Join(b.TempDir(), "exact"), len(digits), withTotals(digits))
	if err != nil {
		b.Fatal(err)
	}
	slices.SortFunc(digits, func(a, b string) int { return rational(a).Cmp(rational(b)) })
	server, err := start(roleDaemon, d)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	wrong := 0
	once(b, func() {
		for _, format := range encode.PathNames() {
			if err := sends(server, d, format, digits); err != nil {
				wrong++
				b.Error(err)
			}
		}
	})
	found := fmt.Sprintf("%d values, %d formats, %d wrong", len(digits), len(encode.PathNames()), wrong)
	s.table.checked(b, "decimal(38,s), exact and in order", found, "byte-exact", wrong == 0)
}

// sends checks that the totals appear in the response in their order.
func sends(c *child, d data, format string, digits []string) error {
	conn, err := dial(c)
	if err != nil {
		return err
	}
	defer conn.Close()
	query := fmt.Sprintf(`{"Fields":"InvoiceTotal","OrderBy":"InvoiceTotal","Take":%d}`, encode.AllRows)
	var body bytes.Buffer
	if _, err := conn.send(d.post(queryPath(format), query), &body); err != nil {
		return fmt.Errorf("%s: %w", format, err)
	}
	isDigits := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == '-' }
	words := strings.FieldsFunc(body.String(), func(r rune) bool { return !isDigits(r) })
	for _, want := range digits {
		at := slices.Index(words, want)
		if at < 0 {
			return fmt.Errorf("%s: %s does not follow in order", format, want)
		}
		words = words[at+1:]
	}
	return nil
}

// extremes returns decimals of 38 digits for each scale: the largest, one that
// differs from it in the last digit only, and their negatives.
func extremes() []string {
	var all []string
	for scale := range 39 {
		for _, last := range []string{"9", "8"} {
			text := strings.Repeat("9", 37) + last
			whole, fraction := text[:38-scale], text[38-scale:]
			if whole == "" {
				whole = "0"
			}
			if fraction != "" {
				whole += "." + fraction
			}
			all = append(all, whole, "-"+whole)
		}
	}
	return all
}

func rational(digits string) *big.Rat {
	r, _ := new(big.Rat).SetString(digits)
	return r
}

// withTotals returns invoices with these totals.
func withTotals(digits []string) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		n := 0
		for values := range invoices(len(digits)) {
			values[1] = digits[n]
			n++
			if !yield(values) {
				return
			}
		}
	}
}

// failedExports checks that clients detect incomplete exports. The records are
// damaged in the middle, so that the store fails there.
func failedExports(s *stage, b *testing.B) {
	const rows = 20_000
	d, err := fill(filepath.Join(b.TempDir(), "damaged"), rows, invoices(rows))
	if err != nil {
		b.Fatal(err)
	}
	if err := damage(filepath.Join(d.dir, "records.db")); err != nil {
		b.Fatal(err)
	}
	server, err := start(roleDaemon, d)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	unnoticed := 0
	formats := encode.PathNames()
	once(b, func() {
		for _, format := range formats {
			for _, client := range []func(*child, data, string) error{failsOn11, failsOn10} {
				if err := client(server, d, format); err != nil {
					unnoticed++
					b.Errorf("%s: %v", format, err)
				}
			}
		}
	})
	found := fmt.Sprintf("%d exports, %d unnoticed", 2*len(formats), unnoticed)
	s.table.checked(b, "failed exports are noticed", found, "connection aborted", unnoticed == 0)
}

// allRows also selects all rows in HTML, which has pages by default.
var allRows = fmt.Sprintf(`{"Take":%d}`, encode.AllRows)

// damage overwrites the middle of the table in a file: its last two thirds are indexes.
func damage(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, piece), info.Size()/6)
	}
	return errors.Join(err, file.Close())
}

// failsOn11 returns an error if net/http's client accepts the response as complete.
func failsOn11(c *child, d data, format string) error {
	request, err := http.NewRequest(http.MethodPost, "http://"+c.address+queryPath(format), strings.NewReader(allRows))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+d.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	switch {
	case n < piece:
		return fmt.Errorf("only %d bytes before the damage", n)
	case err == nil:
		return fmt.Errorf("the response ended without an error after %d bytes", n)
	case response.Trailer.Get(wire.HeaderRowCount) != "":
		return errors.New("the aborted response has a row count")
	}
	return nil
}

// failsOn10 returns an error if an HTTP/1.0 client, which detects the end by that of
// the connection, accepts the response as complete.
func failsOn10(c *child, d data, format string) error {
	conn, err := dial(c)
	if err != nil {
		return err
	}
	defer conn.Close()
	request := bytes.Replace(d.post(queryPath(format), allRows), []byte("HTTP/1.1"), []byte("HTTP/1.0"), 1)
	if _, err := conn.send(request, io.Discard); err == nil {
		return errors.New("the HTTP/1.0 response ended without an error")
	}
	return nil
}
