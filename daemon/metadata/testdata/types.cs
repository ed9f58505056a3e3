/* Options:
Date: 2030-01-31 10:11:12
Version: 1.2
Tip: An option without // before it applies when this file is updated
BaseUrl: https://whd.example:8443/erp

//GlobalNamespace: Whd
*/

namespace Whd
{
    using System;
    using System.Collections.Generic;
    using ServiceStack;

    public partial class Parcels
    {
        public virtual string ParcelID { get; set; }
        public virtual decimal? Weight { get; set; }
        public virtual DateTime Sent { get; set; }
        public virtual bool Open { get; set; }
        public virtual byte Class { get; set; }
        public virtual Guid Owner { get; set; }
        public virtual object Detail { get; set; }
    }

    // Parcels on their way.
    [Route("/Queries/Parcels", "GET,POST")]
    public partial class ParcelsQuery : QueryDb<Parcels>, IReturn<QueryResponse<Parcels>>, IPost
    {
        public virtual string ParcelID { get; set; }
        public virtual string ParcelIDStartsWith { get; set; }
        public virtual string ParcelIDEndsWith { get; set; }
        public virtual string ParcelIDContains { get; set; }
        public virtual string ParcelIDLike { get; set; }
        public virtual string[] ParcelIDBetween { get; set; }
        public virtual string[] ParcelIDIn { get; set; }
        public virtual decimal? Weight { get; set; }
        public virtual decimal? WeightGreaterThanOrEqualTo { get; set; }
        public virtual decimal? WeightGreaterThan { get; set; }
        public virtual decimal? WeightLessThan { get; set; }
        public virtual decimal? WeightLessThanOrEqualTo { get; set; }
        public virtual decimal? WeightNotEqualTo { get; set; }
        public virtual decimal[] WeightBetween { get; set; }
        public virtual decimal[] WeightIn { get; set; }
        public virtual DateTime? Sent { get; set; }
        public virtual DateTime? SentGreaterThanOrEqualTo { get; set; }
        public virtual DateTime? SentGreaterThan { get; set; }
        public virtual DateTime? SentLessThan { get; set; }
        public virtual DateTime? SentLessThanOrEqualTo { get; set; }
        public virtual DateTime? SentNotEqualTo { get; set; }
        public virtual DateTime[] SentBetween { get; set; }
        public virtual DateTime[] SentIn { get; set; }
        public virtual bool? Open { get; set; }
        public virtual byte? Class { get; set; }
        public virtual byte? ClassGreaterThanOrEqualTo { get; set; }
        public virtual byte? ClassGreaterThan { get; set; }
        public virtual byte? ClassLessThan { get; set; }
        public virtual byte? ClassLessThanOrEqualTo { get; set; }
        public virtual byte? ClassNotEqualTo { get; set; }
        public virtual byte[] ClassBetween { get; set; }
        public virtual byte[] ClassIn { get; set; }
        public virtual Guid? Owner { get; set; }
        public virtual Guid[] OwnerIn { get; set; }
    }

    public partial class parcelLine
    {
        public virtual int No { get; set; }
    }

    public partial class parcel
    {
        public virtual string Id { get; set; }
        public virtual DateTime Saved { get; set; }
        public virtual decimal Weight { get; set; }
        // Use Weight instead.
        public virtual decimal Mass { get; set; }
        public virtual long Count { get; set; }
        public virtual bool Open { get; set; }
        public virtual byte[] Hash { get; set; }
        public virtual Dictionary<string, string> Labels { get; set; }
        public virtual List<parcelLine> Lines { get; set; }
        public virtual parcelLine Back { get; set; }
        public virtual object Raw { get; set; }
    }

    // Change a parcel.
    [Route("/Parcels/{ParcelID}", "PATCH")]
    public partial class ChangeParcel : IReturn<parcel>, IPatch
    {
        public virtual string ParcelID { get; set; }
        public virtual decimal? Weight { get; set; }
        public virtual string[] Tags { get; set; }
    }

    public partial class ParcelPATCHRequest : ChangeParcel
    {
    }

    // Drop a parcel.
    [Route("/Parcels/{ParcelID}", "DELETE")]
    public partial class DropParcel : IReturnVoid, IDelete
    {
        public virtual string ParcelID { get; set; }
    }

    // All parcels.
    [Route("/Parcels", "GET")]
    public partial class AllParcels : IReturn<List<parcel>>, IGet
    {
    }
}
