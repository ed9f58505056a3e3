    using System;
    using System.Collections.Generic;
    using ServiceStack;
{{range $c := .}}
{{with .Operation}}    // {{.Summary}}.
{{if not .Divided}}{{range .CustomRoutes}}    [Route("{{.Path}}", "{{join .Methods ","}}")]
{{end}}{{end}}{{end}}    public partial class {{class .Name}}
{{- if .Base}} : {{class .Base}}
{{- else if .Row}} : QueryDb<{{class .Row}}>, IReturn<{{type .Returns}}>, I{{verb .Method}}
{{- else if .Returns}} : IReturn<{{type .Returns}}>, I{{verb .Method}}
{{- else if .Operation}} : IReturnVoid, I{{verb .Method}}
{{- end}}
    {
{{- range .Members}}{{$m := .}}
{{- with member $c.Name .Name}}
{{- with $m.Replacement}}
        // Use {{.}} instead.
{{- end}}
        public virtual {{type $m.Type}} {{.}} { get; set; }
{{- end}}
{{- end}}
    }
{{end -}}
