/* Requests and responses for @servicestack/client:
 *
 *     import { JsonServiceClient } from '@servicestack/client';
 *     const client = new JsonServiceClient('http://127.0.0.1:5050');
 *     client.bearerToken = key;
 *     const page = await client.api(new SO_TotalsQuery({ InvoiceTotalGreaterThan: 1000, Take: 5 }));
 *
 * The client sends each request to /api/ and the name of its class. The comment above the
 * class lists the other paths.
 *
 * Dates are strings without a time zone, byte[] is base64. JavaScript cannot
 * represent numbers with more than 15 digits exactly.
 */

export interface IReturn<T> {
    createResponse(): T;
}

export interface IReturnVoid {
    createResponse(): void;
}

export class QueryBase {
    public Skip?: number;
    public Take?: number;
    public OrderBy?: string;
    public OrderByDesc?: string;
    public Include?: string;
    public Fields?: string;
    public Meta?: { [name: string]: string };

    public constructor(init?: Partial<QueryBase>) { Object.assign(this, init); }
}

export class QueryResponse<T> {
    public Offset!: number;
    public Total!: number;
    public Results!: T[];
    public Meta?: { [name: string]: string };
    public ResponseStatus?: ResponseStatus;

    public constructor(init?: Partial<QueryResponse<T>>) { Object.assign(this, init); }
}
{{range $c := .}}
{{with .Operation}}// {{.Summary}}.
{{range .Routes}}// {{join .Methods " "}} {{.Path}}
{{end}}{{end -}}
export class {{class .Name}}{{if .Base}} extends {{class .Base}}{{else if .Row}} extends QueryBase{{end}}{{if .Operation}} implements {{if .Returns}}IReturn<{{type .Returns}}>{{else}}IReturnVoid{{end}}{{end}} {
{{- if .Base}}
    public getTypeName(): string { return '{{.Name}}'; }
{{- else}}
{{- range .Members}}
{{- if .Replacement}}
    /** @deprecated use {{.Replacement}} */
{{- end}}
    public {{member $c.Name .Name}}?: {{type .Type}};
{{- end}}

    public constructor(init?: Partial<{{class .Name}}>) { {{if .Row}}super(init); {{end}}Object.assign(this, init); }
{{- end}}
{{- with .Operation}}
    public getTypeName(): string { return '{{.Name}}'; }
    public getMethod(): string { return '{{$c.Method}}'; }
    public createResponse(): {{if $c.Item}}{{type $c.Returns}} { return new Array<{{type $c.Item}}>(); }{{else if $c.Returns}}{{type $c.Returns}} { return new {{type $c.Returns}}(); }{{else}}void {}{{end}}
{{- end}}
}
{{end -}}
