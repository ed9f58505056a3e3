// The types of ServiceStack's .NET client that the generated types use, and a program
// that prints the names, routes and members that the client reads from them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace ServiceStack
{
    public interface IReturn {}
    public interface IReturn<T> : IReturn {}
    public interface IReturnVoid : IReturn {}
    public interface IVerb {}
    public interface IGet : IVerb {}
    public interface IPost : IVerb {}
    public interface IPut : IVerb {}
    public interface IPatch : IVerb {}
    public interface IDelete : IVerb {}

    [AttributeUsage(AttributeTargets.Class, AllowMultiple = true, Inherited = true)]
    public class RouteAttribute : Attribute
    {
        public RouteAttribute(string path, string verbs) { Path = path; Verbs = verbs; }
        public string Path { get; set; }
        public string Verbs { get; set; }
    }

    public abstract class QueryBase
    {
        public virtual int? Skip { get; set; }
        public virtual int? Take { get; set; }
        public virtual string OrderBy { get; set; }
        public virtual string OrderByDesc { get; set; }
        public virtual string Include { get; set; }
        public virtual string Fields { get; set; }
        public virtual Dictionary<string, string> Meta { get; set; }
    }

    public abstract class QueryDb<T> : QueryBase, IReturn<QueryResponse<T>> {}

    public class QueryResponse<T>
    {
        public virtual int Offset { get; set; }
        public virtual int Total { get; set; }
        public virtual List<T> Results { get; set; }
        public virtual Dictionary<string, string> Meta { get; set; }
        public virtual ResponseStatus ResponseStatus { get; set; }
    }

    public class ResponseError {}
    public class ResponseStatus { public string ErrorCode { get; set; } }
    public class AuthenticateResponse {}

    public class Authenticate : IPost, IReturn<AuthenticateResponse>
    {
        public string UserName { get; set; }
        public string Password { get; set; }
    }
}

public static class Program
{
    static string NameOf(Type type)
    {
        if (Nullable.GetUnderlyingType(type) != null) return Nullable.GetUnderlyingType(type).Name + "?";
        if (!type.IsGenericType) return type.Name;
        return type.Name.Split('`')[0] + "<" + string.Join(",", type.GetGenericArguments().Select(NameOf)) + ">";
    }

    static void Print(Type type)
    {
        var interfaces = type.GetInterfaces();
        if (typeof(ServiceStack.IReturn).IsAssignableFrom(type))
        {
            var verb = interfaces.Single(i => i != typeof(ServiceStack.IVerb) && typeof(ServiceStack.IVerb).IsAssignableFrom(i));
            var returns = interfaces.Where(i => i.IsGenericType).Select(i => "returns " + NameOf(i.GetGenericArguments()[0]));
            var routes = type.GetCustomAttributes(true).OfType<ServiceStack.RouteAttribute>().OrderByDescending(r => r.Path).Select(r => r.Verbs + " " + r.Path);
            Console.WriteLine(type.Name + ": " + string.Join(", ", new[] { verb.Name.Substring(1).ToUpper() }.Concat(returns).Concat(routes)));
            Activator.CreateInstance(type);
        }
        foreach (var property in type.GetProperties()) Console.WriteLine(type.Name + "." + property.Name + " " + NameOf(property.PropertyType));
    }

    public static void Main()
    {
        foreach (var type in Assembly.GetExecutingAssembly().GetTypes().Where(t => t.Namespace == "Whd")) Print(type);
    }
}
