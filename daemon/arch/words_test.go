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
)

// counts is how often the words of words.txt that are used too much may still occur.
const counts = "testdata/counts.txt"

// vocabulary is words.txt.
type vocabulary struct {
	never []*word
	few   []*word
	names []oldName
}

// word is a word or a phrase that is counted.
type word struct {
	text    string
	pattern *regexp.Regexp
	except  []string
}

// oldName is a name that declarations do not have any more.
type oldName struct {
	areas      []string
	part       bool // no identifier contains it
	old, inNew string
}

// readVocabulary reads words.txt.
func readVocabulary(t *testing.T) (v vocabulary) {
	text, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		kind, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "", kind == "#", kind[0] == '#':
		case kind == "never":
			v.never = append(v.never, newWord(rest))
		case kind == "few":
			v.few = append(v.few, newWord(rest))
		default:
			f := strings.SplitN(line, " ", 4)
			if len(f) != 4 || kind != "name" && kind != "part" {
				t.Fatalf("words.txt: %q", line)
			}
			v.names = append(v.names, oldName{strings.Split(f[1], ","), kind == "part", f[2], f[3]})
		}
	}
	return v
}

func newWord(line string) *word {
	text, except, _ := strings.Cut(line, " except ")
	w := &word{text: text, pattern: regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s+`) + `\b`)}
	if except != "" {
		w.except = strings.Split(except, ", ")
	}
	return w
}

// count is how often a text has the word, other than in one of its exceptions.
func (w *word) count(text string) (n int) {
	for _, at := range w.pattern.FindAllStringIndex(text, -1) {
		if !slices.ContainsFunc(w.except, func(phrase string) bool { return strings.HasPrefix(strings.ToLower(text[at[0]:]), phrase) }) {
			n++
		}
	}
	return n
}

// notOurs are the files whose words are not ours: what others' programs print or
// send, demo data, licences, generated lists, and this list itself.
var notOurs = regexp.MustCompile(`^(LICENSE|go\.sum|\.ci/tools/go\.sum|daemon/arch/testdata/|.*\.(sum|sha256|png|gz|xlsx|zip)$)`)

// proseFiles are the files of the repository that hold text, by their names
// relative to the root. Builds, data of the demo and downloads are left out.
func proseFiles(t *testing.T) (files []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); d.IsDir() {
			if name == "bin" || d.Name() == "node_modules" || d.Name()[0] == '.' && name != "." && name != ".ci" && name != ".github" {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && !notOurs.MatchString(name) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prose is the text of a file: of Go its comments, string literals and the words
// that its identifiers consist of.
func prose(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if os.IsNotExist(err) {
		return "" // deleted, but not in the index yet
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

// camelWords are the words of an identifier.
func camelWords(name string) (words []string) {
	begin, runes := 0, []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || runes[i] == '_' || unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words, begin = append(words, strings.Trim(string(runes[begin:i]), "_")), i
		}
	}
	return words
}

// TestWords counts the words of words.txt. Those that are never used may not occur,
// the others not more often than testdata/counts.txt says. -update writes that
// file; -v prints where words are.
func TestWords(t *testing.T) {
	v, bound := readVocabulary(t), readCounts(t)
	found, places := make(map[string]int), make(map[string]map[string]int)
	for _, name := range proseFiles(t) {
		text := prose(t, name)
		for _, w := range slices.Concat(v.never, v.few) {
			if n := w.count(text); n > 0 {
				found[w.text] += n
				if places[w.text] == nil {
					places[w.text] = make(map[string]int)
				}
				places[w.text][path.Dir(name)] += n
			}
		}
	}
	old := oldNames(t, v.names)
	for at := range old {
		found["old names"] += old[at]
	}
	var lines strings.Builder
	for _, text := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&lines, "%d %s\n", found[text], text)
		if found[text] > bound[text] && !*update {
			t.Errorf("%q occurs %d times, where %s has %d; -v prints where", text, found[text], counts, bound[text])
		}
	}
	t.Logf("\n%s", &lines)
	for _, text := range slices.Sorted(maps.Keys(places)) {
		t.Logf("%s: %v", text, places[text])
	}
	for _, at := range slices.Sorted(maps.Keys(old)) {
		t.Log(at)
	}
	if *update {
		if err := os.WriteFile(counts, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readCounts reads counts.txt: a number and a word in each line.
func readCounts(t *testing.T) map[string]int {
	text, err := os.ReadFile(counts)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	bound := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		number, word, _ := strings.Cut(strings.TrimSpace(line), " ")
		if bound[word], err = strconv.Atoi(number); err != nil {
			t.Fatal(err)
		}
	}
	return bound
}

// oldNames finds identifiers with names that words.txt replaces: "file: name, now
// ...", with how often.
func oldNames(t *testing.T, names []oldName) map[string]int {
	found := make(map[string]int)
	for _, name := range proseFiles(t) {
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
		for _, n := range names {
			if !slices.ContainsFunc(n.areas, func(area string) bool { return area == "." || strings.HasPrefix(name, area+"/") }) {
				continue
			}
			for id := range declared {
				parts := camelWords(id)
				if strings.EqualFold(id, n.old) || n.part && slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, n.old) }) {
					found[fmt.Sprintf("%s: %s, now %s", name, id, n.inNew)]++
				}
			}
		}
	}
	return found
}

// declarations are the names of a file's types, functions, methods, fields,
// constants and variables. Local variables are left out.
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
