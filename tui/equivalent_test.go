package tui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// placeholders replace the values in commands that only the user knows.
var placeholders = strings.NewReplacer(
	"SUBSCRIBER", "acme-shop",
	"EVENT", "salesorder.created",
	"URL", "https://hooks.acme.example/erp",
	"NAME", "other",
)

// The equivalent commands of each screen run.
func TestEquivalentCommandsRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shell of this test is sh")
	}
	binary := filepath.Join(t.TempDir(), "whctl")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/whctl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	s := tuitest.StartDeliveries(t)
	environment := append(os.Environ(),
		"PATH="+filepath.Dir(binary),
		"HOME="+t.TempDir(),
		"WHCTL_URL="+s.URL,
		"WHCTL_USER=admin",
		"WHCTL_PASSWORD="+daemontest.AdminPassword)
	d := s.Open(t, tui.Options{})
	for name, keys := range map[string][]string{
		"home":          {"1"},
		"kinds":         {"2"},
		"rows":          {":", "'SO_Totals InvoiceTotal>=1000", "enter", "l", "s", "s"},
		"columns":       {":", "'invoice", "enter", "C", "j", "space", "enter"},
		"quotes":        {":", `'in_col Description in "a b","c"`, "enter"},
		"dollars":       {":", "'in_col Description*=$(exit 3)'x`\\", "enter"},
		"groups":        {":", "'IN_KitStockTakeMain", "enter", "l", "l", "l", "l", "t", "t", "l", "s"},
		"sums":          {":", "'INMGT020POQty ActQty>0", "enter", "$", "t", "s", "s"},
		"group":         {":", "'INMGT020POQty", "enter", "F", "$", "t", "enter"},
		"record":        {":", "'DB_Class", "enter", "F", "enter"},
		"subscribers":   {"3"},
		"subscriptions": {"3", "enter"},
		"subscription":  {"3", "enter", "i"},
		"messages of":   {"3", "enter", "enter"},
		"messages to":   {"3", "m"},
		"messages":      {"4", "/", "'AddedDateTime>=today", "enter", "!"},
		"message":       {"4", "F", "enter"},
		"events":        {"5"},
		"requests":      {"6", "!"},
	} {
		for d.App.Overlay() != nil || d.App.Depth() > 1 {
			d.Press("esc")
		}
		d.Press(keys...)
		for _, line := range equivalentCommands(d.App.Front()) {
			if !strings.HasPrefix(line, "whctl ") {
				t.Errorf("%s: the equivalent command is %s, want one of whctl", name, line)
			}
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = t.TempDir()
			cmd.Env = environment
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", name, line, err, out)
			}
		}
		d.Press("c")
		d.WantText("Equivalent command")
	}
}

// equivalentCommands returns the command for a screen and those for its actions. Actions that
// change data are only parsed: the client rejects them, which is an exit code other than 2.
func equivalentCommands(s ui.Screen) []string {
	lines := []string{s.Equivalent()}
	commander, ok := s.(ui.Commander)
	if !ok {
		return lines
	}
	for _, action := range commander.Commands() {
		if !strings.Contains(action, " --output ") {
			action = placeholders.Replace(action) + " --yes --read-only || test $? -ne 2"
		}
		lines = append(lines, action)
	}
	return lines
}

// The overlay shows how the command was copied, after the attempt.
func TestEquivalentCommandShowsCopyOutcome(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, test := range []struct{ env, want string }{
		{"WHCTL_CLIPBOARD=osc52", "sent to the terminal via OSC 52: 22 characters"},
		{"WHCTL_CLIPBOARD=file", "written to"},
	} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Env: tuitest.Environment(test.env)})
		d.Resize(140, 40)
		d.Press("3", "c")
		d.WantText("│ " + test.want)
		if strings.Count(d.Text(), test.want) != 2 {
			t.Errorf("the overlay and the message do not both show %q:\n%s", test.want, d.Text())
		}
		d.WantNoText("clipboard")
	}
	t.Setenv("TMPDIR", filepath.Join(os.Getenv("TMPDIR"), "missing"))
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Env: tuitest.Environment("WHCTL_CLIPBOARD=file")})
	d.Resize(140, 40)
	d.Press("3", "c")
	d.WantText("│ copying failed: ")
}
