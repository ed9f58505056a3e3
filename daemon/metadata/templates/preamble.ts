/* Requests and answers of whd %s, for @servicestack/client:
 *
 *     import { JsonServiceClient } from '@servicestack/client';
 *     const client = new JsonServiceClient('http://127.0.0.1:5050');
 *     client.bearerToken = key;
 *     const page = await client.api(new SO_TotalsQuery({ InvoiceTotalGreaterThan: 1000, Take: 5 }));
 *
 * The client sends a request to /api/ and its name, which queries and
 * Authenticate have. Others go to the path that stands above their class:
 *
 *     await client.patchToUrl(`/Bills/${bill}/Stages/${stage}/CustomFieldValues/${id}`,
 *         new UpdateBillStageCustomFieldValue({ Contents: 'Red' }));
 *
 * Dates are texts without a zone, byte[] is base64. Numbers of more than 15
 * digits lose some in JavaScript.
 */

export interface IReturn<T> {
    createResponse(): T;
}

export interface IReturnVoid {
    createResponse(): void;
}
