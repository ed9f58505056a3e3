package manual

import (
	"maps"
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
	pages []string // their paths, below Path
}{
	{
		title: "Start",
		pages: []string{
			"tutorial", "install", "windows-service", "windows-tls", "iis", "sql-server", "migrate-from-dotnet",
			"accounts", "production",
		},
	},
	{
		title: "Read records",
		pages: []string{"query", "excel-power-bi", "assistants", "kinds", "bills"},
	},
	{
		title: "Send and receive events",
		pages: []string{"changes", "webhooks", "verify", "portal"},
	},
	{
		title: "Run it",
		pages: []string{"pages", "operate", "symptoms", "watch", "backup", "upgrade", "tune"},
	},
	{
		title: "Command line and terminal",
		pages: []string{
			"whctl/commands", "whctl/output", "whctl/profiles", "whctl/completion", "whctl/scripting",
			"whctl/changes", "whctl/tui",
		},
	},
	{
		title: "Look up",
		pages: []string{"errors", "whctl/exit-codes", "settings", "metrics", "operations", "glossary"},
	},
}

// unlistedTitle is the title of the group of pages that order lacks.
const unlistedTitle = "More"

// arrange puts the pages into the order of the contents. Pages that it lacks come last.
func (c *content) arrange() {
	unlisted := maps.Clone(c.byPath)
	for _, part := range order {
		g := &group{Title: part.title}
		for _, name := range part.pages {
			p := c.byPath[path.Join(Path, name)]
			if p == nil { // in the small manuals of tests
				continue
			}
			g.Pages = append(g.Pages, p)
			delete(unlisted, p.Path)
		}
		c.addGroup(g)
	}

	g := &group{Title: unlistedTitle, Pages: slices.Collect(maps.Values(unlisted))}
	slices.SortFunc(g.Pages, func(a, b *page) int { return strings.Compare(a.Path, b.Path) })
	c.addGroup(g)
}

// addGroup adds a group that has pages.
func (c *content) addGroup(g *group) {
	if len(g.Pages) > 0 {
		c.groups = append(c.groups, g)
		c.pages = append(c.pages, g.Pages...)
	}
}
