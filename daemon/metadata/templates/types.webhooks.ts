
/** The body of an event of a changed record. A deleted record has no Record, and only an update has Changed. */
export interface WebhookChange<T> {
    ChangeID: number;
    Kind: string;
    Op: 'created' | 'updated' | 'deleted';
    Key: string;
    KeyFields: Partial<T>;
    Record?: Partial<T>;
    Changed?: string[];
    Before?: Partial<T>;
    CapturedAt: string;
}

/** The bodies of webhooks, by the value of the header X-Event-Name. Programs that publish an event choose its body. */
export interface WebhookBodies {
{{- range .}}
    /** {{.Description}}. */
    '{{.Name}}': {{if .Kind}}WebhookChange<{{class .Kind.Name}}>{{else if .Body}}{
{{- range .BodyMembers}}
        /** {{.Help}} */
        {{.Name}}{{if not .Required}}?{{end}}: {{type .Type}};
{{- end}}
    }{{else}}any{{end}};
{{- end}}
}
