// Command dist makes what is published of the programs that were built: an archive
// for each platform, a bill of materials for each archive, and the sums of all.
// The same programs give the same bytes.
//
//	dist pack -at SECONDS -version V -out DIR NAME=FILE...    one archive, its bill of materials
//	dist sum DIR                                              DIR/SHA256SUMS
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "sum" {
		return sum(args[1])
	}
	if len(args) == 0 || args[0] != "pack" {
		return fmt.Errorf("the command is pack or sum")
	}
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	at := flags.Int64("at", 0, "the time of every file, in seconds since 1970")
	version := flags.String("version", "", "the version of the programs")
	out := flags.String("out", "", "the archive, which ends with .zip or .tar.gz")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	members, err := readMembers(flags.Args())
	if err != nil {
		return err
	}
	moment := time.Unix(*at, 0).UTC()
	if err := pack(*out, moment, members); err != nil {
		return err
	}
	return writeBill(*out, *version, moment, members)
}
