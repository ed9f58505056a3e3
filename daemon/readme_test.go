package daemon

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/rest"
)

const readme = "../README.md"

// TestReadmeTables compares the tables that stand in the README between
// comments with what the code says; -update writes them.
func TestReadmeTables(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, table := range map[string]string{"operations": operationsTable(), "settings": settingsTable()} {
		if want, err = replaceBetween(want, name, table); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the tables of README.md are stale: run make golden")
	}
}

// replaceBetween puts table between the comments that mark its place.
func replaceBetween(text, name, table string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	head, rest, found := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s has no place for %s: %s...%s", readme, name, begin, end)
	}
	return head + begin + "\n" + table + "\n" + end + tail, nil
}

// operationsTable lists each operation with its paths and the least role that
// it takes. What the table of routes says comes here by way of /metadata.
func operationsTable() string {
	var b strings.Builder
	b.WriteString("| Operation | Method and path | Role |\n|---|---|---|\n")
	for _, o := range rest.Describe().Operations {
		var ways []string
		for _, r := range o.Routes {
			ways = append(ways, strings.Join(r.Methods, " ")+" `"+r.Path+"`")
		}
		text := strings.ReplaceAll(strings.Join(ways, "<br>"), "GET POST PUT PATCH DELETE", "any")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Name, text, cmp.Or(o.Role, "-"))
	}
	return b.String()
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| Setting | Flag of `whd serve` | Default | What it does | While it runs |\n|---|---|---|---|---|\n")
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
