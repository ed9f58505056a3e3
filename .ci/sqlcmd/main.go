// Command sqlcmd runs the scripts in cmd/daemon/deploy where Microsoft's sqlcmd is not
// available. It knows only the options in the README, and of the scripts' commands GO,
// :on error exit and variables. Like the original, it reads the password from
// SQLCMDPASSWORD. SQLCMDUSER replaces the user, since test servers have no sa.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	_ "github.com/microsoft/go-mssqldb"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sqlcmd:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	server, user, script string
	trusted              bool
	variables            map[string]string
}

func read(args []string) (o options, err error) {
	o.variables = make(map[string]string)
	for i := 0; i < len(args); i++ {
		option := args[i]
		if option == "-C" {
			o.trusted = true
			continue
		}
		i++
		if i == len(args) {
			return o, fmt.Errorf("option %s has no value", option)
		}
		switch option {
		case "-S":
			o.server = args[i]
		case "-U":
			o.user = args[i]
		case "-i":
			o.script = args[i]
		case "-v":
			for ; i < len(args) && !strings.HasPrefix(args[i], "-"); i++ {
				name, value, _ := strings.Cut(args[i], "=")
				o.variables[name] = value
			}
			i--
		default:
			return o, fmt.Errorf("unknown option %s", option)
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := read(args)
	if err != nil {
		return err
	}
	script, err := os.ReadFile(o.script)
	if err != nil {
		return err
	}
	if user := os.Getenv("SQLCMDUSER"); user != "" {
		o.user = user
	}
	dsn := url.URL{
		Scheme: "sqlserver",
		User:   url.UserPassword(o.user, os.Getenv("SQLCMDPASSWORD")),
		Host:   strings.Replace(o.server, ",", ":", 1),
	}
	if o.trusted {
		dsn.RawQuery = "database=master&encrypt=" + encryption() + "&trustServerCertificate=true"
	}
	db, err := sql.Open("sqlserver", dsn.String())
	if err != nil {
		return err
	}
	defer db.Close()
	// USE applies to the following batches of the same session.
	session, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return o.batches(string(script), func(batch string) error {
		_, err := session.ExecContext(ctx, batch)
		return err
	})
}

// encryption is disabled by SQLCMDENCRYPT=disable, for test servers without a certificate.
func encryption() string {
	if mode := os.Getenv("SQLCMDENCRYPT"); mode != "" {
		return mode
	}
	return "true"
}

var (
	variable  = regexp.MustCompile(`\$\((\w+)\)`)
	separator = regexp.MustCompile(`(?im)^GO[ \t\r]*$`)
	command   = regexp.MustCompile(`(?m)^:.*$`)
)

// batches runs the batches of a script. Without :on error exit it continues after an error,
// as the original does.
func (o options) batches(script string, execute func(batch string) error) error {
	exits := strings.Contains(script, "\n:on error exit\n")
	script = command.ReplaceAllString(script, "")
	for _, match := range variable.FindAllStringSubmatch(script, -1) {
		if _, ok := o.variables[match[1]]; !ok {
			return fmt.Errorf("'%s' scripting variable not defined", match[1])
		}
	}
	script = variable.ReplaceAllStringFunc(script, func(name string) string { return o.variables[name[2:len(name)-1]] })
	var failures []error
	for i, batch := range separator.Split(script, -1) {
		if strings.TrimSpace(batch) == "" {
			continue
		}
		if err := execute(batch); err != nil {
			failures = append(failures, fmt.Errorf("batch %d: %w", i+1, err))
			if exits {
				break
			}
		}
	}
	return errors.Join(failures...)
}
