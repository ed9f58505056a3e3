package rest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// unpacked decompresses a body by its Content-Encoding.
func unpacked(t *testing.T, header http.Header, body io.Reader) (string, error) {
	t.Helper()
	switch coding := header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return "", err
		}
		body = z
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return "", err
		}
		defer z.Close()
		body = z
	default:
		t.Fatalf("Content-Encoding %q", coding)
	}
	text, err := io.ReadAll(body)
	return string(text), err
}

func TestCompression(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	small := c.do("GET /json/reply/DB_ClassQuery?Take=1", "").body
	middle := c.do("GET /json/reply/SO_TotalsQuery?Take=50", "").body
	large := c.do("GET /json/reply/SO_TotalsQuery", "").body
	for accept, want := range map[string]string{
		"":                               "",
		"identity":                       "",
		"br":                             "",
		"gzip":                           "gzip",
		"GZIP":                           "gzip",
		"zstd":                           "zstd",
		"gzip, deflate, br, zstd":        "zstd",
		"gzip;q=1.0, zstd;q=0.5":         "gzip",
		"*":                              "gzip",
		"*, zstd;q=0.5":                  "gzip",
		"gzip;q=0, *":                    "",
		"zstd;q=0, *;q=0.1":              "gzip",
		"zstd;q=0, gzip;q=0, *":          "",
		"gzip;q=0":                       "",
		"identity;q=1, *;q=0":            "",
		" gzip ; q=0.3 ,, zstd; q=0.4 ;": "zstd",
	} {
		for line, body := range map[string]string{
			"GET /json/reply/DB_ClassQuery?Take=1":   small,
			"GET /json/reply/SO_TotalsQuery?Take=50": middle,
			"GET /json/reply/SO_TotalsQuery":         large,
		} {
			if body == large && accept != "" && accept != "gzip" && accept != "zstd" {
				continue // like the middle one
			}
			a := c.do(line, "", "Accept-Encoding: "+accept, "Want-Digest: sha-256").want(t, 200)
			coding, vary := want, "Accept"
			if body == small {
				coding = ""
			}
			if coding != "" {
				vary = "Accept, Accept-Encoding"
			}
			a.wantHeader(t, "Content-Encoding", coding).wantHeader(t, "Vary", vary)
			text, err := unpacked(t, a.header, strings.NewReader(a.body))
			if err != nil || text != body {
				t.Errorf("%s with %q: %v, %d bytes, want %d", line, accept, err, len(text), len(body))
			}
			digest := a.header.Get("X-Digest") + a.http.Trailer.Get("X-Digest")
			if digest != digestOf(body) {
				t.Errorf("%s with %q: digest %q", line, accept, digest)
			}
			if coding != "" && len(a.body) > len(body)/2 {
				t.Errorf("%s with %q: %d bytes became %d", line, accept, len(body), len(a.body))
			}
			head := c.do("HEAD "+strings.TrimPrefix(line, "GET "), "", "Accept-Encoding: "+accept,
				"Want-Digest: sha-256").want(t, 200)
			head.wantHeader(t, "Content-Encoding", coding).wantHeader(t, "Vary", vary).
				wantHeader(t, "Content-Length", a.header.Get("Content-Length"))
		}
	}
}

func TestErrorsAreCompressed(t *testing.T) {
	a := asAdmin(t, demo.start(t)).do("GET /nothing?format=html", "", "Accept-Encoding: gzip").want(t, 404).
		wantHeader(t, "Content-Encoding", "gzip")
	text, err := unpacked(t, a.header, strings.NewReader(a.body))
	if err != nil || !strings.Contains(text, "NotFound") {
		t.Errorf("got %s (%v), want the error NotFound", text, err)
	}
}

func TestAbortedCompressedResponseIsIncomplete(t *testing.T) {
	i := startDamaged(t)
	c := asAdmin(t, i)
	for _, coding := range []string{"gzip", "zstd"} {
		a, err := c.try("GET /csv/reply/IN_ColoursQuery", "", "Accept-Encoding: "+coding)
		if !errors.Is(err, io.ErrUnexpectedEOF) || a.header.Get("Content-Encoding") != coding {
			t.Errorf("%s: got the error %v and the headers %v, want an incomplete response", coding, err, a.header)
		}
		if _, err := unpacked(t, a.header, strings.NewReader(a.body)); err == nil {
			t.Errorf("%s: the compressed body is complete", coding)
		}
		a = c.do("GET /json/reply/IN_ColoursQuery?Description=x", "", "Accept-Encoding: "+coding).want(t, 503)
		checkNoInternals(t, a)
		// Compressors of aborted responses must not affect later ones.
		a = c.do("GET /json/reply/IN_ColoursQuery?Take=500", "", "Accept-Encoding: "+coding).want(t, 200)
		text, err := unpacked(t, a.header, strings.NewReader(a.body))
		if err != nil || !strings.HasSuffix(text, "}}") {
			t.Errorf("%s: got %.100s (%v), want complete JSON", coding, text, err)
		}
	}
}

func TestFirstBytesOfCompressedResponseAreFlushed(t *testing.T) {
	i := startWithView(t, "SY_Filters", endless)
	for _, coding := range []string{"gzip", "zstd"} {
		w := dial(t, i)
		w.send("", "GET /csv/reply/SY_FiltersQuery HTTP/1.1", "Accept-Encoding: "+coding)
		r, err := http.ReadResponse(w.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var packed io.Reader
		if coding == "gzip" {
			packed, err = gzip.NewReader(r.Body)
		} else {
			packed, err = zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1))
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(packed).ReadBytes('\n')
		if err != nil || !bytes.HasPrefix(line, []byte("RecID,")) {
			t.Errorf("%s: the first line is %q (%v), want the names of the columns", coding, line, err)
		}
		w.conn.Close()
	}
}
