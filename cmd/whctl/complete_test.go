package main

import (
	"strconv"
	"strings"
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// completions returns the candidates for the last word of a line.
func completions(t *testing.T, inv invocation, shell string, line ...string) []string {
	t.Helper()
	spellFlag := append([]string{"whctl"}, line...)
	got := inv.run(t, append([]string{cmdline.CompleteCommand, shell, strconv.Itoa(len(spellFlag) - 1)}, spellFlag...)...)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%q: %+v", line, got)
	}
	var values []string
	for entry := range strings.Lines(got.stdout) {
		value, _, tabbed := strings.Cut(strings.TrimSuffix(entry, "\n"), "\t")
		if !tabbed {
			t.Errorf("%q: %q has no tab", line, entry)
		}
		values = append(values, value)
	}
	return values
}

func TestComplete(t *testing.T) {
	config := writeConfig(t, "profile = 'prod'\n[profiles.prod]\n[profiles.test]\n")
	for _, c := range []struct {
		shell string
		line  []string
		want  string
	}{
		{"fish", []string{"qu"}, "query"},
		{"fish", []string{"query", "so"}, "SO_Totals"},
		{"fish", []string{"query", "--take", "SO"}, ""},
		{"fish", []string{"query", "--take", "5", "SO"}, "SO_Totals"},
		{"fish", []string{"--profile", "prod", "query", "SO_"}, "SO_Totals"},
		{"fish", []string{"query", "SO_Totals", "SO"}, ""},
		{"fish", []string{"record", "SO"}, "SO_Totals"},
		{"fish", []string{"query", "SO_Totals", "--fie"}, "--fields"},
		{"fish", []string{"query", "SO_Totals", "--verb"}, "--verbose"},
		{"fish", []string{"query", "SO_Totals", "--fields", "Inv"}, "InvoiceID InvoiceTotal"},
		{"fish", []string{"query", "SO_Totals", "--fields", "InvoiceID,inv"}, "InvoiceID,InvoiceTotal"},
		{"fish", []string{"query", "SO_Totals", "--order-by", "-InvoiceT"}, "-InvoiceTotal"},
		{"fish", []string{"query", "SO_Totals", "-w", "InvoiceI"}, "InvoiceID"},
		{"fish", []string{"query", "SO_Totals", "-w", `"InvoiceID^`}, "InvoiceID^="},
		{"fish", []string{"query", "SO_Totals", "-w", "InvoiceIDS"}, "InvoiceIDStartsWith="},
		{"fish", []string{"query", "SO_Totals", "--where", "InvoiceTotalN"}, "InvoiceTotalNotEqualTo="},
		{"fish", []string{"query", "SO_Totals", "--where", "InvoiceIDN"}, ""},
		{"fish", []string{"query", "--where", "Inv"}, ""},
		{"fish", []string{"query", "SO_Totals", "--format=nd"}, "--format=ndjson"},
		{"bash", []string{"query", "SO_Totals", "--format", "=", "nd"}, "ndjson"},
		{"bash", []string{"query", "SO_Totals", "--format", "="}, "table vertical csv tsv json ndjson xlsx raw"},
		{"fish", []string{"profile", ""}, "list show create delete use"},
		{"fish", []string{"profiles", "use", ""}, "prod test"},
		{"fish", []string{"query", "--profile", ""}, "prod test"},
		{"fish", []string{"config", "update", "read_only", ""}, "true false"},
		{"fish", []string{"config", "update", "colour", "b"}, "blue"},
		{"fish", []string{"completion", ""}, "bash zsh fish powershell"},
		{"fish", []string{"help", "exit"}, "exit-codes"},
		{"fish", []string{"events", "publish", "salesorder."}, "salesorder.created salesorder.updated"},
		{"fish", []string{"messages", "list", "--status", "fa"}, "failed"},
		{"fish", []string{"messages", "retry", "--status", "failed,r"}, "failed,retrying"},
		{"fish", []string{"messages", "list", "-w", `"Status=de`}, "Status=delivered"},
		{"fish", []string{"messages", "list", "-w", `"Retries>`}, "Retries>= Retries>"},
		{"fish", []string{"messages", "list", "--order-by", "-Added"}, "-AddedDateTime"},
		{"fish", []string{"subscriptions", "list", "--status", ""}, "enabled disabled"},
		{"fish", []string{"requests", "list", "--status", "4"}, "4xx"},
		{"fish", []string{"keys", "create", "x", "--role", "p"}, "publisher"},
		{"fish", []string{"version", ""}, ""},
		{"fish", []string{"nonsense", ""}, ""},
		{"fish", []string{"query", "SO_Totals", "-o", "x"}, ""},
	} {
		if got := strings.Join(completions(t, invocation{config: config}, c.shell, c.line...), " "); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.shell, c.line, got, c.want)
		}
	}
}

// Objects of the service are requested; without a reply there are none.
func TestCompleteObjects(t *testing.T) {
	for _, c := range []struct {
		shell string
		line  []string
		want  string
	}{
		{"fish", []string{"subscribers", "show", "AC"}, "ACME shop"},
		{"bash", []string{"subscribers", "delete", "AC"}, `ACME\ shop`},
		{"powershell", []string{"subscribers", "delete", ""}, `"ACME shop"`},
		{"bash", []string{"subscribers", "delete", `"AC`}, "ACME shop"},
		{"fish", []string{"subscriptions", "list", "--subscriber", ""}, "ACME shop"},
		{"fish", []string{"subscriptions", "disable", "8e"}, subscriptionID + " " + subscriptionID},
		{"fish", []string{"messages", "show", messageID[:20]}, messageID},
		{"fish", []string{"keys", "delete", "n"}, "nightly"},
	} {
		if got := strings.Join(completions(t, invocation{handler: serveListed}, c.shell, c.line...), " "); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.shell, c.line, got, c.want)
		}
		if got := completions(t, invocation{handler: status(500, "Broken")}, c.shell, c.line...); len(got) > 0 {
			t.Errorf("%s %q of a broken service: %q", c.shell, c.line, got)
		}
	}
}

// Words after the cursor count too: here the record is the last word.
func TestCompleteBeforeLastWord(t *testing.T) {
	got := invocation{}.run(t, cmdline.CompleteCommand, "zsh", "3", "whctl", "query", "--fields", "InvoiceT", "SO_Totals")
	if !strings.HasPrefix(got.stdout, "InvoiceTotal\t") {
		t.Errorf("%+v", got)
	}
}

// FuzzComplete checks that completion of any line succeeds and prints one candidate per
// line, with one tab.
func FuzzComplete(f *testing.F) {
	f.Add("query\nSO_Totals\n--where\n\"InvoiceTotal>", 3)
	f.Add("--format\n=\nx\n:\n-", 2)
	f.Add("-\n--\n=\n--=\n'", 4)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		spellFlag := append([]string{"whctl"}, strings.Split(text, "\n")...)
		if cursor < 1 || cursor > len(spellFlag) {
			return
		}
		for _, shell := range cmdline.Shells {
			got := invocation{handler: rows(0)}.run(t, append([]string{cmdline.CompleteCommand, shell, strconv.Itoa(cursor)}, spellFlag...)...)
			for line := range strings.Lines(got.stdout) {
				if strings.Count(line, "\t") != 1 {
					t.Fatalf("%q: line %q", spellFlag, line)
				}
			}
			if got.code != 0 {
				t.Fatalf("%q: %+v", spellFlag, got)
			}
		}
	})
}
