package read

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// question is a request to the servers. The %s in a body is replaced by an invoice's
// id, the only part that the floor reads: it distinguishes questions by their paths.
type question struct {
	path   string
	body   string
	format string // empty for JSON
	get    bool   // path is sent by GET
}

var (
	row       = question{path: "/row", body: `{"InvoiceID":"%s"}`}
	page100   = question{path: "/page100", body: `{"InvoiceIDBetween":["%s","E"],"InvoiceTotalGreaterThan":12500.50,"OrderBy":"InvoiceID","Take":100,"Include":"NoTotal"}`}
	page1000  = question{path: "/page1000", body: `{"InvoiceIDBetween":["%s","E"],"InvoiceTotalGreaterThan":12500.50,"OrderBy":"InvoiceID","Take":1000,"Include":"NoTotal"}`}
	export    = question{path: "/export", body: `{}`}
	exportCSV = question{path: "/csv", body: `{}`, format: "csv"}
	ordered   = question{path: "/ordered", body: `{"OrderBy":"InvoiceID"}`}
)

// about returns the body for the n-th invoice.
func (q question) about(n int) string { return strings.Replace(q.body, "%s", invoiceID(n), 1) }

// queryPath returns the path of SO_Totals in a format.
func queryPath(format string) string { return "/" + format + "/reply/SO_TotalsQuery" }

// request returns a question to a server about the n-th invoice.
func (d data) request(c *child, q question, n int) []byte {
	if q.get {
		return d.get(strings.Replace(q.path, "%s", invoiceID(n), 1))
	}
	path := queryPath(cmp.Or(q.format, "json"))
	if c.role == roleFloor {
		path = q.path
	}
	return d.post(path, q.about(n))
}

// export returns a request for all rows.
func (d data) export(format, coding string) []byte {
	return d.post(queryPath(format), export.body, "Accept-Encoding: "+coding)
}

func (d data) post(path, body string, headers ...string) []byte {
	head := append([]string{
		"POST " + path + " HTTP/1.1",
		"Host: bench",
		"Authorization: Bearer " + d.key,
		"Content-Type: application/json",
		"Content-Length: " + strconv.Itoa(len(body)),
	}, headers...)
	return []byte(strings.Join(head, "\r\n") + "\r\n\r\n" + body)
}

// connection is a minimal HTTP client. The client of net/http would use more CPU
// time than the servers.
type connection struct {
	net.Conn
	in *bufio.Reader
}

func dial(c *child) (*connection, error) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReaderSize(conn, 128<<10)}, nil
}

// send sends a request and reads its response to the end.
func (c *connection) send(request []byte, body io.Writer) (*http.Response, error) {
	response, err := c.begin(request)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(body, response.Body)
	return response, errors.Join(err, response.Body.Close())
}

// begin sends a request and reads the head of its response.
func (c *connection) begin(request []byte) (*http.Response, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	return response, nil
}
