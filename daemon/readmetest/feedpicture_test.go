package readmetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// The pictures of the pages about Excel and assistants.
const (
	feedPicture      = "cmd/daemon/docs/images/excel.svg"
	assistantPicture = "cmd/daemon/docs/images/assistant.svg"
	maxSmallPicture  = 30_000
)

// browser is the program that lays out a page for its picture. The result depends on the fonts
// of the machine, so that -update does not draw it again.
const browser = "chromium"

var drawPages = flag.Bool("draw-pages", false, "draw the pictures of web pages with "+browser)

// shownAddress is the address of the service in the manual.
const shownAddress = "http://127.0.0.1:5050"

// layoutScript replaces a page by the boxes and texts that a browser shows.
const layoutScript = `<script>
const all = [], clear = c => c === 'rgba(0, 0, 0, 0)'
function text(s, style, r) { if (s.trim() && r.width > 1) all.push({Text: s.trim(), X: r.left, Y: r.top, W: r.width, H: r.height, Fill: style.color, Size: parseFloat(style.fontSize), Bold: style.fontWeight >= 600, Mono: style.fontFamily.includes('mono'), Line: style.textDecorationLine === 'underline'}) }
function visit(e) {
  if (!e.checkVisibility() || e.matches('.hide, .skip, script')) return
  const style = getComputedStyle(e), r = e.getBoundingClientRect(), width = side => parseFloat(style['border' + side + 'Width'])
  const framed = width('Top') > 0 && width('Bottom') > 0
  if (!clear(style.backgroundColor) || framed) all.push({X: r.left, Y: r.top, W: r.width, H: r.height, R: parseFloat(style.borderRadius) || 0, Fill: clear(style.backgroundColor) ? 'none' : style.backgroundColor, Stroke: framed ? style.borderTopColor : ''})
  if (!framed && width('Bottom') > 0) all.push({X: r.left, Y: r.bottom - 1, W: r.width, H: 1, Fill: style.borderBottomColor})
  if (e.matches('input, select')) text(e.selectedOptions ? e.selectedOptions[0].textContent : e.value, style, {left: r.left + 8, top: r.top + 4, width: 1.1, height: r.height - 8})
  else for (const n of e.childNodes) {
    if (n.nodeType === 1) visit(n)
    if (n.nodeType !== 3) continue
    for (const m of n.data.matchAll(/\S[^\n]*/g)) {
      const range = document.createRange()
      range.setStart(n, m.index); range.setEnd(n, m.index + m[0].trimEnd().length)
      text(m[0], style, range.getBoundingClientRect())
    }
  }
}
visit(document.body)
document.documentElement.textContent = 'layout:' + btoa(unescape(encodeURIComponent(JSON.stringify(all)))) + ':'
</script>`

var layoutText = regexp.MustCompile(`layout:([A-Za-z0-9+/=]+):`)

// shape is a text or a box of a page, in pixels.
type shape struct {
	Text          string
	X, Y, W, H, R float64
	Fill, Stroke  string
	Size          float64
	Bold, Mono    bool
	Line          bool
}

// layout returns the shapes that the browser shows of a page in a window.
func layout(t *testing.T, page string, width, height int) (all []shape) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	page = strings.Replace(page, "</body>", layoutScript+"</body>", 1)
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), browser,
		"--headless",
		"--no-sandbox",
		"--disable-gpu",
		"--user-data-dir="+t.TempDir(),
		fmt.Sprintf("--window-size=%d,%d", width, height),
		"--dump-dom",
		clientstest.FileURL(file),
	).Output()
	if err != nil {
		t.Fatal(err)
	}
	m := layoutText.FindSubmatch(out)
	if m == nil {
		t.Fatalf("no layout: %.500s", out)
	}
	text, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// drawPage draws the part of a page above height.
func drawPage(shapes []shape, width, height int, description string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" role=\"img\">\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height, width, height, description)
	for _, s := range shapes {
		isCutText := s.Text != "" && s.Y+s.H > float64(height)
		if isCutText || s.Y > float64(height) {
			continue
		}
		if s.Text == "" {
			stroke := ""
			if s.Stroke != "" {
				stroke = fmt.Sprintf(` stroke="%s"`, s.Stroke)
			}
			fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.0f\" fill=\"%s\"%s/>\n", s.X, s.Y, s.W, s.H, min(s.R, s.H/2), s.Fill, stroke)
			continue
		}
		style := fmt.Sprintf(` fill="%s" font-size="%.4g"`, s.Fill, s.Size)
		if s.W > 2 {
			style += fmt.Sprintf(` textLength="%.1f"`, s.W)
		}
		if s.Bold {
			style += ` font-weight="600"`
		}
		if s.Mono {
			style += ` font-family="ui-monospace, Consolas, 'DejaVu Sans Mono', monospace"`
		}
		if s.Line {
			style += ` text-decoration="underline"`
		}
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\"%s>", s.X, s.Y+s.H*0.77, style)
		_ = xml.EscapeText(&b, []byte(s.Text))
		b.WriteString("</text>\n")
	}

	b.WriteString("</svg>\n")
	return strings.ReplaceAll(b.String(), "&#39;", "'")
}

