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
		{shell: "fish", line: []string{"qu"}, want: "query"},
		{shell: "fish", line: []string{"query", "so"}, want: "SO_Totals"},
		{shell: "fish", line: []string{"query", "--take", "SO"}},
		{shell: "fish", line: []string{"query", "--take", "5", "SO"}, want: "SO_Totals"},
		{shell: "fish", line: []string{"--profile", "prod", "query", "SO_"}, want: "SO_Totals"},
		{shell: "fish", line: []string{"query", "SO_Totals", "SO"}},
		{shell: "fish", line: []string{"record", "SO"}, want: "SO_Totals"},
		{shell: "fish", line: []string{"query", "SO_Totals", "--fie"}, want: "--fields"},
		{shell: "fish", line: []string{"query", "SO_Totals", "--verb"}, want: "--verbose"},
		{shell: "fish", line: []string{"query", "SO_Totals", "--fields", "Inv"}, want: "InvoiceID InvoiceTotal"},
		{
			shell: "fish",
			line:  []string{"query", "SO_Totals", "--fields", "InvoiceID,inv"},
			want:  "InvoiceID,InvoiceTotal",
		},
		{shell: "fish", line: []string{"query", "SO_Totals", "--order-by", "-InvoiceT"}, want: "-InvoiceTotal"},
		{shell: "fish", line: []string{"query", "SO_Totals", "-w", "InvoiceI"}, want: "InvoiceID"},
		{shell: "fish", line: []string{"query", "SO_Totals", "-w", `"InvoiceID^`}, want: "InvoiceID^="},
		{shell: "fish", line: []string{"query", "SO_Totals", "-w", "InvoiceIDS"}, want: "InvoiceIDStartsWith="},
		{
			shell: "fish",
			line:  []string{"query", "SO_Totals", "--where", "InvoiceTotalN"},
			want:  "InvoiceTotalNotEqualTo=",
		},
		{shell: "fish", line: []string{"query", "SO_Totals", "--where", "InvoiceIDN"}},
		{shell: "fish", line: []string{"query", "--where", "Inv"}},
		{shell: "fish", line: []string{"query", "SO_Totals", "--format=nd"}, want: "--format=ndjson"},
		{shell: "bash", line: []string{"query", "SO_Totals", "--format", "=", "nd"}, want: "ndjson"},
		{
			shell: "bash",
			line:  []string{"query", "SO_Totals", "--format", "="},
			want:  "table vertical csv tsv json ndjson xlsx raw",
		},
		{shell: "fish", line: []string{"profile", ""}, want: "list show create delete use"},
		{shell: "fish", line: []string{"profiles", "use", ""}, want: "prod test"},
		{shell: "fish", line: []string{"query", "--profile", ""}, want: "prod test"},
		{shell: "fish", line: []string{"config", "update", "read_only", ""}, want: "true false"},
		{shell: "fish", line: []string{"config", "update", "colour", "b"}, want: "blue"},
		{shell: "fish", line: []string{"completion", ""}, want: "bash zsh fish powershell"},
		{shell: "fish", line: []string{"help", "exit"}, want: "exit-codes"},
		{
			shell: "fish",
			line:  []string{"events", "publish", "salesorder."},
			want:  "salesorder.created salesorder.updated",
		},
		{shell: "fish", line: []string{"messages", "list", "--status", "fa"}, want: "failed"},
		{shell: "fish", line: []string{"messages", "retry", "--status", "failed,r"}, want: "failed,retrying"},
		{shell: "fish", line: []string{"messages", "list", "-w", `"Status=de`}, want: "Status=delivered"},
		{shell: "fish", line: []string{"messages", "list", "-w", `"Retries>`}, want: "Retries>= Retries>"},
		{shell: "fish", line: []string{"messages", "list", "--order-by", "-Added"}, want: "-AddedDateTime"},
		{shell: "fish", line: []string{"subscriptions", "list", "--status", ""}, want: "enabled disabled"},
		{shell: "fish", line: []string{"requests", "list", "--status", "4"}, want: "4xx"},
		{shell: "fish", line: []string{"keys", "create", "x", "--role", "p"}, want: "publisher"},
		{shell: "fish", line: []string{"version", ""}},
		{shell: "fish", line: []string{"nonsense", ""}},
		{shell: "fish", line: []string{"query", "SO_Totals", "-o", "x"}},
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
		{shell: "fish", line: []string{"subscribers", "show", "AC"}, want: "ACME shop"},
		{shell: "bash", line: []string{"subscribers", "delete", "AC"}, want: `ACME\ shop`},
		{shell: "powershell", line: []string{"subscribers", "delete", ""}, want: `"ACME shop"`},
		{shell: "bash", line: []string{"subscribers", "delete", `"AC`}, want: "ACME shop"},
		{shell: "fish", line: []string{"subscriptions", "list", "--subscriber", ""}, want: "ACME shop"},
		{shell: "fish", line: []string{"subscriptions", "disable", "8e"}, want: subscriptionID + " " + subscriptionID},
		{shell: "fish", line: []string{"messages", "show", messageID[:20]}, want: messageID},
		{shell: "fish", line: []string{"keys", "delete", "n"}, want: "nightly"},
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
