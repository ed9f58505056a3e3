package demo

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"strings"
	"unicode/utf16"
)

// documents are the types of files attached to a creditor's transactions: templates of the
// title and the file name, and the content.
var documents = []struct {
	description string
	file        string
	contents    func(title string, n int) []byte
}{
	{"Tax invoice {no} from {company}", "INV-{no}.pdf", pdf},
	{"Packing slip {no}, {town}", "slip_{no}.txt", text},
	{"Photo of carton {few}, damaged in transit", "IMG_{no}.png", png},
	{"Remittance advice to {company}", "remittance {no}.csv", remittance},
	{"Signed by {name} on delivery", "signature-{no}.png", png},
	{"Statement {few}/2025 – {company}", "Statement {no}.PDF", pdf},
}

// document is the attached file of a row.
type document struct {
	sort  int // index in documents
	title string
	file  string
}

func documentOf(r row) document {
	d := r.random("document")
	sort := d.IntN(len(documents))
	title := expandTemplate(d, documents[sort].description)
	file := expandTemplate(d, documents[sort].file)
	return document{sort, title, file}
}

func documentContents(r row) any {
	d := documentOf(r)
	return documents[d.sort].contents(d.title, r.n)
}

func text(title string, n int) []byte {
	return fmt.Appendf(nil, "%s\r\n%s\r\n\r\nCartons: %d\r\nChecked: yes\r\n",
		title, strings.Repeat("=", len(title)), n%9+1)
}

func remittance(title string, n int) []byte {
	payee := strings.ReplaceAll(title, `"`, `""`)
	return fmt.Appendf(nil, "Payee,Reference,Amount\r\n\"%s\",%05d,%s\r\n",
		payee, n, amount(n)*unit/8)
}

// pdf returns a PDF with one empty page and a title.
func pdf(title string, _ int) []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
		fmt.Sprintf("<</Title<feff%x>>>", utf16Text(title)),
	}
	out := []byte("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	index := []byte("0000000000 65535 f \n")
	for i, object := range objects {
		index = fmt.Appendf(index, "%010d 00000 n \n", len(out))
		out = fmt.Appendf(out, "%d 0 obj%sendobj\n", i+1, object)
	}
	start := len(out)
	size := len(objects) + 1
	out = fmt.Appendf(out, "xref\n0 %d\n%s", size, index)
	out = fmt.Appendf(out, "trailer<</Size %d/Root 1 0 R/Info 4 0 R>>\n", size)
	return fmt.Appendf(out, "startxref\n%d\n%%%%EOF\n", start)
}

// utf16Text encodes text for the information dictionary of a PDF.
func utf16Text(text string) []byte {
	var out []byte
	for _, code := range utf16.Encode([]rune(text)) {
		out = binary.BigEndian.AppendUint16(out, code)
	}
	return out
}

// png returns an image with a few stripes. It is not compressed, since the output of a
// compressor may change with its version.
func png(_ string, n int) []byte {
	const width, height = 8, 8
	var pixels []byte
	for y := range height {
		pixels = append(pixels, 0) // no filter
		for x := range width {
			pixels = append(pixels, byte((x*y+n)*29))
		}
	}
	header := binary.BigEndian.AppendUint32(nil, width)
	header = binary.BigEndian.AppendUint32(header, height)
	header = append(header, 8, 0, 0, 0, 0) // eight bits of grey
	out := []byte("\x89PNG\r\n\x1a\n")
	out = chunk(out, "IHDR", header)
	out = chunk(out, "IDAT", zlibStored(pixels))
	return chunk(out, "IEND", nil)
}

func chunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	body := append([]byte(name), data...)
	return binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
}

// zlibStored returns data in zlib format, in one uncompressed block.
func zlibStored(data []byte) []byte {
	out := []byte("\x78\x01\x01")
	out = binary.LittleEndian.AppendUint16(out, uint16(len(data)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(data)))
	return binary.BigEndian.AppendUint32(append(out, data...), adler32.Checksum(data))
}
