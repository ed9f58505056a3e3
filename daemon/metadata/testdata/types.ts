/* Options:
Date: 2030-01-31 10:11:12
Version: 1.2
Tip: An option without // before it applies when this file is updated
BaseUrl: https://whd.example:8443/erp

//GlobalNamespace: 
*/

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

export class FieldError {
    public ErrorCode?: string;
    public FieldName?: string;
    public Message?: string;
    public Meta?: { [name: string]: string };

    public constructor(init?: Partial<FieldError>) { Object.assign(this, init); }
}

export class ResponseStatus {
    public ErrorCode?: string;
    public Message?: string;
    public StackTrace?: string;
    public Errors?: FieldError[];
    public Meta?: { [name: string]: string };

    public constructor(init?: Partial<ResponseStatus>) { Object.assign(this, init); }
}

export class Parcels {
    public ParcelID?: string;
    public Weight?: number;
    public Sent?: string;
    public Open?: boolean;
    public Class?: number;
    public Owner?: string;
    public Detail?: any;

    public constructor(init?: Partial<Parcels>) { Object.assign(this, init); }
}

// Parcels on their way.
// GET POST PUT PATCH DELETE /{Format}/reply/ParcelsQuery
// GET POST /Queries/Parcels
// POST /{Format}/oneway/ParcelsQuery
export class ParcelsQuery extends QueryBase implements IReturn<QueryResponse<Parcels>> {
    public ParcelID?: string;
    public ParcelIDStartsWith?: string;
    public ParcelIDEndsWith?: string;
    public ParcelIDContains?: string;
    public ParcelIDLike?: string;
    public ParcelIDBetween?: string[];
    public ParcelIDIn?: string[];
    public Weight?: number;
    public WeightGreaterThanOrEqualTo?: number;
    public WeightGreaterThan?: number;
    public WeightLessThan?: number;
    public WeightLessThanOrEqualTo?: number;
    public WeightNotEqualTo?: number;
    public WeightBetween?: number[];
    public WeightIn?: number[];
    public Sent?: string;
    public SentGreaterThanOrEqualTo?: string;
    public SentGreaterThan?: string;
    public SentLessThan?: string;
    public SentLessThanOrEqualTo?: string;
    public SentNotEqualTo?: string;
    public SentBetween?: string[];
    public SentIn?: string[];
    public Open?: boolean;
    public Class?: number;
    public ClassGreaterThanOrEqualTo?: number;
    public ClassGreaterThan?: number;
    public ClassLessThan?: number;
    public ClassLessThanOrEqualTo?: number;
    public ClassNotEqualTo?: number;
    public ClassBetween?: number[] | string;
    public ClassIn?: number[] | string;
    public Owner?: string;
    public OwnerIn?: string[];

    public constructor(init?: Partial<ParcelsQuery>) { super(init); Object.assign(this, init); }
    public getTypeName(): string { return 'ParcelsQuery'; }
    public getMethod(): string { return 'POST'; }
    public createResponse(): QueryResponse<Parcels> { return new QueryResponse<Parcels>(); }
}

export class parcelLine {
    public No?: number;

    public constructor(init?: Partial<parcelLine>) { Object.assign(this, init); }
}

export class parcel {
    public Id?: string;
    public Saved?: string;
    public Weight?: number;
    /** @deprecated use Weight */
    public Mass?: number;
    public Count?: number;
    public Open?: boolean;
    public Hash?: string;
    public Labels?: { [name: string]: string };
    public Lines?: parcelLine[];
    public Back?: parcelLine;
    public Raw?: any;

    public constructor(init?: Partial<parcel>) { Object.assign(this, init); }
}

// Change a parcel.
// PATCH /Parcels/{ParcelID}
export class ChangeParcel implements IReturn<parcel> {
    public ParcelID?: string;
    public Weight?: number;
    public Tags?: string[];

    public constructor(init?: Partial<ChangeParcel>) { Object.assign(this, init); }
    public getTypeName(): string { return 'ChangeParcel'; }
    public getMethod(): string { return 'PATCH'; }
    public createResponse(): parcel { return new parcel(); }
}

export class ParcelPATCHRequest extends ChangeParcel {
    public getTypeName(): string { return 'ParcelPATCHRequest'; }
}

// Drop a parcel.
// DELETE /Parcels/{ParcelID}
export class DropParcel implements IReturnVoid {
    public ParcelID?: string;

    public constructor(init?: Partial<DropParcel>) { Object.assign(this, init); }
    public getTypeName(): string { return 'DropParcel'; }
    public getMethod(): string { return 'DELETE'; }
    public createResponse(): void {}
}

// All parcels.
// GET /Parcels
export class AllParcels implements IReturn<parcel[]> {

    public constructor(init?: Partial<AllParcels>) { Object.assign(this, init); }
    public getTypeName(): string { return 'AllParcels'; }
    public getMethod(): string { return 'GET'; }
    public createResponse(): parcel[] { return new Array<parcel>(); }
}

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
    /** Occurs when a debtor is modified. */
    'debtor.updated': any;
    /** Occurs when a parcel is modified. */
    'parcel.updated': WebhookChange<Parcels>;
    /** Occurs when a parcel is deleted. */
    'parcel.deleted': WebhookChange<Parcels>;
    /** The post office has closed. */
    'post.closed': {
        /** why it has closed */
        Reason: string;
        /** number of the reason; left out for 0 */
        Code?: number;
        /** when it has closed */
        At: string;
    };
}
