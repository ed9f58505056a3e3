package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/zalando/go-keyring"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// leftBehind looks for what whctl listen --direct made on this machine and did
// not delete, its process having ended without a chance to.
func (d *patient) leftBehind() finding {
	if !d.admin {
		return finding{}
	}
	where := []client.Filter{{Field: "Name", Operator: record.StartsWith, Values: []string{directName}}}
	page, err := d.service.Page(d.c.Context, client.Query{Kind: systemKind("Subscriber"), Where: where, Strict: true})
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	var orphans, elsewhere []string
	for _, row := range page.Rows {
		here, alive := directProcess(row.Text("Name"))
		switch {
		case !here:
			elsewhere = append(elsewhere, row.Text("Name"))
		case !alive:
			orphans = append(orphans, row.Text("RecID"))
		}
	}
	switch {
	case len(orphans) > 0 && d.c.Bool("fix"):
		return d.removeOrphans(orphans)
	case len(orphans) > 0:
		return finding{Result: odd, Detail: countOf(int64(len(orphans)), "subscriber", "subscribers") + " of whctl listen --direct", Fix: "whctl doctor --fix"}
	case len(elsewhere) > 0:
		return finding{Result: odd, Detail: "from other machines: " + strings.Join(elsewhere, ", "), Fix: "whctl doctor --fix there, or whctl subscribers delete NAME where they are over"}
	}
	return finding{Result: fine, Detail: "nothing"}
}

func (d *patient) removeOrphans(ids []string) finding {
	service, err := d.connectToChange(d.c, change{what: "delete " + countOf(int64(len(ids)), "subscriber", "subscribers") + " of whctl listen --direct"})
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	defer service.Close()
	for _, id := range ids {
		err = errors.Join(err, service.RemoveSubscriber(d.c.Context, id))
	}
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	return finding{Result: fine, Detail: countOf(int64(len(ids)), "subscriber", "subscribers") + " of whctl listen --direct deleted"}
}

// directProcess reads the name of a subscriber that whctl listen --direct made:
// whether that was on this machine, and whether it still runs.
func directProcess(name string) (here, alive bool) {
	who, number, _ := strings.Cut(strings.TrimPrefix(name, directName), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || !strings.HasSuffix(who, "@"+hostName()) {
		return false, false
	}
	return true, processRuns(pid)
}

// keyringWorks asks for something that is not there.
func (d *patient) keyringWorks() finding {
	_, err := d.askKeyring(d.c.Context, func() (string, error) {
		text, err := keyring.Get(keyringService, "doctor")
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return text, err
	})
	if err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + envToken + " and " + envPassword + " need neither"}
	}
	return finding{Result: fine, Detail: "works"}
}
