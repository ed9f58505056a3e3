package cli

import (
	"slices"
	"strings"
)

// familiar lists the flags and commands of whd and whctl with the words that other programs,
// such as gh, kubectl, k9s and SQL clients, have for them. The words share too few letters
// for a suggestion by spelling.
var familiar = []struct{ own, others string }{
	{"--take", "--limit -L --top --max --head"},
	{"--order-by", "--sort --sort-by --order --desc --reverse"},
	{"--by", "--group-by --group --count-by"},
	{"--fields", "--select --columns --column --cols"},
	{"--where", "--filter --condition --search --selector -l --id --key"},
	{"--when", "--condition --filter --if"},
	{"--errors", "--failed"},
	{"--status failed", "--failed"},
	{"--since", "--after --from"},
	{"--until", "--before"},
	{"--format vertical", "--vertical --expanded -G"},
	{"--client", "--ip --address"},
	{"--contents", "--value --text"},
	{"--header", "-H"},
	{"--to", "-o --output --db --file --target"},
	{"--secret-file", "-o --output"},
	{"--url", "--host --hostname --server"},
	{"--yes", "--force -f"},

	{"records", "kinds kind tables table types schema list ls"},
	{"query", "queries get select sql search find count export"},
	{"messages", "deliveries delivery attempts msgs msg"},
	{"messages retry", "retry resend replay redeliver"},
	{"subscriptions", "webhooks webhook hooks hook subs sub"},
	{"requests", "logs log"},
	{"subscriptions disable", "disable pause"},
	{"subscriptions enable", "enable resume"},
	{"listen", "watch tail"},
	{"messages tail", "watch tail"},
	{"events publish", "publish send emit"},
	{"why", "history trace explain"},
	{"mirror", "sync replicate copy sqlite"},
	{"keys", "tokens token apikeys api-keys"},
	{"login", "auth signin sign-in"},
	{"whoami", "auth me"},
	{"profile", "contexts context ctx"},
	{"doctor", "health healthz status ping check"},
	{"stats", "health healthz status metrics"},
	{"tui", "ui dashboard"},

	{"list", "ls status"},
	{"show", "get describe view attempts list"},
	{"create", "add new"},
	{"update", "edit set patch"},
	{"delete", "revoke"},
	{"enable", "resume unpause --enable --enabled"},
	{"disable", "pause suspend --disable --enabled"},
	{"retry", "resend replay redeliver"},
	{"tail", "watch follow --watch --follow -f"},
	{"follow", "--watch --follow -f"},
}

// familiarNames returns the names of this program for a word of another one.
func familiarNames(word string, isKnown func(name string) bool) []string {
	var names []string
	for _, f := range familiar {
		isFamiliar := slices.Contains(strings.Fields(f.others), word)
		if isFamiliar && isKnown(f.own) {
			names = append(names, f.own)
		}
	}
	return names
}
