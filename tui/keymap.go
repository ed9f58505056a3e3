package tui

import (
	"slices"
	"strings"
)

// Keymap is what the keys of the screens mean: the table of keys, with those
// that the user has chosen. The zero value stands for the table itself.
type Keymap []binding

// scopeWords are the scopes as a configuration names them. None is called like
// an action, since both stand in one table there.
var scopeWords = map[scope]string{
	everywhere: "everywhere", inLists: "lists", inGrids: "grids", inKinds: "kinds", inBrowser: "rows", inRecord: "record", inHome: "home",
	inSubscribers: "subscribers", inSubscriptions: "subscriptions", inSubscription: "subscription", inMessages: "messages", inMessage: "message", inEvents: "events", inRequests: "requests",
	inText: "text", inConfirm: "question", inTypedConfirm: "typed_question", inLine: "line", inColumns: "columns", inForm: "form",
	inMenu: "menu", inJobs: "exports", inErrors: "errors", inRetryQuestion: "retry_question", inTypedRetryQuestion: "typed_retry_question", inSecret: "secret",
}

// actionWords are the actions as a configuration names them. They stay as they
// are, whatever else changes here.
var actionWords = map[action]string{
	askHelp: "help", askCommand: "command", askFilter: "filter", goBack: "back", quitOrBack: "leave", quit: "quit", goTab: "tabs",
	goPrevious: "previous_view", switchProfile: "profile", switchTimes: "times", pauseLive: "pause", refresh: "refresh", problemsOnly: "problems",
	showErrors: "show_errors", showJobs: "show_exports", showActions: "actions", redraw: "redraw", suspend: "suspend", switchMouse: "mouse",
	takeBack: "undo", showTwin: "cli", goUp: "up", goDown: "down", goTop: "top", goBottom: "bottom", pageUp: "page_up", pageDown: "page_down",
	halfUp: "half_page_up", halfDown: "half_page_down", goLeft: "left", goRight: "right", firstColumn: "first_column", lastColumn: "last_column",
	open: "open", pageBefore: "previous", pageAfter: "next", sortColumn: "sort", filterColumn: "filter_column", keepValue: "keep_value",
	clearFilters: "clear_filters", chooseColumns: "choose_columns", freezeHere: "freeze", narrower: "narrower", wider: "wider", mark: "mark",
	markRange: "mark_range", markAll: "mark_all", unmark: "unmark", copyCell: "copy", copyRow: "copy_row", export: "export", reveal: "reveal",
	showSubscribed: "subscribed", showInfo: "info", showMessages: "all_messages", cancelJob: "cancel_export", addNew: "new", retry: "retry", remove: "delete", test: "test",
	toggleEnabled: "enable", edit: "change", renewSecret: "new_secret", nextTab: "next_tab", previousTab: "previous_tab",
	nextMatch: "next_match", previousMatch: "previous_match",
	accept: "accept", decline: "decline", complete: "complete", older: "older", newer: "newer", toggle: "toggle", toggleAll: "toggle_all",
	moveEarlier: "move_left", moveLater: "move_right", resetChoice: "reset", hideEmpty: "hide_empty", keysAndMoney: "keys_and_money", wrapLines: "wrap", saveBytes: "save_bytes", submit: "submit",
	submitAndTest: "submit_and_test", nextField: "next_field", previousField: "previous_field", lineDown: "line_down", lineUp: "line_up",
	include: "include",
}

// stacks are the scopes that hold at the same time, the narrowest first: those of
// each screen, and those of what lies over it.
var stacks = [...][]scope{
	{inHome, inLists, everywhere}, {inKinds, inLists, everywhere}, {inBrowser, inGrids, inLists, everywhere}, {inRecord, inLists, everywhere},
	{inSubscribers, inLists, everywhere}, {inSubscriptions, inLists, everywhere}, {inSubscription, inLists, everywhere}, {inMessages, inGrids, inLists, everywhere}, {inMessage, inLists, everywhere},
	{inEvents, inLists, everywhere}, {inRequests, inBrowser, inGrids, inLists, everywhere}, {inText}, {inConfirm}, {inTypedConfirm}, {inRetryQuestion, inConfirm}, {inTypedRetryQuestion, inTypedConfirm}, {inLine}, {inColumns}, {inForm}, {inMenu}, {inJobs}, {inErrors}, {inSecret},
}

// blank is a blank as the table has it, where blanks separate keys.
const blank = "space"

// keyNames splits a row's keys, as bubbletea names them.
func (b binding) keyNames() []string {
	names := strings.Fields(b.keys)
	for i, name := range names {
		if name == blank {
			names[i] = " "
		}
	}
	return names
}

// label is the first key as people call it, empty where there is none.
func (b binding) label() string {
	names := strings.Fields(b.keys)
	switch {
	case len(names) == 0:
		return ""
	case b.action == goTab:
		return names[0] + ".." + names[len(tabNames)-1]
	}
	return names[0]
}

// lookup finds what a key means in the first of the scopes that knows it.
func (k Keymap) lookup(scopes []scope, key string) (binding, bool) {
	for _, s := range scopes {
		for _, b := range k {
			if b.scope == s && slices.Contains(b.keyNames(), key) {
				return b, true
			}
		}
	}
	return binding{}, false
}

// within lists the bindings of a scope that a narrower one does not shadow, with
// the keys that are left to them. One that has no keys is done by the menu alone.
func (k Keymap) within(scopes []scope, s scope) []binding {
	var all []binding
	for _, b := range k {
		if b.scope != s {
			continue
		}
		var left []string
		for i, name := range b.keyNames() {
			if found, _ := k.lookup(scopes, name); found.scope == s {
				left = append(left, strings.Fields(b.keys)[i])
			}
		}
		if len(left) > 0 || b.keys == "" {
			b.keys = strings.Join(left, " ")
			all = append(all, b)
		}
	}
	return all
}

// hints lists what the line of hints shows.
func (k Keymap) hints(scopes []scope) []binding {
	var all []binding
	for _, s := range scopes {
		for _, b := range k.within(scopes, s) {
			if b.hint != "" && b.keys != "" {
				all = append(all, b)
			}
		}
	}
	return all
}

// of are the keys of an action in a scope.
func (k Keymap) of(s scope, what action) []string {
	for _, b := range k {
		if b.scope == s && b.action == what {
			return strings.Fields(b.keys)
		}
	}
	return nil
}

// keyFor names the key of an action for a text that tells of it.
func (a *app) keyFor(s scope, what action) string {
	if names := a.options.Keys.of(s, what); len(names) > 0 {
		return names[0]
	}
	return "no key"
}

// KeyRow is an action in a scope and its keys, of which there may be none.
type KeyRow struct {
	Scope, Action string // as a configuration names them
	Keys          []string
	Help          string
}

// Rows lists what the keys mean, scope by scope.
func (k Keymap) Rows() []KeyRow {
	var rows []KeyRow
	for _, b := range k.orUsual() {
		rows = append(rows, KeyRow{scopeWords[b.scope], actionWords[b.action], strings.Fields(b.keys), b.help})
	}
	return rows
}

func (k Keymap) orUsual() Keymap {
	if k == nil {
		return bindings
	}
	return k
}
