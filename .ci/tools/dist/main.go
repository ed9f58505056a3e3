// Command dist packs built programs for a release: an archive for each platform, a bill
// of materials for each archive, and the checksums. Its output is reproducible.
//
//	dist pack -at SECONDS -version V -out DIR NAME=FILE...    one archive, its bill of materials
//	dist sum DIR                                              DIR/SHA256SUMS
//	dist number VERSION                                       version of a package for Windows
//	dist guid NAME                                            GUID that depends only on NAME
//	dist manual NAME=FILE...                                  descriptor of files for wixl
//	dist resources FILE NAME DESCRIPTION VERSION NUMBER       add a version, icon and manifest
//	dist times SECONDS FILE                                   set the times of an installer
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
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
	if len(args) >= 2 {
		switch args[0] {
		case "number":
			return printText(installerNumber(args[1]))
		case "guid":
			return printText(identifier(args[1]), nil)
		case "manual":
			members, err := readMembers(args[1:])
			if err != nil {
				return err
			}
			text, err := manual(members)
			return printText(string(text), err)
		}
	}
	if len(args) == 6 && args[0] == "resources" {
		p := product{name: args[2], description: args[3], text: args[4], number: args[5]}
		return addResources(args[1], p)
	}
	if len(args) == 3 && args[0] == "times" {
		seconds, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return err
		}
		return setTimes(args[2], time.Unix(seconds, 0))
	}
	if len(args) == 0 || args[0] != "pack" {
		return fmt.Errorf("the command must be pack, sum, number, guid, manual, resources or times, with its arguments")
	}
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	timestamp := flags.Int64("at", 0, "time of all files, in seconds since 1970")
	version := flags.String("version", "", "version of the programs")
	out := flags.String("out", "", "archive to write, .zip or .tar.gz")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	members, err := readMembers(flags.Args())
	if err != nil {
		return err
	}
	modified := time.Unix(*timestamp, 0).UTC()
	if err := pack(*out, modified, members); err != nil {
		return err
	}
	return writeBill(*out, *version, modified, members)
}

func printText(text string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Println(text)
	return err
}
