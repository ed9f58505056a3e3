package manual

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders the pages. Raw HTML is dropped, but for line breaks in tables.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(elements{}, 100))),
)

// render returns the page with the path from its Markdown.
func render(c Config, pagePath string, source []byte) (*page, error) {
	tree := markdown.Parser().Parse(text.NewReader(source))
	setAnchors(tree, source)
	h, ok := tree.FirstChild().(*ast.Heading)
	if !ok || h.Level != 1 {
		return nil, errors.New("its first line is not a title")
	}
	p := &page{Path: pagePath, Title: plainText(h, source)}
	tree.RemoveChild(tree, h)
	p.divide(tree, source)
	p.Summary = summary(tree, source)
	if err := c.resolve(p, tree); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	err := markdown.Renderer().Render(&body, source, tree)
	p.Body = template.HTML(body.String())
	return p, err
}

// divide adds the sections and their texts to a page.
func (p *page) divide(tree ast.Node, source []byte) {
	end := &p.text
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			*end += " " + strings.ToLower(plainText(n, source))
			if len(p.Sections) > 0 {
				s := &p.Sections[len(p.Sections)-1]
				s.symptoms = append(s.symptoms, symptomsOf(n, source)...)
			}
			continue
		}
		p.Sections = append(p.Sections, section{ID: anchorOf(h), Title: plainText(h, source), Level: h.Level})
		end = &p.Sections[len(p.Sections)-1].text
	}
}

// symptomsOf returns the rows of a table of symptoms with their causes and remedies, nil for other
// nodes.
func symptomsOf(table ast.Node, source []byte) []string {
	if table.Kind() != extast.KindTable || table.FirstChild() == nil {
		return nil
	}
	if head := strings.Join(cellsOf(table.FirstChild(), source), ", "); head != "Symptom, Cause and remedy" {
		return nil
	}
	var symptoms []string
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		symptoms = append(symptoms, strings.Join(cellsOf(row, source), ": "))
	}
	return symptoms
}

// cellsOf returns the texts of the cells of a row.
func cellsOf(row ast.Node, source []byte) []string {
	var cells []string
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		cells = append(cells, strings.TrimSpace(plainText(cell, source)))
	}
	return cells
}

// anchorOf returns the anchor of a heading.
func anchorOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	text, _ := id.([]byte)
	return string(text)
}

// aboutExamples is the start of the paragraph about the examples, which is the first one of many pages
// and not about their subjects.
const aboutExamples = "The examples use "

// summary returns the first sentence of a page.
func summary(tree ast.Node, source []byte) string {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph {
			continue
		}
		text := plainText(n, source)
		if !strings.HasPrefix(text, aboutExamples) {
			return firstSentence(text)
		}
	}
	return ""
}

// sentenceEnd matches the end of a sentence. A colon ends it too: a list or an example follows.
var sentenceEnd = regexp.MustCompile(`[.:?!] `)

// firstSentence returns the first sentence of a text, with its mark.
func firstSentence(text string) string {
	text = strings.TrimRight(text, ":.") + " "
	for _, end := range sentenceEnd.FindAllStringIndex(text, -1) {
		sentence := text[:end[0]]
		isAbbreviation := strings.HasSuffix(sentence, "e.g") || strings.HasSuffix(sentence, "i.e")
		if isAbbreviation {
			continue
		}
		mark := text[end[0] : end[1]-1]
		if mark == ":" {
			mark = "."
		}
		return sentence + mark
	}
	return strings.TrimSpace(text) + "."
}

// plainText returns the text of a node without its marks. There is a blank at the end of each line, so
// that a search does not find words across it.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			isParagraph := n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock // of lists and quotes
			if isParagraph {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(source))
		case *extast.TableCell, *ast.RawHTML:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// setAnchors sets the anchors of the headings of a page as GitHub does, so that a link between
