/* Options:
Date: 2030-01-31 10:11:12
Version: 1.2
Tip: An option without // before it applies when this file is updated
BaseUrl: https://whd.example:8443/erp

//GlobalNamespace: 
*/

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

export interface FieldError {
    ErrorCode?: string;
    FieldName?: string;
    Message?: string;
    Meta?: { [name: string]: string };
}

export interface ResponseStatus {
    ErrorCode?: string;
    Message?: string;
    StackTrace?: string;
    Errors?: FieldError[];
    Meta?: { [name: string]: string };
}

export interface Parcels {
    ParcelID?: string;
    Weight?: number;
    Sent?: string;
    Open?: boolean;
    Class?: number;
    Owner?: string;
    Detail?: any;
}

// Parcels on their way.
// GET POST PUT PATCH DELETE /{Format}/reply/ParcelsQuery
// GET POST /Queries/Parcels
// POST /{Format}/oneway/ParcelsQuery
export interface ParcelsQuery extends QueryBase, IReturn<QueryResponse<Parcels>> {
    ParcelID?: string;
    ParcelIDStartsWith?: string;
    ParcelIDEndsWith?: string;
    ParcelIDContains?: string;
    ParcelIDLike?: string;
    ParcelIDBetween?: string[];
    ParcelIDIn?: string[];
    Weight?: number;
    WeightGreaterThanOrEqualTo?: number;
    WeightGreaterThan?: number;
    WeightLessThan?: number;
    WeightLessThanOrEqualTo?: number;
    WeightNotEqualTo?: number;
    WeightBetween?: number[];
    WeightIn?: number[];
    Sent?: string;
    SentGreaterThanOrEqualTo?: string;
    SentGreaterThan?: string;
    SentLessThan?: string;
    SentLessThanOrEqualTo?: string;
    SentNotEqualTo?: string;
    SentBetween?: string[];
    SentIn?: string[];
    Open?: boolean;
    Class?: number;
    ClassGreaterThanOrEqualTo?: number;
    ClassGreaterThan?: number;
    ClassLessThan?: number;
    ClassLessThanOrEqualTo?: number;
    ClassNotEqualTo?: number;
    ClassBetween?: number[] | string;
    ClassIn?: number[] | string;
    Owner?: string;
    OwnerIn?: string[];
}

export interface parcelLine {
    No?: number;
}

export interface parcel {
    Id?: string;
    Saved?: string;
    Weight?: number;
    /** @deprecated use Weight */
    Mass?: number;
    Count?: number;
    Open?: boolean;
    Hash?: string;
    Labels?: { [name: string]: string };
    Lines?: parcelLine[];
    Back?: parcelLine;
    Raw?: any;
}

// Change a parcel.
// PATCH /Parcels/{ParcelID}
export interface ChangeParcel extends IReturn<parcel> {
    ParcelID?: string;
    Weight?: number;
    Tags?: string[];
}

export interface ParcelPATCHRequest extends ChangeParcel {
}

// Drop a parcel.
// DELETE /Parcels/{ParcelID}
export interface DropParcel extends IReturnVoid {
    ParcelID?: string;
}

// All parcels.
// GET /Parcels
export interface AllParcels extends IReturn<parcel[]> {
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
