package manual

import (
	"path"
	"slices"
	"strings"
)

// group is a part of the contents.
type group struct {
	Title string
	Pages []*page
}

// order lists the pages of the contents by task, as the README does.
var order = []struct {
	title string
	names string // below Path
}{
	{"Start", "tutorial install windows-service windows-tls iis sql-server migrate-from-dotnet accounts production"},
	{"Read records", "query excel-power-bi assistants kinds bills"},
	{"Send and receive events", "changes webhooks verify portal"},
	{"Run it", "pages operate symptoms watch backup upgrade tune"},
	{
		"Command line and terminal",
		"whctl/commands whctl/output whctl/profiles whctl/completion whctl/scripting" +
			" whctl/changes whctl/tui",
	},
	{"Look up", "errors whctl/exit-codes settings metrics operations glossary"},
}

// arrange puts the pages into the order of the contents. Pages that it lacks come last.
func (c *content) arrange() {
	unlisted := make(map[string]bool)
	for name := range c.byPath {
		unlisted[name] = true
	}
	for _, part := range order {
		g := &group{Title: part.title}
		for name := range strings.FieldsSeq(part.names) {
			p := c.byPath[path.Join(Path, name)]
			if p == nil {
				continue
			}
			g.Pages = append(g.Pages, p)
			delete(unlisted, p.Path)
		}
		c.groups = append(c.groups, g)
	}
	if len(unlisted) > 0 {
		g := &group{Title: "More"}
		for name := range unlisted {
			g.Pages = append(g.Pages, c.byPath[name])
		}
		slices.SortFunc(g.Pages, func(a, b *page) int { return strings.Compare(a.Path, b.Path) })
		c.groups = append(c.groups, g)
	}
	for _, g := range c.groups {
		c.pages = append(c.pages, g.Pages...)
	}
}