var (
	tag      = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)
	drawn    = regexp.MustCompile(`<text [^>]*>([^<]*)</text>`)
	anyBlank = regexp.MustCompile(`\s+`)
)

// TestFeedPicture compares the texts of the picture of a kind's page with the page of the
// demo; -draw-pages draws it.
func TestFeedPicture(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-queries", "anonymous")
	page := fetch(t, i.URL+"/Queries/SO_Totals?format=html&Take=5&InvoiceTotalGreaterThan=5000&Fields=InvoiceID,InvoiceTotal,Cartage1Total,Cartage2Total")
	page = strings.ReplaceAll(page, i.URL, shownAddress)
	name := filepath.Join(root, feedPicture)
	if *drawPages {
		const width, height = 900, 426
		shapes := layout(t, page, width, 1000)
		err := os.WriteFile(name, []byte(drawPage(shapes, width, height,
			"The web page of a record kind, with its address for Excel and its file for Power BI above the rows")), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || len(got) > maxSmallPicture {
		t.Fatalf("%s has %d bytes, at most %d are allowed (%v)", feedPicture, len(got), maxSmallPicture, err)
	}
	shown := anyBlank.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(page, " ")), " ")
	texts := drawn.FindAllStringSubmatch(string(got), -1)
	for _, m := range texts {
		if text := html.UnescapeString(m[1]); !strings.Contains(shown, text) {
			t.Errorf("%s shows %q, which is not on the page: run make picture", feedPicture, text)
		}
	}
	if len(texts) < 30 || !strings.Contains(string(got), ">"+shownAddress+"/odata/SO_Totals<") {
		t.Errorf("%s has %d texts, or not the address for Excel", feedPicture, len(texts))
	}
}

func fetch(t *testing.T, address string) string {
	t.Helper()
	reply, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s (%v), want status 200", address, reply.Status, err)
	}
	return string(text)
}

// TestAssistantPicture compares the picture of an assistant's calls with the results of
// the tools for the demo; -update draws it.
func TestAssistantPicture(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-queries", "anonymous", "--mcp-enabled")
	call := func(tool, arguments string) (structured json.RawMessage) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", i.URL+"/mcp",
			strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var body struct {
			Result struct{ StructuredContent json.RawMessage }
		}
		if err := json.NewDecoder(reply.Body).Decode(&body); err != nil || body.Result.StructuredContent == nil {
			t.Fatalf("the tool %s with %s returned no content: %v", tool, arguments, err)
		}
		return body.Result.StructuredContent
	}
	const find, sum = `{"words":"invoices"}`, `{"kind":"SO_Totals","filter":{"InvoiceTotalBetween":[1000,2000]},"sum":["InvoiceTotal"]}`
	var found struct {
		Kinds []struct {
			Kind, Summary string
			Fields        []string
		}
	}

	var total struct {
		Totals struct{ Count, SumInvoiceTotal json.Number }
	}
	totals := call("totals", sum)
	if err := json.Unmarshal(call("find_kinds", find), &found); err != nil || len(found.Kinds) == 0 {
		t.Fatal(found, err)
	}
	if err := json.Unmarshal(totals, &total); err != nil {
		t.Fatal(err)
	}

	first := found.Kinds[0]
	lines := []string{
		"{1}> How many invoices are between 1,000 and 2,000, and how large is their sum?{0}", "",
		"{36}find_kinds{0} " + find,
		"{90}  " + first.Kind + ": " + first.Summary + "{0}",
		"{90}  " + strings.Join(first.Fields[:4], ", ") + ", ..{0}", "",
		"{36}totals{0} " + sum,
		"{90}  " + string(totals) + "{0}", "",
		fmt.Sprintf("{32}There are %s invoices between 1,000 and 2,000. Their sum is %s.{0}",
			total.Totals.Count, total.Totals.SumInvoiceTotal),
	}
	want := picture(100, "An assistant answers a question about invoices with two calls of tools", lines)
	name := filepath.Join(root, assistantPicture)
	if goldentest.Updating() {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := os.ReadFile(name); err != nil || string(got) != want || len(want) > maxSmallPicture {
		t.Errorf("%s is stale or larger than %d bytes (%v): run the test with -update\n%s",
			assistantPicture, maxSmallPicture, err, strings.Join(lines, "\n"))
	}
}
