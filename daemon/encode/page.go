package encode

import (
	"crypto/sha256"
	"encoding/base64"
)

// pageStyle is the only style of a page. Colours follow what the reader's
// system prefers.
const pageStyle = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--faint:#59636e;--line:#d1d9e0;--band:#f6f8fa;--link:#0550ae;--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--faint:#9198a1;--line:#3d444d;--band:#151b23;--link:#79c0ff;--bad:#ff8f85}}
body{margin:0 auto;padding:1rem 1.5rem;color:var(--ink);background:var(--paper);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.5rem}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:1rem;margin:0;padding:0;list-style:none}
.scroll{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse}
caption{text-align:left;color:var(--faint)}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td{max-width:40rem;overflow-wrap:anywhere;white-space:pre-wrap}
thead th{background:var(--band);white-space:nowrap}
tbody tr:hover{background:var(--band)}
.n{text-align:right;font-variant-numeric:tabular-nums}
td.n{white-space:nowrap}
.error{color:var(--bad);font-weight:600}
`

// StylePolicy is the source by which a Content-Security-Policy allows the style
// of the pages, and no other.
func StylePolicy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// beginPage writes everything up to what a page is about.
func beginPage(dst []byte, title string) []byte {
	dst = append(dst, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
`...)
	dst = appendElement(dst, "title", title)
	dst = append(dst, "\n<style>"+pageStyle+"</style>\n</head>\n<body>\n<main>\n"...)
	dst = appendElement(dst, "h1", title)
	return append(dst, '\n')
}

func endPage(dst []byte) []byte {
	return append(dst, "</main>\n</body>\n</html>\n"...)
}

// appendElement writes a text in an element. tag may bring attributes.
func appendElement(dst []byte, tag, text string) []byte {
	dst = append(dst, '<')
	dst = append(dst, tag...)
	dst = append(dst, '>')
	dst = markupEscapes.append(dst, []byte(text))
	dst = append(dst, "</"...)
	for i := 0; i < len(tag) && tag[i] != ' '; i++ {
		dst = append(dst, tag[i])
	}
	return append(dst, '>')
}

// beginTable opens a table that scrolls by itself, also by keyboard, where it
// is wider than the screen.
func beginTable(dst []byte, caption string) []byte {
	dst = append(dst, `<div class="scroll" role="region" aria-labelledby="caption" tabindex="0">
<table>
`...)
	dst = appendElement(dst, `caption id="caption"`, caption)
	return append(dst, '\n')
}

func endTable(dst []byte) []byte { return append(dst, "</table>\n</div>\n"...) }

// appendFacts writes names and values as a table with a heading at each row.
func appendFacts(dst []byte, caption string, facts []Pair) []byte {
	if len(facts) == 0 {
		return dst
	}
	dst = append(dst, "<table>\n"...)
	dst = appendElement(dst, "caption", caption)
	dst = append(dst, "\n<tbody>\n"...)
	for _, f := range facts {
		dst = append(dst, "<tr>"...)
		dst = appendElement(dst, `th scope="row"`, f.Name)
		dst = appendElement(dst, "td", f.Value)
		dst = append(dst, "</tr>\n"...)
	}
	return append(dst, "</tbody>\n</table>\n"...)
}