// two pages works there and here. GitHub takes them from the text that readers see, without the
// destinations of links.
func setAnchors(tree ast.Node, source []byte) {
	used := make(map[string]bool)
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		id := anchorFor(plainText(h, source))
		anchor := id
		for n := 1; used[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", id, n)
		}
		used[anchor] = true
		h.SetAttributeString("id", []byte(anchor))
		return ast.WalkSkipChildren, nil
	})
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{M}\p{N} _-]`)

// anchorFor returns the anchor of the first heading with a text.
func anchorFor(heading string) string {
	id := notInAnchor.ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(id, " ", "-")
}

// readme is the page of the repository that the manual refers to for the demo. Here, the tutorial
// starts it, so that the sections of the page do not matter.
const readme = "README.md"

// resolve replaces the destinations of links and pictures, which are relative to the files of the
// repository. A link to a file that the manual does not contain becomes text.
func (c Config) resolve(p *page, tree ast.Node) error {
	var outside []*ast.Link
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			destination, err := c.destination(p, string(n.Destination))
			if err != nil {
				return ast.WalkStop, err
			}
			if destination == "" {
				outside = append(outside, n)
			}
			n.Destination = []byte(destination)
		case *ast.Image: // always one of the manual's own: the pages load nothing else
			n.Destination = []byte(c.Base + Path + "/images/" + path.Base(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	for _, link := range outside {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	return err
}

// destination returns the URL for the destination of a link, "" if it is not of a page of the manual.
// It does not look for the page: a test follows all links.
func (c Config) destination(p *page, to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if u.IsAbs() || u.Path == "" {
		return to, nil
	}
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	if path.Base(u.Path) == readme {
		return c.Base + Path + "/tutorial", nil
	}
	name, isPage := strings.CutSuffix(path.Base(u.Path), ".md")
	if !isPage {
		return "", nil
	}
	folder := path.Dir(p.Path)
	switch path.Dir(u.Path) {
	case ".":
	case "../../whctl/docs":
		folder = path.Join(Path, ClientFolder)
	case "../../daemon/docs":
		folder = Path
	default:
		return "", nil
	}
	return c.Base + path.Join(folder, name) + fragment, nil
}

// elements renders the elements for which the service's pages need other HTML than usual: wide
// ones scroll, and are reachable with the keyboard for that.
type elements struct{}

// RegisterFuncs registers the functions for the elements.
func (elements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindRawHTML, renderRaw)
	r.Register(ast.KindHTMLBlock, renderNothing)
	r.Register(extast.KindTable, renderTable)
	r.Register(extast.KindTableHeader, renderTableHead)
	r.Register(extast.KindTableCell, renderCell)
}

// renderHeading writes a heading with its anchor. A heading of a single word, such as the code of an
// error, has a second anchor in its own letter case.
func renderHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h, _ := n.(*ast.Heading)
	if !entering {
		_, _ = fmt.Fprintf(w, "</h%d>\n", h.Level)
		return ast.WalkContinue, nil
	}
	id := anchorOf(h)
	_, _ = fmt.Fprintf(w, `<h%d id="%s">`, h.Level, template.HTMLEscapeString(id))
	title := plainText(n, source)
	if title != id && strings.EqualFold(title, id) {
		_, _ = fmt.Fprintf(w, `<span id="%s"></span>`, template.HTMLEscapeString(title))
	}
	return ast.WalkContinue, nil
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<pre tabindex="0"><code>`)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// renderRaw writes line breaks, and no other raw HTML.
func renderRaw(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	raw, ok := n.(*ast.RawHTML)
	if entering && ok && raw.Segments.Len() == 1 {
		segment := raw.Segments.At(0)
		if string(segment.Value(source)) == "<br>" {
			_, _ = w.WriteString("<br>")
		}
	}
	return ast.WalkSkipChildren, nil
}

// renderNothing leaves out comments, and all other blocks of raw HTML.
func renderNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func renderTable(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"scroll\" tabindex=\"0\">\n<table>\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("</table>\n</div>\n")
	return ast.WalkContinue, nil
}

// renderTableHead writes the row of headings, unless all are empty.
func renderTableHead(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	isEmpty := strings.TrimSpace(plainText(n, source)) == ""
	if entering && !isEmpty {
		_, _ = w.WriteString("<thead>\n<tr>\n")
		return ast.WalkContinue, nil
	}
	if !isEmpty {
		_, _ = w.WriteString("</tr>\n</thead>\n")
	}
	if !entering && n.NextSibling() != nil {
		_, _ = w.WriteString("<tbody>\n")
	}
	if isEmpty && entering {
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// renderCell writes a cell. An empty heading is an ordinary cell. The alignment of a column is left
// out: it would be an inline style, which the policy of the pages forbids.
func renderCell(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	isHeading := n.Parent().Kind() == extast.KindTableHeader && strings.TrimSpace(plainText(n, source)) != ""
	switch {
	case isHeading && entering:
		_, _ = w.WriteString(`<th scope="col">`)
	case isHeading:
		_, _ = w.WriteString("</th>\n")
	case entering:
		_, _ = w.WriteString("<td>")
	default:
		_, _ = w.WriteString("</td>\n")
	}
	return ast.WalkContinue, nil
}
