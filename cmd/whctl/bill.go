package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

var billColumns = []output.Column{
	{Name: "SettingID", Type: record.Text},
	{Name: "SettingName", Type: record.Text},
	{Name: "Contents", Type: record.Text},
	{Name: "PluginID", Type: record.Text},
	{Name: "PluginName", Type: record.Text},
}

func billCommands() []*cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "bill", Usage: "`ID` of the bill of materials"},
		&cli.StringFlag{Name: "stage", Usage: "`ID` of the stage"},
		&cli.StringFlag{Name: "field", Aliases: []string{"setting"}, Usage: "`ID` of the custom field"},
	}
	return []*cli.Command{{
		Name:    "bill",
		Aliases: []string{"bills"},
		Usage:   "show and update the custom fields of a stage of a bill of materials",
		Subcommands: []*cli.Command{
			{
				Name:        "show",
				Usage:       "show the custom fields of a stage, or only the field in --field",
				Flags:       append(output.Flags(), flags...),
				Action:      showBill,
				Description: "whctl bill show --bill 45A7XTVRNIFJJF7M4YW7 --stage A56V5IQ50VDJZMTSBHOH",
			},
			{
				Name:    "update",
				Aliases: []string{"set-field"},
				Usage:   "change the value of a custom field",
				Action:  command.Changes(updateBillField),
				Flags: command.ResultFlags("print the updated field as JSON instead of its ID",
					append(flags, &cli.StringFlag{
						Name:  "contents",
						Usage: "the new `TEXT`, which can be empty; @FILE reads a file",
					})...),
				Description: `whctl bill update --bill 45A7XTVRNIFJJF7M4YW7 --stage A56V5IQ50VDJZMTSBHOH --field ac11c1bf-8086-46f3-b0c6-1e332c539728 --contents Assembly`,
			},
		},
	}}
}

// billField returns the field that the flags identify. It fails if a required flag
// is missing.
func billField(c *cli.Context, required ...string) (client.BillField, error) {
	for _, name := range required {
		if c.String(name) == "" {
			return client.BillField{}, cmdline.Usagef("bill %s needs --%s", c.Command.Name, name)
		}
	}
	return client.BillField{
		BillID:    c.String("bill"),
		StageID:   c.String("stage"),
		SettingID: c.String("field"),
	}, nil
}

// showBill runs whctl bill show.
func showBill(c *cli.Context) error {
	field, err := billField(c, "bill", "stage")
	if err != nil {
		return err
	}
	get := func(c *cli.Context, service *client.Client) ([]wire.CustomFieldValue, error) {
		return billValues(c, service, field)
	}
	return command.Shows(output.Table{Columns: billColumns}, get)(c)
}

// billValues returns the value of a field, or of all fields of the stage if the
// field has no ID.
func billValues(
	c *cli.Context, service *client.Client, field client.BillField,
) ([]wire.CustomFieldValue, error) {
	if field.SettingID == "" {
		stage := client.BillStage{BillID: field.BillID, StageID: field.StageID}
		return service.BillValues(c.Context, stage)
	}
	value, err := service.BillValue(c.Context, field)
	if err != nil {
		return nil, err
	}
	return []wire.CustomFieldValue{*value}, nil
}

// updateBillField runs whctl bill update.
func updateBillField(c *cli.Context, _ *command.Session) (command.Change, error) {
	field, err := billField(c, "bill", "stage", "field")
	if err != nil {
		return command.Change{}, err
	}
	if !c.IsSet("contents") {
		return command.Change{}, cmdline.Usagef("bill update needs --contents; an empty text clears the field")
	}
	contents, err := command.Argument(c, c.String("contents"))
	if err != nil {
		return command.Change{}, cmdline.Usagef("--contents: %s", err)
	}
	summary := fmt.Sprintf("update the field %s of bill %s", field.SettingID, field.BillID)
	return command.Change{
		Text: summary,
		Do: func(out *output.Printer, service *client.Client) error {
			value, err := service.SetBillValue(c.Context, field, contents)
			if err != nil {
				return err
			}
			name := value.SettingID
			if value.SettingName != nil {
				name = *value.SettingName
			}
			out.Notice("field %s of bill %s, stage %s updated", name, field.BillID, field.StageID)
			return out.Created(value.SettingID, value)
		},
	}, nil
}
