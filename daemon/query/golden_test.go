package query

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
)

// TestCases runs the cases in the files of testdata. Cases are separated by blank
// lines. Each one has comments, a line with the format of the members and the
// kind, the members, a rule, and the result:
//
//	# comment
//	query SO_Totals max_take=100
//	InvoiceID=D100418
//	----
//	the plan, and the SQL statements
//
// Lines of a query string or form are joined by &.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var now []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		now = append(now, runCase(t, block))
	}
	result := strings.Join(now, "\n\n") + "\n"
	goldentest.Compare(t, file, result)
}

// runCase returns a case with its current result.
func runCase(t *testing.T, block string) string {
	story, _, _ := strings.Cut(block+"\n", "\n----\n")
	lines := strings.Split(story, "\n")
	head := 0
	for head < len(lines) && strings.HasPrefix(lines[head], "#") {
		head++
	}
	if head == len(lines) {
		return story // only a comment
	}
	words := strings.Fields(lines[head])
	if len(words) < 2 {
		t.Fatalf("%q is not \"format Kind\"", lines[head])
	}
	kind, ok := registry.Lookup(words[1])
	if !ok {
		t.Fatalf("no kind %s", words[1])
	}
	s := setting{kind: kind, count: true, options: Options{Zone: time.UTC}}
	for _, assignment := range words[2:] {
		s.set(t, assignment)
	}
	body := strings.Join(lines[head+1:], separators[words[0]])
	return story + "\n----\n" + s.answer(t, words[0], expand(body))
}

// separators are those between the lines of a case's body, by its format.
var separators = map[string]string{"query": "&", "form": "&", "csv": "\r\n", "json": "\n"}

var span = regexp.MustCompile(`<1\.\.(\d+)>`)

// expand replaces <1..3> by 1,2,3.
func expand(body string) string {
	return span.ReplaceAllStringFunc(body, func(text string) string {
		n, _ := strconv.Atoi(span.FindStringSubmatch(text)[1])
		items := make([]string, n)
		for i := range items {
			items[i] = strconv.Itoa(i + 1)
		}
		return strings.Join(items, ",")
	})
}

// setting has the parameters of a case other than the request.
type setting struct {
	kind    *record.Kind
	options Options
	count   bool
}

func (s *setting) set(t *testing.T, assignment string) {
	name, value, _ := strings.Cut(assignment, "=")
	var err error
	switch name {
	case "max_take":
		s.options.MaxTake, err = strconv.ParseInt(value, 10, 64)
	case "zone":
		var hours int
		hours, err = strconv.Atoi(value)
		s.options.Zone = time.FixedZone(value, hours*3600)
	case "total":
		s.count = value == "always"
	default:
		err = fmt.Errorf("no such setting")
	}
	if err != nil {
		t.Fatalf("%s: %v", assignment, err)
	}
}

func (s *setting) answer(t *testing.T, format, body string) string {
	members, err := read(format, body)
	if err != nil {
		return failure(err)
	}
	request, err := Parse(s.kind, members, s.options)
	if err != nil {
		return failure(err)
	}
	plan, err := NewPlan(request, s.count)
	if err != nil {
		return failure(err)
	}
	var b strings.Builder
	b.WriteString(planText(request, plan))
	for _, d := range []*dialect.Dialect{dialect.TSQL(), dialect.SQLite()} {
		b.WriteString(inSQL(plan, d))
	}
	return strings.TrimRight(b.String(), "\n")
}

func read(format, body string) (Members, error) {
	switch format {
	case "json":
		return ReadJSON([]byte(body))
	case "csv":
		return readCSV([]byte(body))
	default:
		return ReadForm(body)
	}
}

var faultNames = map[fault.Kind]string{fault.Invalid: "invalid", fault.Malformed: "malformed"}

