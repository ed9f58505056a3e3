package main

// The variables that are read.
const (
	envURL      = "WHCTL_URL"
	envToken    = "WHCTL_TOKEN"
	envUser     = "WHCTL_USER"
	envPassword = "WHCTL_PASSWORD"
	envColumns  = "COLUMNS"
)

var variables = [...]struct{ name, meaning string }{
	{envURL, "address of the service; --url wins"},
	{envToken, "API key; wins over user and password"},
	{envUser, "user name"},
	{envPassword, "password of the user"},
	{envColumns, "width of tables, where no terminal tells it"},
	{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies, as usual"},
}
