package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Operations of a Change.
const (
	OpCreated = "created"
	OpUpdated = "updated"
	OpDeleted = "deleted"
)

// CaptureStopped is the ErrorCode of replies to requests for changes of a kind if its capture has
// stopped.
const CaptureStopped = "CaptureStopped"

// CaptureNotRequested is the Phase of a kind that is captured on demand, and that nothing has requested.
const CaptureNotRequested = "not requested"

// CaptureIdle is the Phase of a kind that was captured on demand until nothing needed it any more.
const CaptureIdle = "idle"

// Change is a change of a record.
type Change struct {
	ChangeID   int64 // ascends within the kind
	Kind       string
	Op         string          // OpCreated, OpUpdated or OpDeleted
	Key        string          // text of the key, at most 128 characters
	KeyFields  json.RawMessage // object: the fields of the key
	Record     json.RawMessage `json:",omitempty"` // object: the record after the change; absent if it was deleted
	Changed    []string        `json:",omitempty"` // the fields that an update has changed; empty if unknown
	Before     json.RawMessage `json:",omitempty"` // object: the known values before the change
	CapturedAt string          // RFC 3339, in UTC
}

// Changes is a page of changes, in order.
type Changes struct {
	Results        []Change
	Meta           ChangesMeta
	ResponseStatus ResponseStatus
}

// ChangesMeta has the token after a page of changes. Key and Omitted come only with the
// token of the present.
type ChangesMeta struct {
	Next     string
	LookedAt string `json:",omitempty"` // RFC 3339; without rows, the changes until then are before Next
	Key      string `json:",omitempty"` // the fields that identify a row, separated by commas
	Omitted  string `json:",omitempty"` // the fields that are not captured, separated by commas
}

// Names of members of Meta: those of ChangesMeta, and MetaToken in the rows of a copy.
const (
	MetaToken    = "Token" // with the changes up to this token, the rows are an exact copy
	MetaLookedAt = "LookedAt"
	MetaKey      = "Key"
	MetaOmitted  = "Omitted"
)

// TokenPosition returns the position in a kind's changes that a token stands for: the
// ChangeID of the last change before it.
func TokenPosition(token string) (int64, error) {
	return strconv.ParseInt(token[strings.LastIndexByte(token, '-')+1:], 10, 64)
}

// Capture is the state of the capture of a kind's changes.
type Capture struct {
	Kind      string
	Mode      string    // record.CaptureOnDemand or CaptureAlways
	Phase     string    // first look, capturing, stopped, idle, or CaptureNotRequested
	Reason    string    `json:",omitempty"` // reason for which the capture is stopped, or lags
	Manual    bool      `json:",omitempty"` // stopped until an administrator resumes it
	Rows      int64     // number of rows that the last complete sweep found
	Lag       TimeSpan  // time since the start of the last look that found all changes
	Swept     Timestamp `json:",omitzero"` // end of the last complete sweep
	Sweep     TimeSpan  // reading time of the last complete sweep
	Kept      int64     // number of changes that followers can read
	Needed    Timestamp `json:",omitzero"`  // last time that a follower or a subscription needed the changes
	Events    string    `json:",omitempty"` // family of the events that changes publish
	Created   int64     // changes since the service started
	Updated   int64
	Deleted   int64
	SweptRows int64 // rows read by sweeps since the service started
}

// ResumeRequest resumes the capture of a kind.
type ResumeRequest struct {
	Mode string // ResumePublish or ResumeSilent
}

// Modes of a ResumeRequest.
const (
	ResumePublish = "raise"  // deliver all changes since the stop
	ResumeSilent  = "silent" // forget the rows known so far: no changes, and followers must reload
)

// ResumeRaise is ResumePublish.
//
// Deprecated: use ResumePublish.
const ResumeRaise = ResumePublish