// failure returns an error with all of its fields.
func failure(err error) string {
	e := fault.From(err)
	kind := faultNames[e.Kind]
	if len(e.Fields) == 0 {
		return kind + "\t" + e.Message
	}
	lines := []string{kind}
	for _, f := range e.Fields {
		lines = append(lines, "\t"+f.Name+"\t"+f.Message)
	}
	return strings.Join(lines, "\n")
}

// planText describes a plan, in lines that start with a label.
func planText(r *Request, p *Plan) string {
	var b strings.Builder
	line := func(label string, words ...string) {
		if text := strings.TrimSpace(strings.Join(words, " ")); text != "" {
			fmt.Fprintf(&b, "%s\t%s\n", label, text)
		}
	}
	fields := "all fields"
	if len(r.Fields) > 0 {
		fields = strings.Join(names(r.Kind, p.Columns), ", ")
	}
	line("rows", textIf(p.Distinct, "distinct"), fields)
	for _, c := range p.Where {
		f := p.Source().Fields[c.Field]
		line("where", f.Name, c.Operator.String(), values(f.Type, c.Operands))
	}
	var order []string
	for _, o := range p.Order {
		order = append(order, strings.TrimSpace(r.Kind.Fields[o.Field].Name+" "+textIf(o.Desc, "down")))
	}
	line("order", strings.Join(order, ", "))
	if p.Paged() {
		take := textIf(p.Take != NoTake, fmt.Sprintf("take %d", p.Take))
		line("page", fmt.Sprintf("skip %d", p.Skip), take, textIf(r.Clamped, "(clamped)"))
		total := "not counted"
		if p.Count {
			total = "counted"
		}
		line("total", total)
	}
	for _, a := range p.Aggregates {
		line("meta", a.Name)
	}
	line("ignored", strings.Join(r.Ignored, ", "))
	return b.String()
}

func textIf(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

func names(kind *record.Kind, columns []int) []string {
	var all []string
	for _, c := range columns {
		all = append(all, kind.Fields[c].Name)
	}
	return all
}

// values returns up to five values.
func values(t record.Type, all []wire.Value) string {
	var texts []string
	for _, v := range all[:min(5, len(all))] {
		texts = append(texts, value(t, v))
	}
	if omitted := len(all) - len(texts); omitted > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", omitted))
	}
	return strings.Join(texts, ", ")
}

func value(t record.Type, v wire.Value) string {
	switch {
	case t.Integer() || t == record.Bool:
		return strconv.FormatInt(v.Int, 10)
	case t == record.Bytes:
		return "base64 " + base64.StdEncoding.EncodeToString(v.Bytes)
	case t == record.Text:
		return strconv.Quote(v.Text)
	}
	return v.Text
}

// inSQL returns the statements of a plan for rows, total and aggregates.
func inSQL(p *Plan, d *dialect.Dialect) string {
	source := string(d.Quote(nil, p.Kind.Name))
	var b strings.Builder
	show := func(label string, s Statement, err error) {
		if err != nil {
			fmt.Fprintf(&b, "%s\t%s\n", label, failure(err))
			return
		}
		if len(s.Args) > 20 {
			s.SQL = s.SQL[:120] + " ... " + s.SQL[len(s.SQL)-80:]
		}
		fmt.Fprintf(&b, "%s\t%s\n", label, s.SQL)
		for i, a := range s.Args {
			if i == 5 && len(s.Args) > 20 {
				fmt.Fprintf(&b, "\tand %d more\n", len(s.Args)-i)
				break
			}
			operand := value(a.Type, a.Value)
			if a.List != nil {
				operand = "list " + values(a.Type, a.List)
			}
			fmt.Fprintf(&b, "\t%s%d %s %s\n", d.Param, i+1, a.Type, operand)
		}
	}
	s, err := Compile(p, d, source)
	show(d.Name, s, err)
	if p.Count && p.Paged() {
		s, err := CompileCount(p, d, source)
		show("count", s, err)
	}
	if len(p.Aggregates) > 0 {
		s, err := CompileAggregates(p, d, source)
		show("meta", s, err)
	}
	return b.String()
}
