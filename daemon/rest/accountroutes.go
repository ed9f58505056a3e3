package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

const roleHelp = "reader, publisher, writer or admin"

// accountOperations are the operations on sessions, users and API keys.
func accountOperations(h *handlers) []operation {
	return []operation{
		{
			name:     "Logout",
			group:    groupAccounts,
			summary:  "End the session",
			response: wire.Failure{},
			routes: []edge.Route{
				{Methods: "GET POST", Pattern: "/auth/logout", Changes: true, Serve: h.accounts.Sessions.Logout},
				{
					Methods: "GET POST",
					Pattern: "/authenticate/logout",
					Changes: true,
					Serve:   h.accounts.Sessions.Logout,
					Summary: "The same",
				},
			},
		},
		{
			name:    "KeepAlive",
			group:   groupAccounts,
			role:    account.Reader,
			summary: "Extend the session",
			routes: []edge.Route{
				{
					Methods:  "GET",
					Pattern:  "/KeepAlive",
					SignedIn: true,
					Status:   http.StatusNoContent,
					Serve:    h.accounts.Sessions.KeepAlive,
				},
			},
		},
		{
			name:     "GetSession",
			group:    groupAccounts,
			role:     account.Reader,
			summary:  "The current user and authentication method",
			response: wire.CurrentSession{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Sessions/Current", SignedIn: true, Serve: h.accounts.Sessions.Current},
			},
		},
		{
			name:    "EndSession",
			group:   groupAccounts,
			role:    account.Reader,
			summary: "End the session",
			routes: []edge.Route{
				{
					Methods:  "DELETE",
					Pattern:  "/Sessions/Current",
					SignedIn: true,
					Changes:  true,
					Status:   http.StatusNoContent,
					Serve:    h.accounts.Sessions.EndSession,
				},
			},
		},
		{
			name:     "Users",
			group:    groupAccounts,
			role:     account.Admin,
			summary:  "The users by name",
			response: []wire.User{},
			members:  form.PageMembers,
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Users", Serve: h.accounts.Users.List},
			},
		},
		{
			name:     "AddUser",
			group:    groupAccounts,
			role:     account.Admin,
			summary:  "Add a user",
			response: wire.User{},
			members: []metadata.Member{
				{Name: accounts.MemberUser, Type: "string", Required: true},
				{Name: accounts.MemberPassword, Type: "string", Secret: true, Required: true},
				{Name: accounts.MemberRole, Type: "string", Required: true, Help: roleHelp},
				{Name: accounts.MemberDisplayName, Type: "string"},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Users",
					Changes: true,
					Status:  http.StatusCreated,
					Serve:   h.accounts.Users.Add,
					Summary: "Add a user with UserName, Password, Role and DisplayName",
				},
			},
		},
		{
			name:     "GetUser",
			group:    groupAccounts,
			role:     account.Reader,
			summary:  "One user",
			response: wire.User{},
			routes: []edge.Route{
				{
					Methods:  "GET",
					Pattern:  "/Users/{UserName}",
					SignedIn: true,
					Serve:    h.accounts.Users.Show,
					Summary:  "One user; users other than admins can only get themselves",
				},
			},
		},
		{
			name:     "ChangeUser",
			group:    groupAccounts,
			role:     account.Reader,
			summary:  "Change a user",
			response: wire.User{},
			members: []metadata.Member{
				{Name: accounts.MemberDisplayName, Type: "string"},
				{Name: accounts.MemberRole, Type: "string", Help: roleHelp},
				{Name: accounts.MemberPassword, Type: "string", Secret: true, Help: "the new password"},
				{
					Name:   accounts.MemberCurrentPassword,
					Type:   "string",
					Secret: true,
					Help:   "the current password; required from users other than admins",
				},
			},
			routes: []edge.Route{
				{
					Methods:  "PATCH",
					Pattern:  "/Users/{UserName}",
					SignedIn: true,
					Changes:  true,
					Serve:    h.accounts.Users.Change,
					Summary:  "Change DisplayName, Role or Password; users other than admins can only change their own DisplayName, and their Password with CurrentPassword",
				},
			},
		},
		{
			name:    "RemoveUser",
			group:   groupAccounts,
			role:    account.Admin,
			summary: "Remove a user and end their sessions",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: "/Users/{UserName}",
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.accounts.Users.Remove,
				},
			},
		},
		{
			name:     "ApiKeys",
			group:    groupAccounts,
			role:     account.Admin,
			summary:  "The API keys by name, without their secrets",
			response: []wire.APIKey{},
			members:  form.PageMembers,
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/ApiKeys", Serve: h.accounts.Keys.List},
			},
		},
		{
			name:     "AddApiKey",
			group:    groupAccounts,
			role:     account.Admin,
			summary:  "Create an API key; the key is shown only once",
			response: wire.APIKey{},
			members: []metadata.Member{
				{Name: accounts.MemberName, Type: "string", Required: true},
				{Name: accounts.MemberRole, Type: "string", Required: true, Help: roleHelp},
				{
					Name: accounts.MemberExpiry,
					Type: "DateTime",
					Help: "a date, or never; 90 days from now if omitted",
				},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/ApiKeys",
					Changes: true,
					Status:  http.StatusCreated,
					Serve:   h.accounts.Keys.Add,
					Summary: "Create an API key with Name, Role and ExpiryDateTime; the key is shown only once",
				},
			},
		},
		{
			name:     "GetApiKey",
			group:    groupAccounts,
			role:     account.Admin,
			summary:  "One API key, without its secret",
			response: wire.APIKey{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/ApiKeys/{KeyID}", Serve: h.accounts.Keys.Show},
			},
		},
		{
			name:    "RemoveApiKey",
			group:   groupAccounts,
			role:    account.Admin,
			summary: "Revoke an API key",
			routes: []edge.Route{
				{
					Methods: "DELETE",
					Pattern: "/ApiKeys/{KeyID}",
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.accounts.Keys.Remove,
				},
			},
		},
		{
			name:    "Login",
			group:   groupAccounts,
			summary: "The login page",
			media:   "text/html",
			members: []metadata.Member{
				{Name: accounts.MemberRedirect, Type: "string", Help: "page to show after the login"},
			},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/login", Serve: h.accounts.Sessions.LoginPage},
			},
		},
	}
}
