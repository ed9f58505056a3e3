/* Requests and responses of whd %s, for @servicestack/client:
 *
 *     import { JsonServiceClient } from '@servicestack/client';
 *     const client = new JsonServiceClient('http://127.0.0.1:5050');
 *     client.bearerToken = key;
 *     const page = await client.api(new SO_TotalsQuery({ InvoiceTotalGreaterThan: 1000, Take: 5 }));
 *
 * The client sends queries and Authenticate to /api/ and the name of the request.
 * Send other requests to the path in the comment above their class:
 *
 *     await client.patchToUrl(`/Bills/${bill}/Stages/${stage}/CustomFieldValues/${id}`,
 *         new UpdateBillStageCustomFieldValue({ Contents: 'Red' }));
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
