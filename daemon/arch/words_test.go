package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/bizhook/whd/client/goldentest"
)

// counts is the file with the maximum number of occurrences of each counted word.
const counts = "testdata/counts.txt"

// vocabulary contains the rules of words.txt.
type vocabulary struct {
	never []*counted
	few   []*counted
	names []oldName
	skip  []string // files that are not checked
}

// counted is a word or phrase to count.
type counted struct {
	text    string
	first   string // its first word, folded
	pattern *regexp.Regexp
	except  []string
}

// oldName is a former name, which declarations must not have.
type oldName struct {
	areas      []string
	part       bool // identifiers must not contain it either
	old, inNew string
	except     []string // identifiers
}

// readVocabulary reads words.txt.
func readVocabulary(t *testing.T) (v vocabulary) {
	text, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		kind, argument, _ := strings.Cut(line, " ")
		switch {
		case line == "", kind == "#", kind[0] == '#':
		case kind == "never":
			v.never = append(v.never, newCounted(argument))
		case kind == "few":
			v.few = append(v.few, newCounted(argument))
		case kind == "skip":
			file, _, _ := strings.Cut(argument, " ")
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Fatalf("words.txt: %v", err)
			}
			v.skip = append(v.skip, file)
		default:
			line, except, _ := strings.Cut(line, " except ")
			f := strings.SplitN(line, " ", 4)
			isRename := kind == "name" || kind == "part"
			if len(f) != 4 || !isRename {
				t.Fatalf("words.txt: %q", line)
			}
			v.names = append(v.names, oldName{
				strings.Split(f[1], ","),
				kind == "part",
				f[2],
				f[3],
				strings.Split(except, ", "),
			})
		}
	}

	return v
}

func newCounted(line string) *counted {
	text, except, _ := strings.Cut(line, " except ")
	first, _, _ := strings.Cut(folded(text), " ")
	w := &counted{
		text:    text,
		first:   first,
		pattern: regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s+`) + `\b`),
	}
	if except != "" {
		w.except = strings.Split(except, ", ")
	}
	return w
}

// folded returns a text in lower case. All letters that (?i) regards as equal are equal in
// it.
func folded(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// count returns the number of occurrences in a text, without those in an exception. The
// lower-case text, as folded returns it, decides fast whether there can be any.
func (w *counted) count(text, lower string) (n int) {
	if !strings.Contains(lower, w.first) {
		return 0
	}
	for _, at := range w.pattern.FindAllStringIndex(text, -1) {
		if !slices.ContainsFunc(w.except,
			func(phrase string) bool { return strings.HasPrefix(strings.ToLower(text[at[0]:]), phrase) }) {
			n++
		}
	}
	return n
}

// foreign matches files that are not checked: binary files, licences, checksums, and the
// data of these tests.
var foreign = regexp.MustCompile(`^((.*/)?LICENSE|go\.sum|\.ci/tools/go\.sum|daemon/arch/testdata/|.*\.(sum|sha256|png|gz|xlsx|zip)$|.*/package-lock\.json$)`)

// proseFiles returns the paths of the text files of the repository, relative to root.
// Binaries, skipped files and downloads are left out.
func proseFiles(t *testing.T, skip []string) (files []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			isHidden := d.Name()[0] == '.' && !slices.Contains([]string{".", ".ci", ".github"}, name)
			if isHidden || name == "bin" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && !foreign.MatchString(name) && !slices.Contains(skip, name) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prose returns the text of a file. For Go, that is its comments, its string literals and
// the words in its identifiers.
func prose(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if os.IsNotExist(err) {
		return "" // deleted in the work tree, but not in the index
	} else if err != nil {
		t.Fatal(err)
	}

	if !strings.HasSuffix(name, ".go") {
		if bytes.IndexByte(text, 0) >= 0 {
			return ""
		}
		return string(text)
	}

	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}

	var b strings.Builder
	for _, c := range file.Comments {
		b.WriteString(c.Text() + "\n")
	}

	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if s, err := strconv.Unquote(n.Value); err == nil {
					b.WriteString(s + "\n")
				}
			}
		case *ast.Ident:
			b.WriteString(strings.Join(camelWords(n.Name), ".") + "\n")
		}
		return true
	})
	return b.String()
}

// camelWords returns the words in an identifier.
func camelWords(name string) (words []string) {
	start, runes := 0, []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || runes[i] == '_' ||
			unicode.IsUpper(runes[i]) &&
				(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words, start = append(words, strings.Trim(string(runes[start:i]), "_")), i
		}
	}
	return words
}

// Counts the words of words.txt. Words with "never" must not occur; the others at most as
// often as testdata/counts.txt allows. make guards writes that file; -v prints the packages
// with each word.
func TestWords(t *testing.T) {
	v, bound := readVocabulary(t), readCounts(t)
	found, places := make(map[string]int), make(map[string]map[string]int)
	for _, name := range proseFiles(t, v.skip) {
		text := prose(t, name)
		lower := folded(text)
		for _, w := range slices.Concat(v.never, v.few) {
			if n := w.count(text, lower); n > 0 {
				found[w.text] += n
				if places[w.text] == nil {
					places[w.text] = make(map[string]int)
				}
				places[w.text][path.Dir(name)] += n
			}
		}
	}

	old := oldNames(t, v)
	for at := range old {
		found["old names"] += old[at]
	}

	var lines strings.Builder
	for _, text := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&lines, "%d %s\n", found[text], text)
		if found[text] > bound[text] && !goldentest.UpdatingGuards() {
			t.Errorf("%q occurs %d times; %s allows %d; -v prints the packages",
				text, found[text], counts, bound[text])
		}
	}

	t.Logf("\n%s", &lines)
	for _, text := range slices.Sorted(maps.Keys(places)) {
		t.Logf("%s: %v", text, places[text])
	}

	for _, at := range slices.Sorted(maps.Keys(old)) {
		t.Log(at)
	}

	if goldentest.UpdatingGuards() {
		if err := os.WriteFile(counts, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readCounts reads counts.txt, which has a number and a word in each line.
func readCounts(t *testing.T) map[string]int {
	text, err := os.ReadFile(counts)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	bound := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		number, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if bound[text], err = strconv.Atoi(number); err != nil {
			t.Fatal(err)
		}
	}
	return bound
}

// oldNames returns the number of declarations with a former name, by "file: name, now ...".
func oldNames(t *testing.T, v vocabulary) map[string]int {
	found := make(map[string]int)
	for _, name := range proseFiles(t, v.skip) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			t.Fatal(err)
		}
		declared := declarations(file)
		for _, n := range v.names {
			if !slices.ContainsFunc(n.areas, func(area string) bool {
				return area == "." ||
					strings.HasPrefix(name, area+"/")
			}) {
				continue
			}
			for id := range declared {
				parts := camelWords(id)
				if !slices.Contains(n.except, id) &&
					(strings.EqualFold(id, n.old) ||
						n.part &&
							slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, n.old) })) {
					found[fmt.Sprintf("%s: %s, now %s", name, id, n.inNew)]++
				}
			}
		}
	}

	return found
}

// declarations returns the names of a file's types, functions, methods, fields, constants
// and variables, except local ones.
func declarations(file *ast.File) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					names[id.Name] = true
				}
			}
		case *ast.InterfaceType:
			for _, f := range n.Methods.List {
				for _, id := range f.Names {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}
