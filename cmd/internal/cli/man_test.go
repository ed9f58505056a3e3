package cli_test

import (
	"io"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
)

// The text of a manual page is printed literally, also where it looks like a request of
// roff.
func TestManualEscapesText(t *testing.T) {
	var out strings.Builder
	app := &urfave.App{
		Name:   "tool",
		Usage:  "a tool",
		Writer: &out,
		Commands: []*urfave.Command{{
			Name:      "run",
			ArgsUsage: "FILE",
			Usage:     ".start it",
			Flags:     []urfave.Flag{&urfave.BoolFlag{Name: "dry-run", Usage: `keep C:\`}},
		}},
	}
	topic := cli.Topic{
		Name:  "notes",
		Print: func(w io.Writer) { io.WriteString(w, "'quoted'\nplain\n") },
	}
	if err := cli.PrintManual(app, []cli.Topic{topic}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".SS \"tool run FILE\"\n\\&.start it\n",
		`\fB\-\-dry\-run\fR` + "\nkeep C:\\e\n",
		".SH \"NOTES\"\n.PP\n.nf\n\\&'quoted'\nplain\n.fi\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, out.String())
		}
	}
}
