package daemon

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/rest"
)

// docs is the directory of the manual's pages about the daemon.
const docs = "../cmd/daemon/docs/"

// TestDocsTables compares the generated tables of the manual with the tables of the
// code; -update writes them.
func TestDocsTables(t *testing.T) {
	checkTable(t, "operations", operationsTable())
	checkTable(t, "settings", settingsTable())
	checkTable(t, "query", conventionsTable())
}

// checkTable compares the table between the comments <!-- name --> and
// <!-- end of name --> on the page name.md; -update writes it.
func checkTable(t *testing.T, name, table string) {
	t.Helper()
	page := docs + name + ".md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	head, after, found := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(after, end)
	want := head + begin + "\n" + table + "\n" + end + tail
	switch {
	case !found || !closed:
		t.Fatalf("%s lacks the markers of its table: %s...%s", page, begin, end)
	case want == string(text):
	case goldentest.Updating():
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s is stale: run make golden", page)
	}
}

// TestDocsSettings looks up every setting that the manual names, in its text and in its
// samples of settings files.
func TestDocsSettings(t *testing.T) {
	known := map[string]bool{"store.dsn": true, "erp.dsn": true, "store.sql": true} // the last is a script
	groups := make(map[string]bool)
	for _, s := range config.Settings() {
		known[s.Name] = true
		if group, _, found := strings.Cut(s.Name, "."); found {
			groups[group] = true
		}
	}

	pages, err := filepath.Glob("../cmd/*/docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages (%v)", err)
	}

	named, sample := regexp.MustCompile("`([a-z]+)\\.([a-z_]+)( [^`]*)?`"), regexp.MustCompile("(?s)```toml\n(.*?)```")
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}

		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if groups[m[1]] && m[2] != "db" && !known[m[1]+"."+m[2]] {
				t.Errorf("%s names the setting %s.%s, which does not exist", page, m[1], m[2])
			}
		}

		for _, m := range sample.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], ".fields]") || strings.Contains(m[1], "capture") { // a file of record kinds
				if _, problems := kinds.Parse(page, []byte(m[1])); problems != nil {
					t.Errorf("%v in\n%s", problems, m[1])
				}
				continue
			}
			var file map[string]any
			if err := toml.Unmarshal([]byte(m[1]), &file); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, m[1])
			}
			for group, value := range file {
				keys, isTable := value.(map[string]any)
				if !isTable && !known[group] {
					t.Errorf("%s: no setting %s in\n%s", page, group, m[1])
				}
				for key := range keys {
					if !known[group+"."+strings.TrimSuffix(key, "_file")] {
						t.Errorf("%s: no setting %s.%s in\n%s", page, group, key, m[1])
					}
				}
			}
		}
	}
}

// operationsTable lists each operation with its paths and the minimal role that it needs,
// as /metadata describes it.
func operationsTable() string {
	var b strings.Builder
	b.WriteString("| Operation | Method and path | Role |\n|---|---|---|\n")
	for _, o := range rest.Describe().Operations {
		var ways []string
		for _, r := range o.Routes {
			ways = append(ways, strings.Join(r.Methods, " ")+" `"+r.Path+"`")
		}
		text := strings.ReplaceAll(strings.Join(ways, "<br>"), "GET POST PUT PATCH DELETE", "any")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n",
			strings.Join(append([]string{o.Name}, o.Aliases...), "`<br>`"), text, cmp.Or(o.Role, "-"))
	}
	return b.String()
}

// conventionsTable lists the implicit conventions by the equivalent suffix.
func conventionsTable() string {
	var b strings.Builder
	b.WriteString("| Suffix | Other names |\n|---|---|\n")
	for _, c := range record.Conventions() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", c.Operator, strings.Join(c.Names, "`, `"))
	}
	return b.String()
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| Setting | Flag of `whd serve` | Default | Effect | While it runs |\n|---|---|---|---|---|\n")
	for _, s := range config.Settings() {
		standard := s.Default
		if standard != "" {
			standard = "`" + standard + "`"
		}
		live := ""
		if s.Live {
			live = "may change"
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", s.Name, s.Flag(), standard, s.Help, live)
	}
	return b.String()
}
