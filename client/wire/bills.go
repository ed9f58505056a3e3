package wire

// CustomFieldValue is the value of a custom field of a bill's stage. Unknown or unset
// members are left out.
type CustomFieldValue struct {
	SettingID   string  // ID of the field
	SettingName *string `json:",omitempty"`
	Contents    *string `json:",omitempty"`
	PluginID    *string `json:",omitempty"` // ID of the plugin that defines the field
	PluginName  *string `json:",omitempty"`
}
