export interface IReturn<T> {
    createResponse?(): T;
}

export interface IReturnVoid {
    createResponse?(): void;
}

export interface QueryBase {
    Skip?: number;
    Take?: number;
    OrderBy?: string;
    OrderByDesc?: string;
    Include?: string;
    Fields?: string;
    Meta?: { [name: string]: string };
}

export interface QueryResponse<T> {
    Offset: number;
    Total: number;
    Results: T[];
    Meta?: { [name: string]: string };
    ResponseStatus?: ResponseStatus;
}
{{range $c := .}}
{{with .Operation}}// {{.Summary}}.
{{range .Routes}}// {{join .Methods " "}} {{.Path}}
{{end}}{{end -}}
export interface {{class .Name}}{{if .Base}} extends {{class .Base}}{{else if .Row}} extends QueryBase, IReturn<{{type .Returns}}>{{else if .Returns}} extends IReturn<{{type .Returns}}>{{else if .Operation}} extends IReturnVoid{{end}} {
{{- range .Members}}
{{- if .Replacement}}
    /** @deprecated use {{.Replacement}} */
{{- end}}
    {{member $c.Name .Name}}?: {{type .Type}};
{{- end}}
}
{{end -}}
