package rest

import (
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/metadata"
)

// The groups of operations beside those of the record kinds, which are the
// parts of the business.
const (
	groupBills    = "Bills of materials"
	groupAccounts = "Accounts"
	groupService  = "Administration"
)

// anyQuery is the operation of the routes that query the kind they name. The
// documents show an operation for each kind instead.
const anyQuery = "Query"

// operations says of each operation in the table of routes what its routes do
// not: what a request may have in it, and what the answer is. What queries take
// follows from their kinds, so they are here only with members beside those.
func operations() []metadata.Operation {
	return append([]metadata.Operation{
		{Name: "Authenticate", Group: groupAccounts, Summary: "Log in, or see whose session it is", Answer: wire.AuthenticateResponse{}, Members: []metadata.Member{
			{Name: memberUser, Type: "string", Help: "without it and Password: the present session"},
			{Name: memberPassword, Type: "string"},
			{Name: memberRemember, Type: "bool", Help: "the session outlives the browser"},
			{Name: memberProvider, Type: "string", Help: "credentials, or logout"},
			{Name: memberRedirect, Type: "string", Help: "page to show after a login by a page"},
		}},
		{Name: "Logout", Group: groupAccounts, Summary: "End the session", Answer: wire.Failure{}},
		{Name: "Login", Group: groupAccounts, Summary: "The page to log in on", Media: "text/html", Members: []metadata.Member{
			{Name: memberRedirect, Type: "string", Help: "page to show afterwards"},
		}},
		{Name: "KeepAlive", Group: groupAccounts, Summary: "Let the session go on"},
		{Name: "GetSession", Group: groupAccounts, Summary: "Who asks, and how they are known", Answer: wire.CurrentSession{}},
		{Name: "EndSession", Group: groupAccounts, Summary: "End the session"},
		{Name: "Users", Group: groupAccounts, Summary: "The users by name", Answer: []wire.User{}},
		{Name: "AddUser", Group: groupAccounts, Summary: "Add a user", Answer: wire.User{}, Members: []metadata.Member{
			{Name: memberUser, Type: "string", Required: true},
			{Name: memberPassword, Type: "string", Required: true},
			{Name: memberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: memberDisplayName, Type: "string"},
		}},
		{Name: "GetUser", Group: groupAccounts, Summary: "One user", Answer: wire.User{}, Members: []metadata.Member{userInPath}},
		{Name: "ChangeUser", Group: groupAccounts, Summary: "Change a user", Answer: wire.User{}, Members: []metadata.Member{
			userInPath,
			{Name: memberDisplayName, Type: "string"},
			{Name: memberRole, Type: "string", Help: roleHelp},
			{Name: memberPassword, Type: "string", Help: "the new one"},
			{Name: memberCurrentPassword, Type: "string", Help: "the present one, of who is no admin"},
		}},
		{Name: "RemoveUser", Group: groupAccounts, Summary: "Remove a user and end their sessions", Members: []metadata.Member{userInPath}},
		{Name: "ApiKeys", Group: groupAccounts, Summary: "The API keys by name, without the keys themselves", Answer: []wire.APIKey{}},
		{Name: "AddApiKey", Group: groupAccounts, Summary: "Make an API key; it is shown this once", Answer: wire.APIKey{}, Members: []metadata.Member{
			{Name: memberName, Type: "string", Required: true},
			{Name: memberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: memberExpiry, Type: "DateTime", Help: "or never; without it, in 90 days"},
		}},
		{Name: "GetApiKey", Group: groupAccounts, Summary: "One API key, without the key itself", Answer: wire.APIKey{}, Members: []metadata.Member{keyInPath}},
		{Name: "RemoveApiKey", Group: groupAccounts, Summary: "End an API key", Members: []metadata.Member{keyInPath}},

		{Name: "UpdateBillStageCustomFieldValue", Group: groupBills, Summary: "Change what a custom field of a bill's stage holds", Answer: wire.CustomFieldValue{}, Members: []metadata.Member{
			billInPath, stageInPath, settingInPath,
			{Name: "Contents", Type: "string", Required: true, Help: "an empty text clears it"},
		}},
		{Name: "GetBillStageCustomFieldValue", Group: groupBills, Summary: "What a custom field of a bill's stage holds", Answer: wire.CustomFieldValue{},
			Members: []metadata.Member{billInPath, stageInPath, settingInPath}},
		{Name: "GetBillStageCustomFieldValues", Group: groupBills, Summary: "The custom fields of a bill's stage, with what they hold", Answer: []wire.CustomFieldValue{},
			Members: []metadata.Member{billInPath, stageInPath}},

		{Name: logQuery, Members: []metadata.Member{
			{Name: memberDate, Type: "DateTime", Help: "one day, of UTC; without it, all that is kept"},
			{Name: memberViewErrors, Type: "bool", Help: "only requests that failed"},
		}},
		{Name: "Info", Group: groupService, Summary: "Version, time, features and limits of the service", Answer: wire.Info{}},
		{Name: "Settings", Group: groupService, Summary: "The settings that may change while the service runs", Answer: []wire.Setting{}},
		{Name: "GetMetadata", Group: groupService, Summary: "What the service can be asked", Answer: wire.Metadata{}, Members: []metadata.Member{
			{Name: memberOperation, Type: "string", Help: "name of an operation, to see all about it"},
		}},
		{Name: "OpenAPI", Group: groupService, Summary: "The service's description by OpenAPI 3.1", Media: "application/json"},
		{Name: "TypeScript", Group: groupService, Summary: "Types for the TypeScript client of ServiceStack", Media: "text/plain"},
		{Name: "Home", Group: groupService, Summary: "Sends browsers to the list of operations", Media: "text/html"},
		{Name: "Health", Group: groupService, Summary: "Whether the process answers", Media: "text/plain"},
		{Name: "Ready", Group: groupService, Summary: "Whether the service can do its work", Media: "text/plain"},
		{Name: "Metrics", Group: groupService, Summary: "Figures for Prometheus", Media: "text/plain"},
	}, webhookOperations()...)
}

const roleHelp = "reader, publisher, writer or admin"

// The members that several operations have in their paths.
var (
	userInPath    = metadata.Member{Name: memberUser, Type: "string", Required: true}
	keyInPath     = metadata.Member{Name: inKeyID, Type: "string", Required: true}
	billInPath    = metadata.Member{Name: "BillID", Type: "string", Required: true}
	stageInPath   = metadata.Member{Name: "StageID", Type: "string", Required: true}
	settingInPath = metadata.Member{Name: "SettingID", Type: "string", Required: true}
)
