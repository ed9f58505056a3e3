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
	words := append([]string{"whctl"}, line...)
	got := inv.run(t, completeArgs(shell, words, len(words)-1)...)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("completing %q in %s: got %v; want exit code 0 and no stderr", line, shell, got)
	}
	var values []string
	for entry := range strings.Lines(got.stdout) {
		value, _, tabbed := strings.Cut(strings.TrimSuffix(entry, "\n"), "\t")
		if !tabbed {
			t.Errorf("completing %q in %s: got the line %q, want a tab", line, shell, entry)
		}
		values = append(values, value)
	}
	return values
}

// completeArgs returns the arguments with which a shell completes the word at an index.
func completeArgs(shell string, words []string, index int) []string {
	return append([]string{cmdline.CompleteCommand, shell, strconv.Itoa(index)}, words...)
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
		{shell: "fish", line: []string{"query", "SO_Totals", "--lim"}, want: "--limit"},
		{shell: "fish", line: []string{"query", "--limit", "3", "SO_To"}, want: "SO_Totals"},
		{shell: "fish", line: []string{"query", "SO_Totals", "--sort", "InvoiceT"}, want: "InvoiceTotal"},
		{shell: "fish", line: []string{"query", "SO_Totals", "--select=InvoiceT"}, want: "--select=InvoiceTotal"},
		{shell: "fish", line: []string{"messages", "desc"}, want: "describe"},
		{shell: "fish", line: []string{"messages", "ls", "--status", "fa"}, want: "failed"},
		{shell: "fish", line: []string{"get", "mess"}, want: "messages"},
		{shell: "fish", line: []string{"get", "messages", "--status", "fa"}, want: "failed"},
		{shell: "fish", line: []string{"describe", "SO_To"}, want: "SO_Totals"},
	} {
		candidates := completions(t, invocation{config: config}, c.shell, c.line...)
		if got := strings.Join(candidates, " "); got != c.want {
			t.Errorf("completing %q in %s: got %q, want %q", c.line, c.shell, got, c.want)
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
		{
			shell: "fish",
			line:  []string{"subscriptions", "disable", "8e"},
			want:  subscriptionID + " " + subscriptionID, // of both subscriptions
		},
		{shell: "fish", line: []string{"messages", "show", messageID[:20]}, want: messageID},
		{shell: "fish", line: []string{"keys", "delete", "n"}, want: "nightly"},
	} {
		candidates := completions(t, invocation{handler: serveListed}, c.shell, c.line...)
		if got := strings.Join(candidates, " "); got != c.want {
			t.Errorf("completing %q in %s: got %q, want %q", c.line, c.shell, got, c.want)
		}
		broken := invocation{handler: status(500, "Broken")}
		if got := completions(t, broken, c.shell, c.line...); len(got) > 0 {
			t.Errorf("completing %q in %s with a broken service: got %q, want none",
				c.line, c.shell, got)
		}
	}
}

// Words after the cursor count too: here the record is the last word.
func TestCompleteBeforeLastWord(t *testing.T) {
	words := []string{"whctl", "query", "--fields", "InvoiceT", "SO_Totals"}
	got := invocation{}.run(t, completeArgs("zsh", words, 3)...)
	if !strings.HasPrefix(got.stdout, "InvoiceTotal\t") {
		t.Errorf("completing the fourth word of %q: got %v; want InvoiceTotal", words, got)
	}
}

// FuzzComplete checks that completion of any line succeeds and prints one candidate per
// line, with one tab.
func FuzzComplete(f *testing.F) {
	f.Add("query\nSO_Totals\n--where\n\"InvoiceTotal>", 3)
	f.Add("--format\n=\nx\n:\n-", 2)
	f.Add("-\n--\n=\n--=\n'", 4)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		words := append([]string{"whctl"}, strings.Split(text, "\n")...)
		if cursor < 1 || cursor > len(words) {
			return
		}
		for _, shell := range cmdline.Shells {
			inv := invocation{handler: rows(0)}
			got := inv.run(t, completeArgs(shell, words, cursor)...)
			if got.code != 0 {
				t.Fatalf("completing word %d of %q in %s: got %v; want exit code 0",
					cursor, words, shell, got)
			}
			for line := range strings.Lines(got.stdout) {
				if strings.Count(line, "\t") != 1 {
					t.Fatalf("completing word %d of %q in %s: got the line %q, want one tab",
						cursor, words, shell, line)
				}
			}
		}
	})
}
